/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of the NATS transport. No state. */
#include <string.h>

#include "nats_transport.h"

gyre_status nats_copy(const gyre_transport_link *link, const natsMsg *message, const char *name, void *bytes,
                      size_t room, size_t *byte_count)
{
    const int length = natsMsg_GetDataLength(message);
    *byte_count = length > 0 ? (size_t)length : 0;
    if (*byte_count > room)
        return link->host->error(GYRE_INVALID, "'%s' at the NATS server has %zu bytes, expected %zu at most",
                                 name, *byte_count, room);
    if (*byte_count)
        memcpy(bytes, natsMsg_GetData(message), *byte_count);
    return GYRE_OK;
}

/* ---- blocks ---- */

static natsStatus publish(gyre_transport_link *link, const char *subject, const gyre_transport_block *block,
                          uint64_t *number, jsErrCode *error)
{
    jsPubOptions options;
    jsPubAck *acknowledged = NULL;
    jsPubOptions_Init(&options);
    options.MaxWait = link->reach_ms;
    options.MsgId = block->id;
    if (block->expected == 0)
        options.ExpectNoMessage = true;
    else if (block->expected != GYRE_TRANSPORT_ANY)
        options.ExpectLastSubjectSeq = block->expected;
    const natsStatus status = js_Publish(&acknowledged, link->jetstream, subject, block->bytes,
                                         (int)block->byte_count, &options, error);
    if (status == NATS_OK)
        *number = acknowledged->Sequence;
    jsPubAck_Destroy(acknowledged);
    return status;
}

gyre_status nats_append(gyre_transport_link *link, const char *log, const gyre_transport_block *block,
                        uint64_t *number)
{
    char subject[NATS_SUBJECT_SIZE];
    jsErrCode error = 0;
    *number = 0;
    if (block->byte_count > GYRE_TRANSPORT_BLOCK_MAX)
        return link->host->error(GYRE_INVALID, "a block has at most %u bytes, found %zu",
                                 GYRE_TRANSPORT_BLOCK_MAX, block->byte_count);
    const natsStatus status = publish(link, nats_subject(link, subject, "log", log), block, number, &error);
    if (status != NATS_OK)
        return nats_failed(link, status, error, GYRE_TIMEOUT, "append to the log", log);
    return GYRE_OK;
}

gyre_status nats_read(gyre_transport_link *link, const char *log, uint64_t after, void *bytes, size_t room,
                      size_t *byte_count, uint64_t *number)
{
    char subject[NATS_SUBJECT_SIZE];
    natsMsg *message = NULL;
    jsDirectGetMsgOptions wanted;
    jsDirectGetMsgOptions_Init(&wanted);
    wanted.Sequence = after + 1;
    wanted.NextBySubject = nats_subject(link, subject, "log", log);
    *byte_count = 0;
    *number = 0;
    gyre_status status = nats_follow_read(link, log, after, bytes, room, byte_count, number);
    if (status != GYRE_AGAIN)
        return status;
    const natsStatus got = js_DirectGetMsg(&message, link->jetstream, link->logs, NULL, &wanted);
    if (got == NATS_NOT_FOUND)
        return GYRE_AGAIN;
    if (got != NATS_OK)
        return nats_failed(link, got, 0, GYRE_UNAVAILABLE, "read the log", log);
    status = nats_copy(link, message, log, bytes, room, byte_count);
    *number = natsMsg_GetSequence(message);
    natsMsg_Destroy(message);
    nats_follow_found(link, log, *number);
    return status;
}

gyre_status nats_last(gyre_transport_link *link, const char *log, uint64_t *number)
{
    char subject[NATS_SUBJECT_SIZE];
    natsMsg *message = NULL;
    jsErrCode error = 0;
    *number = 0;
    const natsStatus got = js_GetLastMsg(&message, link->jetstream, link->logs,
                                         nats_subject(link, subject, "log", log), NULL, &error);
    if (got == NATS_NOT_FOUND || error == JSNoMessageFoundErr)
        return GYRE_OK;
    if (got != NATS_OK)
        return nats_failed(link, got, error, GYRE_UNAVAILABLE, "find the end of the log", log);
    *number = natsMsg_GetSequence(message);
    natsMsg_Destroy(message);
    return GYRE_OK;
}

gyre_status nats_purge(gyre_transport_link *link, const char *log, uint64_t below)
{
    char subject[NATS_SUBJECT_SIZE];
    jsOptions options;
    jsErrCode error = 0;
    uint64_t last;
    gyre_status status = nats_last(link, log, &last);
    below = below < last ? below : last;
    if (status != GYRE_OK || below <= 1)
        return status;
    jsOptions_Init(&options);
    options.Stream.Purge.Subject = nats_subject(link, subject, "log", log);
    options.Stream.Purge.Sequence = below;
    const natsStatus done = js_PurgeStream(link->jetstream, link->logs, &options, &error);
    return done == NATS_OK ? GYRE_OK : nats_failed(link, done, error, GYRE_UNAVAILABLE, "purge the log", log);
}
