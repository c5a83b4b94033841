/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for variables and parameters. */
#ifndef GYRE_CHECK_VARIABLES_H
#define GYRE_CHECK_VARIABLES_H

#include "cli/check/checker.h"

/** Judges a variable: its type, where it lies, its value. */
void check_variable(struct checker *checker, CXCursor cursor, bool in_function);
void check_parameter(struct checker *checker, CXCursor cursor);
/**
 * True for what looks like a declaration and is a call of a macro that Gyre does not have, or a wrong call of one that it has. The
 * former is refused; of the latter the parser has said so.
 */
bool is_lost_macro(struct checker *checker, const struct place *place, const char *name);

#endif
