/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of gyre call against a queue that is played here: it completes a few messages at a time, has a
 * small capacity, and complains when the loop sends beyond it.
 */
#include "cli/calls/call_stream.h"
#include "core/api/taken.h"
#include "core/base/error.h"
#include "unit/unit.h"

#include <string.h>
#include <unistd.h>

enum { CAPACITY = 8, COMPLETED_AT_ONCE = 3 };

/* Requests and replies are one i64: positive is echoed,
 * 0 has no reply, negative fails, HANG never completes. */
enum { HANG = 1000000 };

struct gyre_queue {
    int64_t slots[CAPACITY];
    uint64_t first, sent, received; /* indices; those before `first` are an earlier run's */
    unsigned send_calls;
    uint64_t traced;    /* requests with the trace of `traceparent` */
    uint64_t accepts;   /* so many, then sends return `end`; 0: all */
    uint64_t completes; /* so many, then receives return `end`; 0: all */
    gyre_status end;
    bool any_order; /* the last of three that are there is completed first */
    uint64_t done;  /* of these three, a bit each */
};

gyre_status gyre_queue_recovered(const gyre_queue *queue, gyre_recovered *recovered)
{
    if (!queue->first)
        return gyre_error_set(GYRE_INVALID, "no journal");
    recovered->first = queue->received;
    recovered->offered = queue->first - queue->received;
    return GYRE_OK;
}

gyre_status gyre_queue_stats_get(const gyre_queue *queue, gyre_queue_stats *stats)
{
    stats->capacity = CAPACITY;
    return queue ? GYRE_OK : GYRE_INVALID;
}

uint64_t gyre_queue_taken(const gyre_queue *queue, bool *more)
{
    (void)more; /* a handler's end alone asks, and there is none */
    return queue->received;
}

gyre_status gyre_send_batch_with(gyre_queue *queue, const void *requests, size_t size,
                                 const gyre_header *headers, size_t count, size_t *sent, uint64_t deadline_ns)
{
    (void)deadline_ns;
    for (size_t i = 0; headers && i < count; i++)
        queue->traced +=
            headers[i].trace[0] == UINT64_C(0x4bf92f3577b34da6) && headers[i].trace[1] == 1 && !headers[i].id;
    ck_assert_uint_eq(size, sizeof(int64_t));
    ck_assert_uint_le(queue->sent - queue->received + count, CAPACITY);
    *sent = 0;
    if (queue->accepts && queue->sent == queue->accepts)
        return gyre_error_set(queue->end, "the queue has ended");
    *sent = count > 1 ? count - 1 : count; /* a batch may be taken in parts */
    if (queue->accepts && *sent > queue->accepts - queue->sent)
        *sent = (size_t)(queue->accepts - queue->sent);
    for (size_t i = 0; i < *sent; i++)
        memcpy(&queue->slots[queue->sent++ % CAPACITY], (const char *)requests + i * size, size);
    queue->send_calls++;
    return GYRE_OK;
}

/* for the first request, whose index it tells; and for packets, which no case here has */
gyre_status gyre_send_with(gyre_queue *queue, const void *request, size_t size, const gyre_header *header,
                           uint64_t *index, uint64_t deadline_ns)
{
    size_t sent;
    if (index)
        *index = queue->sent;
    return gyre_send_batch_with(queue, request, size, header, 1, &sent, deadline_ns);
}

static gyre_completion complete(uint64_t index, int64_t value)
{
    return (gyre_completion){.index = index,
                             .outcome = value > 0    ? GYRE_REPLIED
                                        : value == 0 ? GYRE_NOT_REPLIED
                                                     : GYRE_HANDLER_FAILED,
                             .failure_code = value < 0 ? (int32_t)value : 0,
                             .failure_text = "no"};
}

