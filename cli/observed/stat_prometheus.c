/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observation files as text for Prometheus (stat_print.h). All samples of a metric stand together, as the format demands. Of a dead
 * process there is one sample, that it is not up: its counts do not go on.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/observed/busy.h"
#include "cli/observed/stat_print.h"
#include "cli/observed/times.h"

/* Writes a label's value. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void put_process(FILE *out, const observed_process *process)
{
    fprintf(out, "{pid=\"%" PRIu32 "\",program=\"", process->seen.head.pid);
    put_text(out, process->seen.head.program);
    fputc('"', out);
}

static void put_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, ",%s=\"", name);
    put_text(out, value);
    fputc('"', out);
}

static void put_head(FILE *out, const char *metric, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric, type);
}

static void put_number(FILE *out, double value)
{
    fprintf(out, "} %.17g\n", value);
}

/* ---- processes ---- */

static double up_of(const observed_process *process)
{
    return process->life == GYRE_OBSERVED_LIVES && !observed_is_late(process);
}

static double age_of(const observed_process *process)
{
    return (double)process->age_ns / 1e9;
}

static double started_of(const observed_process *process)
{
    return (double)process->seen.head.started_real_ns / 1e9;
}

static double unseen_of(const observed_process *process)
{
    return (double)process->seen.head.records_refused;
}

