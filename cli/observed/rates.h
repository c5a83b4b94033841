/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens a second in processes that are looked at: the counts of two looks at a process at itself, divided by the time
 * between these looks. A look of this program that finds nothing new keeps the rates of the one before.
 */
#ifndef GYRE_CLI_OBSERVED_RATES_H
#define GYRE_CLI_OBSERVED_RATES_H

#include "cli/observed/busy.h"
#include "cli/observed/link_rates.h"
#include "cli/observed/observed.h"

/** What is counted. Of a kernel: messages completed, failed, worker restarts. Of a queue: sent, received, refused, lost. */
typedef enum rates_count {
    RATES_HANDLED = 0,
    RATES_FAILED = 1,
    RATES_RESTARTS = 2,
    RATES_SENT = 0,
    RATES_RECEIVED = 1,
    RATES_REFUSED = 2,
    RATES_LOST = 3,
    RATES_COUNTS = 4
} rates_count;

/** A kernel or a queue. */
typedef struct rates_row {
    uint32_t kind, pid, record;
    uint64_t process_start, made_ns; /* with `pid` and `record`: which object it is */
    char process[GYRE_OBSERVE_NAME_MAX], kernel[GYRE_OBSERVE_NAME_MAX], queue[GYRE_OBSERVE_NAME_MAX];
    const observed_process *of; /* valid as long as the processes that the table was made of */
    const char *life;           /* observed_life_word */
    double age;                 /* seconds since the process looked at itself */
    uint32_t state;             /* of a kernel: gyre_kernel_state */
    bool has_canary;            /* another handler is on trial in it */
    busy_kernel busy;           /* of a kernel */
    uint64_t health;            /* gyre_kernel_health */
    uint64_t blocks, lanes, restarts, stalls, queued;
    bool lent;                                         /* another program uses the queue */
    uint64_t length, unanswered, unreceived, capacity; /* of a queue */
    double full, oldest;                               /* seconds */
    uint64_t looked_ns, counts[RATES_COUNTS];
    bool has_rates;
    double rates[RATES_COUNTS];
    uint64_t from_ns; /* the rates are those from then until looked_ns, by CLOCK_MONOTONIC of the process */
    gyre_observe_histogram trips; /* round trips of a queue so far */
    double p50, p99;              /* seconds, of those between the two looks; 0: there were none */
} rates_row;

typedef struct rates_table {
    rates_row *rows; /* each kernel with its queues behind it */
    size_t count;
    link_table links; /* of pipelines */
} rates_table;

/** Takes what was read, and the rates that come of it and of the table before. False without memory: the table is as before. */
bool rates_take(rates_table *table, const observed_processes *processes);
void rates_finish(rates_table *table);
/** True when a process that lives has objects whose rates are not known yet: it has to be read once more. */
bool rates_lack(const rates_table *table);

typedef enum rates_order { RATES_BY_RATE, RATES_BY_LENGTH, RATES_BY_NAME } rates_order;
/** Orders the kernels; queues stay behind their kernel. */
void rates_sort(rates_table *table, rates_order order);

/** Writes a rate for people: "0.91 M", "12.3 k", "7". */
const char *rates_text(double rate, char text[16]);

#endif
