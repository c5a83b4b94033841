/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses names that look like a macro of Gyre's and are none: misspelt, or used before the include of <gyre/kernel.h>. */
#ifndef GYRE_CHECK_LOST_MACROS_H
#define GYRE_CHECK_LOST_MACROS_H

#include "cli/check/checker.h"

enum { NAME_SIZE = 64 };

/** The number of letters to add, to leave out or to replace to turn one name into the other. Both are shorter than NAME_SIZE. */
unsigned check_name_distance(const char *a, const char *b);
/**
 * True for text that looks like a declaration and is a call of a macro of Gyre that does not exist, or a wrong call of an
 * existing macro. Refuses the first; the parser has reported the second.
 */
bool check_is_lost_macro(struct checker *checker, const struct place *place, const char *name);
/** Refuses a misspelt macro at file scope. Call before the parser's errors become findings, because they follow from it. */
void check_lost_macros(struct checker *checker);

#endif
