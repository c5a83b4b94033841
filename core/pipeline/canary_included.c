/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two files mean the same in one unit as each alone (canary_included.h). In the unit a header that both include is read once, where
 * the old file includes it; and macros of the old file's headers stay for the new file. So what both include may not name a macro that
 * one of the two defines before it, and the new file may not name one that it has from the old one's headers alone. Names are compared, not
 * meanings, so pairs are refused that would do. #if is not evaluated: what a file may include, it includes. Has no state.
 */
#include "core/pipeline/canary_included.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/pipeline/pipeline.h"

enum { HEADERS_MAX = 64, DEFINED_MAX = 4096 };
#define INSTEAD "give both files the same headers and macros, or swap without a canary"

struct header {
    char path[PATH_MAX];
    char *text;
    struct gyre_canary_text *words;
    bool is_shared;
};

/* What a file includes, and what that includes, in the order of the first time. */
struct closure {
    const char *path;       /* of the file */
    const char *folders[3]; /* where the compiler looks; the last is NULL */
    struct header *headers;
    size_t count;
    char unknown[128]; /* what is neither there nor Gyre's */
};

/* Names of macros. */
struct defined {
    const char *words[DEFINED_MAX];
    size_t lengths[DEFINED_MAX];
    size_t count;
    unsigned how; /* of the words that are taken in, or compared: all of these bits; */
    unsigned any; /* one of these; 0: all words */
    const char *found;
    size_t found_length;
    bool is_full;
};

/* ---- what is included ---- */

struct walk {
    struct closure *closure;
    char folder[PATH_MAX];
};

static bool gather(struct closure *closure, const char *path, const struct gyre_canary_text *words);

static bool find_header(const struct walk *walk, const char *name, size_t length, char sign,
                        char path[PATH_MAX])
{
    char typed[PATH_MAX * 2];
    for (int i = sign == '"' ? -1 : 0; i < 0 || walk->closure->folders[i]; i++) {
        const char *folder = i < 0 ? walk->folder : walk->closure->folders[i];
        snprintf(typed, sizeof typed, "%s%s%.*s", name[0] == '/' ? "" : folder, name[0] == '/' ? "" : "/",
                 (int)length, name);
        if (realpath(typed, path))
            return true;
    }
    return false;
}

static char *read_text(const char *path)
{
    size_t size = 0;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = descriptor < 0 ? NULL : gyre_file_text(descriptor, GYRE_SOURCE_SIZE_MAX, &size);
    if (descriptor >= 0)
        close(descriptor);
    return text;
}

static const struct header *header_at(const struct closure *closure, const char *path)
{
    for (size_t i = 0; i < closure->count; i++)
        if (strcmp(closure->headers[i].path, path) == 0)
            return &closure->headers[i];
    return NULL;
}

static bool see_include(void *context, const char *name, size_t length, char sign)
{
    struct walk *walk = context;
    struct closure *closure = walk->closure;
    char path[PATH_MAX];
    if (sign && length < PATH_MAX && find_header(walk, name, length, sign, path)) {
        if (header_at(closure, path))
            return true;
        struct header *header = closure->count < HEADERS_MAX ? &closure->headers[closure->count] : NULL;
        char *text = header ? read_text(path) : NULL;
        if (text) {
            closure->count++;
            memcpy(header->path, path, sizeof header->path);
            header->text = text;
            header->words = gyre_canary_text_create(text, strlen(text));
            return header->words && gather(closure, header->path, header->words);
        }
    } else if (sign && length > 5 && strncmp(name, "gyre/", 5) == 0) {
        return true; /* Gyre's own is the same for both */
    }
    snprintf(closure->unknown, sizeof closure->unknown, "%.*s", (int)(length < 120 ? length : 120), name);
    return false;
}

static bool gather(struct closure *closure, const char *path, const struct gyre_canary_text *words)
{
    struct walk walk = {.closure = closure};
    snprintf(walk.folder, sizeof walk.folder, "%s", path);
    char *slash = strrchr(walk.folder, '/');
    if (slash)
        slash[slash == walk.folder] = '\0';
    return gyre_canary_text_each_include(words, see_include, &walk);
}

