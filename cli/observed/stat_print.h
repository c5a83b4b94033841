/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what observation files say: as tables for people, as JSON, as text for Prometheus. No state. Each returns an exit code. */
#ifndef GYRE_CLI_OBSERVED_STAT_PRINT_H
#define GYRE_CLI_OBSERVED_STAT_PRINT_H

#include <jansson.h>

#include "cli/observed/observed.h"

/** `events`: how many of the last events of each process. */
int stat_print_tables(const observed_processes *processes, uint64_t events);
json_t *stat_json(const observed_processes *processes, uint64_t events);
int stat_print_prometheus(const observed_processes *processes, FILE *out);

#endif
