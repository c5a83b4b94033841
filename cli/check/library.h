/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C's library, which only the CPU's headers bring along. */
#ifndef GYRE_CHECK_LIBRARY_H
#define GYRE_CHECK_LIBRARY_H

#include "cli/check/checker.h"

/** What to write in place of a name, or NULL when there is no such name there. */
const char *library_advice(const char *name);
/** Whether the user's text has a macro or a type of that name, even behind `#ifndef`, for devices that lack it. */
bool library_is_defined(const struct checker *checker, const char *name);

#endif
