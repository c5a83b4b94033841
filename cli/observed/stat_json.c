/* SPDX-License-Identifier: Apache-2.0 */
/* Observation files as JSON (stat_print.h). */
#include "cli/json/json.h"
#include "cli/observed/busy.h"
#include "cli/observed/stat_print.h"
#include "cli/observed/times.h"

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

static json_t *value_of(const observed_process *process, uint32_t at, const observed_word *word)
{
    const uint64_t value = observed_value(&process->seen, at, word->word);
    if (word->unit == OBSERVED_SINCE)
        return json_real(observed_seconds_since(process, value));
    return word->unit == OBSERVED_NS ? json_real((double)value / 1e9) : number(value);
}

static void add_values(json_t *object, const observed_process *process, uint32_t at, uint32_t kind)
{
    for (size_t i = 0; i < observed_word_count; i++)
        if (observed_words[i].kind == kind)
            json_object_set_new(object, observed_words[i].name, value_of(process, at, &observed_words[i]));
}

/* The buckets that are not empty: the time that a bucket ends with, and how many messages it has. */
static json_t *buckets_json(const gyre_observe_histogram *histogram)
{
    json_t *buckets = json_array();
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++) {
        json_t *pair = histogram->buckets[i] ? json_array() : NULL;
        if (!pair)
            continue;
        json_array_append_new(pair, json_real((double)gyre_observe_edge(i + 1) / 1e9));
        json_array_append_new(pair, number(histogram->buckets[i]));
        json_array_append_new(buckets, pair);
    }
    return buckets;
}

/* How long the messages of a queue took, or the handlers of a kernel ran; NULL: they are not timed. */
static json_t *times_json(const observed_process *process, uint32_t record)
{
    json_t *times = NULL;
    gyre_observe_histogram histogram;
    for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++) {
        if (!gyre_observed_histogram(&process->seen, record, (enum gyre_observe_time)time, &histogram))
            continue;
        times = times ? times : json_object();
        json_object_set_new(
            times, times_words[time],
            cli_json_object("offfffo", "count", number(times_count(&histogram)), "mean",
                            times_mean(&histogram), "p50", times_percentile(&histogram, 0.5), "p90",
                            times_percentile(&histogram, 0.9), "p99", times_percentile(&histogram, 0.99),
                            "most", times_percentile(&histogram, 1), "buckets", buckets_json(&histogram)));
    }
    return times;
}

static json_t *queues_json(const observed_process *process, uint32_t kernel)
{
    json_t *queues = json_array();
    gyre_observe_record queue;
    for (uint32_t at = 0; (at = observed_next(&process->seen, at, GYRE_OBSERVE_QUEUE, kernel, &queue));) {
        json_t *object = cli_json_object("Iss", "record", (json_int_t)at, "name", queue.name, "client",
                                         queue.detail[0] ? queue.detail : NULL);
        add_values(object, process, at, GYRE_OBSERVE_QUEUE);
        json_t *times = times_json(process, at);
        if (times)
            json_object_set_new(object, "times", times);
        json_array_append_new(queues, object);
    }
    return queues;
}

static json_t *kernels_json(const observed_process *process)
{
    json_t *kernels = json_array();
    gyre_observe_record kernel, device;
    for (uint32_t at = 0; (at = observed_next(&process->seen, at, GYRE_OBSERVE_KERNEL, 0, &kernel));) {
        const gyre_kernel_health health =
            (gyre_kernel_health)observed_value(&process->seen, at, GYRE_OBSERVE_KERNEL_HEALTH);
        const bool has_device = gyre_observed_record(&process->seen, kernel.device, &device);
        json_t *object = cli_json_object(
            "Isssfsssf", "record", (json_int_t)at, "name", kernel.name, "types", kernel.detail, "state",
            gyre_kernel_state_word((gyre_kernel_state)kernel.state), "state_seconds",
            observed_seconds_since(process, kernel.state_ns), "health",
            process->life == GYRE_OBSERVED_DEAD && !process->is_dump ? "dead"
                                                                     : gyre_kernel_health_word(health),
            "backend", has_device ? device.name : NULL, "device", has_device ? device.detail : NULL,
            "launched", observed_day_seconds(process, kernel.made_ns));
        add_values(object, process, at, GYRE_OBSERVE_KERNEL);
        json_object_set_new(object, "busy", busy_json(&process->seen, at));
        json_t *times = times_json(process, at);
        if (times)
            json_object_set_new(object, "times", times);
        json_object_set_new(object, "queues", queues_json(process, at));
        json_array_append_new(kernels, object);
    }
    return kernels;
}

