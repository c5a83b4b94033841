/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills the templates in: @name@, @NAME@, @version@ and others stand for the project's own words. A file of a template is
 * called as it is in the project, except that NAME becomes the project's name and that `gitignore` gets its dot.
 */
#include "cli/new/new_project.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/output_file.h"
#include "gyre/version.h"

enum { MODE_FOLDER = 0777 };

#define TEXT_OF_(number) #number
#define TEXT_OF(number)  TEXT_OF_(number)
static const char VERSION[] = TEXT_OF(GYRE_VERSION_MAJOR) "." TEXT_OF(GYRE_VERSION_MINOR);

/* The files of all forms; those of the form "all" belong to each. `language` is the suffix of the only language that has the
 * file, "cmake" for all that are built, or "" for every language. */
static const struct template
{
    const char *form, *language, *file, *text;
}
templates[] = {
#include "new_templates.inc"
};

static const project_form forms[] = {
    {"lane", "One handler, which multiplies two numbers.", "@name@", "{\"value\":20.5,\"factor\":2}"},
    {"block", "One handler, whose lanes add up 256 samples together.", "@name@",
     "{\"samples\":[0, ..., 255]}"},
    {"actor", "An actor, which keeps a sum between its messages.", "@name@", "{\"add\":20}"},
    {"pipeline", "A pipeline of two kernels, which prices orders and numbers their receipts.",
     "--pipeline @name@", "{\"item\":2,\"count\":3}"},
};

static const project_language languages[] = {
    {"c", "c", "C"},
    {"c++", "cpp", "C CXX"},
    {"python", "py", NULL},
};

const project_form *project_form_find(const char *name)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

const char *project_form_name(size_t index)
{
    return index < sizeof forms / sizeof forms[0] ? forms[index].name : NULL;
}

const project_language *project_language_find(const char *name)
{
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
        if (strcmp(languages[i].name, name) == 0)
            return &languages[i];
    return NULL;
}

const char *project_language_name(size_t index)
{
    return index < sizeof languages / sizeof languages[0] ? languages[index].name : NULL;
}

static void put_capitals(FILE *out, const char *word)
{
    for (; *word; word++)
        fputc(toupper((unsigned char)*word), out);
}

static void expand(FILE *out, const new_project *project, const char *text);

/* Writes what the word between two @ stands for. False when it stands for itself. */
static bool put_word(FILE *out, const new_project *project, const char *word, size_t length)
{
    const struct {
        const char *word, *text;
    } words[] = {{"name", project->name},
                 {"version", VERSION},
                 {"about", project->form->about},
                 {"operand", project->form->operand},
                 {"request", project->form->request},
                 {"suffix", project->language->suffix},
                 {"languages", project->language->languages}};
    if (length == 4 && memcmp(word, "NAME", 4) == 0) {
        put_capitals(out, project->name);
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0) {
            expand(out, project, words[i].text);
            return true;
        }
    }
    return false;
}

static void expand(FILE *out, const new_project *project, const char *text)
{
    while (*text) {
        const char *word = text + 1;
        const size_t length = strcspn(word, "@ \n");
        if (*text == '@' && word[length] == '@' && put_word(out, project, word, length)) {
            text = word + length + 1;
            continue;
        }
        fputc(*text, out);
        text++;
    }
}

/* The text of a file, filled in. NULL without memory; the caller frees it. */
static char *filled_in(const new_project *project, const char *text, size_t *size)
{
    char *filled = NULL;
    FILE *out = open_memstream(&filled, size);
    if (!out)
        return NULL;
    expand(out, project, text);
    if (fclose(out) == 0)
        return filled;
    free(filled);
    return NULL;
}

static bool is_of(const new_project *project, const struct template *template)
{
    const project_language *language = project->language;
    if (strcmp(template->form, "all") != 0 && strcmp(template->form, project->form->name) != 0)
        return false;
    if (strcmp(template->language, "cmake") == 0)
        return language->languages != NULL;
    return !template->language[0] || strcmp(template->language, language->suffix) == 0;
}

static const struct template *template_of(const new_project *project, size_t index)
{
    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++)
        if (is_of(project, &templates[i]) && index-- == 0)
            return &templates[i];
    return NULL;
}

char *project_file(const new_project *project, size_t index)
{
    const struct template *template = template_of(project, index);
    char *path = NULL;
    if (!template)
        return NULL;
    const char *file = template->file;
    const bool named = strncmp(file, "NAME", 4) == 0;
    const char *begin = named ? project->name : strcmp(file, "gitignore") == 0 ? "." : "";
    return asprintf(&path, "%s/%s%s", project->folder, begin, named ? file + 4 : file) < 0 ? NULL : path;
}

/* Writes file `index`. Returns whether it stands there as a whole. */
static bool write_file(const new_project *project, size_t index, const char *path)
{
    size_t size = 0;
    char *text = filled_in(project, template_of(project, index)->text, &size);
    const bool written = text && output_file_write(path, text, size);
    const int reason = text ? errno : ENOMEM;
    free(text);
    errno = reason;
    return written;
}

/* Removes the first `count` files, and the folder. Keeps errno. */
static void take_back(const new_project *project, size_t count)
{
    const int reason = errno;
    while (count-- > 0) {
        char *path = project_file(project, count);
        if (path)
            unlink(path);
        free(path);
    }
    rmdir(project->folder);
    errno = reason;
}

bool project_write(const new_project *project, char **failed)
{
    *failed = NULL;
    if (mkdir(project->folder, MODE_FOLDER) != 0) {
        const int reason = errno;
        *failed = strdup(project->folder);
        errno = reason;
        return false;
    }
    for (size_t i = 0; template_of(project, i); i++) {
        char *path = project_file(project, i);
        if (!path || !write_file(project, i, path)) {
            take_back(project, i);
            *failed = path;
            return false;
        }
        free(path);
    }
    return true;
}
