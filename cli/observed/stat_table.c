/* SPDX-License-Identifier: Apache-2.0 */
/* Prints observation files as tables for people (stat_print.h). */
#include <inttypes.h>

#include "cli/observed/stat_print.h"
#include "cli/base/table.h"
#include "cli/observed/times.h"

enum { CELL = 32 };

typedef struct cell {
    char text[CELL];
} cell;

static const char *number(cell *out, uint64_t value)
{
    snprintf(out->text, CELL, "%" PRIu64, value);
    return out->text;
}

static const char *seconds(cell *out, double value)
{
    char text[24];
    snprintf(out->text, CELL, "%s", value > 0 ? observed_seconds_text(value, text) : "-");
    return out->text;
}

static uint32_t count_kind(const struct gyre_observed *seen, uint32_t kind)
{
    gyre_observe_record record;
    uint32_t count = 0;
    for (uint32_t at = 0; (at = observed_next(seen, at, kind, 0, &record));)
        count++;
    return count;
}

static int print_processes(const observed_processes *processes)
{
    static const char *const headers[] = {">PROCESS", "PROGRAM", "STATE", ">SEEN", "STARTED",
                                          ">KERNELS", ">QUEUES", "FILE",  NULL};
    cli_table *table = cli_table_create(headers);
    for (size_t i = 0; i < processes->count; i++) {
        const observed_process *process = &processes->items[i];
        const gyre_observe_head *head = &process->seen.head;
        char started[32], age[24];
        cell cells[3];
        const char *const row[] = {number(&cells[0], head->pid),
                                   head->program,
                                   observed_life_word(process),
                                   observed_seconds_text((double)process->age_ns / 1e9, age),
                                   observed_time_text(process, head->started_ns, started),
                                   number(&cells[1], count_kind(&process->seen, GYRE_OBSERVE_KERNEL)),
                                   number(&cells[2], count_kind(&process->seen, GYRE_OBSERVE_QUEUE)),
                                   process->path};
        cli_table_add(table, row);
    }
    return cli_table_print(table);
}

static void add_kernel(cli_table *table, const observed_process *process, uint32_t at,
                       const gyre_observe_record *kernel)
{
    const struct gyre_observed *seen = &process->seen;
    gyre_observe_record device = {0};
    cell cells[8];
    char backend[GYRE_OBSERVE_NAME_MAX + GYRE_OBSERVE_DETAIL_MAX + 4];
    gyre_observed_record(seen, kernel->device, &device);
    snprintf(backend, sizeof backend, "%s: %s", device.name, device.detail);
    const bool dead = process->life == GYRE_OBSERVED_DEAD && !process->is_dump;
    const char *const row[] = {number(&cells[0], seen->head.pid),
                               kernel->name,
                               observed_value(seen, at, GYRE_OBSERVE_KERNEL_CANARY)
                                   ? "canary"
                                   : gyre_kernel_state_word((gyre_kernel_state)kernel->state),
                               seconds(&cells[1], observed_seconds_since(process, kernel->state_ns)),
                               dead ? "dead"
                                    : gyre_kernel_health_word((gyre_kernel_health)observed_value(
                                          seen, at, GYRE_OBSERVE_KERNEL_HEALTH)),
                               number(&cells[2], observed_value(seen, at, GYRE_OBSERVE_KERNEL_HANDLED)),
                               number(&cells[3], observed_value(seen, at, GYRE_OBSERVE_KERNEL_FAILED)),
                               number(&cells[4], observed_value(seen, at, GYRE_OBSERVE_KERNEL_QUEUED)),
                               number(&cells[5], observed_value(seen, at, GYRE_OBSERVE_KERNEL_RESTARTS)),
                               number(&cells[6], observed_value(seen, at, GYRE_OBSERVE_KERNEL_STALLS)),
                               number(&cells[7], observed_value(seen, at, GYRE_OBSERVE_KERNEL_BLOCKS)),
                               backend};
    cli_table_add(table, row);
}

