/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the hooks of keyed actors. */
#ifndef GYRE_CHECK_HOOKS_H
#define GYRE_CHECK_HOOKS_H

#include "cli/check/checker.h"

/** Refuses a keyed actor without a hook that its form declares (LIVES, REMINDED), and a hook without such an actor. */
void check_hooks(struct checker *checker);

#endif