/* Of the first three that are there the last one that does not hang and was not completed. */
static bool complete_whichever(gyre_queue *queue, gyre_completion *completion, int64_t *reply)
{
    uint64_t i = queue->sent - queue->received < 3 ? queue->sent - queue->received : 3;
    while (i-- > 0) {
        *reply = queue->slots[(queue->received + i) % CAPACITY];
        if (queue->done & UINT64_C(1) << i || *reply == HANG)
            continue;
        *completion = complete(queue->received + i, *reply);
        queue->done |= UINT64_C(1) << i;
        for (; queue->done & 1; queue->done >>= 1)
            queue->received++;
        return true;
    }
    return false;
}

gyre_status gyre_receive_batch(gyre_queue *queue, void *replies, size_t size, size_t count,
                               gyre_completion *completions, size_t *received, uint64_t deadline_ns)
{
    *received = 0;
    if (queue->completes && queue->received == queue->completes)
        return gyre_error_set(queue->end, "nothing more will come");
    if (queue->any_order)
        *received = complete_whichever(queue, completions, replies);
    while (!queue->any_order && *received < count && *received < COMPLETED_AT_ONCE &&
           queue->received < queue->sent) {
        int64_t value = queue->slots[queue->received % CAPACITY];
        if (value == HANG)
            break;
        completions[*received] = complete(queue->received, value);
        memcpy((char *)replies + *received * size, &value, sizeof value);
        queue->received++;
        ++*received;
        if (queue->received == queue->completes)
            break;
    }
    if (*received)
        return GYRE_OK;
    return gyre_error_set(deadline_ns == GYRE_NO_WAIT ? GYRE_AGAIN : GYRE_TIMEOUT, "nothing there");
}

/* Runs the loop over `count` texts or, when `texts` is NULL, the lines of `descriptor`. */
typedef struct outcome {
    gyre_queue queue;
    call_counts counts;
    gyre_status status;
    char *text;
} outcome;

static const char *traceparent; /* of the next run */

static void run_on(outcome *result, const gyre_queue *queue, request_source *source)
{
    gyre_layout *layout;
    size_t length;
    *result = (outcome){.status = GYRE_OK, .queue = *queue};
    ck_assert_int_eq(gyre_layout_create(GYRE_TYPE(i64), GYRE_MESSAGE_MAX, &layout), GYRE_OK);
    FILE *out = open_memstream(&result->text, &length);
    ck_assert_ptr_nonnull(out);
    result->status = call_stream_run(&(call_stream_desc){.queue = &result->queue,
                                                         .whom = "the kernel",
                                                         .request = layout,
                                                         .reply = layout,
                                                         .source = source,
                                                         .timeout_ms = 20,
                                                         .traceparent = traceparent,
                                                         .out = out},
                                     &result->counts);
    fclose(out);
    gyre_layout_destroy(layout);
    request_source_finish(source);
}

static void run(outcome *result, request_source *source)
{
    run_on(result, &(gyre_queue){.end = GYRE_OK}, source);
}

static void run_texts_on(outcome *result, const gyre_queue *queue, const char *const *texts, size_t count)
{
    request_source source;
    request_source_init_texts(&source, texts, count);
    run_on(result, queue, &source);
}

static void run_texts(outcome *result, const char *const *texts, size_t count)
{
    run_texts_on(result, &(gyre_queue){.end = GYRE_OK}, texts, count);
}

START_TEST(every_outcome_is_a_line_in_its_place)
{
    outcome result;
    run_texts(&result, (const char *const[]){"1", "0", "-7", "x", "2"}, 5);
    ck_assert_int_eq(result.status, GYRE_OK);
    ck_assert_str_eq(result.text,
                     "1\n{\"no_reply\":true}\n{\"failed\":{\"code\":-7,\"text\":\"no\"}}\n"
                     "{\"refused\":\"request 4: malformed JSON at byte 1: invalid token\"}\n2\n");
    ck_assert_uint_eq(result.counts.sent, 4);
    ck_assert_uint_eq(result.counts.answered, 2);
    ck_assert_uint_eq(result.counts.failed, 1);
    ck_assert_uint_eq(result.counts.without_reply, 1);
    ck_assert_uint_eq(result.counts.refused, 1);
    free(result.text);
}
END_TEST

