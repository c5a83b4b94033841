/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs here have in common: messages of which each that was accepted is completed once, with the right
 * reply, and steps of which one that fails says why and works when it is made again.
 */
#ifndef GYRE_TESTS_EXCHANGE_H
#define GYRE_TESTS_EXCHANGE_H

#include <gyre/gyre.h>
#include <stdbool.h>
#include <stdint.h>

#include "failed.h"

enum { PATIENCE_MS = 15000 };

/** Ends the program with code 1 and a line. */
_Noreturn void wrong(const char *what, uint64_t expected, uint64_t found);

/** Sends, calls `meanwhile` (may be NULL) in the midst of it, and receives. `state` of an actor, else NULL. */
gyre_status exchange(gyre_queue *queue, failed_reply *state, void (*meanwhile)(void));

struct step {
    const char *name;
    gyre_status (*run)(void);
};

/** Whether all steps went well, each the first or the second time. */
bool take_steps(const struct step *steps, size_t count);

#endif
