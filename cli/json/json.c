/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds and prints JSON documents for the commands. Texts from outside (file names, compilers, devices) may hold bytes that
 * are no UTF-8, which JSON cannot have. These bytes become U+FFFD, so that the rest of the text is kept.
 */
#include "cli/json/json.h"
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"

static const char REPLACEMENT[] = "\xef\xbf\xbd";

static bool incomplete; /* memory was lacking, so a document, or a part of it, is missing */

/* ---- values ------------------------------------------------------------------------------------------- */

json_t *cli_json_text(const char *text)
{
    const size_t length = strlen(text);
    char *clean = malloc(length * (sizeof REPLACEMENT - 1) + 1);
    size_t used = 0;
    for (size_t at = 0; clean && at < length;) {
        const size_t step = gyre_text_character((const unsigned char *)text + at, length - at);
        const size_t size = step ? step : sizeof REPLACEMENT - 1;
        memcpy(clean + used, step ? text + at : REPLACEMENT, size);
        used += size;
        at += step ? step : 1;
    }
    json_t *value = clean ? json_stringn(clean, used) : NULL;
    incomplete = incomplete || !value;
    free(clean);
    return value;
}

static json_t *next_value(char letter, va_list *values)
{
    const char *text;
    double real;
    switch (letter) {
    case 's':
        text = va_arg(*values, const char *);
        return text ? cli_json_text(text) : json_null();
    case 'o':
        return va_arg(*values, json_t *);
    case 'b':
        return json_boolean(va_arg(*values, int));
    case 'i':
        return json_integer(va_arg(*values, int));
    case 'I':
        return json_integer(va_arg(*values, json_int_t));
    case 'f':
        real = va_arg(*values, double);
        return isfinite(real) ? json_real(real) : json_null();
    default:
        return NULL;
    }
}

json_t *cli_json_object(const char *letters, ...)
{
    va_list values;
    json_t *object = json_object();
    bool whole = object != NULL;
    va_start(values, letters);
    for (const char *letter = letters; *letter; letter++) {
        const char *key = va_arg(values, const char *);
        whole = json_object_set_new(object, key, next_value(*letter, &values)) == 0 && whole;
    }
    va_end(values);
    incomplete = incomplete || !whole;
    if (whole)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- documents ---------------------------------------------------------------------------------------- */

int cli_print_json(json_t *document)
{
    const size_t flags = JSON_PRESERVE_ORDER | (isatty(STDOUT_FILENO) ? JSON_INDENT(2) : JSON_COMPACT);
    const bool whole = document && !incomplete;
    incomplete = false;
    errno = 0;
    const bool written = whole && json_dumpf(document, stdout, flags) == 0 && fputc('\n', stdout) != EOF;
    const int reason = errno;
    json_decref(document);
    if (written)
        return CLI_OK;
    if (!whole)
        return cli_error(CLI_FAILED, "out of memory for the JSON document");
    return cli_error(CLI_FAILED, "cannot write the JSON document to standard output: %s",
                     reason ? strerror(reason) : "no memory for it");
}

char *cli_write_json(json_t *document)
{
    char *text = document && !incomplete ? json_dumps(document, JSON_PRESERVE_ORDER | JSON_COMPACT) : NULL;
    incomplete = false;
    json_decref(document);
    return text;
}