START_TEST(every_request_has_the_trace_that_was_given)
{
    outcome result;
    run_texts(&result, (const char *const[]){"1", "2", "3"}, 3);
    ck_assert_uint_eq(result.queue.traced, 0);
    free(result.text);
    traceparent = "00-4bf92f3577b34da60000000000000001-00f067aa0ba902b7-01";
    run_texts(&result, (const char *const[]){"1"}, 1);
    ck_assert_int_eq(result.status, GYRE_OK);
    ck_assert_uint_eq(result.queue.traced, 1);
    free(result.text);
    traceparent = "00-what";
    run_texts(&result, (const char *const[]){"1"}, 1);
    ck_assert_int_eq(result.status, GYRE_INVALID);
    ck_assert_uint_eq(result.queue.sent, 0);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "found '00-what'"));
    free(result.text);
}
END_TEST

START_TEST(many_lines_go_out_in_batches_and_come_back_in_order)
{
    enum { MANY = 5000 };
    FILE *lines = tmpfile();
    ck_assert_ptr_nonnull(lines);
    for (int i = 1; i <= MANY; i++)
        fprintf(lines, "%d\n", i);
    rewind(lines);
    request_source source;
    request_source_init_lines(&source, fileno(lines));
    outcome result;
    run(&result, &source);
    ck_assert_int_eq(result.status, GYRE_OK);
    ck_assert_uint_eq(result.counts.answered, MANY);
    ck_assert_uint_lt(result.queue.send_calls, MANY);
    char *at = result.text;
    for (int i = 1; i <= MANY; i++)
        ck_assert_int_eq(strtol(at, &at, 10), i);
    free(result.text);
    fclose(lines);
}
END_TEST

START_TEST(a_request_that_never_completes_times_out_with_its_number)
{
    outcome result;
    run_texts(&result, (const char *const[]){"1", "2", "1000000", "3"}, 4);
    ck_assert_int_eq(result.status, GYRE_TIMEOUT);
    ck_assert_str_eq(gyre_error_text(),
                     "the kernel did not complete message 3 of 4 within 20 ms (--timeout): nothing there");
    ck_assert_str_eq(result.text, "1\n2\n{\"unanswered\":true}\n{\"unanswered\":true}\n");
    ck_assert_uint_eq(result.counts.sent, 4);
    ck_assert_uint_eq(result.counts.answered, 2);
    ck_assert_uint_eq(result.counts.unanswered, 2);
    free(result.text);
}
END_TEST

START_TEST(what_was_accepted_before_the_end_is_received_behind_it)
{
    outcome result;
    const gyre_queue closing = {.accepts = 6, .end = GYRE_CLOSED};
    run_texts_on(&result, &closing, (const char *const[]){"1", "2", "3", "0", "-7", "6", "7", "8"}, 8);
    ck_assert_int_eq(result.status, GYRE_CLOSED);
    ck_assert_str_eq(gyre_error_text(), "the queue has ended");
    ck_assert_str_eq(result.text,
                     "1\n2\n3\n{\"no_reply\":true}\n{\"failed\":{\"code\":-7,\"text\":\"no\"}}\n6\n");
    ck_assert_uint_eq(result.counts.sent, 6);
    ck_assert_uint_eq(result.counts.answered, 4);
    ck_assert_uint_eq(result.counts.failed, 1);
    ck_assert_uint_eq(result.counts.without_reply, 1);
    free(result.text);
}
END_TEST

