/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses names, and jumps, that other dialects do not accept. */
#ifndef GYRE_CHECK_NAMES_H
#define GYRE_CHECK_NAMES_H

#include "cli/check/checker.h"

/** Refuses a declared name, or a label, that is a keyword of another dialect. */
void check_name(struct checker *checker, CXCursor declaration);
/** Refuses a `case` behind a variable with a value in the same braces, and a `case` whose value does not fit the switch. */
void check_switch(struct checker *checker, CXCursor statement);
/** Refuses a variable in a loop's braces that has the name of a variable in the loop's head. */
void check_for(struct checker *checker, CXCursor statement);
/** Refuses a name at file scope that a device's compiler declares there itself. */
void check_global_name(struct checker *checker, CXCursor declaration);

#endif
