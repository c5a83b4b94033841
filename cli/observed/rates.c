/* SPDX-License-Identifier: Apache-2.0 */
/* Computes rates from looks at other processes (rates.h). No state. */
#include "cli/observed/rates.h"

#include <stdlib.h>
#include <string.h>

#include "cli/observed/times.h"

static bool is_same(const rates_row *one, const rates_row *other)
{
    return one->kind == other->kind && one->pid == other->pid && one->record == other->record &&
           one->process_start == other->process_start && one->made_ns == other->made_ns;
}

/* The percentiles of the round trips between the two looks; those of the looks before stay where nothing is new. */
static void take_trips(rates_row *row, const rates_row *earlier)
{
    gyre_observe_histogram now = row->trips;
    row->p50 = earlier->p50;
    row->p99 = earlier->p99;
    if (row->looked_ns == earlier->looked_ns || !times_subtract(&now, &earlier->trips))
        return;
    row->p50 = times_percentile(&now, 0.5);
    row->p99 = times_percentile(&now, 0.99);
}

/* A count may have begun anew, and a file may say anything: then nothing is known. */
static void take_rates(rates_row *row, const rates_table *before)
{
    const rates_row *earlier = NULL;
    for (size_t i = 0; i < before->count && !earlier; i++)
        earlier = is_same(row, &before->rows[i]) ? &before->rows[i] : NULL;
    if (!earlier || !row->looked_ns || row->looked_ns < earlier->looked_ns)
        return;
    row->has_rates = row->looked_ns > earlier->looked_ns || earlier->has_rates;
    const double seconds = (double)(row->looked_ns - earlier->looked_ns) / 1e9;
    row->from_ns = seconds > 0 ? earlier->looked_ns : earlier->from_ns;
    for (int i = 0; i < RATES_COUNTS; i++)
        row->rates[i] = seconds <= 0 ? earlier->rates[i]
                        : row->counts[i] > earlier->counts[i]
                            ? (double)(row->counts[i] - earlier->counts[i]) / seconds
                            : 0;
    take_trips(row, earlier);
}

static rates_row begin_row(const observed_process *process, uint32_t at, const gyre_observe_record *record)
{
    rates_row row = {.kind = record->kind,
                     .pid = process->seen.head.pid,
                     .record = at,
                     .process_start = process->seen.head.process_start,
                     .made_ns = record->made_ns,
                     .of = process,
                     .life = observed_life_word(process),
                     .age = (double)process->age_ns / 1e9,
                     .looked_ns = observed_value(&process->seen, at, 0)};
    memcpy(row.process, process->seen.head.program, sizeof row.process);
    return row;
}

static rates_row queue_row(const observed_process *process, uint32_t at, const gyre_observe_record *queue,
                           const char *kernel)
{
    const struct gyre_observed *seen = &process->seen;
    rates_row row = begin_row(process, at, queue);
    snprintf(row.kernel, sizeof row.kernel, "%s", kernel);
    memcpy(row.queue, queue->name, sizeof row.queue);
    row.lent = queue->detail[0] != '\0';
    row.length = observed_length(seen, at);
    row.unanswered = observed_value(seen, at, GYRE_OBSERVE_QUEUE_UNANSWERED);
    row.unreceived = observed_value(seen, at, GYRE_OBSERVE_QUEUE_UNRECEIVED);
    row.capacity = observed_value(seen, at, GYRE_OBSERVE_QUEUE_CAPACITY);
    row.full = observed_seconds_since(process, observed_value(seen, at, GYRE_OBSERVE_QUEUE_FULL_NS));
    row.oldest = observed_seconds_since(process, observed_value(seen, at, GYRE_OBSERVE_QUEUE_STILL_NS));
    gyre_observed_histogram(seen, at, GYRE_OBSERVE_ROUND_TRIP, &row.trips);
    row.counts[RATES_SENT] = observed_value(seen, at, GYRE_OBSERVE_QUEUE_SENT);
    row.counts[RATES_RECEIVED] = observed_value(seen, at, GYRE_OBSERVE_QUEUE_RECEIVED);
    row.counts[RATES_REFUSED] = observed_value(seen, at, GYRE_OBSERVE_QUEUE_REJECTED);
    row.counts[RATES_LOST] = observed_value(seen, at, GYRE_OBSERVE_QUEUE_DROPPED) +
                             observed_value(seen, at, GYRE_OBSERVE_QUEUE_LETTERS);
    return row;
}

