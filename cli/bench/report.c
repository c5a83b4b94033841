/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the rows of `gyre bench`, as JSON and as a table for people. */
#include "cli/bench/report.h"
#include "cli/bench/bench.h"
#include "cli/bench/rounds.h"
#include "cli/json/json.h"
#include "cli/base/table.h"

#include <math.h>
#include <string.h>

/* ---- JSON ---- */

static json_t *latencies_json(const bench_sample *sample)
{
    return cli_json_object("ffff", "p50", sample->p50, "p99", sample->p99, "p999", sample->p999, "max",
                           sample->max);
}

static json_t *rate_or_null(bool has, const bench_sample *sample)
{
    return has ? json_real(sample->per_second) : json_null();
}

static json_t *latencies_or_null(bool has, const bench_sample *sample)
{
    return has ? latencies_json(sample) : json_null();
}

static json_t *floor_json(const bench_row *row)
{
    if (!row->floor_name)
        return json_null();
    return cli_json_object("soo", "name", row->floor_name, "msgs_per_s",
                           rate_or_null(row->floor.per_second > 0, &row->floor), "rtt_ns",
                           latencies_or_null(row->floor.p50 > 0, &row->floor));
}

static json_t *targets_json(const bench_row *row)
{
    json_t *list = json_array();
    for (size_t i = 0; i < row->target_count; i++) {
        const bench_target *target = &row->targets[i];
        json_array_append_new(list, cli_json_object("ssffb", "what", target->what, "unit", target->unit,
                                                    target->at_least ? "at_least" : "at_most", target->limit,
                                                    "found", target->found, "met", bench_target_met(target)));
    }
    return list;
}

/* By CLOCK_MONOTONIC, so that others' counts of the same time can be set beside these. */
static json_t *rounds_json(const bench_row *row)
{
    json_t *list = json_array();
    for (size_t i = 0; i < row->round_count; i++)
        json_array_append_new(list, cli_json_object("III", "begin_ns", (json_int_t)row->rounds[i].begin_ns,
                                                    "end_ns", (json_int_t)row->rounds[i].end_ns, "messages",
                                                    (json_int_t)row->rounds[i].messages));
    return list;
}

static bool all_met(const bench_row *row)
{
    for (size_t i = 0; i < row->target_count; i++)
        if (!bench_target_met(&row->targets[i]))
            return false;
    return true;
}

static const char *row_verdict(const bench_row *row)
{
    if (row->value.errors)
        return "wrong replies";
    if (row->target_count == 0)
        return "no target";
    return all_met(row) ? "met" : "missed";
}

static void object_set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

json_t *bench_row_json(const bench_row *row)
{
    json_t *object = json_object();
    object_set(object, "case", cli_json_text(row->name));
    object_set(object, "backend", cli_json_text(row->backend));
    object_set(object, "device", cli_json_text(row->device));
    object_set(object, "message_bytes", json_integer((json_int_t)row->message_bytes));
    object_set(object, "messages", json_integer((json_int_t)row->value.messages));
    object_set(object, "errors", json_integer((json_int_t)row->value.errors));
    object_set(object, "msgs_per_s", rate_or_null(row->has_rate, &row->value));
    object_set(object, "rtt_ns", latencies_or_null(row->has_latency, &row->value));
    object_set(object, "cpu_use", json_real(row->value.cpu));
    object_set(object, "floor", floor_json(row));
    object_set(object, "ratio_to_floor", row->floor_name ? json_real(row->ratio) : json_null());
    if (row->floor_name && row->has_latency)
        object_set(object, "ratio_p99_to_floor", json_real(row->ratio_p99));
    if (row->ratio_high > 0)
        object_set(object, "ratio_between", json_pack("[f, f]", row->ratio_low, row->ratio_high));
    if (row->line_p50 > 0)
        object_set(object, "line_ns", cli_json_object("ff", "p50", row->line_p50, "p99", row->line_p99));
    if (row->resident_bytes)
        object_set(object, "resident_bytes", json_integer((json_int_t)row->resident_bytes));
    if (row->round_count)
        object_set(object, "rounds", rounds_json(row));
    object_set(object, "target", targets_json(row));
    object_set(object, "verdict", cli_json_text(row_verdict(row)));
    return object;
}