static gyre_status open_closure(struct closure *closure, const struct gyre_canary_text *words)
{
    closure->headers = calloc(HEADERS_MAX, sizeof *closure->headers);
    if (closure->headers && gather(closure, closure->path, words))
        return GYRE_OK;
    if (!closure->unknown[0])
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the headers of '%s'", closure->path);
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "'%s' includes '%s', which lies neither beside it nor in Gyre's folder: what macros it "
        "would give the other handler of a canary is unknown: swap without a canary",
        closure->path, closure->unknown);
}

static void close_closure(struct closure *closure)
{
    for (size_t i = 0; i < closure->count; i++) {
        gyre_canary_text_destroy(closure->headers[i].words);
        free(closure->headers[i].text);
    }
    free(closure->headers);
}

/* In the unit the old file's headers come from the new one's folder where that has them. */
static gyre_status compare_texts(const struct closure *alone, const struct closure *together)
{
    for (size_t i = 0; i < alone->count || i < together->count; i++) {
        const struct header *one = i < alone->count ? &alone->headers[i] : NULL;
        const struct header *other = i < together->count ? &together->headers[i] : NULL;
        if (!one || !other || strcmp(one->text, other->text) != 0)
            return gyre_error_set(
                GYRE_INCOMPATIBLE,
                "'%s' is another text than '%s', and a canary runs both handlers with one: " INSTEAD,
                one ? one->path : "nothing", other ? other->path : "nothing");
    }
    return GYRE_OK;
}

/* ---- names ---- */

static bool is_meant(const struct defined *names, unsigned how)
{
    return (how & names->how) == names->how && (!names->any || how & names->any);
}

static bool take_in(void *context, const char *word, size_t length, unsigned how)
{
    struct defined *names = context;
    if (!is_meant(names, how))
        return true;
    names->is_full = names->count == DEFINED_MAX;
    if (names->is_full)
        return false;
    names->words[names->count] = word;
    names->lengths[names->count++] = length;
    return true;
}

static bool compare(void *context, const char *word, size_t length, unsigned how)
{
    struct defined *names = context;
    for (size_t i = 0; is_meant(names, how) && i < names->count; i++)
        if (names->lengths[i] == length && memcmp(names->words[i], word, length) == 0) {
            names->found = word;
            names->found_length = length;
            return false;
        }
    return true;
}

static void take_from(struct defined *names, const struct gyre_canary_text *words, unsigned how)
{
    names->how = how;
    names->any = 0;
    gyre_canary_text_each_word(words, take_in, names);
}

/* Takes in what the headers define that are shared, or are not. */
static void take_headers(struct defined *names, const struct closure *closure, bool shared)
{
    for (size_t i = 0; i < closure->count; i++)
        if (closure->headers[i].is_shared == shared)
            take_from(names, closure->headers[i].words, GYRE_CANARY_DEFINED);
}

static gyre_status refuse_named(struct defined *names, const char *path, const struct gyre_canary_text *words,
                                unsigned any)
{
    names->how = 0;
    names->any = any;
    if (!names->is_full && gyre_canary_text_each_word(words, compare, names))
        return GYRE_OK;
    if (names->is_full)
        return gyre_error_set(GYRE_INCOMPATIBLE, "the files of a canary define more than %d macros: " INSTEAD,
                              DEFINED_MAX);
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "'%s' names '%.*s', which is a macro of one of the two handlers' files or headers, and could mean "
        "another thing while both work: " INSTEAD,
        path, (int)names->found_length, names->found);
}

static gyre_status refuse_in_headers(struct defined *names, const struct closure *closure, bool shared)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < closure->count && status == GYRE_OK; i++)
        if (closure->headers[i].is_shared == shared)
            status = refuse_named(names, closure->headers[i].path, closure->headers[i].words, 0);
    return status;
}

static void find_shared(struct closure *was, struct closure *is)
{
    for (size_t i = 0; i < was->count; i++) {
        struct header *other = (struct header *)header_at(is, was->headers[i].path);
        was->headers[i].is_shared = other != NULL;
        if (other)
            other->is_shared = true;
    }
}

