/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the kernel dialect, over the syntax tree of libclang. Only code of the user is judged: Gyre's
 * and the system's headers may do what they like. The checker knows the
 * code that Gyre's macros leave in the user's code by an annotation, an address space, a reserved name or a member of Gyre's own
 * structs, which only these macros write.
 */
#ifndef GYRE_CHECK_CHECKER_H
#define GYRE_CHECK_CHECKER_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "cli/check/report.h"

/** The author of a piece of text. */
enum owner {
    OWNER_NOBODY, /* no file: builtins, the command line */
    OWNER_USER,
    OWNER_GYRE,
    OWNER_SYSTEM
};

/** The beginning of the name of a kernel's handler. */
static const char handler_prefix[] = "gyre_handler_";

enum { FUNCTIONS_MAX = 4096, CALLS_MAX = 32768 };

/** A function that the user defined. */
struct user_function {
    CXCursor cursor; /* canonical */
    char name[128];
    bool works_alone; /* the handler of a kernel of which one lane works on a message */
    bool meets;       /* calls what all lanes of a block call alike, first in */
    struct place meeting;
};

/** One call from a user's function to another. */
struct user_call {
    size_t from, to;
    struct place place;
};

struct checker {
    const char *const *options; /* of the preprocessor: -D, -U, -I; set by who wants some */
    size_t option_count;
    CXTranslationUnit unit;
    const char *headers; /* the folder that holds gyre/kernel.h */
    bool
        macro_is_broken; /* a macro was called wrongly: names that are unknown behind it are its consequence */
    bool lacks_file;     /* of an include of the user's: what is unknown behind it may have been in there */
    bool has_kernel_header; /* includes and expansions are seen in their order: <gyre/kernel.h> was met */
    char early[128];        /* the first macro before it that declares what a handler uses; "": none */
    CXSourceRange refused_argument; /* of the last call that takes a literal there: nothing in it is judged */
    struct report report;
    size_t function_count, call_count;
    struct user_function functions[FUNCTIONS_MAX];
    struct user_call calls[CALLS_MAX];
};

/**
 * Parses and judges one file; `text` NULL: as it is on disk, else these bytes in its place. The findings are
 * in checker->report. Starts from a zeroed checker.
 */
void checker_run(struct checker *checker, const char *path, const char *text, size_t text_size,
                 const char *headers);

#endif
