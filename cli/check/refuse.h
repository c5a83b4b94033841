/* SPDX-License-Identifier: Apache-2.0 */
/* A broken rule becomes a finding. */
#ifndef GYRE_CHECK_REFUSE_H
#define GYRE_CHECK_REFUSE_H

#include "cli/check/checker.h"

/** Notes that a rule is broken where the cursor is. */
void refuse_at(struct checker *checker, CXCursor cursor, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