/* Whether both read the shared headers in one order. */
static bool is_one_order(const struct closure *was, const struct closure *is)
{
    size_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < was->count && !was->headers[i].is_shared)
            i++;
        while (k < is->count && !is->headers[k].is_shared)
            k++;
        if (i == was->count || k == is->count)
            return i == was->count && k == is->count;
        if (strcmp(was->headers[i].path, is->headers[k].path) != 0)
            return false;
    }
}

/* A shared header that names what another shared one defines depends on the order. */
static gyre_status check_order(struct defined *names, const struct closure *was, const struct closure *is)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; !is_one_order(was, is) && i < was->count && status == GYRE_OK; i++) {
        names->count = 0;
        for (size_t k = 0; k < was->count; k++)
            if (k != i && was->headers[k].is_shared)
                take_from(names, was->headers[k].words, GYRE_CANARY_DEFINED);
        if (was->headers[i].is_shared)
            status = refuse_named(names, was->headers[i].path, was->headers[i].words, 0);
    }
    return status;
}

/* What both include is read where the old file includes it. */
static gyre_status check_shared(const struct gyre_canary_pair *pair, struct defined *names,
                                const struct closure *was, const struct closure *is)
{
    const size_t early = gyre_canary_text_early_size(pair->old_words);
    const bool begin_alike = early == gyre_canary_text_early_size(pair->new_words) &&
                             memcmp(pair->old_text, pair->new_text, early) == 0;
    names->count = 0;
    if (!begin_alike) {
        take_from(names, pair->old_words, GYRE_CANARY_DEFINED | GYRE_CANARY_EARLY);
        take_from(names, pair->new_words, GYRE_CANARY_DEFINED | GYRE_CANARY_EARLY);
    }
    take_headers(names, was, false);
    take_headers(names, is, false);
    const gyre_status status = refuse_in_headers(names, was, true);
    return status == GYRE_OK ? check_order(names, was, is) : status;
}

/* What the old file's headers define stays for the new file, and is lost for it where the old file takes it away. */
static gyre_status check_left(const struct gyre_canary_pair *pair, struct defined *names,
                              const struct closure *was, const struct closure *is)
{
    names->count = 0;
    take_headers(names, was, false);
    gyre_status status = refuse_named(names, is->path, pair->new_words, 0);
    if (status == GYRE_OK)
        status = refuse_in_headers(names, is, false);
    take_headers(names, was, true);
    if (status == GYRE_OK)
        status = refuse_in_headers(names, is, false);
    if (status == GYRE_OK)
        status = refuse_named(names, is->path, pair->new_words,
                              GYRE_CANARY_DEFINED | GYRE_CANARY_TESTED | GYRE_CANARY_EARLY);
    return status == GYRE_OK ? refuse_named(names, was->path, pair->old_words, GYRE_CANARY_DEFINED) : status;
}

static gyre_status check_closures(const struct gyre_canary_pair *pair, struct closure *alone,
                                  struct closure *was, struct closure *is)
{
    struct defined *names = calloc(1, sizeof *names);
    if (!names)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the macros of '%s'", was->path);
    find_shared(was, is);
    gyre_status status = compare_texts(alone, was);
    if (status == GYRE_OK)
        status = check_shared(pair, names, was, is);
    if (status == GYRE_OK)
        status = check_left(pair, names, was, is);
    free(names);
    return status;
}

gyre_status gyre_canary_check_included(const struct gyre_canary_pair *pair)
{
    struct closure alone = {.path = pair->old_path, .folders = {pair->old_folder}};
    struct closure was = {.path = pair->old_path, .folders = {pair->new_folder, pair->old_folder}};
    struct closure is = {.path = pair->new_path, .folders = {pair->new_folder}};
    gyre_status status = open_closure(&alone, pair->old_words);
    was.path = pair->new_path; /* in the unit "..." is found in the new file's folder first */
    if (status == GYRE_OK)
        status = open_closure(&was, pair->old_words);
    was.path = pair->old_path;
    if (status == GYRE_OK)
        status = open_closure(&is, pair->new_words);
    if (status == GYRE_OK)
        status = check_closures(pair, &alone, &was, &is);
    close_closure(&alone);
    close_closure(&was);
    close_closure(&is);
    return status;
}
