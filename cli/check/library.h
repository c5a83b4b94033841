/* SPDX-License-Identifier: Apache-2.0 */
/* Knows the names of C's library that only the CPU's headers declare. */
#ifndef GYRE_CHECK_LIBRARY_H
#define GYRE_CHECK_LIBRARY_H

#include "cli/check/checker.h"

/** The advice what to write in place of a name of C's library; NULL when `name` is no such name. */
const char *library_advice(const char *name);
/** True when the user's text defines a macro or a type of that name, also behind `#ifndef`, for devices that lack it. */
bool library_is_defined(const struct checker *checker, const char *name);

#endif