START_TEST(what_nobody_completes_any_more_is_told_as_unhandled)
{
    outcome result;
    const gyre_queue lost = {.accepts = 6, .completes = 4, .end = GYRE_LOST};
    run_texts_on(&result, &lost, (const char *const[]){"1", "2", "3", "4", "5", "6", "7"}, 7);
    ck_assert_int_eq(result.status, GYRE_LOST);
    ck_assert_str_eq(result.text, "1\n2\n3\n4\n{\"unhandled\":true}\n{\"unhandled\":true}\n");
    ck_assert_uint_eq(result.counts.sent, 6);
    ck_assert_uint_eq(result.counts.answered, 4);
    ck_assert_uint_eq(result.counts.lost, 2);
    free(result.text);
}
END_TEST

START_TEST(what_hangs_behind_the_end_is_waited_for_no_longer_than_a_reply)
{
    outcome result;
    const gyre_queue closing = {.accepts = 3, .end = GYRE_CLOSED};
    run_texts_on(&result, &closing, (const char *const[]){"1", "1000000", "3", "4"}, 4);
    ck_assert_int_eq(result.status, GYRE_CLOSED);
    ck_assert_str_eq(result.text, "1\n{\"unanswered\":true}\n{\"unanswered\":true}\n");
    ck_assert_uint_eq(result.counts.unanswered, 2);
    free(result.text);
}
END_TEST

/* Of an earlier run, a reply that nobody took, a failure, and one that is still to come. */
static const gyre_queue recovered = {.slots = {0, 0, 31, -7, 33}, .received = 2, .first = 5, .sent = 5};

START_TEST(an_earlier_runs_completions_are_marked_and_answer_nothing)
{
    outcome result;
    run_texts_on(&result, &recovered, (const char *const[]){"1", "-2", "3", "4", "5", "6", "7"}, 7);
    ck_assert_int_eq(result.status, GYRE_OK);
    ck_assert_str_eq(result.text,
                     "{\"recovered\":31}\n{\"recovered\":{\"failed\":{\"code\":-7,\"text\":\"no\"}}}\n"
                     "{\"recovered\":33}\n1\n{\"failed\":{\"code\":-2,\"text\":\"no\"}}\n3\n4\n5\n6\n7\n");
    ck_assert_uint_eq(result.counts.recovered, 3);
    ck_assert_uint_eq(result.counts.sent, 7);
    ck_assert_uint_eq(result.counts.answered, 6);
    ck_assert_uint_eq(result.counts.failed, 1);
    free(result.text);
}
END_TEST

START_TEST(an_earlier_runs_request_that_hangs_is_told_as_that)
{
    outcome result;
    gyre_queue hanging = recovered;
    hanging.slots[3] = HANG;
    run_texts_on(&result, &hanging, (const char *const[]){"1", "2"}, 2);
    ck_assert_int_eq(result.status, GYRE_TIMEOUT);
    ck_assert_str_eq(gyre_error_text(), "the kernel did not complete message 2 of 3 that an earlier run left "
                                        "in the queue's journal within 20 ms (--timeout)");
    ck_assert_str_eq(result.text, "{\"recovered\":31}\n{\"unanswered\":true}\n{\"unanswered\":true}\n");
    ck_assert_uint_eq(result.counts.unanswered, 2);
    free(result.text);
}
END_TEST

START_TEST(lines_are_in_the_order_of_the_requests_whatever_is_completed_first)
{
    outcome result;
    const gyre_queue whichever = {.any_order = true, .received = 7, .sent = 7};
    run_texts_on(&result, &whichever,
                 (const char *const[]){"1", "2", "0", "4", "-5", "6", "7", "8", "9", "10"}, 10);
    ck_assert_int_eq(result.status, GYRE_OK);
    ck_assert_str_eq(result.text, "1\n2\n{\"no_reply\":true}\n4\n{\"failed\":{\"code\":-5,\"text\":\"no\"}}\n"
                                  "6\n7\n8\n9\n10\n");
    ck_assert_uint_eq(result.counts.answered, 8);
    free(result.text);
}
END_TEST