static void put_processes(FILE *out, const observed_processes *processes)
{
    static const struct {
        const char *metric, *type, *help;
        double (*value)(const observed_process *process);
        bool of_dead;
    } rows[] = {
        {"gyre_process_up", "gauge", "1: the process lives and looked at itself lately.", up_of, true},
        {"gyre_process_look_age_seconds", "gauge", "How old these values are.", age_of, false},
        {"gyre_process_start_time_seconds", "gauge", "When the process launched its first kernel.",
         started_of, false},
        {"gyre_process_unseen", "gauge", "Kernels, queues and histograms without a place in the file.",
         unseen_of, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put_head(out, rows[i].metric, rows[i].type, rows[i].help);
        for (size_t p = 0; p < processes->count; p++) {
            const observed_process *process = &processes->items[p];
            if (process->life == GYRE_OBSERVED_DEAD && !rows[i].of_dead)
                continue;
            fputs(rows[i].metric, out);
            put_process(out, process);
            put_number(out, rows[i].value(process));
        }
    }
}

static void put_troubles(FILE *out, const observed_processes *processes)
{
    static const char *const levels[] = {"error", "warning"};
    put_head(out, "gyre_troubles_total", "counter", "Lines of the log, by their level.");
    for (size_t p = 0; p < processes->count; p++) {
        const observed_process *process = &processes->items[p];
        uint64_t counts[2] = {0};
        gyre_observe_trouble trouble;
        for (uint32_t i = 0; i < gyre_observed_troubles(&process->seen); i++)
            if (gyre_observed_trouble(&process->seen, i, &trouble))
                counts[trouble.level > GYRE_LOG_ERROR] += trouble.count;
        for (size_t level = 0; level < 2 && process->life != GYRE_OBSERVED_DEAD; level++) {
            fputs("gyre_troubles_total", out);
            put_process(out, process);
            put_label(out, "level", levels[level]);
            put_number(out, (double)counts[level]);
        }
    }
}

/* ---- records ---- */

static void put_link(FILE *out, const observed_process *process, uint32_t at, const gyre_observe_record *link)
{
    gyre_observe_record pipeline = {0}, kernel;
    gyre_observed_record(&process->seen, link->parent, &pipeline);
    put_label(out, "pipeline", pipeline.name);
    put_label(out, "link", link->name);
    put_label(out, "from", observed_link_end(&process->seen, at, GYRE_OBSERVE_LINK_FROM, &kernel));
    put_label(out, "to", observed_link_end(&process->seen, at, GYRE_OBSERVE_LINK_TO, &kernel));
}

/*
 * `at`: the number of a link's record. Kernels of different runtimes of a process may have one name; the second runtime's are
 * marked.
 */
static void put_record(FILE *out, const observed_process *process, uint32_t at,
                       const gyre_observe_record *record)
{
    gyre_observe_record owner = *record, runtime;
    put_process(out, process);
    const bool known = record->kind == GYRE_OBSERVE_KERNEL || record->kind == GYRE_OBSERVE_PIPELINE ||
                       gyre_observed_record(&process->seen, record->parent, &owner);
    if (record->kind == GYRE_OBSERVE_LINK)
        put_link(out, process, at, record);
    else
        put_label(out, record->kind == GYRE_OBSERVE_PIPELINE ? "pipeline" : "kernel",
                  known ? owner.name : "");
    if (record->kind == GYRE_OBSERVE_QUEUE)
        put_label(out, "queue", record->name);
    const uint32_t first = observed_next(&process->seen, 0, GYRE_OBSERVE_RUNTIME, 0, &runtime);
    if (known && owner.parent != first)
        fprintf(out, ",runtime=\"%" PRIu32 "\"", owner.parent);
}

static double number_of(const observed_process *process, uint32_t at, const observed_word *word)
{
    const uint64_t value = observed_value(&process->seen, at, word->word);
    const uint64_t minus = word->minus ? observed_value(&process->seen, at, word->minus) : 0;
    if (word->unit == OBSERVED_SINCE)
        return observed_seconds_since(process, value);
    return (double)(value > minus ? value - minus : 0) / (word->unit == OBSERVED_NS ? 1e9 : 1);
}

static void put_word(FILE *out, const observed_process *process, const observed_word *word)
{
    gyre_observe_record record;
    for (uint32_t at = 0; (at = observed_next(&process->seen, at, word->kind, 0, &record));) {
        fputs(word->metric, out);
        put_record(out, process, at, &record);
        if (word->labels[0])
            fprintf(out, ",%s", word->labels);
        put_number(out, number_of(process, at, word));
    }
}

static void put_words(FILE *out, const observed_processes *processes)
{
    const char *metric = "";
    for (size_t i = 0; i < observed_word_count; i++) {
        const observed_word *word = &observed_words[i];
        if (strcmp(metric, word->metric) != 0)
            put_head(out, word->metric, word->type, word->help);
        metric = word->metric;
        for (size_t p = 0; p < processes->count; p++)
            if (processes->items[p].life != GYRE_OBSERVED_DEAD)
                put_word(out, &processes->items[p], word);
    }
}

/* One sample for each kernel and each word that its state or health may be: 1 for the one that it is. */
static void put_choice(FILE *out, const observed_processes *processes, const char *metric, const char *label,
                       bool health)
{
    gyre_observe_record kernel;
    for (size_t p = 0; p < processes->count; p++) {
        const observed_process *process = &processes->items[p];
        if (process->life == GYRE_OBSERVED_DEAD)
            continue;
        for (uint32_t at = 0; (at = observed_next(&process->seen, at, GYRE_OBSERVE_KERNEL, 0, &kernel));) {
            const uint64_t is =
                health ? observed_value(&process->seen, at, GYRE_OBSERVE_KERNEL_HEALTH) : kernel.state;
            for (uint32_t word = 1; word <= (health ? GYRE_HEALTH_DEAD : GYRE_KERNEL_LOST); word++) {
                fputs(metric, out);
                put_record(out, process, at, &kernel);
                put_label(out, label,
                          health ? gyre_kernel_health_word((gyre_kernel_health)word)
                                 : gyre_kernel_state_word((gyre_kernel_state)word));
                put_number(out, is == word);
            }
        }
    }
}

/* ---- blocks ---- */

static void put_share(FILE *out, const observed_process *process, uint32_t at,
                      const gyre_observe_record *kernel, const char *of, double share)
{
    fputs("gyre_block_busy_ratio", out);
    put_record(out, process, at, kernel);
    put_label(out, "of", of);
    put_number(out, share);
}

static void put_busy_kernel(FILE *out, const observed_process *process, uint32_t at,
                            const gyre_observe_record *kernel, bool shares)
{
    const busy_kernel busy = busy_of_kernel(&process->seen, at);
    if (!shares) {
        fputs("gyre_blocks_busy_seconds_total", out);
        put_record(out, process, at, kernel);
        put_number(out, busy.seconds);
    } else if (busy.known) {
        put_share(out, process, at, kernel, "least", busy.least);
        put_share(out, process, at, kernel, "mean", busy.mean);
        put_share(out, process, at, kernel, "most", busy.most);
    }
}

/* Three samples for each kernel, however many blocks it has: a series for each of 132 would be most of what a GPU's kernels have. */
static void put_busy(FILE *out, const observed_processes *processes, bool shares)
{
    gyre_observe_record kernel;
    for (size_t p = 0; p < processes->count; p++) {
        const observed_process *process = &processes->items[p];
        if (process->life == GYRE_OBSERVED_DEAD)
            continue;
        for (uint32_t at = 0; (at = observed_next(&process->seen, at, GYRE_OBSERVE_KERNEL, 0, &kernel));)
            put_busy_kernel(out, process, at, &kernel, shares);
    }
}

/* ---- histograms ---- */

/* The metric that the histograms of a kind of record belong to. */
static const char *metric_of(uint32_t kind)
{
    switch (kind) {
    case GYRE_OBSERVE_QUEUE:
        return "gyre_message_seconds";
    case GYRE_OBSERVE_PIPELINE:
        return "gyre_flow_seconds";
    case GYRE_OBSERVE_LINK:
        return "gyre_link_wait_seconds";
    default:
        return "gyre_handler_seconds";
    }
}

/* The metric that a record's histograms belong to, as far as a sample's name goes. */
static void put_name(FILE *out, const observed_process *process, uint32_t at,
                     const gyre_observe_record *record, const char *suffix, const char *part)
{
    fprintf(out, "%s_%s", metric_of(record->kind), suffix);
    put_record(out, process, at, record);
    if (record->kind == GYRE_OBSERVE_QUEUE || record->kind == GYRE_OBSERVE_PIPELINE)
        put_label(out, "part", part);
}

/* Each power of two is the edge of a bucket, so these sums are exact. */
static void put_histogram(FILE *out, const observed_process *process, uint32_t at,
                          const gyre_observe_record *record, const gyre_observe_histogram *histogram)
{
    const char *part = times_words[histogram->time];
    uint64_t count = 0;
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++) {
        count += histogram->buckets[i];
        if (i < 7 || i % 8 != 7 ||
            i == GYRE_OBSERVE_BUCKETS - 1) /* the last one has all longer times as well */
            continue;
        put_name(out, process, at, record, "bucket", part);
        fprintf(out, ",le=\"%.12g\"} %" PRIu64 "\n", (double)gyre_observe_edge(i + 1) / 1e9, count);
    }
    put_name(out, process, at, record, "bucket", part);
    fprintf(out, ",le=\"+Inf\"} %" PRIu64 "\n", count);
    put_name(out, process, at, record, "sum", part);
    put_number(out, (double)histogram->sum_ns / 1e9);
    put_name(out, process, at, record, "count", part);
    fprintf(out, "} %" PRIu64 "\n", count);
}

