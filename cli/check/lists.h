/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the arguments of Gyre's macros. */
#ifndef GYRE_CHECK_LISTS_H
#define GYRE_CHECK_LISTS_H

#include "cli/check/checker.h"

/** Judges all lists. Call before check_diagnostics, because errors of the parser follow from broken lists. Settles a line with
 * a finding: no further finding is reported for it. */
void check_lists(struct checker *checker);

#endif