static int print_kernels(const observed_processes *processes)
{
    static const char *const headers[] = {">PROCESS", "KERNEL",  "STATE",   ">SINCE",    "HEALTH",
                                          ">HANDLED", ">FAILED", ">QUEUED", ">RESTARTS", ">STALLS",
                                          ">BLOCKS",  "DEVICE",  NULL};
    cli_table *table = cli_table_create(headers);
    gyre_observe_record kernel;
    for (size_t i = 0; i < processes->count; i++)
        for (uint32_t at = 0;
             (at = observed_next(&processes->items[i].seen, at, GYRE_OBSERVE_KERNEL, 0, &kernel));)
            add_kernel(table, &processes->items[i], at, &kernel);
    return cli_table_print(table);
}

static void add_queue(cli_table *table, const observed_process *process, uint32_t at,
                      const gyre_observe_record *queue)
{
    const struct gyre_observed *seen = &process->seen;
    gyre_observe_record kernel = {0};
    cell cells[10];
    gyre_observed_record(seen, queue->parent, &kernel);
    const char *const row[] = {
        number(&cells[0], seen->head.pid),
        kernel.name,
        queue->name,
        number(&cells[1], observed_length(seen, at)),
        number(&cells[2], observed_value(seen, at, GYRE_OBSERVE_QUEUE_CAPACITY)),
        number(&cells[3], observed_value(seen, at, GYRE_OBSERVE_QUEUE_HIGH_WATER)),
        number(&cells[4], observed_value(seen, at, GYRE_OBSERVE_QUEUE_SENT)),
        number(&cells[5], observed_value(seen, at, GYRE_OBSERVE_QUEUE_RECEIVED)),
        number(&cells[6], observed_value(seen, at, GYRE_OBSERVE_QUEUE_REJECTED)),
        number(&cells[7], observed_value(seen, at, GYRE_OBSERVE_QUEUE_DROPPED) +
                              observed_value(seen, at, GYRE_OBSERVE_QUEUE_LETTERS)),
        seconds(&cells[8],
                observed_seconds_since(process, observed_value(seen, at, GYRE_OBSERVE_QUEUE_FULL_NS))),
        seconds(&cells[9],
                observed_seconds_since(process, observed_value(seen, at, GYRE_OBSERVE_QUEUE_STILL_NS))),
        queue->detail};
    cli_table_add(table, row);
}

static int print_queues(const observed_processes *processes)
{
    static const char *const headers[] = {">PROCESS", "KERNEL",  "QUEUE",     ">LENGTH",  ">CAPACITY",
                                          ">MOST",    ">SENT",   ">RECEIVED", ">REFUSED", ">LOST",
                                          ">FULL",    ">OLDEST", "CLIENT",    NULL};
    cli_table *table = cli_table_create(headers);
    gyre_observe_record queue;
    for (size_t i = 0; i < processes->count; i++)
        for (uint32_t at = 0;
             (at = observed_next(&processes->items[i].seen, at, GYRE_OBSERVE_QUEUE, 0, &queue));)
            add_queue(table, &processes->items[i], at, &queue);
    return cli_table_print(table);
}

static void add_journal(cli_table *table, const observed_process *process, uint32_t at,
                        const gyre_observe_record *queue)
{
    const struct gyre_observed *seen = &process->seen;
    gyre_observe_record kernel = {0};
    cell cells[4];
    char group[16];
    gyre_observed_record(seen, queue->parent, &kernel);
    const char *const row[] = {
        number(&cells[0], seen->head.pid),
        kernel.name,
        queue->name,
        number(&cells[1], observed_value(seen, at, GYRE_OBSERVE_QUEUE_JOURNAL_BYTES)),
        number(&cells[2], observed_value(seen, at, GYRE_OBSERVE_QUEUE_UNSAVED)),
        seconds(&cells[3],
                observed_seconds_since(process, observed_value(seen, at, GYRE_OBSERVE_QUEUE_UNSAVED_NS))),
        times_text((double)observed_value(seen, at, GYRE_OBSERVE_QUEUE_GROUP_NS) / 1e9, group)};
    cli_table_add(table, row);
}

