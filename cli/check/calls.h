/* SPDX-License-Identifier: Apache-2.0 */
/* Judges calls in a kernel by the rules of the dialect. */
#ifndef GYRE_CHECK_CALLS_H
#define GYRE_CHECK_CALLS_H

#include "cli/check/checker.h"

/** Judges a call. `function`: the index of the caller among the user's functions. */
void check_call(struct checker *checker, CXCursor call, size_t function);
/** The index of a function that the user defined, which is added when it is new; SIZE_MAX: there is no room. */
size_t check_find_function(struct checker *checker, CXCursor cursor);
/** Refuses functions that call themselves, directly or by way of other functions. */
void check_recursion(struct checker *checker);
/** Refuses barriers, and functions that all lanes of a block call together, in kernels of which one lane handles a message. */
void check_meetings(struct checker *checker);

#endif
