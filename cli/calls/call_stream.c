/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the loop of `gyre call`: fill a batch of requests, send it, print completions. One thread. The loop never sends more
 * requests than the queue has room for, so that no policy for full queues applies. While requests are in flight, the loop waits
 * only for a completion. With none in flight it waits for the source, or for room that other clients take. Requests that an
 * earlier run left in the queue's journal are in flight from the beginning and are completed first. With `order = any` a
 * completion that comes before its turn takes up room until its line is printed.
 */
#include "cli/calls/call_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calls/call_early.h"
#include "cli/calls/call_ends.h"
#include "cli/calls/call_outcome.h"
#include "cli/cli.h"
#include "cli/base/hush.h"
#include "cli/json/message_json.h"
#include "core/base/error.h"
#include "core/types/message.h"
#include "gyre/trace_context.h"

enum { BATCH_MAX = 256, BATCH_BYTES = 1 << 20, REFUSAL_SIZE = 1024, REASON_SIZE = 4096 };

typedef struct call_stream {
    const call_stream_desc *desc;
    call_counts *counts;
    unsigned char *requests, *replies; /* memory for `batch` requests, and for `batch` replies */
    gyre_completion completions[BATCH_MAX];
    size_t batch, batched;        /* most requests of a batch; requests that were read and not sent yet */
    uint64_t capacity, in_flight; /* in_flight: requests sent by this run, or left by an earlier one */
    uint64_t left_first, left_end,
        left;         /* requests of an earlier run: their indices, and how many are not completed yet */
    call_early early; /* lines whose turn has not come */
    bool is_numbered; /* early.next is known: the index of the first request that is completed */
    gyre_header headers[BATCH_MAX]; /* of the requests of a batch, all alike */
    bool is_told;                   /* somebody was told of a long wait */
    char refusal[REFUSAL_SIZE];     /* why the request that ended the batch was refused; "": none was */
} call_stream;

/* ---- what came back ---- */

/* Notes the first failure that Gyre told of a handler, rather than the handler of a request. */
static void note_finding(call_counts *counts, const gyre_completion *completion)
{
    const int32_t code = completion->failure_code;
    const bool found = code == GYRE_FAILURE_FINDING || code == GYRE_FAILURE_INDEX ||
                       code == GYRE_FAILURE_BARRIER || code == GYRE_FAILURE_RESULT;
    if (completion->outcome == GYRE_HANDLER_FAILED && found && !counts->finding[0])
        snprintf(counts->finding, sizeof counts->finding, "%s", completion->failure_text);
}

static void count_line(call_counts *counts, enum call_outcome line)
{
    uint64_t *const count[] = {[CALL_ANSWER] = &counts->answered,
                               [CALL_NO_REPLY] = &counts->without_reply,
                               [CALL_FAILURE] = &counts->failed,
                               [CALL_LOSS] = &counts->lost};
    ++*count[line];
}

/* Prints a completion. Marks the completion of a request that an earlier run left, and counts it apart. */
static void print_completion(call_stream *stream, const gyre_completion *completion, const void *reply,
                             FILE *out)
{
    if (completion->index >= stream->left_first && completion->index < stream->left_end) {
        fputs("{\"recovered\":", out);
        call_outcome_print(stream->desc->reply, completion, reply, out);
        fputs("}\n", out);
        stream->counts->recovered++;
        stream->left -= stream->left > 0;
        return;
    }
    note_finding(stream->counts, completion);
    count_line(stream->counts, call_outcome_print(stream->desc->reply, completion, reply, out));
    fputc('\n', out);
}

static gyre_status keep_early(call_stream *stream, const gyre_completion *completion, const void *reply)
{
    FILE *line = call_early_open(&stream->early);
    if (!line)
        return GYRE_EXHAUSTED;
    print_completion(stream, completion, reply, line);
    return call_early_keep(&stream->early, completion->index);
}

/* Prints a completion when it is its turn, and the kept ones whose turn comes with it. */
static gyre_status take_completion(call_stream *stream, const gyre_completion *completion, const void *reply)
{
    call_early *const early = &stream->early;
    if (call_early_wants(early, completion->index))
        return keep_early(stream, completion, reply);
    print_completion(stream, completion, reply, stream->desc->out);
    if (completion->index >= early->next)
        early->next = completion->index + 1;
    while (call_early_print(early, stream->desc->out))
        ;
    return GYRE_OK;
}

/* Takes the completions that are there. Waits for the first completion until the deadline. */
static gyre_status receive_some(call_stream *stream, uint64_t deadline_ns)
{
    const uint64_t size = stream->desc->reply->size;
    size_t received = 0;
    gyre_status status = gyre_receive_batch(stream->desc->queue, stream->replies, size, stream->batch,
                                            stream->completions, &received, deadline_ns);
    if (received)
        status = GYRE_OK;
    stream->in_flight -= received;
    for (size_t i = 0; i < received && status == GYRE_OK; i++)
        status = take_completion(stream, &stream->completions[i], stream->replies + i * size);
    return status;
}

