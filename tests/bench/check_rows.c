/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the document of `gyre bench --json` from standard input and says what is wrong with it; the arguments
 * are the cases that must have a row. Speeds are only held against what would be absurd.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int faults;

static void expect(bool holds, const char *name, const char *what)
{
    if (holds)
        return;
    faults++;
    fprintf(stderr, "%s: %s\n", name, what);
}

static json_t *find_row(json_t *rows, const char *name)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *found = json_string_value(json_object_get(row, "case"));
        if (found && strcmp(found, name) == 0)
            return row;
    }
    return NULL;
}

static void check_latencies(const char *name, json_t *latencies)
{
    double p50 = 0, p99 = 0, p999 = 0, max = 0;
    if (json_is_null(latencies))
        return;
    int unpacked =
        json_unpack(latencies, "{s:F, s:F, s:F, s:F}", "p50", &p50, "p99", &p99, "p999", &p999, "max", &max);
    expect(unpacked == 0, name, "rtt_ns has not all of p50, p99, p999, max");
    expect(p50 > 0 && p50 <= p99 && p99 <= p999 && p999 <= max, name, "quantiles are not in order");
    expect(max < 60e9, name, "a round trip took a minute");
}

static void check_floor(const char *name, json_t *row)
{
    json_t *floor = json_object_get(row, "floor"), *ratio = json_object_get(row, "ratio_to_floor");
    expect(floor && ratio, name, "floor or ratio_to_floor is missing");
    if (!json_is_object(floor))
        return;
    expect(json_is_string(json_object_get(floor, "name")), name, "its floor has no name");
    expect(json_number_value(ratio) > 0, name, "it has a floor and no ratio");
    check_latencies(name, json_object_get(floor, "rtt_ns"));
}

static void check_targets(const char *name, json_t *row)
{
    size_t i;
    json_t *target, *targets = json_object_get(row, "target");
    expect(json_is_array(targets), name, "target is missing");
    json_array_foreach(targets, i, target)
    {
        expect(json_is_number(json_object_get(target, "at_least")) ||
                   json_is_number(json_object_get(target, "at_most")),
               name, "a target has no limit");
        expect(json_is_number(json_object_get(target, "found")) &&
                   json_is_boolean(json_object_get(target, "met")),
               name, "a target does not say what was found, and whether it was met");
    }
    expect(json_is_string(json_object_get(row, "verdict")), name, "verdict is missing");
}

static void check_row(const char *name, json_t *row)
{
    const char *backend = "", *device = "";
    json_int_t bytes = 0, messages = 0, errors = -1;
    json_t *rate = NULL, *latencies = NULL;
    double cpu = -1;
    json_error_t error;
    if (json_unpack_ex(row, &error, 0, "{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:F}", "backend", &backend,
                       "device", &device, "message_bytes", &bytes, "messages", &messages, "errors", &errors,
                       "msgs_per_s", &rate, "rtt_ns", &latencies, "cpu_use", &cpu) != 0) {
        expect(false, name, error.text);
        return;
    }
    expect(*backend && *device, name, "backend or device is empty");
    expect(bytes > 0 && messages > 0, name, "no messages");
    expect(errors == 0, name, "wrong replies");
    expect(cpu >= 0, name, "cpu_use is negative");
    expect(json_is_null(rate) || json_number_value(rate) > 1, name, "less than a message a second");
    check_latencies(name, latencies);
    check_floor(name, row);
    check_targets(name, row);
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *document = json_loadf(stdin, 0, &error);
    json_t *rows = json_object_get(document, "rows");
    expect(document != NULL, "document", document ? "" : error.text);
    expect(json_number_value(json_object_get(document, "clock_ns")) > 0, "document", "clock_ns is missing");
    expect(argc > 1, "arguments", "no case given");
    expect(json_array_size(rows) == (size_t)argc - 1, "document", "not one row for each case");
    for (int i = 1; i < argc; i++) {
        json_t *row = find_row(rows, argv[i]);
        expect(row != NULL, argv[i], "no row");
        if (row)
            check_row(argv[i], row);
    }
    json_decref(document);
    printf("%d rows, %d faults\n", argc - 1, faults);
    return faults > 0;
}
