/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the variables and parameters that the user declares. */
#ifndef GYRE_CHECK_VARIABLES_H
#define GYRE_CHECK_VARIABLES_H

#include "cli/check/checker.h"

/** Judges a variable: its type, where it lies, its value. */
void check_variable(struct checker *checker, CXCursor cursor, bool in_function);
/** Refuses local variables of a function that together are too large for a lane's own memory. */
void check_locals(struct checker *checker, CXCursor function);
void check_parameter(struct checker *checker, CXCursor cursor);

#endif