/* Only where there are journals. */
static int print_journals(const observed_processes *processes)
{
    static const char *const headers[] = {">PROCESS", "KERNEL",  "QUEUE",          ">JOURNAL BYTES",
                                          ">UNSAVED", ">STANDS", ">LONGEST WRITE", NULL};
    size_t rows = 0;
    cli_table *table = cli_table_create(headers);
    gyre_observe_record queue;
    for (size_t i = 0; i < processes->count; i++) {
        const struct gyre_observed *seen = &processes->items[i].seen;
        for (uint32_t at = 0; (at = observed_next(seen, at, GYRE_OBSERVE_QUEUE, 0, &queue));) {
            if (!observed_value(seen, at, GYRE_OBSERVE_QUEUE_JOURNAL_BYTES))
                continue;
            add_journal(table, &processes->items[i], at, &queue);
            rows++;
        }
    }
    if (rows)
        printf("\n");
    return cli_table_end(table, rows > 0);
}

static void add_link(cli_table *table, const observed_process *process, uint32_t at,
                     const gyre_observe_record *link)
{
    const struct gyre_observed *seen = &process->seen;
    gyre_observe_record pipeline = {0}, from, to;
    cell cells[5];
    gyre_observed_record(seen, link->parent, &pipeline);
    const char *const row[] = {number(&cells[0], seen->head.pid),
                               pipeline.name,
                               observed_link_end(seen, at, GYRE_OBSERVE_LINK_FROM, &from),
                               link->detail,
                               observed_link_end(seen, at, GYRE_OBSERVE_LINK_TO, &to),
                               number(&cells[1], observed_value(seen, at, GYRE_OBSERVE_LINK_SENT)),
                               number(&cells[2], observed_value(seen, at, GYRE_OBSERVE_LINK_WAITING)),
                               number(&cells[3], observed_value(seen, at, GYRE_OBSERVE_LINK_CAPACITY)),
                               number(&cells[4], observed_value(seen, at, GYRE_OBSERVE_LINK_MISSED)),
                               observed_value(seen, at, GYRE_OBSERVE_LINK_CUT) ? "cut off" : "open"};
    cli_table_add(table, row);
}

/* Only where there are pipelines. */
static int print_links(const observed_processes *processes)
{
    static const char *const headers[] = {">PROCESS", "PIPELINE",  "FROM",    "PORT",  "TO", ">SENT",
                                          ">WAITING", ">CAPACITY", ">MISSED", "STATE", NULL};
    size_t rows = 0;
    cli_table *table = cli_table_create(headers);
    gyre_observe_record link;
    for (size_t i = 0; i < processes->count; i++)
        for (uint32_t at = 0;
             (at = observed_next(&processes->items[i].seen, at, GYRE_OBSERVE_LINK, 0, &link)); rows++)
            add_link(table, &processes->items[i], at, &link);
    if (rows)
        printf("\n");
    return cli_table_end(table, rows > 0);
}

/* Of a queue, of a kernel (`queue` is ""), of a link, or of the flows of a pipeline. */
static void add_times(cli_table *table, const observed_process *process, uint32_t at, const char *kernel,
                      const char *queue, size_t *rows)
{
    gyre_observe_histogram times;
    cell cells[2];
    char texts[5][16];
    for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++) {
        if (!gyre_observed_histogram(&process->seen, at, (enum gyre_observe_time)time, &times) ||
            !times_count(&times))
            continue;
        const char *const row[] = {number(&cells[0], process->seen.head.pid),
                                   kernel,
                                   queue,
                                   times_words[time],
                                   number(&cells[1], times_count(&times)),
                                   times_text(times_mean(&times), texts[0]),
                                   times_text(times_percentile(&times, 0.5), texts[1]),
                                   times_text(times_percentile(&times, 0.9), texts[2]),
                                   times_text(times_percentile(&times, 0.99), texts[3]),
                                   times_text(times_percentile(&times, 1), texts[4])};
        cli_table_add(table, row);
        ++*rows;
    }
}

