/* SPDX-License-Identifier: Apache-2.0 */
/* Spans in the observation file: who switches them on, and what readers find of several writers. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/observation/observation_memory.h"
#include "core/observation/observed.h"
#include "unit/observation/folder.h"

static struct gyre_observation *observation;
static struct gyre_observed seen;
static char asks[GYRE_OBSERVATION_PATH_MAX];

static void begin_test(void)
{
    folder_make();
    observation = folder_open(8);
    ck_assert(gyre_observation_ask_path(gyre_observation_path(observation), asks));
}

static void finish_test(void)
{
    gyre_observed_finish(&seen);
    gyre_observation_close(observation);
    folder_remove();
}

static bool is_on(void)
{
    gyre_observation_beat(observation);
    gyre_observed_finish(&seen);
    ck_assert_int_eq(gyre_observed_read(gyre_observation_path(observation), &seen, NULL), GYRE_OK);
    const gyre_trace_point point = {.trace = gyre_observation_trace(observation)};
    const bool on = gyre_trace_wanted(&point) != NULL;
    ck_assert_int_eq(seen.head.trace_ns != 0, on);
    return on;
}

/* A span that says one number everywhere. */
static void write_number(gyre_trace *trace, uint64_t number)
{
    const gyre_observe_span span = {.kind = GYRE_OBSERVE_SPAN_HANDLED,
                                    .record = (uint32_t)number,
                                    .queue = number,
                                    .index = number,
                                    .started_ns = number,
                                    .place = number,
                                    .trace = {number, number}};
    gyre_trace_write(trace, &span);
}

/* How many whole spans there are; fails where one is mixed of two. */
static uint64_t count_spans(void)
{
    uint64_t count = 0;
    for (uint32_t place = 0; place < gyre_observed_spans(&seen); place++) {
        gyre_observe_span span;
        uint64_t number;
        if (!gyre_observed_span(&seen, place, &span, &number))
            continue;
        count++;
        ck_assert_uint_eq((number - 1) % gyre_observed_spans(&seen), place);
        ck_assert(span.record == (uint32_t)span.index && span.queue == span.index &&
                  span.started_ns == span.index && span.place == span.index && span.trace[0] == span.index &&
                  span.trace[1] == span.index);
    }
    return count;
}

START_TEST(spans_are_written_while_a_reader_asks)
{
    int one, other;
    gyre_trace *trace = gyre_observation_trace(observation);
    ck_assert(!is_on());
    ck_assert_int_eq(gyre_observed_ask(gyre_observation_path(observation), &one), GYRE_OK);
    ck_assert_int_eq(gyre_observed_ask(gyre_observation_path(observation), &other), GYRE_OK);
    ck_assert(is_on());
    for (uint64_t number = 1; number <= 3; number++)
        write_number(trace, number);
    gyre_observed_ask_end(gyre_observation_path(observation), one);
    ck_assert(is_on()); /* the other one asks still */
    ck_assert_uint_eq(count_spans(), 3);
    ck_assert_uint_eq(seen.head.spans, 3);
    close(other); /* as by a reader that was killed: its file stays */
    ck_assert_int_eq(access(asks, F_OK), 0);
    ck_assert(!is_on());
    ck_assert_uint_eq(count_spans(), 3); /* and what was written stays */
    ck_assert_int_eq(gyre_observed_ask(gyre_observation_path(observation), &one), GYRE_OK);
    ck_assert(is_on());
    gyre_observed_ask_end(gyre_observation_path(observation), one);
    ck_assert_int_ne(access(asks, F_OK), 0);
    ck_assert_int_eq(gyre_observed_ask("/tmp/no-such-folder/1-2.obs", &one), GYRE_UNAVAILABLE);
    ck_assert_ptr_nonnull(
        strstr(gyre_error_text(), "cannot ask for a trace with '/tmp/no-such-folder/1-2.trace'"));
}
END_TEST

/* Makes the file with which is asked, with a lock on it. */
static int ask_by_hand(void)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    const int file = open(asks, O_RDWR | O_CREAT, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(fcntl(file, F_OFD_SETLK, &lock), 0);
    return file;
}