static void put_histograms(FILE *out, const observed_processes *processes, uint32_t kind)
{
    gyre_observe_record record;
    gyre_observe_histogram histogram;
    for (size_t p = 0; p < processes->count; p++) {
        const observed_process *process = &processes->items[p];
        if (process->life == GYRE_OBSERVED_DEAD)
            continue;
        for (uint32_t at = 0; (at = observed_next(&process->seen, at, kind, 0, &record));)
            for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++)
                if (gyre_observed_histogram(&process->seen, at, (enum gyre_observe_time)time, &histogram) &&
                    (kind != GYRE_OBSERVE_KERNEL || time == GYRE_OBSERVE_HANDLED))
                    put_histogram(out, process, at, &record, &histogram);
    }
}

int stat_print_prometheus(const observed_processes *processes, FILE *out)
{
    put_processes(out, processes);
    put_troubles(out, processes);
    put_head(out, "gyre_kernel_state", "gauge", "1 for the state that the kernel is in.");
    put_choice(out, processes, "gyre_kernel_state", "state", false);
    put_head(out, "gyre_kernel_health", "gauge", "1 for the health that the kernel has.");
    put_choice(out, processes, "gyre_kernel_health", "health", true);
    put_words(out, processes);
    put_head(out, "gyre_block_busy_ratio", "gauge",
             "Share of the last second in which blocks of the kernel were at messages.");
    put_busy(out, processes, true);
    put_head(out, "gyre_blocks_busy_seconds_total", "counter",
             "How long blocks were at messages, all blocks of the kernel together.");
    put_busy(out, processes, false);
    put_head(out, "gyre_message_seconds", "histogram", "How long messages of kernels with timing took.");
    put_histograms(out, processes, GYRE_OBSERVE_QUEUE);
    put_head(out, "gyre_handler_seconds", "histogram", "How long handlers of kernels with timing ran.");
    put_histograms(out, processes, GYRE_OBSERVE_KERNEL);
    put_head(out, "gyre_link_wait_seconds", "histogram",
             "How long messages of links waited for their handlers.");
    put_histograms(out, processes, GYRE_OBSERVE_LINK);
    put_head(out, "gyre_flow_seconds", "histogram", "How long flows of pipelines took, from end to end.");
    put_histograms(out, processes, GYRE_OBSERVE_PIPELINE);
    return CLI_OK;
}
