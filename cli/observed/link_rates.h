/* SPDX-License-Identifier: Apache-2.0 */
/* What happens a second on links between kernels, and how long messages wait there: as rates.h, for pipelines. */
#ifndef GYRE_CLI_OBSERVED_LINK_RATES_H
#define GYRE_CLI_OBSERVED_LINK_RATES_H

#include "cli/observed/observed.h"

/** A pipeline, or a link of it. */
typedef struct link_row {
    uint32_t kind, pid, record; /* GYRE_OBSERVE_PIPELINE, GYRE_OBSERVE_LINK */
    uint64_t process_start, made_ns;
    const observed_process *of; /* valid as long as the processes that the table was made of */
    char pipeline[GYRE_OBSERVE_NAME_MAX], link[GYRE_OBSERVE_NAME_MAX];
    char from[GYRE_OBSERVE_NAME_MAX], to[GYRE_OBSERVE_NAME_MAX]; /* kernels */
    uint64_t sent, waiting, capacity, missed;                    /* of a link */
    uint64_t looked_ns, flows; /* flows: those of a pipeline that were timed, ever */
    bool has_rates;
    double sent_rate, missed_rate; /* a second */
    /* of a link: how long messages waited for their handler; of a pipeline: round trips of its flows. So far, and between the looks */
    gyre_observe_histogram times;
    double p50, p99; /* seconds; 0: nothing was timed between the looks */
} link_row;

typedef struct link_table {
    link_row *rows; /* each pipeline with its links behind it */
    size_t count;
} link_table;

/** Takes what was read, and the rates that come of it and of the table before. False without memory: the table is as before. */
bool link_rates_take(link_table *table, const observed_processes *processes);
void link_rates_finish(link_table *table);

#endif
