/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends blocks to several logs at once: all are published before the first acknowledgement is awaited, which may be
 * later. Lock: link->mutex for the list of ears
 * that nobody uses; an ear is one thread's while it has it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nats_transport.h"

/* ---- ears ---- */

static nats_ear *take_ear(gyre_transport_link *link)
{
    char subject[NATS_SUBJECT_SIZE];
    pthread_mutex_lock(&link->mutex);
    nats_ear *ear = link->ears;
    if (ear)
        link->ears = ear->following;
    pthread_mutex_unlock(&link->mutex);
    if (ear || !(ear = calloc(1, sizeof *ear)))
        return ear;
    natsStatus status = natsInbox_Create(&ear->inbox);
    if (status == NATS_OK) {
        snprintf(subject, sizeof subject, "%s.*", ear->inbox);
        status = natsConnection_SubscribeSync(&ear->subscription, link->connection, subject);
    }
    if (status == NATS_OK)
        return ear;
    natsInbox_Destroy(ear->inbox);
    free(ear);
    return NULL;
}

static void give_ear(gyre_transport_link *link, nats_ear *ear)
{
    pthread_mutex_lock(&link->mutex);
    ear->following = link->ears;
    link->ears = ear;
    pthread_mutex_unlock(&link->mutex);
}

void nats_ears_close(gyre_transport_link *link)
{
    while (link->ears) {
        nats_ear *ear = link->ears;
        link->ears = ear->following;
        natsSubscription_Destroy(ear->subscription);
        natsInbox_Destroy(ear->inbox);
        free(ear);
    }
}

/* ---- publishing ---- */

static natsStatus set_headers(natsMsg *message, const gyre_transport_block *block)
{
    char text[32];
    natsStatus status = NATS_OK;
    if (block->id)
        status = natsMsgHeader_Set(message, "Nats-Msg-Id", block->id);
    snprintf(text, sizeof text, "%" PRIu64, block->expected);
    if (status == NATS_OK && block->expected != GYRE_TRANSPORT_ANY)
        status = natsMsgHeader_Set(message, "Nats-Expected-Last-Subject-Sequence", text);
    return status;
}

static natsStatus publish(gyre_transport_link *link, const nats_ear *ear, const gyre_transport_entry *entry,
                          uint64_t call)
{
    const gyre_transport_block *block = &entry->block;
    char subject[NATS_SUBJECT_SIZE], reply[NATS_SUBJECT_SIZE];
    natsMsg *message = NULL;
    nats_subject(link, subject, "log", entry->log);
    snprintf(reply, sizeof reply, "%s.%" PRIu64, ear->inbox, call);
    if (!block->id && block->expected == GYRE_TRANSPORT_ANY) /* a message would be a copy of the block */
        return natsConnection_PublishRequest(link->connection, subject, reply, block->bytes,
                                             (int)block->byte_count);
    natsStatus status = natsMsg_Create(&message, subject, reply, block->bytes, (int)block->byte_count);
    if (status == NATS_OK)
        status = set_headers(message, block);
    if (status == NATS_OK)
        status = natsConnection_PublishMsg(link->connection, message);
    natsMsg_Destroy(message);
    return status;
}

/* ---- acknowledgements ---- */

/* The number behind a word of an acknowledgement, {"stream":"...","seq":5} or {"error":{"code":400,"err_code":10071,...}}; 0: none. */
static uint64_t number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

/* Copied, because a message does not end with a NUL. */
static gyre_status judge(const gyre_transport_link *link, const gyre_transport_entry *entry, natsMsg *message,
                         uint64_t *number)
{
    char text[512];
    const int given = natsMsg_GetDataLength(message);
    const size_t length = given > 0 && (size_t)given < sizeof text ? (size_t)given : 0;
    if (natsMsg_IsNoResponders(message))
        return nats_failed(link, NATS_NO_RESPONDERS, 0, GYRE_UNAVAILABLE, "append to the log", entry->log);
    memcpy(text, natsMsg_GetData(message), length);
    text[length] = '\0';
    const jsErrCode error = strstr(text, "\"error\"") ? (jsErrCode)number_behind(text, "\"err_code\":") : 0;
    *number = number_behind(text, "\"seq\":");
    if (error)
        return nats_failed(link, NATS_ERR, error, GYRE_TIMEOUT, "append to the log", entry->log);
    return *number ? GYRE_OK
                   : nats_failed(link, NATS_PROTOCOL_ERROR, 0, GYRE_TIMEOUT, "append to the log", entry->log);
}

