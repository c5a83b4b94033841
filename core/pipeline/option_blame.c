/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, by the words of a compiler's sentence about an option, the setting that the option comes from. A sentence
 * with a place in a file is about that file. No state.
 */
#include "core/base/error.h"
#include "core/config/config.h"
#include "core/pipeline/run.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Whether the sentence names a place in a file (FILE:LINE). */
static bool names_a_line(const char *sentence)
{
    for (const char *at = strchr(sentence, ':'); at; at = strchr(at + 1, ':'))
        if (at > sentence && at[-1] != ' ' && isdigit((unsigned char)at[1]))
            return true;
    return false;
}

/* Whether a letter can be inside an option. Quotation marks, in any alphabet, cannot. */
static bool is_inside(char letter)
{
    return isalnum((unsigned char)letter) || (letter && strchr("-_=+./", letter));
}

/* Whether the sentence names the option, perhaps without its value: `unrecognized argument to '-fsanitize='`. */
static bool speaks_of_option(const char *sentence, const char *option)
{
    for (const char *at = strchr(sentence, '-'); at; at = strchr(at + 1, '-')) {
        size_t length = 0;
        while (is_inside(at[length]))
            length++;
        if (length > 1 && (at == sentence || !is_inside(at[-1])) && strncmp(option, at, length) == 0)
            return true;
    }
    return false;
}

/*
 * Whether the sentence names a value that is no option by itself: in quotation marks, behind an equals sign, or as
 * the name of a file.
 */
static bool speaks_of_value(const char *sentence, const char *value)
{
    const size_t length = strlen(value);
    const bool file = strpbrk(value, "./") != NULL;
    for (const char *at = strstr(sentence, value); at; at = strstr(at + 1, value)) {
        const char before = at > sentence ? at[-1] : ' ', behind = at[length];
        const bool apart = (before == '=' || !is_inside(before)) && !is_inside(behind);
        if (apart && (file || (before != ' ' && behind != ' ')))
            return true;
    }
    return false;
}

static bool speaks_of(const char *sentence, const char *words)
{
    char copy[GYRE_OPTIONS_SIZE], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " \t,", &rest); word; word = strtok_r(NULL, " \t,", &rest))
        if (word[0] == '-' ? speaks_of_option(sentence, word) : speaks_of_value(sentence, word))
            return true;
    return false;
}

/*
 * Blames a setting: adds to the error where it is set, and returns CONFIG. Returns `status` where the sentence does
 * not speak of the setting's value, or the setting has its default.
 */
static gyre_status blame_setting(const struct gyre_run *run, const char *sentence,
                                 enum gyre_section_kind kind, const char *name, const char *key,
                                 gyre_status status)
{
    const struct gyre_config_value *value = gyre_config_find(run->desc->config, kind, name, key);
    if (!value || strcmp(value->origin, "default") == 0 || !speaks_of(sentence, value->text))
        return status;
    return gyre_error_add(GYRE_CONFIG, "%s: %s of %s '%s'", value->origin, key,
                          kind == GYRE_SECTION_KERNEL ? "kernel" : "backend", name);
}

gyre_status gyre_run_blame_options(const struct gyre_run *run, gyre_status status)
{
    static const char *const keys[] = {"options", "compiler_options", "sanitize"};
    const char *backend = gyre_dispatch_backend(run->desc->device);
    char sentence[1024];
    if ((status != GYRE_FAILED && status != GYRE_INVALID) || !run->desc->config)
        return status;
    snprintf(sentence, sizeof sentence, "%s", gyre_error_cause());
    if (names_a_line(sentence))
        return status;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        status = blame_setting(run, sentence, GYRE_SECTION_BACKEND, backend, keys[i], status);
    if (run->desc->configured)
        status = blame_setting(run, sentence, GYRE_SECTION_KERNEL, run->desc->configured, "options", status);
    return status;
}
