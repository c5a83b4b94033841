/* SPDX-License-Identifier: Apache-2.0 */
/* The cases of this folder's program, one function for each file, and the folder that they work in. */
#ifndef GYRE_TESTS_UNIT_CACHE_SUITES_H
#define GYRE_TESTS_UNIT_CACHE_SUITES_H

#include "unit/unit.h"

TCase *artifact_cases(void);

/** A fresh folder below the program's temporary one; lives until the next call of this thread. */
const char *fresh_folder(void);

#endif
