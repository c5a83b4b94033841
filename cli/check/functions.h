/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the functions that the user declares. */
#ifndef GYRE_CHECK_FUNCTIONS_H
#define GYRE_CHECK_FUNCTIONS_H

#include "cli/check/checker.h"

/** Judges a function that the user defined and that is no handler. */
void check_function(struct checker *checker, CXCursor cursor);
/** Refuses a function that is declared inside another function. */
void check_inner_function(struct checker *checker, CXCursor cursor);

#endif
