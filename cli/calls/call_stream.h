/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams requests through a queue and prints their completions, one JSON line for each request, in order:
 *
 *     the reply                                 the handler replied
 *     {"no_reply":true}                         the handler did not reply
 *     {"failed":{"code":7,"text":"..."}}        the handler failed the request
 *     {"dropped":true}, {"unhandled":true}      discarded by the queue's policy; left over at termination
 *     {"unanswered":true}                       the request's completion did not come in time
 *     {"refused":"..."}                         the request was no message and was not sent
 *
 * Before these lines it prints {"recovered":LINE} for each request that an earlier run left in the queue's journal.
 */
#ifndef GYRE_CLI_CALLS_CALL_STREAM_H
#define GYRE_CLI_CALLS_CALL_STREAM_H

#include <stdio.h>

#include "cli/json/message_json.h"
#include "cli/calls/request_source.h"
#include "core/types/types.h"
#include "gyre/gyre.h"

typedef struct call_stream_desc {
    gyre_queue *queue; /* no other thread or client uses it */
    const char *whom;  /* "the kernel", "the pipeline": who is to complete the requests, for a sentence */
    const gyre_layout *request, *reply;
    const message_json_names *names; /* names of buffers in requests; NULL: requests name none */
    request_source *source;
    uint64_t timeout_ms;     /* longest wait for a completion; 0: no limit */
    uint64_t told_ms;        /* a person who watches is told once of a wait that takes longer; 0: of none */
    const char *traceparent; /* the trace of all requests (gyre/trace_context.h); NULL: they have none */
    FILE *out;
    FILE *
        kept; /* gets each request as a line of a case file, until something is found; NULL: nobody wants them */
} call_stream_desc;

/* The counts of a stream. In the end each sent request counts as answered, without_reply, failed, lost or unanswered. */
typedef struct call_counts {
    uint64_t sent, answered, without_reply, failed, lost, unanswered, refused;
    uint64_t recovered; /* requests of an earlier run, however they ended; in no other count */
    char finding[64];   /* the first failure that tells of a mistake of the handler; "": none did */
} call_counts;

/**
 * Runs until the source ends and every completion was printed. Sends waiting requests in batches, and flushes `out` before it
 * waits for a request or a reply. Failed requests are counted and are no error. TIMEOUT when no completion came in time, else
 * the status of the send or receive that failed. After a failure it still receives and prints completions of earlier requests.
 * Sets *counts in every case.
 */
gyre_status call_stream_run(const call_stream_desc *desc, call_counts *counts);

#endif
