/* SPDX-License-Identifier: Apache-2.0 */
/* Computes rates of links from looks at other processes (link_rates.h). No state. */
#include "cli/observed/link_rates.h"

#include <stdlib.h>
#include <string.h>

#include "cli/observed/times.h"

static bool is_same(const link_row *one, const link_row *other)
{
    return one->kind == other->kind && one->pid == other->pid && one->record == other->record &&
           one->process_start == other->process_start && one->made_ns == other->made_ns;
}

static void take_percentiles(link_row *row, const link_row *earlier)
{
    gyre_observe_histogram now = row->times;
    row->p50 = earlier->p50;
    row->p99 = earlier->p99;
    if (!times_subtract(&now, &earlier->times) || !times_count(&now))
        return;
    row->p50 = times_percentile(&now, 0.5);
    row->p99 = times_percentile(&now, 0.99);
}

static double per_second(uint64_t now, uint64_t before, double seconds)
{
    return now > before ? (double)(now - before) / seconds : 0; /* a count may have begun anew */
}

static void take_rates(link_row *row, const link_table *before)
{
    const link_row *earlier = NULL;
    for (size_t i = 0; i < before->count && !earlier; i++)
        earlier = is_same(row, &before->rows[i]) ? &before->rows[i] : NULL;
    if (!earlier)
        return;
    take_percentiles(row, earlier);
    const double seconds = (double)(row->looked_ns - earlier->looked_ns) / 1e9;
    row->has_rates = earlier->has_rates || row->looked_ns > earlier->looked_ns;
    row->sent_rate = row->looked_ns > earlier->looked_ns ? per_second(row->sent, earlier->sent, seconds)
                                                         : earlier->sent_rate;
    row->missed_rate = row->looked_ns > earlier->looked_ns ? per_second(row->missed, earlier->missed, seconds)
                                                           : earlier->missed_rate;
}

static link_row begin_row(const observed_process *process, uint32_t at, const gyre_observe_record *record,
                          const char *pipeline)
{
    link_row row = {.kind = record->kind,
                    .pid = process->seen.head.pid,
                    .record = at,
                    .process_start = process->seen.head.process_start,
                    .made_ns = record->made_ns,
                    .of = process,
                    .looked_ns = observed_value(&process->seen, at, 0)};
    snprintf(row.pipeline, sizeof row.pipeline, "%s", pipeline);
    return row;
}

static link_row link_row_of(const observed_process *process, uint32_t at, const gyre_observe_record *link,
                            const char *pipeline)
{
    const struct gyre_observed *seen = &process->seen;
    gyre_observe_record kernel;
    link_row row = begin_row(process, at, link, pipeline);
    snprintf(row.link, sizeof row.link, "%s", link->name);
    snprintf(row.from, sizeof row.from, "%s", observed_link_end(seen, at, GYRE_OBSERVE_LINK_FROM, &kernel));
    snprintf(row.to, sizeof row.to, "%s", observed_link_end(seen, at, GYRE_OBSERVE_LINK_TO, &kernel));
    row.sent = observed_value(seen, at, GYRE_OBSERVE_LINK_SENT);
    row.waiting = observed_value(seen, at, GYRE_OBSERVE_LINK_WAITING);
    row.capacity = observed_value(seen, at, GYRE_OBSERVE_LINK_CAPACITY);
    row.missed = observed_value(seen, at, GYRE_OBSERVE_LINK_MISSED);
    gyre_observed_histogram(seen, at, GYRE_OBSERVE_WAITED, &row.times);
    return row;
}

static void add_row(link_table *table, const link_table *before, const link_row *row)
{
    link_row *added = &table->rows[table->count++];
    *added = *row;
    take_rates(added, before);
}

static void add_pipeline(link_table *table, const link_table *before, const observed_process *process,
                         uint32_t at, const gyre_observe_record *pipeline)
{
    gyre_observe_record link;
    link_row row = begin_row(process, at, pipeline, pipeline->name);
    if (gyre_observed_histogram(&process->seen, at, GYRE_OBSERVE_ROUND_TRIP, &row.times))
        row.flows = times_count(&row.times);
    add_row(table, before, &row);
    for (uint32_t i = 0; (i = observed_next(&process->seen, i, GYRE_OBSERVE_LINK, at, &link));) {
        row = link_row_of(process, i, &link, pipeline->name);
        add_row(table, before, &row);
    }
}

bool link_rates_take(link_table *table, const observed_processes *processes)
{
    size_t room = 1;
    link_table taken = {0};
    gyre_observe_record pipeline;
    for (size_t i = 0; i < processes->count; i++)
        room += gyre_observed_records(&processes->items[i].seen);
    taken.rows = calloc(room, sizeof *taken.rows);
    if (!taken.rows)
        return false;
    for (size_t i = 0; i < processes->count; i++)
        for (uint32_t at = 0;
             (at = observed_next(&processes->items[i].seen, at, GYRE_OBSERVE_PIPELINE, 0, &pipeline));)
            add_pipeline(&taken, table, &processes->items[i], at, &pipeline);
    link_rates_finish(table);
    *table = taken;
    return true;
}

void link_rates_finish(link_table *table)
{
    free(table->rows);
    *table = (link_table){0};
}