/* How many requests have no line yet. */
static uint64_t unprinted(const call_stream *stream)
{
    return stream->in_flight + stream->early.count;
}

/* Flushes the output, so that its reader has every printed line. */
static gyre_status show_reply(const call_stream *stream)
{
    if (fflush(stream->desc->out) == 0 && !ferror(stream->desc->out)) {
        call_ends_printed(stream->desc->queue);
        return GYRE_OK;
    }
    return gyre_error_set(GYRE_FAILED, "cannot write the replies: %s", strerror(errno));
}

/* Words the error for the request that is overdue: the first one without a line. The wait's own sentence follows: it tells of a
 * server that is gone. */
static gyre_status tell_overdue(const call_stream *stream)
{
    const call_counts *counts = stream->counts;
    const uint64_t timeout_ms = stream->desc->timeout_ms;
    if (stream->left)
        return gyre_error_set(
            GYRE_TIMEOUT,
            "%s did not complete message %" PRIu64 " of %" PRIu64
            " that an earlier run left in the queue's journal within %" PRIu64 " ms (--timeout)",
            stream->desc->whom, counts->recovered + 1, counts->recovered + stream->left, timeout_ms);
    return gyre_error_add(GYRE_TIMEOUT,
                          "%s did not complete message %" PRIu64 " of %" PRIu64 " within %" PRIu64
                          " ms (--timeout)",
                          stream->desc->whom, counts->sent - unprinted(stream) + 1, counts->sent, timeout_ms);
}

/* Waits as receive_some does. A person who watches is told of the first wait that takes long. */
static gyre_status receive_and_tell(call_stream *stream)
{
    const uint64_t timeout_ms = stream->desc->timeout_ms, told_ms = stream->desc->told_ms;
    const uint64_t deadline_ns = timeout_ms ? gyre_in_ms(timeout_ms) : GYRE_FOREVER;
    if (stream->is_told || !told_ms || (timeout_ms && timeout_ms <= told_ms) || !cli_is_watched())
        return receive_some(stream, deadline_ns);
    const gyre_status status = receive_some(stream, gyre_in_ms(told_ms));
    if (status != GYRE_TIMEOUT)
        return status;
    fprintf(stderr,
            "gyre: %s has not completed message %" PRIu64 " of %" PRIu64
            " yet (waiting on, as long as --timeout says)\n",
            stream->desc->whom, stream->counts->sent - unprinted(stream) + 1, stream->counts->sent);
    stream->is_told = true;
    gyre_error_clear();
    return receive_some(stream, deadline_ns);
}

/* Receives at least one completion, or returns TIMEOUT with a sentence about the overdue request. */
static gyre_status receive_or_time_out(call_stream *stream)
{
    gyre_status status = receive_some(stream, GYRE_NO_WAIT);
    if (status != GYRE_AGAIN)
        return status;
    status = show_reply(stream); /* before a wait, which a fault or a signal may end */
    if (status == GYRE_OK)
        status = receive_and_tell(stream);
    if (status != GYRE_TIMEOUT && status != GYRE_AGAIN)
        return status;
    return tell_overdue(stream);
}

static gyre_status drain_replies(call_stream *stream)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && stream->in_flight)
        status = receive_or_time_out(stream);
    return status;
}

static gyre_status receive_what_is_there(call_stream *stream)
{
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && stream->in_flight)
        status = receive_some(stream, GYRE_NO_WAIT);
    return status == GYRE_AGAIN || status == GYRE_TIMEOUT ? GYRE_OK : status;
}

/* ---- what goes out ---- */

static const gyre_header *headers_of(const call_stream *stream)
{
    return stream->desc->traceparent ? stream->headers : NULL;
}

static gyre_status fill_headers(call_stream *stream)
{
    gyre_trace_context context = {.flags = 0};
    const char *text = stream->desc->traceparent;
    if (text && gyre_trace_read(text, &context) != 0)
        return gyre_error_set(
            GYRE_INVALID,
            "--trace: expected a traceparent of W3C, as 00-4bf92f3577b34da6a3ce929d0e0e4736-"
            "00f067aa0ba902b7-01, found '%s'",
            text);
    for (size_t i = 0; i < BATCH_MAX; i++)
        stream->headers[i] = (gyre_header){.trace = {context.trace[0], context.trace[1]}};
    return GYRE_OK;
}

