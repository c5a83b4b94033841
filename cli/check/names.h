/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for names: what other dialects cannot take over as it is. */
#ifndef GYRE_CHECK_NAMES_H
#define GYRE_CHECK_NAMES_H

#include "cli/check/checker.h"

/** Refuses a declared name, or a label, that is a keyword of another dialect. */
void check_name(struct checker *checker, CXCursor declaration);
/** Refuses a `case` behind a variable with a value in the same braces, and one whose value does not fit. */
void check_switch(struct checker *checker, CXCursor statement);
/** Refuses a variable in a loop's braces that has the name of one in its head. */
void check_for(struct checker *checker, CXCursor statement);
/** Refuses a name at file scope that a device's compiler has there itself. */
void check_global_name(struct checker *checker, CXCursor declaration);

#endif
