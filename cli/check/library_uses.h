/* SPDX-License-Identifier: Apache-2.0 */
/* Judges uses of C's library, and the macros that a kernel expands. */
#ifndef GYRE_CHECK_LIBRARY_USES_H
#define GYRE_CHECK_LIBRARY_USES_H

#include "cli/check/checker.h"

/** Refuses a type of C's library that the user's text names. */
void check_library_type(struct checker *checker, CXCursor reference);
/** Judges a macro that the user's text expands, by its owner (the user, Gyre, C's library). */
void check_expansion(struct checker *checker, CXCursor expansion);

#endif
