/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams requests through a queue and prints what came back, one JSON line for each request, in order:
 *
 *     the reply                                 the handler replied
 *     {"no_reply":true}                         it did not
 *     {"failed":{"code":7,"text":"..."}}        it failed the request
 *     {"dropped":true}, {"unhandled":true}      discarded by the queue's policy; left over at termination
 *     {"unanswered":true}                       its completion did not come in time
 *     {"refused":"..."}                         the request was no message and was not sent
 *
 * Before them {"recovered":LINE} for each request that an earlier run left in the queue's journal.
 */
#ifndef GYRE_CLI_CALL_STREAM_H
#define GYRE_CLI_CALL_STREAM_H

#include <stdio.h>

#include "cli/message_json.h"
#include "cli/request_source.h"
#include "core/types/types.h"
#include "gyre/gyre.h"

typedef struct call_stream_desc {
    gyre_queue *queue; /* used by nobody else */
    const gyre_layout *request, *reply;
    const message_json_names *names; /* of buffers, for requests that name them; NULL: none */
    request_source *source;
    uint64_t timeout_ms; /* that a completion may take; 0: no limit */
    FILE *out;
} call_stream_desc;

/* In the end each request that was sent counts as answered, without_reply, failed, lost or unanswered. */
typedef struct call_counts {
    uint64_t sent, answered, without_reply, failed, lost, unanswered, refused;
    uint64_t recovered; /* of an earlier run, however they ended; in no other count */
} call_counts;

/**
 * Runs until the source ends and every completion was printed. Batches whatever waits, and flushes `out`
 * before it waits for a request or a reply. Failed requests are counted, not an error. TIMEOUT when no completion came
 * in time, else the status of the send or receive that failed; completions of earlier requests are then received and printed as well.
 * *counts is set in every case.
 */
gyre_status call_stream_run(const call_stream_desc *desc, call_counts *counts);

#endif