/* ---- for people ---- */

enum { CELL = 64 };

/* Prints a count as three digits and a letter: 41.2 M. */
static void print_count(char *cell, double value)
{
    static const char letters[] = " kMG";
    int step = 0;
    while (value >= 999.5 && step < 3) {
        value /= 1000;
        step++;
    }
    snprintf(cell, CELL, value < 99.95 && step ? "%.1f%s%c" : "%.0f%s%c", value, step ? " " : "",
             letters[step]);
}

static void print_time(char *cell, double ns)
{
    if (ns < 99.95 && ns > 0)
        snprintf(cell, CELL, "%.1f ns", ns);
    else if (ns < 10000)
        snprintf(cell, CELL, "%.0f ns", ns);
    else if (ns < 10e6)
        snprintf(cell, CELL, "%.1f us", ns / 1e3);
    else
        snprintf(cell, CELL, "%.1f ms", ns / 1e6);
}

static void print_figure(char *cell, double value, const char *unit)
{
    char figure[CELL];
    if (strcmp(unit, "ns") == 0) {
        print_time(cell, value);
        return;
    }
    if (strcmp(unit, "x") == 0) {
        snprintf(cell, CELL, "%.2f x", value);
        return;
    }
    if (strcmp(unit, "cores") == 0) {
        snprintf(cell, CELL, "%.2f %% of a core", value * 100);
        return;
    }
    print_count(figure, value);
    snprintf(cell, CELL, "%.40s%s", figure, strcmp(unit, "bytes") == 0 ? "B" : "/s");
}

static void add_row(cli_table *table, const bench_row *row)
{
    char messages[CELL], errors[CELL], rate[CELL] = "-", p50[CELL] = "-", p99[CELL] = "-", p999[CELL] = "-",
                                       max[CELL] = "-", cpu[CELL], floor[CELL] = "-", ratio[CELL] = "-";
    print_count(messages, (double)row->value.messages);
    snprintf(errors, sizeof errors, "%llu", (unsigned long long)row->value.errors);
    snprintf(cpu, sizeof cpu, "%.2f", row->value.cpu);
    if (row->has_rate)
        print_count(rate, row->value.per_second);
    if (row->has_latency) {
        print_time(p50, row->value.p50);
        print_time(p99, row->value.p99);
        print_time(p999, row->value.p999);
        print_time(max, row->value.max);
    }
    if (row->floor_name) {
        print_figure(floor, row->has_latency ? row->floor.p50 : row->floor.per_second,
                     row->has_latency ? "ns" : "msg/s");
        snprintf(ratio, sizeof ratio, "%.2f", row->ratio);
    }
    cli_table_add(table, (const char *const[]){row->name, messages, errors, rate, p50, p99, p999, max, cpu,
                                               floor, ratio, row_verdict(row)});
}

static void print_targets(const bench_row *row)
{
    if (row->ratio_high > 0)
        printf("%s: with 96.5 %% the median of its ratios lies from %.3f to %.3f\n", row->name,
               row->ratio_low, row->ratio_high);
    for (size_t i = 0; i < row->target_count; i++) {
        const bench_target *target = &row->targets[i];
        char found[CELL], limit[CELL];
        print_figure(found, target->found, target->unit);
        print_figure(limit, target->limit, target->unit);
        printf("%-7s %s: %s %s, at %s %s\n", bench_target_met(target) ? "met" : "missed", row->name,
               target->what, found, target->at_least ? "least" : "most", limit);
    }
}

int bench_print_rows(const bench_row *rows, size_t count)
{
    static const char *const headers[] = {"case",   ">messages", ">errors", ">msg/s", ">p50",
                                          ">p99",   ">p99.9",    ">max",    ">cores", ">floor",
                                          ">ratio", "verdict",   NULL};
    cli_table *table = cli_table_create(headers);
    for (size_t i = 0; table && i < count; i++)
        add_row(table, &rows[i]);
    int code = cli_table_print(table);
    putchar('\n');
    for (size_t i = 0; i < count; i++)
        print_targets(&rows[i]);
    return code;
}