static json_t *links_json(const observed_process *process, uint32_t pipeline)
{
    json_t *links = json_array();
    gyre_observe_record link, from, to;
    for (uint32_t at = 0; (at = observed_next(&process->seen, at, GYRE_OBSERVE_LINK, pipeline, &link));) {
        json_t *object =
            cli_json_object("Issss", "record", (json_int_t)at, "name", link.name, "port", link.detail, "from",
                            observed_link_end(&process->seen, at, GYRE_OBSERVE_LINK_FROM, &from), "to",
                            observed_link_end(&process->seen, at, GYRE_OBSERVE_LINK_TO, &to));
        add_values(object, process, at, GYRE_OBSERVE_LINK);
        json_t *times = times_json(process, at);
        if (times)
            json_object_set_new(object, "times", times);
        json_array_append_new(links, object);
    }
    return links;
}

static json_t *pipelines_json(const observed_process *process)
{
    json_t *pipelines = json_array();
    gyre_observe_record pipeline;
    for (uint32_t at = 0; (at = observed_next(&process->seen, at, GYRE_OBSERVE_PIPELINE, 0, &pipeline));) {
        json_t *object = cli_json_object("so", "name", pipeline.name, "links", links_json(process, at));
        json_t *times = times_json(process, at);
        if (times)
            json_object_set_new(object, "times", times);
        json_array_append_new(pipelines, object);
    }
    return pipelines;
}

static json_t *troubles_json(const observed_process *process)
{
    json_t *troubles = json_array();
    gyre_observe_trouble trouble;
    for (uint32_t i = 0; i < gyre_observed_troubles(&process->seen); i++)
        if (gyre_observed_trouble(&process->seen, i, &trouble))
            json_array_append_new(
                troubles,
                cli_json_object("soffs", "level", trouble.level <= GYRE_LOG_ERROR ? "error" : "warning",
                                "count", number(trouble.count), "first",
                                observed_day_seconds(process, trouble.first_ns), "last",
                                observed_day_seconds(process, trouble.last_ns), "text", trouble.text));
    return troubles;
}

static const char *event_word(uint32_t kind)
{
    static const char *const words[] = {"?", "said", "state", "opened", "closed", "refused", "lost"};
    return words[kind < sizeof words / sizeof words[0] ? kind : 0];
}

static json_t *events_json(const observed_process *process, uint64_t most)
{
    const uint64_t all = process->seen.head.events, kept = gyre_observed_first_event(&process->seen);
    const uint64_t wanted = all > most ? all - most + 1 : 1;
    json_t *events = json_array();
    gyre_observe_event event;
    for (uint64_t i = wanted > kept ? wanted : kept; most && i <= all; i++)
        if (gyre_observed_event(&process->seen, i, &event))
            json_array_append_new(events, cli_json_object("ofss", "number", number(event.number), "at",
                                                          observed_day_seconds(process, event.at_ns), "kind",
                                                          event_word(event.kind), "text", event.text));
    return events;
}

json_t *stat_json(const observed_processes *processes, uint64_t events)
{
    json_t *list = json_array();
    for (size_t i = 0; i < processes->count; i++) {
        const observed_process *process = &processes->items[i];
        const gyre_observe_head *head = &process->seen.head;
        json_array_append_new(
            list, cli_json_object("Issssfffboooo", "pid", (json_int_t)head->pid, "program", head->program,
                                  "release", head->release, "state", observed_life_word(process), "file",
                                  process->path, "started", (double)head->started_real_ns / 1e9,
                                  "age_seconds", (double)process->age_ns / 1e9, "every_seconds",
                                  (double)head->every_ns / 1e9, "traced", head->trace_ns != 0, "kernels",
                                  kernels_json(process), "pipelines", pipelines_json(process), "troubles",
                                  troubles_json(process), "events", events_json(process, events)));
    }
    return cli_json_object("o", "processes", list);
}