static rates_row kernel_row(const observed_process *process, uint32_t at, const gyre_observe_record *kernel)
{
    const struct gyre_observed *seen = &process->seen;
    rates_row row = begin_row(process, at, kernel);
    memcpy(row.kernel, kernel->name, sizeof row.kernel);
    row.state = kernel->state;
    row.has_canary = observed_value(seen, at, GYRE_OBSERVE_KERNEL_CANARY) != 0;
    row.health = observed_value(seen, at, GYRE_OBSERVE_KERNEL_HEALTH);
    row.blocks = observed_value(seen, at, GYRE_OBSERVE_KERNEL_BLOCKS);
    row.lanes = observed_value(seen, at, GYRE_OBSERVE_KERNEL_LANES);
    row.restarts = observed_value(seen, at, GYRE_OBSERVE_KERNEL_RESTARTS);
    row.stalls = observed_value(seen, at, GYRE_OBSERVE_KERNEL_STALLS);
    row.queued = observed_value(seen, at, GYRE_OBSERVE_KERNEL_QUEUED);
    row.counts[RATES_HANDLED] = observed_value(seen, at, GYRE_OBSERVE_KERNEL_HANDLED);
    row.counts[RATES_FAILED] = observed_value(seen, at, GYRE_OBSERVE_KERNEL_FAILED);
    row.counts[RATES_RESTARTS] = row.restarts;
    row.busy = busy_of_kernel(seen, at);
    return row;
}

/* Adds a row to a table that has room for it. */
static rates_row *add_row(rates_table *table, const rates_table *before, const rates_row *row)
{
    rates_row *added = &table->rows[table->count++];
    *added = *row;
    take_rates(added, before);
    return added;
}

/* Adds a kernel and its queues. */
static void add_kernel(rates_table *table, const rates_table *before, const observed_process *process,
                       uint32_t at, const gyre_observe_record *record)
{
    gyre_observe_record queue;
    const rates_row kernel = kernel_row(process, at, record);
    add_row(table, before, &kernel);
    for (uint32_t q = 0; (q = observed_next(&process->seen, q, GYRE_OBSERVE_QUEUE, at, &queue));) {
        const rates_row row = queue_row(process, q, &queue, record->name);
        add_row(table, before, &row);
    }
}

bool rates_take(rates_table *table, const observed_processes *processes)
{
    size_t room = 1;
    rates_table taken = {0};
    gyre_observe_record kernel;
    for (size_t i = 0; i < processes->count; i++)
        room += gyre_observed_records(&processes->items[i].seen);
    taken.rows = calloc(room, sizeof *taken.rows);
    if (!taken.rows || !link_rates_take(&table->links, processes)) {
        free(taken.rows);
        return false;
    }
    taken.links = table->links;
    table->links = (link_table){0};
    for (size_t i = 0; i < processes->count; i++)
        for (uint32_t at = 0;
             (at = observed_next(&processes->items[i].seen, at, GYRE_OBSERVE_KERNEL, 0, &kernel));)
            add_kernel(&taken, table, &processes->items[i], at, &kernel);
    rates_finish(table);
    *table = taken;
    return true;
}

void rates_finish(rates_table *table)
{
    free(table->rows);
    link_rates_finish(&table->links);
    *table = (rates_table){0};
}

bool rates_lack(const rates_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (!table->rows[i].has_rates && strcmp(table->rows[i].life, "lives") == 0)
            return true;
    return false;
}

/* ---- order ---- */

/* A kernel with its queues, as they stand in the table. */
typedef struct group {
    size_t first, count;
    double key;
    const char *name;
} group;

static int compare_groups(const void *one, const void *other)
{
    const group *a = one, *b = other;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    const int names = strcmp(a->name, b->name);
    return names ? names : (a->first > b->first) - (a->first < b->first);
}

static double key_of(const rates_row *kernel, rates_order order)
{
    return order == RATES_BY_RATE     ? kernel->rates[RATES_HANDLED]
           : order == RATES_BY_LENGTH ? (double)kernel->queued
                                      : 0;
}

void rates_sort(rates_table *table, rates_order order)
{
    size_t groups_count = 0, at = 0;
    group *groups = calloc(table->count + 1, sizeof *groups);
    rates_row *sorted = calloc(table->count + 1, sizeof *sorted);
    for (size_t i = 0; groups && i < table->count; i++) {
        if (table->rows[i].kind == GYRE_OBSERVE_KERNEL)
            groups[groups_count++] =
                (group){.first = i, .key = key_of(&table->rows[i], order), .name = table->rows[i].kernel};
        groups[groups_count - 1].count++;
    }
    if (groups && sorted) {
        qsort(groups, groups_count, sizeof *groups, compare_groups);
        for (size_t i = 0; i < groups_count; i++)
            for (size_t k = 0; k < groups[i].count; k++)
                sorted[at++] = table->rows[groups[i].first + k];
        free(table->rows);
        table->rows = sorted;
        sorted = NULL;
    }
    free(sorted);
    free(groups);
}

const char *rates_text(double rate, char text[16])
{
    if (rate >= 999.5e6)
        snprintf(text, 16, "%.2f G", rate / 1e9);
    else if (rate >= 999.5e3)
        snprintf(text, 16, "%.2f M", rate / 1e6);
    else if (rate >= 9999.5)
        snprintf(text, 16, "%.1f k", rate / 1e3);
    else
        snprintf(text, 16, rate > 0 && rate < 9.95 ? "%.1f" : "%.0f", rate);
    return text;
}
