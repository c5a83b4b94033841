/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what an error of the parser means in a handler. */
#ifndef GYRE_CHECK_USAGE_H
#define GYRE_CHECK_USAGE_H

#include "cli/check/checker.h"

/** Tells how Gyre's own functions and macros are called, when a diagnostic is about their arguments; false: it is about
 * something else. */
bool check_arguments(struct checker *checker, CXDiagnostic diagnostic, const struct place *place);
/** Tells what an error of the parser means in a handler; false: nothing is known. */
bool check_usage(struct checker *checker, CXDiagnostic diagnostic, const struct place *place,
                 const char *text);

#endif
