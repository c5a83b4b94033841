/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the kernel dialect, over the syntax tree of libclang. Only code of the user is judged: Gyre's
 * and the system's headers may do what they like. What Gyre's macros leave in the user's code is told by what
 * only they write: an annotation, an address space, a reserved name, a member of Gyre's own structs.
 */
#ifndef GYRE_CHECK_CHECKER_H
#define GYRE_CHECK_CHECKER_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "report.h"

/** Whose text something is. */
enum owner {
    OWNER_NOBODY, /* no file: builtins, the command line */
    OWNER_USER,
    OWNER_GYRE,
    OWNER_SYSTEM
};

/** What the name of a kernel's handler begins with. */
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

/** A rule is broken where the cursor is. */
void refuse_at(struct checker *checker, CXCursor cursor, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- places.c ---- */

/** Where it takes effect, for messages: macro bodies count as where the macro is used. */
struct place place_of(CXSourceLocation location);
/** Whose file it takes effect in; libclang does not tell whose macro a piece of text came from. */
enum owner owner_of_use(const struct checker *checker, CXSourceLocation location);
enum owner owner_of_file(const struct checker *checker, CXFile file);
/** Copies and disposes; returns `text`. */
char *take_string(CXString string, char *text, size_t size);

/** Who wrote what a cursor begins with, in a macro or not. */
enum owner owner_of_text(const struct checker *checker, CXCursor cursor);
/** What the text of a cursor begins with. */
char *first_token(const struct checker *checker, CXCursor cursor, char *text, size_t size);
/** Where it takes effect, in bytes from the begin of that file, which is told unless `file` is NULL. */
unsigned offset_of(CXSourceLocation location, CXFile *file);
/** Whether a cursor stands in the text of another. */
bool is_inside(CXCursor cursor, CXCursor outer);

/* ---- diagnostics.c: the parser's own errors ---- */
void check_diagnostics(struct checker *checker);

/* ---- includes.c ---- */
void check_include(struct checker *checker, CXCursor directive);
/** Of a macro of Gyre's by the user: notes it when it comes too early. */
void note_declaration(struct checker *checker, const char *macro);
/** Whether a header of that name belongs to a vendor's toolkit. */
bool is_vendor_header(const char *name);

/* ---- types.c ---- */
/** What arrays and pointers are made of; *pointed tells whether there was a pointer on the way. */
CXType strip_type(CXType type, bool *pointed);
/** Refuses a type that not every device has, of what `what` says. */
void check_type(struct checker *checker, CXCursor cursor, CXType type, const char *what);
/** A member of a struct. */
void check_member(struct checker *checker, CXCursor cursor);
/** A struct that the user declared, or that a declaration of a message became. */
void check_struct(struct checker *checker, CXCursor cursor);
/** Refuses `packed` and `aligned` behind the members of a struct, union or enumeration. */
void check_attributes(struct checker *checker, CXCursor cursor);
/** A type's other name, which in C may be that of a struct as well. */
void check_typedef(struct checker *checker, CXCursor cursor);
/** Refuses the use of a type, or of a constant, that was declared inside of a struct, where C++ hides it. */
void check_hidden(struct checker *checker, CXCursor reference);

/* ---- variables.c ---- */
void check_variable(struct checker *checker, CXCursor cursor, bool in_function);
void check_parameter(struct checker *checker, CXCursor cursor);
/**
 * A macro of Gyre that there is not, or that was called wrongly, looks like a declaration of that name: true, and
 * refused. When it was the call, the parser has said so.
 */
bool is_lost_macro(struct checker *checker, const struct place *place, const char *name);

/* ---- functions.c ---- */
void check_function(struct checker *checker, CXCursor cursor);
/** A function that is declared inside of another. */
void check_inner_function(struct checker *checker, CXCursor cursor);

/* ---- names.c: what other dialects cannot take over as it is ---- */
/** Refuses a declared name, or a label, that is a keyword of another dialect. */
void check_name(struct checker *checker, CXCursor declaration);
/** Refuses a `case` behind a variable with a value in the same braces, and one whose value does not fit. */
void check_switch(struct checker *checker, CXCursor statement);
/** Refuses a variable in a loop's braces that has the name of one in its head. */
void check_for(struct checker *checker, CXCursor statement);

/** Refuses a name at file scope that a device's compiler has there itself. */
void check_global_name(struct checker *checker, CXCursor declaration);

/* ---- conversions.c: what C converts by itself, and other dialects do not ---- */
/** What an expression consists of. */
/** usage.c: of a diagnostic about arguments of Gyre's own functions and macros, says how they are called; false: about
 * something else. */
bool check_arguments(struct checker *checker, CXDiagnostic diagnostic, const struct place *place);
/** Of an error of the parser, what it means in a handler; false: nothing is known. */
bool check_usage(struct checker *checker, CXDiagnostic diagnostic, const struct place *place,
                 const char *text);

struct parts {
    CXCursor cursors[3];
    unsigned count; /* of all, also those that find no room */
};

struct parts parts_of(CXCursor cursor);
/** An expression without what is only brackets or a conversion that nobody wrote. */
CXCursor strip_conversions(CXCursor expression);
/** Of an expression with two operands: what stands between them. "": it cannot be seen. */
void operator_of(const struct checker *checker, CXCursor expression, char *text, size_t size);
void check_conversion(struct checker *checker, CXCursor parent, CXCursor conversion);
/** A text that fills its array to the last byte. */
void check_literal(struct checker *checker, CXCursor literal);
/** `++`, `--` and `+=` on an enumeration. */
void check_change(struct checker *checker, CXCursor operation);
/** Whether it is of type bool in C++. */
bool is_truth_value(const struct checker *checker, CXCursor expression);
/** `sizeof` of what has another type in C++. */
void check_sizeof(struct checker *checker, CXCursor expression);
/** A call of one of C's functions for f64, whose name ends without f. */
void check_math(struct checker *checker, CXCursor call, const char *name, const struct place *place);

/* ---- library.c: names of C's library, which only the CPU's headers bring along ---- */
void check_library_type(struct checker *checker, CXCursor reference);
void check_expansion(struct checker *checker, CXCursor expansion);
/** What to write in its place, or NULL when there is no such name there. */
const char *library_advice(const char *name);
/** Whether the user's text has a macro or a type of that name: also behind `#ifndef`, for devices that lack it. */
bool library_is_defined(const struct checker *checker, const char *name);

/* ---- words.c: words of C that C++ or OpenCL C lack ---- */
void check_words(struct checker *checker);
/** In the body of a macro of the user's. */
void check_macro_words(struct checker *checker, CXCursor definition);

/* ---- lists.c: what Gyre's macros are given ---- */
/** Before the parser's errors are told, which follow from it: what is found settles its lines. */
void check_lists(struct checker *checker);

/* ---- protocols.c ---- */
/** Refuses handlers and migrations that nobody would call. */
void check_protocols(struct checker *checker);
/** A call of a function that is to handle a type, and that there is not; false: it is another function. */
bool refuse_unhandled(struct checker *checker, const char *function, const struct place *place);
/** What the parser says of a handler of a type; false: it is about something else. `other_line`: of the earlier definition. */
bool refuse_protocol(struct checker *checker, const struct place *place, const char *text,
                     unsigned other_line);
/** Refuses a part of a request as one of the reply. */
void check_assignment(struct checker *checker, CXCursor operation);

/* ---- calls.c ---- */
/** `function` is the index of the caller among the user's functions. */
void check_call(struct checker *checker, CXCursor call, size_t function);
/** The index of a function that the user defined, which is added when it is new; SIZE_MAX: there is no room. */
size_t find_function(struct checker *checker, CXCursor cursor);
void check_recursion(struct checker *checker);
/** Refuses barriers, and functions of a block, in kernels that are not of blocks. */
void check_meetings(struct checker *checker);

#endif
