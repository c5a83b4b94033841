/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a finding for a broken rule. */
#ifndef GYRE_CHECK_REFUSE_H
#define GYRE_CHECK_REFUSE_H

#include "cli/check/checker.h"

/** Adds a finding: a rule is broken at the place of the cursor (a node of the syntax tree). */
void check_refuse_at(struct checker *checker, CXCursor cursor, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