/* Only where a kernel times its messages. */
static int print_times(const observed_processes *processes)
{
    static const char *const headers[] = {">PROCESS", "OF",   "QUEUE OR LINK", "TIME",  ">MESSAGES", ">MEAN",
                                          ">P50",     ">P90", ">P99",          ">MOST", NULL};
    size_t rows = 0;
    cli_table *table = cli_table_create(headers);
    gyre_observe_record kernel, queue;
    for (size_t i = 0; i < processes->count; i++) {
        const observed_process *process = &processes->items[i];
        for (uint32_t at = 0; (at = observed_next(&process->seen, at, GYRE_OBSERVE_KERNEL, 0, &kernel));) {
            add_times(table, process, at, kernel.name, "", &rows);
            for (uint32_t q = 0; (q = observed_next(&process->seen, q, GYRE_OBSERVE_QUEUE, at, &queue));)
                add_times(table, process, q, kernel.name, queue.name, &rows);
        }
        for (uint32_t at = 0; (at = observed_next(&process->seen, at, GYRE_OBSERVE_PIPELINE, 0, &kernel));) {
            add_times(table, process, at, kernel.name, "(flows)", &rows);
            for (uint32_t link = 0;
                 (link = observed_next(&process->seen, link, GYRE_OBSERVE_LINK, at, &queue));)
                add_times(table, process, link, kernel.name, queue.name, &rows);
        }
    }
    if (rows)
        printf("\n");
    return cli_table_end(table, rows > 0);
}

static void print_troubles(const observed_process *process)
{
    static const char *const levels[] = {"?", "error", "warning"};
    gyre_observe_trouble trouble;
    char first[32], last[32];
    for (uint32_t i = 0; i < gyre_observed_troubles(&process->seen); i++)
        if (gyre_observed_trouble(&process->seen, i, &trouble))
            printf("%" PRIu32 "  %s  %" PRIu64 " times, from %s to %s: %s\n", process->seen.head.pid,
                   levels[trouble.level < 3 ? trouble.level : 0], trouble.count,
                   observed_time_text(process, trouble.first_ns, first),
                   observed_time_text(process, trouble.last_ns, last), trouble.text);
}

static void print_events(const observed_process *process, uint64_t most)
{
    const uint64_t all = process->seen.head.events, kept = gyre_observed_first_event(&process->seen);
    const uint64_t wanted = all > most ? all - most + 1 : 1;
    gyre_observe_event event;
    char at[32];
    for (uint64_t i = wanted > kept ? wanted : kept; i <= all; i++)
        if (gyre_observed_event(&process->seen, i, &event))
            printf("%" PRIu32 "  %s  %s\n", process->seen.head.pid,
                   observed_time_text(process, event.at_ns, at), event.text);
}

int stat_print_tables(const observed_processes *processes, uint64_t events)
{
    int code = print_processes(processes);
    printf("\n");
    if (code == CLI_OK)
        code = print_kernels(processes);
    printf("\n");
    if (code == CLI_OK)
        code = print_queues(processes);
    if (code == CLI_OK)
        code = print_journals(processes);
    if (code == CLI_OK)
        code = print_links(processes);
    if (code == CLI_OK)
        code = print_times(processes);
    bool any = false;
    gyre_observe_trouble trouble;
    for (size_t i = 0; i < processes->count; i++)
        for (uint32_t at = 0; at < gyre_observed_troubles(&processes->items[i].seen) && !any; at++)
            any = gyre_observed_trouble(&processes->items[i].seen, at, &trouble);
    if (any)
        printf("\nTROUBLES\n");
    for (size_t i = 0; i < processes->count; i++)
        print_troubles(&processes->items[i]);
    if (events)
        printf("\nEVENTS\n");
    for (size_t i = 0; i < processes->count; i++)
        print_events(&processes->items[i], events);
    return code;
}