/* Sends one request of the batch. Packets (messages without a layout) differ in size and are sent as bytes. */
static gyre_status send_one(call_stream *stream, size_t place, uint64_t *index, uint64_t deadline_ns)
{
    const uint64_t size = stream->desc->request->size;
    const unsigned char *request = stream->requests + place * size;
    uint32_t used = (uint32_t)size;
    if (stream->desc->request->shape == GYRE_SHAPE_PACKET) {
        memcpy(&used, request, sizeof used);
        request += GYRE_PACKET_FRONT;
        used -= GYRE_PACKET_FRONT;
    }
    return gyre_send_with(stream->desc->queue, request, used, headers_of(stream), index, deadline_ns);
}

static gyre_status send_packets(call_stream *stream, size_t first, size_t count, size_t *sent,
                                uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    for (*sent = 0; status == GYRE_OK && *sent < count; *sent += status == GYRE_OK)
        status = send_one(stream, first + *sent, NULL, deadline_ns);
    return *sent ? GYRE_OK : status; /* a packet that fails comes first in the next call, and fails it */
}

/* The first request goes alone, because only a send of one request tells its index. */
static gyre_status send_first(call_stream *stream, size_t first, size_t *sent, uint64_t deadline_ns)
{
    const gyre_status status = send_one(stream, first, &stream->early.next, deadline_ns);
    *sent = stream->is_numbered = status == GYRE_OK;
    return status;
}

static gyre_status send_batch(call_stream *stream, size_t first, size_t count, size_t *sent,
                              uint64_t deadline_ns)
{
    const uint64_t size = stream->desc->request->size;
    if (!stream->is_numbered)
        return send_first(stream, first, sent, deadline_ns);
    if (stream->desc->request->shape == GYRE_SHAPE_PACKET)
        return send_packets(stream, first, count, sent, deadline_ns);
    return gyre_send_batch_with(stream->desc->queue, stream->requests + first * size, size,
                                headers_of(stream), count, sent, deadline_ns);
}

/*
 * Sends some requests. A queue may be full before every slot is in use: where messages lie back to back its bytes may be used
 * up, and with a journal it may hold requests that the journal has not written. Room comes from completions that this thread
 * receives. So it waits for room only when nothing is in flight, and for a completion otherwise.
 */
static gyre_status send_some(call_stream *stream, size_t first, size_t count, size_t *sent)
{
    const uint64_t timeout_ms = stream->desc->timeout_ms;
    gyre_status status = send_batch(stream, first, count, sent, GYRE_NO_WAIT);
    if (status == GYRE_AGAIN && stream->in_flight)
        return receive_or_time_out(stream);
    if (status == GYRE_AGAIN)
        status = send_batch(stream, first, count, sent, timeout_ms ? gyre_in_ms(timeout_ms) : GYRE_FOREVER);
    return status;
}

static gyre_status send_all(call_stream *stream)
{
    gyre_status status = GYRE_OK;
    for (size_t done = 0; status == GYRE_OK && done < stream->batched;) {
        uint64_t left = stream->batched - done;
        uint64_t taken = unprinted(stream);
        uint64_t room = taken < stream->capacity ? stream->capacity - taken : 0;
        size_t sent = 0;
        if (room == 0) {
            status = receive_or_time_out(stream);
            continue;
        }
        status = send_some(stream, done, room < left ? room : left, &sent);
        done += sent;
        stream->in_flight += sent;
        stream->counts->sent += sent;
    }
    stream->batched = 0;
    return status;
}

/* Writes a request as a pair of a case file. A newline outside of a string says nothing, and none is inside of one. */
static void keep_request(const call_stream *stream, const char *text, size_t length)
{
    FILE *kept = stream->desc->kept;
    const bool digits = stream->desc->request->shape == GYRE_SHAPE_PACKET && !memchr(text, '"', length);
    if (!kept || stream->counts->finding[0])
        return;
    fputs(digits ? "{\"request\":\"" : "{\"request\":", kept);
    for (size_t i = 0; i < length; i++)
        fputc(text[i] == '\n' || text[i] == '\r' ? ' ' : text[i], kept);
    fputs(digits ? "\"}\n" : "}\n", kept);
}

static gyre_status read_request(call_stream *stream, const char *text, size_t length)
{
    const gyre_layout *layout = stream->desc->request;
    char place[64];
    gyre_status status = message_json_read_named(layout, text, length, stream->desc->names,
                                                 stream->requests + stream->batched * layout->size);
    if (status == GYRE_OK) {
        stream->batched++;
        keep_request(stream, text, length);
    } else if (status == GYRE_INVALID) {
        gyre_error_add(status, "%s", request_source_place(stream->desc->source, place, sizeof place));
        snprintf(stream->refusal, sizeof stream->refusal, "%s", gyre_error_text());
        status = GYRE_OK;
    }
    return status;
}

