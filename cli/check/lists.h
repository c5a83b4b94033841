/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for what Gyre's macros are given. */
#ifndef GYRE_CHECK_LISTS_H
#define GYRE_CHECK_LISTS_H

#include "cli/check/checker.h"

/** Runs before the parser's errors are told, which follow from broken lists: a line with a finding is settled. */
void check_lists(struct checker *checker);

#endif
