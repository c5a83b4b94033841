/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the parser's errors into findings. */
#ifndef GYRE_CHECK_DIAGNOSTICS_H
#define GYRE_CHECK_DIAGNOSTICS_H

#include "cli/check/checker.h"

/** Adds a finding for each error of the parser, in words that fit a handler. */
void check_diagnostics(struct checker *checker);

#endif