/* Reads requests until the batch is full, a request is refused, or *state says that the source has none now. */
static gyre_status fill_request(call_stream *stream, request_state *state)
{
    gyre_status status = GYRE_OK;
    *state = REQUEST_READY;
    while (status == GYRE_OK && stream->batched < stream->batch && !stream->refusal[0]) {
        const char *text;
        size_t length;
        bool idle = stream->batched == 0 && stream->in_flight == 0;
        *state = request_source_next(stream->desc->source, idle, &text, &length);
        if (*state == REQUEST_REFUSED)
            snprintf(stream->refusal, sizeof stream->refusal, "%s", gyre_error_text());
        else if (*state != REQUEST_READY)
            return *state == REQUEST_ERROR ? gyre_error_status() : GYRE_OK;
        else
            status = read_request(stream, text, length);
    }
    return status;
}

static void print_refusal(call_stream *stream)
{
    cli_error(CLI_FAILED, "%s", stream->refusal);
    fputs("{\"refused\":", stream->desc->out);
    message_json_write_text(stream->refusal, stream->desc->out);
    fputs("}\n", stream->desc->out);
    stream->counts->refused++;
    stream->refusal[0] = '\0';
}

static gyre_status stream_all(call_stream *stream)
{
    request_state state = REQUEST_READY;
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && state != REQUEST_END) {
        status = fill_request(stream, &state);
        if (status == GYRE_OK)
            status = send_all(stream);
        if (status == GYRE_OK)
            status = receive_what_is_there(stream);
        bool pause = state != REQUEST_READY || stream->refusal[0];
        if (status == GYRE_OK && pause)
            status = drain_replies(stream);
        if (status == GYRE_OK && stream->refusal[0])
            print_refusal(stream);
        if (pause && status == GYRE_OK)
            status = show_reply(stream);
    }
    return status;
}

/* ---- the end ---- */

/* Prints a line in its place for each sent request that no handler will complete, and the lines that were kept. */
static void print_uncompleted(call_stream *stream, gyre_status why)
{
    const bool gone = why == GYRE_LOST || why == GYRE_CLOSED;
    uint64_t *const count = gone ? &stream->counts->lost : &stream->counts->unanswered;
    while (unprinted(stream)) {
        if (call_early_print(&stream->early, stream->desc->out))
            continue;
        if (stream->in_flight && stream->early.next >= stream->left_end) {
            fputs(gone ? "{\"unhandled\":true}\n" : "{\"unanswered\":true}\n", stream->desc->out);
            ++*count;
        }
        stream->in_flight -= stream->in_flight > 0;
        stream->early.next++;
    }
}

/* After a failure: receives the completions of requests that were accepted before. After a timeout it receives only what is
 * there. */
static void settle_requests(call_stream *stream, gyre_status failure)
{
    char reason[REASON_SIZE];
    snprintf(reason, sizeof reason, "%s", gyre_error_text());
    gyre_status status = failure == GYRE_TIMEOUT ? receive_what_is_there(stream) : drain_replies(stream);
    if (unprinted(stream))
        print_uncompleted(stream, status == GYRE_OK ? failure : status);
    fflush(stream->desc->out);
    gyre_error_set(failure, "%s", reason);
}

/* Counts the requests that an earlier run left in the queue's journal. Most queues have no journal. */
static void note_left(call_stream *stream)
{
    gyre_recovered recovered = {.size = sizeof recovered};
    if (gyre_queue_recovered(stream->desc->queue, &recovered) != GYRE_OK)
        return;
    stream->left_first = recovered.first;
    stream->left_end = recovered.first + recovered.offered;
    stream->left = stream->in_flight = recovered.offered;
    stream->early.next = recovered.first;
    stream->is_numbered = recovered.offered > 0;
}

gyre_status call_stream_run(const call_stream_desc *desc, call_counts *counts)
{
    call_stream stream = {.desc = desc, .counts = counts};
    gyre_queue_stats stats = {.size = sizeof stats};
    *counts = (call_counts){0};
    gyre_status status = fill_headers(&stream);
    if (status == GYRE_OK)
        status = gyre_queue_stats_get(desc->queue, &stats);
    if (status != GYRE_OK)
        return status;
    call_ends_printed(desc->queue);
    uint64_t larger = desc->request->size > desc->reply->size ? desc->request->size : desc->reply->size;
    note_left(&stream);
    stream.capacity = stream.early.room = stats.capacity;
    stream.batch = larger * BATCH_MAX > BATCH_BYTES ? BATCH_BYTES / larger : BATCH_MAX;
    stream.requests = malloc(stream.batch * larger + 1);
    stream.replies = malloc(stream.batch * larger + 1);
    if (stream.requests && stream.replies)
        status = stream_all(&stream);
    else
        status = gyre_error_set(GYRE_EXHAUSTED, "out of memory for a batch of messages");
    if (status != GYRE_OK && stream.replies)
        settle_requests(&stream, status);
    call_ends_printed(NULL);
    call_early_finish(&stream.early);
    free(stream.requests);
    free(stream.replies);
    return status;
}
