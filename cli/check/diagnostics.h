/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's own errors. */
#ifndef GYRE_CHECK_DIAGNOSTICS_H
#define GYRE_CHECK_DIAGNOSTICS_H

#include "cli/check/checker.h"

/** Each error of the parser becomes a finding, in words that fit a handler. */
void check_diagnostics(struct checker *checker);

#endif
