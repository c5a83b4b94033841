/* SPDX-License-Identifier: Apache-2.0 */
/* Collects spans of processes (trace_take.h). */
#include "cli/observed/trace_take.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json/json.h"

/* ---- objects ---- */

/* A text as a JSON string; NULL without memory. */
static char *json_text(const char *text)
{
    json_t *string = cli_json_text(text);
    char *written = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    json_decref(string);
    return written;
}

static int compare(uint64_t one, uint64_t other)
{
    return one < other ? -1 : one > other;
}

static int by_record(const trace_object *one, const trace_object *other)
{
    int order = compare(one->kind, other->kind);
    order = order ? order : compare(one->record, other->record);
    return order ? order : compare(one->made_ns, other->made_ns);
}

static int by_key(const trace_object *one, const trace_object *other)
{
    int order = compare(one->kind, other->kind);
    order = order ? order : compare(one->key, other->key);
    return order ? order : compare(one->made_ns, other->made_ns);
}

/* How many objects do not come after the wanted one. */
static size_t count_until(const trace_process *process, const trace_object *wanted)
{
    size_t first = 0, end = process->object_count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (by_record(&process->objects[middle], wanted) <= 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Puts an object at its place. False without memory. */
static bool add_object(trace_process *process, size_t at, const trace_object *about,
                       const gyre_observe_record *record)
{
    trace_object *grown = realloc(process->objects, (process->object_count + 1) * sizeof *grown);
    if (!grown)
        return false;
    process->objects = grown;
    trace_object object = *about;
    object.parent = record->parent;
    object.device = record->device;
    object.text = json_text(record->name);
    object.detail = json_text(record->detail);
    if (object.text && object.detail) {
        memmove(&grown[at + 1], &grown[at], (process->object_count - at) * sizeof *grown);
        grown[at] = object;
        process->object_count++;
        return true;
    }
    free(object.text);
    free(object.detail);
    return false;
}

static bool list_object(trace_process *process, const struct gyre_observed *seen, uint32_t number,
                        const gyre_observe_record *record)
{
    const trace_object about = {.kind = record->kind, .record = number, .made_ns = record->made_ns};
    size_t at = count_until(process, &about);
    const bool known = at && by_record(&process->objects[at - 1], &about) == 0;
    at -= known;
    if (!known && process->object_count >= TRACE_OBJECTS_MOST)
        return true;
    if (!known && !add_object(process, at, &about, record))
        return false;
    const uint32_t word = record->kind == GYRE_OBSERVE_LINK ? GYRE_OBSERVE_LINK_KEY : GYRE_OBSERVE_QUEUE_KEY;
    if (record->kind == GYRE_OBSERVE_LINK || record->kind == GYRE_OBSERVE_QUEUE)
        process->objects[at].key = observed_value(seen, number, word);
    return true;
}

/* Lists what the process has now, unless it has not changed since the last look. */
static bool list_objects(trace_process *process, const struct gyre_observed *seen)
{
    static const uint32_t kinds[] = {GYRE_OBSERVE_DEVICE, GYRE_OBSERVE_KERNEL, GYRE_OBSERVE_QUEUE,
                                     GYRE_OBSERVE_LINK};
    gyre_observe_record record;
    if (process->looks == seen->head.looks && process->events == seen->head.events && process->object_count)
        return true;
    process->looks = seen->head.looks;
    process->events = seen->head.events;
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        for (uint32_t at = 0; (at = observed_next(seen, at, kinds[kind], 0, &record));)
            if (!list_object(process, seen, at, &record))
                return false;
    return true;
}

const trace_object *trace_object_of(const trace_process *process, uint32_t kind, uint32_t record,
                                    uint64_t at_ns)
{
    const trace_object wanted = {.kind = kind, .record = record, .made_ns = at_ns};
    const size_t until = count_until(process, &wanted);
    const trace_object *objects = process->objects;
    if (until && objects[until - 1].kind == kind && objects[until - 1].record == record)
        return &objects[until - 1];
    return until < process->object_count && objects[until].kind == kind && objects[until].record == record
               ? &objects[until]
               : NULL;
}

static int by_key_of(const void *one, const void *other)
{
    return by_key(*(trace_object *const *)one, *(trace_object *const *)other);
}

static bool sort_process(trace_process *process)
{
    free(process->named);
    process->named = calloc(process->object_count + 1, sizeof(trace_object *));
    for (size_t i = 0; process->named && i < process->object_count; i++)
        process->named[i] = &process->objects[i];
    if (process->named)
        qsort(process->named, process->object_count, sizeof(trace_object *), by_key_of);
    return process->named != NULL;
}

bool trace_sort_objects(trace_set *set)
{
    uint64_t group = 1;
    for (size_t i = 0; i < set->process_count; i++) {
        set->processes[i].group = group;
        group += set->processes[i].object_count + 1;
        if (!sort_process(&set->processes[i]))
            return false;
    }
    return true;
}

const trace_object *trace_object_named(const trace_process *process, uint32_t kind, uint64_t key,
                                       uint64_t at_ns)
{
    const trace_object wanted = {.kind = kind, .key = key, .made_ns = at_ns};
    size_t first = 0, end = key ? process->object_count : 0;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (by_key(process->named[middle], &wanted) <= 0)
            first = middle + 1;
        else
            end = middle;
    }
    for (size_t at = first ? first - 1 : 0; key && at <= first && at < process->object_count; at++)
        if (process->named[at]->kind == kind && process->named[at]->key == key)
            return process->named[at];
    return NULL;
}

/* ---- processes ---- */

static char *name_process(const gyre_observe_head *head)
{
    char text[128];
    snprintf(text, sizeof text, "%s %" PRIu32, head->program, head->pid);
    return json_text(text);
}

/* The process of a file; NULL without memory. */
static trace_process *find_process(trace_set *set, const struct gyre_observed *seen, bool *is_new)
{
    for (size_t i = 0; i < set->process_count; i++)
        if (set->processes[i].pid == seen->head.pid && set->processes[i].start == seen->head.process_start)
            return &set->processes[i];
    trace_process *grown = realloc(set->processes, (set->process_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    set->processes = grown;
    trace_process *process = &grown[set->process_count];
    *process = (trace_process){.pid = seen->head.pid,
                               .start = seen->head.process_start,
                               .text = name_process(&seen->head),
                               .places = gyre_observed_spans(seen)};
    process->taken = calloc((size_t)process->places + 1, sizeof *process->taken);
    set->process_count++; /* trace_finish frees what there is */
    *is_new = true;
    return process->text && process->taken ? process : NULL;
}

/* ---- spans ---- */

static bool keep_span(trace_set *set, const trace_process *process, const gyre_observe_span *span)
{
    set->full = set->full || set->span_count >= set->most;
    if (set->full)
        return true;
    if (set->span_count == set->room) {
        const size_t room = set->room ? 2 * set->room : 1024;
        trace_span *grown = realloc(set->spans, room * sizeof *grown);
        if (!grown)
            return false;
        set->spans = grown;
        set->room = room;
    }
    set->spans[set->span_count++] =
        (trace_span){.process = (uint32_t)(process - set->processes), .span = *span};
    return true;
}

/* A span that was being written when the file was copied is found by a later look, so each place is compared by itself. */
static bool take_spans(trace_set *set, trace_process *process, const struct gyre_observed *seen, bool is_new,
                       bool wanted)
{
    const uint32_t spans = gyre_observed_spans(seen);
    uint64_t first = UINT64_MAX;
    for (uint32_t place = 0; place < spans && place < process->places; place++) {
        gyre_observe_span span;
        uint64_t number;
        if (!gyre_observed_span(seen, place, &span, &number) || number == process->taken[place])
            continue;
        process->taken[place] = number;
        process->last = number > process->last ? number : process->last;
        first = number < first ? number : first;
        process->counted += wanted;
        if (wanted && !keep_span(set, process, &span))
            return false;
    }
    if (!wanted)
        process->before = process->last;
    else if (is_new && first != UINT64_MAX) /* what the ring held before is gone, as is usual */
        process->before = first - 1;
    const uint64_t written = process->last - process->before;
    process->missing = written > process->counted ? written - process->counted : 0;
    return true;
}

int trace_take(trace_set *set, const observed_processes *processes, bool from_start)
{
    for (size_t i = 0; i < processes->count; i++) {
        const struct gyre_observed *seen = &processes->items[i].seen;
        bool is_new = false;
        trace_process *process = find_process(set, seen, &is_new);
        if (!process || !list_objects(process, seen) ||
            !take_spans(set, process, seen, is_new, from_start || !is_new))
            return cli_error(
                CLI_FAILED, "out of memory for %zu spans; fewer seconds, or a larger timing_every, need less",
                set->span_count);
        process->lives = processes->items[i].life == GYRE_OBSERVED_LIVES;
        process->on = process->lives && seen->head.trace_ns != 0;
    }
    return CLI_OK;
}

uint64_t trace_missing(const trace_set *set)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < set->process_count; i++)
        missing += set->processes[i].missing;
    return missing;
}

static void finish_process(trace_process *process)
{
    for (size_t i = 0; i < process->object_count; i++) {
        free(process->objects[i].text);
        free(process->objects[i].detail);
    }
    free(process->objects);
    free(process->named);
    free(process->text);
    free(process->taken);
}

void trace_finish(trace_set *set)
{
    for (size_t i = 0; i < set->process_count; i++)
        finish_process(&set->processes[i]);
    free(set->processes);
    free(set->spans);
    *set = (trace_set){0};
}