/* Answers of earlier calls, which were given up, are passed over. */
static bool take_answer(const gyre_transport_link *link, nats_ear *ear, natsMsg *message)
{
    const char *subject = natsMsg_GetSubject(message);
    const size_t skipped = strlen(ear->inbox) + 1;
    const uint64_t call = strlen(subject) > skipped ? strtoull(subject + skipped, NULL, 10) : 0;
    if (call < ear->first || call - ear->first >= ear->count)
        return false;
    gyre_transport_entry *entry = &ear->entries[call - ear->first];
    if (entry->status != GYRE_TIMEOUT || entry->number == UINT64_MAX)
        return false;
    entry->status = judge(link, entry, message, &entry->number);
    if (entry->status == GYRE_TIMEOUT)
        entry->number = UINT64_MAX; /* answered, and not known */
    return true;
}

/* Takes the answers that are there, and awaits the others. False: some may still come. */
static bool await_answers(const gyre_transport_link *link, nats_ear *ear, uint64_t deadline_ns)
{
    const uint64_t until = deadline_ns < ear->until_ns ? deadline_ns : ear->until_ns;
    while (ear->awaited) {
        natsMsg *message = NULL;
        uint64_t queued = 0;
        const uint64_t now = link->host->now_ns();
        natsSubscription_QueuedMsgs(ear->subscription, &queued);
        if (!queued && now >= until && now < ear->until_ns)
            return false;
        const int64_t left_ms = now < until ? (int64_t)((until - now) / 1000000) + 1 : queued ? 1 : 0;
        const natsStatus status =
            left_ms ? natsSubscription_NextMsg(&message, ear->subscription, left_ms) : NATS_TIMEOUT;
        if (status == NATS_TIMEOUT && link->host->now_ns() < ear->until_ns)
            continue;
        if (status != NATS_OK) {
            nats_failed(link, status, 0, GYRE_TIMEOUT, "append to", "several logs");
            return true;
        }
        ear->awaited -= take_answer(link, ear, message);
        natsMsg_Destroy(message);
    }
    return true;
}

/* ---- operations ---- */

gyre_status nats_append_begin(gyre_transport_link *link, gyre_transport_entry *entries, size_t count,
                              gyre_transport_ticket **ticket)
{
    nats_ear *ear = take_ear(link);
    *ticket = ear;
    if (!ear)
        return link->host->error(GYRE_UNAVAILABLE, "cannot hear of the log '%s'", entries[0].log);
    ear->entries = entries;
    ear->count = count;
    ear->awaited = 0;
    ear->until_ns = link->host->now_ns() + (uint64_t)link->reach_ms * 1000000;
    ear->first = ear->next;
    ear->next += count;
    for (size_t i = 0; i < count; i++) {
        const natsStatus status = publish(link, ear, &entries[i], ear->first + i);
        entries[i].number = 0;
        entries[i].status = status == NATS_OK ? GYRE_TIMEOUT
                                              : nats_failed(link, status, 0, GYRE_TIMEOUT,
                                                            "append to the log", entries[i].log);
        ear->awaited += status == NATS_OK;
    }
    return GYRE_OK;
}

gyre_status nats_append_finish(gyre_transport_link *link, gyre_transport_ticket *ticket, uint64_t deadline_ns)
{
    if (!await_answers(link, ticket, deadline_ns))
        return GYRE_AGAIN;
    for (size_t i = 0; i < ticket->count; i++)
        ticket->entries[i].number = ticket->entries[i].status == GYRE_OK ? ticket->entries[i].number : 0;
    give_ear(link, ticket);
    return GYRE_OK;
}

void nats_append_drop(gyre_transport_link *link, gyre_transport_ticket *ticket)
{
    give_ear(link, ticket);
}

void nats_append_each(gyre_transport_link *link, gyre_transport_entry *entries, size_t count)
{
    nats_ear *ear;
    const gyre_status status = nats_append_begin(link, entries, count, &ear);
    if (status == GYRE_OK) {
        nats_append_finish(link, ear, UINT64_MAX);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        entries[i].number = 0;
        entries[i].status = status;
    }
}
