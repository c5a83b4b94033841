/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at processes as often as rates need it. No state. */
#ifndef GYRE_CLI_OBSERVED_RATES_LOOK_H
#define GYRE_CLI_OBSERVED_RATES_LOOK_H

#include "cli/observed/rates.h"

/** Reads the processes anew, and takes their rates. Returns an exit code; the sentence is printed then. */
int rates_look(const observed_source *source, observed_processes *processes, rates_table *table);
/**
 * Looks until the rates of processes that live are known, or three times as long as that should take. `nap` waits between two
 * looks, and returns false to end it.
 */
int rates_look_twice(const observed_source *source, observed_processes *processes, rates_table *table,
                     bool (*nap)(void *context, uint64_t milliseconds), void *context);

#endif