START_TEST(only_a_lock_on_a_file_of_the_user_counts)
{
    char second[GYRE_OBSERVATION_PATH_MAX];
    snprintf(second, sizeof second, "%s/second", folder_path);
    int file = open(asks, O_RDWR | O_CREAT, 0600); /* without a lock */
    ck_assert(!is_on());
    close(file);
    file = ask_by_hand();
    ck_assert(is_on());
    ck_assert_int_eq(link(asks, second), 0); /* a file of another purpose, under this name */
    ck_assert(!is_on());
    ck_assert_int_eq(unlink(second), 0);
    ck_assert(is_on());
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(asks, 12345, 12345), 0);
        ck_assert(!is_on());
    }
    ck_assert_int_eq(rename(asks, second), 0);
    ck_assert_int_eq(symlink(second, asks), 0);
    ck_assert(!is_on());
    close(file);
}
END_TEST

START_TEST(a_place_that_is_being_written_is_left_alone)
{
    gyre_trace *trace = gyre_observation_trace(observation);
    const int file = ask_by_hand();
    ck_assert(is_on());
    write_number(trace, 1);
    for (uint64_t lap = trace->next; lap < trace->mask + 1; lap++)
        write_number(trace, 2);
    const gyre_observe_span before = trace->spans[0];
    trace->spans[0].mark = 1; /* its writer stands since a whole lap */
    write_number(trace, 3);
    write_number(trace, 4);
    ck_assert_uint_eq(trace->lost, 1);
    ck_assert_uint_eq(trace->spans[0].index, before.index);
    ck_assert_uint_eq(trace->spans[1].index, 4);
    ck_assert(is_on());
    ck_assert_uint_eq(seen.head.spans_lost, 1);
    ck_assert_uint_eq(count_spans(), trace->mask); /* all but the one that is being written */
    close(file);
}
END_TEST

enum { WRITERS = 2, WRITTEN = 40000 };

static void *write_many(void *argument)
{
    for (uint64_t i = 1; i <= WRITTEN; i++)
        write_number(argument, i);
    return NULL;
}

START_TEST(no_reader_sees_half_a_span)
{
    pthread_t writers[WRITERS];
    gyre_trace *trace = gyre_observation_trace(observation);
    const int file = ask_by_hand();
    ck_assert(is_on());
    for (int i = 0; i < WRITERS; i++)
        ck_assert_int_eq(pthread_create(&writers[i], NULL, write_many, trace), 0);
    while (__atomic_load_n(&trace->next, __ATOMIC_RELAXED) < WRITERS * WRITTEN) {
        ck_assert(is_on());
        (void)count_spans();
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    ck_assert(is_on());
    ck_assert_uint_eq(trace->next, WRITERS * WRITTEN);
    ck_assert_uint_eq(count_spans(), trace->mask + 1);
    close(file);
}
END_TEST

START_TEST(a_process_is_always_traced_or_never)
{
    gyre_observation_close(observation);
    struct gyre_observation_desc desc = {
        .folder = folder_path, .mode = 0600, .every_ns = 1000000000, .tracing = GYRE_TRACING_ALWAYS};
    ck_assert_int_eq(gyre_observation_open(&desc, &observation), GYRE_OK);
    ck_assert(is_on());
    gyre_observation_close(observation);
    desc.tracing = GYRE_TRACING_NEVER;
    ck_assert_int_eq(gyre_observation_open(&desc, &observation), GYRE_OK);
    const int file = ask_by_hand();
    ck_assert(!is_on());
    ck_assert_ptr_null(gyre_observation_trace(observation));
    ck_assert_uint_eq(gyre_observed_spans(&seen), 0);
    close(file);
}
END_TEST

START_TEST(keys_tell_objects_apart)
{
    const gyre_trace *trace = gyre_observation_trace(observation);
    char objects[64];
    for (size_t i = 1; i < sizeof objects; i++)
        ck_assert_uint_ne(gyre_trace_key(trace, &objects[i]), gyre_trace_key(trace, &objects[i - 1]));
    ck_assert_uint_eq(gyre_trace_key(trace, objects), gyre_trace_key(trace, objects));
    ck_assert_uint_ne(gyre_trace_key(trace, objects), (uintptr_t)objects);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, begin_test, finish_test);
    tcase_set_timeout(all, 60);
    tcase_add_test(all, spans_are_written_while_a_reader_asks);
    tcase_add_test(all, only_a_lock_on_a_file_of_the_user_counts);
    tcase_add_test(all, a_place_that_is_being_written_is_left_alone);
    tcase_add_test(all, no_reader_sees_half_a_span);
    tcase_add_test(all, a_process_is_always_traced_or_never);
    tcase_add_test(all, keys_tell_objects_apart);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
