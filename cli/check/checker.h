/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of a kernel file: judges the user's code by the rules of the kernel dialect, over the syntax tree of libclang. It
 * does not judge Gyre's and the system's headers. It knows code that Gyre's macros leave in the user's code by an annotation,
 * an address space, a reserved name or a member of Gyre's own structs, because only these macros write them.
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
    bool meets;       /* calls a function that all lanes of a block call together; first at `meeting` */
    bool is_handler, is_grid, is_keyed; /* a kernel's handler; a grid kernel's; a keyed actor's */
    bool meets_grid;                    /* calls gyre_grid_barrier; first at `grid_meeting` */
    bool reminds;                       /* calls gyre_remind or gyre_unremind; first at `reminding` */
    struct place meeting, grid_meeting, reminding;
};

/** One call from a user's function to another. */
struct user_call {
    size_t from, to;
    struct place place;
};

struct checker {
    const char *const *options; /* options for the preprocessor (-D, -U, -I), set by the caller */
    size_t option_count;
    CXTranslationUnit unit;
    const char *headers; /* the folder that holds gyre/kernel.h */
    bool
        macro_is_broken; /* a macro was called wrongly: names that are unknown behind it are its consequence */
    bool lacks_file;     /* an include of the user was not found: it may declare names unknown behind it */
    bool has_kernel_header; /* includes and expansions are seen in their order: <gyre/kernel.h> was met */
    char grid[128];         /* the grid kernel whose handler comes next (GYRE_GRID_MARK_); "": none */
    char keyed[128];        /* the keyed actor whose handler comes next (GYRE_KEYED_MARK_); "": none */
    char early[128];        /* first declaring macro before <gyre/kernel.h>; "": none */
    CXSourceRange refused_argument; /* a refused argument of the last call: nothing in it is judged */
    struct report report;
    size_t function_count, call_count;
    struct user_function functions[FUNCTIONS_MAX];
    struct user_call calls[CALLS_MAX];
};

#endif
