/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the hooks of keyed actors. */
#ifndef GYRE_CHECK_HOOKS_H
#define GYRE_CHECK_HOOKS_H

#include "cli/check/checker.h"

/** Refuses a GYRE_KEYED_ACTOR_LIVES without its GYRE_BORN or its GYRE_PASSIVE, and one of these without it. */
void check_hooks(struct checker *checker);

#endif