START_TEST(what_was_completed_before_its_turn_is_told_behind_what_hangs)
{
    outcome result;
    const gyre_queue whichever = {.any_order = true};
    run_texts_on(&result, &whichever, (const char *const[]){"1", "1000000", "3", "4", "5"}, 5);
    ck_assert_int_eq(result.status, GYRE_TIMEOUT);
    ck_assert_str_eq(gyre_error_text(),
                     "the kernel did not complete message 2 of 5 within 20 ms (--timeout): nothing there");
    ck_assert_str_eq(result.text, "1\n{\"unanswered\":true}\n3\n4\n{\"unanswered\":true}\n");
    ck_assert_uint_eq(result.counts.answered, 3);
    ck_assert_uint_eq(result.counts.unanswered, 2);
    free(result.text);
}
END_TEST

START_TEST(an_earlier_runs_completions_come_first_in_any_order)
{
    outcome result;
    gyre_queue whichever = recovered;
    whichever.any_order = true;
    run_texts_on(&result, &whichever, (const char *const[]){"1", "-2"}, 2);
    ck_assert_int_eq(result.status, GYRE_OK);
    ck_assert_str_eq(result.text,
                     "{\"recovered\":31}\n{\"recovered\":{\"failed\":{\"code\":-7,\"text\":\"no\"}}}\n"
                     "{\"recovered\":33}\n1\n{\"failed\":{\"code\":-2,\"text\":\"no\"}}\n");
    ck_assert_uint_eq(result.counts.recovered, 3);
    ck_assert_uint_eq(result.counts.answered, 1);
    free(result.text);
}
END_TEST

START_TEST(nothing_to_send_is_no_error)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[1]);
    request_source source;
    request_source_init_lines(&source, ends[0]);
    outcome result;
    run(&result, &source);
    ck_assert_int_eq(result.status, GYRE_OK);
    ck_assert_uint_eq(result.counts.sent, 0);
    ck_assert_str_eq(result.text, "");
    free(result.text);
    close(ends[0]);
}
END_TEST

START_TEST(a_source_that_cannot_be_read_ends_the_run_with_its_reason)
{
    request_source source;
    request_source_init_lines(&source, -1);
    outcome result;
    run(&result, &source);
    ck_assert_int_eq(result.status, GYRE_FAILED);
    ck_assert_str_eq(gyre_error_text(), "cannot read standard input: Bad file descriptor");
    free(result.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("call_stream");
    TCase *tcase = tcase_create("call_stream");
    tcase_add_test(tcase, every_outcome_is_a_line_in_its_place);
    tcase_add_test(tcase, every_request_has_the_trace_that_was_given);
    tcase_add_test(tcase, many_lines_go_out_in_batches_and_come_back_in_order);
    tcase_add_test(tcase, a_request_that_never_completes_times_out_with_its_number);
    tcase_add_test(tcase, what_was_accepted_before_the_end_is_received_behind_it);
    tcase_add_test(tcase, what_nobody_completes_any_more_is_told_as_unhandled);
    tcase_add_test(tcase, what_hangs_behind_the_end_is_waited_for_no_longer_than_a_reply);
    tcase_add_test(tcase, an_earlier_runs_completions_are_marked_and_answer_nothing);
    tcase_add_test(tcase, an_earlier_runs_request_that_hangs_is_told_as_that);
    tcase_add_test(tcase, lines_are_in_the_order_of_the_requests_whatever_is_completed_first);
    tcase_add_test(tcase, what_was_completed_before_its_turn_is_told_behind_what_hangs);
    tcase_add_test(tcase, an_earlier_runs_completions_come_first_in_any_order);
    tcase_add_test(tcase, nothing_to_send_is_no_error);
    tcase_add_test(tcase, a_source_that_cannot_be_read_ends_the_run_with_its_reason);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
