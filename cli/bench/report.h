/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the rows of `gyre bench`. */
#ifndef GYRE_CLI_BENCH_REPORT_H
#define GYRE_CLI_BENCH_REPORT_H

#include "cli/bench/bench.h"
#include "cli/json/json.h"

/** One row as JSON; NULL without memory. */
json_t *bench_row_json(const bench_row *row);
/** Prints all rows as a table for people, and a line for each missed target. */
int bench_print_rows(const bench_row *rows, size_t count);

#endif
