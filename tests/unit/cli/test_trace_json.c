/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of spans that a test makes up, and the names of objects that follow each other. */
#include <stdlib.h>
#include <string.h>

#include "cli/json/json.h"
#include "cli/observed/trace_json.h"
#include "random.h"
#include "unit/observation/folder.h"

static trace_process process;
static trace_span spans[16];
static trace_set set;
static json_t *events;
static trace_told told;

static void begin(void)
{
    process = (trace_process){.pid = 1, .text = strdup("\"test\""), .counted = 1};
    memset(spans, 0, sizeof spans);
    set = (trace_set){.processes = &process, .process_count = 1, .spans = spans};
}

static void finish(void)
{
    json_decref(events);
    events = NULL;
    for (size_t i = 0; i < process.object_count; i++) {
        free(process.objects[i].text);
        free(process.objects[i].detail);
    }
    free(process.objects);
    free(process.named);
    free(process.text);
}

static gyre_observe_span *add_span(uint32_t kind, uint32_t kernel, uint64_t started_ns, uint64_t finished_ns)
{
    trace_span *span = &spans[set.span_count++];
    span->span = (gyre_observe_span){
        .kind = kind, .record = kernel, .started_ns = started_ns, .finished_ns = finished_ns};
    return &span->span;
}

/* Reads the timeline back. */
static void draw_up_to(size_t most_bytes)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert(trace_write(&set, &trace_json, out, most_bytes, &told));
    fclose(out);
    json_t *document = json_loads(text, 0, NULL);
    ck_assert_msg(document != NULL, "%s", text);
    events = json_incref(json_object_get(document, "traceEvents"));
    ck_assert_uint_eq(
        (size_t)json_integer_value(json_object_get(json_object_get(document, "otherData"), "cut")), told.cut);
    json_decref(document);
    free(text);
}

static void draw(void)
{
    draw_up_to(SIZE_MAX);
}

/* How many events of a phase and a name there are; *us: the time of the last one. */
static int find_events(const char *phase, const char *name, double *us)
{
    size_t i;
    json_t *event;
    int count = 0;
    json_array_foreach(events, i, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "ph")), phase) != 0 ||
            strcmp(json_string_value(json_object_get(event, "name")), name) != 0)
            continue;
        count++;
        *us = json_number_value(json_object_get(event, "ts"));
    }
    return count;
}

/* The sender looks at the clock when it has sent everything. */
START_TEST(an_arrow_ends_no_earlier_than_it_begins)
{
    double from = 0, to = 0;
    add_span(GYRE_OBSERVE_SPAN_HANDLED, 1, 1000, 9000);
    gyre_observe_span *emitted = add_span(GYRE_OBSERVE_SPAN_EMITTED, 1, 1000, 8000);
    emitted->ring = 77;
    emitted->count = 2;
    gyre_observe_span *handled = add_span(GYRE_OBSERVE_SPAN_HANDLED, 2, 5000, 6000);
    handled->ring = 77;
    handled->place = 1;
    handled->count = 1;
    draw();
    ck_assert_int_eq(find_events("s", "unknown", &from), 1);
    ck_assert_int_eq(find_events("f", "unknown", &to), 1);
    ck_assert(from <= to && to == 5.0);
}
END_TEST

START_TEST(a_client_waits_once_for_all_turns_of_its_message)
{
    double us = 0;
    for (uint32_t turn = 0; turn < 3; turn++) {
        gyre_observe_span *span =
            add_span(GYRE_OBSERVE_SPAN_HANDLED, 1, 1000 + 1000 * turn, 1500 + 1000 * turn);
        span->queue = 5;
        span->sent_ns = 200;
        span->turn = turn;
    }
    draw();
    ck_assert_int_eq(find_events("b", "waited", &us), 1);
    ck_assert_int_eq(find_events("e", "waited", &us), 1);
    ck_assert(us == 1.0);
    ck_assert_uint_eq(told.handled, 3);
}
END_TEST

/* The row of a message is that of the block that had it first, also where many spans say the same of themselves. */
START_TEST(a_message_stands_with_the_block_that_had_it_first)
{
    double us = 0;
    gyre_observe_span *message = add_span(GYRE_OBSERVE_SPAN_MESSAGE, 1, 2000, 5000);
    message->queue = 5;
    message->sent_ns = 1000;
    message->received_ns = 6000;
    for (uint32_t block = 8; block > 0; block--) {
        gyre_observe_span *handled = add_span(GYRE_OBSERVE_SPAN_HANDLED, 1, 2000 + block, 5000);
        handled->queue = 5;
        handled->block = block;
    }
    add_span(GYRE_OBSERVE_SPAN_HANDLED, 1, 1500, 1600)->queue = 4;
    draw();
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "ph")), "b") == 0)
            ck_assert_int_eq(json_integer_value(json_object_get(event, "tid")), 1);
    }
    ck_assert_int_eq(find_events("b", "returned", &us), 1);
}
END_TEST

/* Whatever spans are found by, they are written by their stamps. */
START_TEST(spans_come_in_the_order_of_their_stamps)
{
    const uint64_t begins[] = {700, 100, 400, 900, 200, 800};
    double last = 0;
    int found = 0;
    size_t i;
    json_t *event;
    for (i = 0; i < 6; i++) {
        const bool handled = i & 1;
        gyre_observe_span *span = add_span(handled ? GYRE_OBSERVE_SPAN_HANDLED : GYRE_OBSERVE_SPAN_MESSAGE, 1,
                                           begins[i], begins[i] + 50);
        span->sent_ns = handled ? 0 : begins[i];
        span->queue = 9 - i;
        span->index = i;
        span->received_ns = handled ? 0 : begins[i] + 60;
    }
    draw();
    json_array_foreach(events, i, event)
    {
        const char *phase = json_string_value(json_object_get(event, "ph"));
        const double us = json_number_value(json_object_get(event, "ts"));
        if (strcmp(phase, "X") != 0 && strcmp(phase, "b") != 0)
            continue;
        ck_assert(us >= last);
        last = us;
        found++;
    }
    ck_assert_int_eq(found, 3 + 3 * 4);
}
END_TEST

