/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the types that the user declares and uses. */
#ifndef GYRE_CHECK_TYPES_H
#define GYRE_CHECK_TYPES_H

#include "cli/check/checker.h"

/** The element type of arrays and pointers; *pointed tells whether a pointer was on the way. */
CXType check_strip_type(CXType type, bool *pointed);
/** Refuses a type that not every device has; `what` says what is of that type ("variable", "member"). */
void check_type(struct checker *checker, CXCursor cursor, CXType type, const char *what);
/** Judges a member of a struct. */
void check_member(struct checker *checker, CXCursor cursor);
/** Judges a struct that the user declared, or that a declaration of a message became. */
void check_struct(struct checker *checker, CXCursor cursor);
/** Refuses `packed` and `aligned` behind the members of a struct, union or enumeration. */
void check_attributes(struct checker *checker, CXCursor cursor);
/** Refuses another name of a type that is the name of a struct as well, which only C takes. */
void check_typedef(struct checker *checker, CXCursor cursor);
/** Refuses the use of a type, or of a constant, that was declared inside of a struct, where C++ hides it. */
void check_hidden(struct checker *checker, CXCursor reference);

#endif