START_TEST(a_long_text_ends_between_two_spans)
{
    double us = 0;
    for (uint64_t i = 0; i < 10; i++)
        add_span(GYRE_OBSERVE_SPAN_HANDLED, 1, 1000 * i, 1000 * i + 500);
    draw();
    ck_assert_int_eq(find_events("X", "unknown", &us), 10);
    ck_assert_uint_eq(told.cut, 0);
    json_decref(events);
    draw_up_to(1000);
    ck_assert(told.cut > 0 && told.cut < 10);
    ck_assert_int_eq(find_events("X", "unknown", &us), 10 - (int)told.cut);
}
END_TEST

static const trace_object *plain_search(bool by_key, uint32_t kind, uint64_t wanted, uint64_t at_ns)
{
    const trace_object *first = NULL, *last = NULL;
    for (size_t i = 0; i < process.object_count; i++) {
        const trace_object *object = &process.objects[i];
        if (object->kind != kind || (by_key ? object->key : object->record) != wanted)
            continue;
        if (!first || object->made_ns < first->made_ns)
            first = object;
        if (object->made_ns <= at_ns && (!last || object->made_ns > last->made_ns))
            last = object;
    }
    return last ? last : first;
}

static int by_record(const void *one, const void *other)
{
    const trace_object *a = one, *b = other;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->record != b->record)
        return a->record < b->record ? -1 : 1;
    return a->made_ns < b->made_ns ? -1 : a->made_ns > b->made_ns;
}

START_TEST(objects_are_found_as_of_their_time)
{
    enum { OBJECTS = 64 };
    uint64_t seed = random_begin(11);
    for (int round = 0; round < 50; round++) {
        process.objects = realloc(process.objects, OBJECTS * sizeof *process.objects);
        process.object_count = random_below(&seed, OBJECTS + 1);
        for (size_t i = 0; i < process.object_count; i++)
            process.objects[i] = (trace_object){.kind = 3 + (uint32_t)random_below(&seed, 3),
                                                .record = (uint32_t)random_below(&seed, 5),
                                                .key = random_below(&seed, 4),
                                                .made_ns = i * 7919 % 64};
        qsort(process.objects, process.object_count, sizeof *process.objects, by_record);
        ck_assert(trace_sort_objects(&set));
        for (uint32_t kind = 2; kind < 7; kind++)
            for (uint32_t number = 0; number < 6; number++)
                for (uint64_t at_ns = 0; at_ns < 66; at_ns += 5) {
                    ck_assert_ptr_eq(trace_object_of(&process, kind, number, at_ns),
                                     plain_search(false, kind, number, at_ns));
                    ck_assert_ptr_eq(trace_object_named(&process, kind, number, at_ns),
                                     number ? plain_search(true, kind, number, at_ns) : NULL);
                }
    }
    process.object_count = 0;
}
END_TEST

/* A process that makes queues and closes them: each has its name, and there are not more than can be borne. */
START_TEST(the_objects_of_a_process_are_listed_once)
{
    observed_processes processes;
    observed_source source = {.quiet = true};
    trace_set taken = {.most = 10};
    folder_make();
    struct gyre_observation *observation = folder_open(8);
    snprintf(source.folder, sizeof source.folder, "%s", folder_path);
    uint32_t records[3] = {0};
    for (uint64_t look = 0; look < 6; look++) {
        char name[16];
        gyre_observation_leave(observation, records[look * 2 % 3]);
        snprintf(name, sizeof name, "queue%d", (int)look);
        gyre_observe_record about = folder_record(GYRE_OBSERVE_QUEUE, 0, name);
        about.made_ns = look + 1;
        records[look * 2 % 3] = gyre_observation_enter(observation, &about);
        gyre_observation_beat(observation);
        for (int again = 0; again < 2; again++) {
            ck_assert_int_eq(observed_open(&source, &processes), CLI_OK);
            ck_assert_int_eq(trace_take(&taken, &processes, true), CLI_OK);
            observed_finish(&processes);
        }
        const trace_object *found =
            trace_object_of(&taken.processes[0], GYRE_OBSERVE_QUEUE, records[look * 2 % 3], look + 1);
        ck_assert(found && found->made_ns == look + 1 && strncmp(found->text + 1, name, 6) == 0);
    }
    ck_assert_uint_eq(taken.processes[0].object_count, 6);
    trace_finish(&taken);
    gyre_observation_close(observation);
    folder_remove();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace_json");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, begin, finish);
    tcase_add_test(all, an_arrow_ends_no_earlier_than_it_begins);
    tcase_add_test(all, a_client_waits_once_for_all_turns_of_its_message);
    tcase_add_test(all, a_message_stands_with_the_block_that_had_it_first);
    tcase_add_test(all, spans_come_in_the_order_of_their_stamps);
    tcase_add_test(all, a_long_text_ends_between_two_spans);
    tcase_add_test(all, objects_are_found_as_of_their_time);
    tcase_add_test(all, the_objects_of_a_process_are_listed_once);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
