/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Followers of logs: the server pushes the blocks of a log that somebody waits for, so that each costs no question. A follower is a help and
 * never the truth: what it has not got is asked for by nats_read, and one that lost a block, or falls behind, is thrown away and made anew.
 *
 * Locks, outermost first: link->mutex, for the list; follower->mutex, for one of them, which whoever has link->mutex only tries. A thread that
 * has a follower may take link->mutex.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nats_transport.h"

#define UNUSED_NS UINT64_C(10000000000) /* a follower that nobody used for so long goes */
#define GONE_NS   UINT64_C(2000000000)
#define BEHIND_NS UINT64_C(500000000) /* how long a block may be known and not come */
#define BEAT_NS   INT64_C(5000000000)
#define MAKE_MS   250                  /* how long the server may take to make a follower, */
#define REST_NS   UINT64_C(2000000000) /* and how long none is made after it took longer */
#define SLICE_MS  1000

/* ---- what the server says about a message ---- */

/*
 * The subject for answers of a pushed message: $JS.ACK.STREAM.CONSUMER.TIMES.NUMBER.COUNT.TIME.LEFT, or with DOMAIN.ACCOUNT behind ACK and
 * perhaps one more word at the end. Later servers may add more.
 */
static bool read_numbers(const char *reply, uint64_t *number, uint64_t *count)
{
    const char *words[16];
    size_t found = 0;
    for (const char *at = reply; at && found < 16; at = strchr(at, '.'), at = at ? at + 1 : NULL)
        words[found++] = at;
    if (found < 9 || strncmp(reply, "$JS.ACK.", 8) != 0)
        return false;
    const size_t first = found == 9 ? 5 : 7;
    *number = strtoull(words[first], NULL, 10);
    *count = strtoull(words[first + 1], NULL, 10);
    return found != 10 && *number > 0 && *count > 0;
}

/* Heartbeats, and questions whether this side keeps up, which are answered where they stand in the order of messages. */
static void answer_control(const gyre_transport_link *link, natsMsg *message)
{
    const char *stalled = NULL, *reply = natsMsg_GetReply(message);
    if (natsMsgHeader_Get(message, "Nats-Consumer-Stalled", &stalled) == NATS_OK && stalled)
        natsConnection_Publish(link->connection, stalled, NULL, 0);
    else if (reply && reply[0])
        natsConnection_Publish(link->connection, reply, NULL, 0);
}

/* ---- one follower ---- */

static void free_all(nats_follower *followers)
{
    while (followers) {
        nats_follower *follower = followers;
        followers = follower->following;
        natsMsg_Destroy(follower->ahead);
        natsSubscription_Destroy(follower->subscription);
        pthread_mutex_destroy(&follower->mutex);
        free(follower);
    }
}

/* Those that have been gone for long; under the link's mutex. The list has the latest one first. */
static nats_follower *take_gone(nats_follower **at, uint64_t now_ns)
{
    while (*at && (now_ns < (*at)->used_ns || now_ns - (*at)->used_ns < GONE_NS))
        at = &(*at)->following;
    nats_follower *gone = *at;
    *at = NULL;
    return gone;
}

/*
 * Ends a follower that nobody finds any more. The library's own thread may handle a message of the subscription at this moment, and it
 * holds no reference to it. So the subscription is freed two seconds later (take_gone), or when the connection is closed.
 */
static void part_from(gyre_transport_link *link, nats_follower *follower)
{
    natsSubscription_Unsubscribe(follower->subscription);
    pthread_mutex_lock(&link->mutex);
    follower->used_ns = link->host->now_ns();
    follower->following = link->gone;
    link->gone = follower;
    pthread_mutex_unlock(&link->mutex);
}

static gyre_status subscribe(gyre_transport_link *link, nats_follower *follower, uint64_t after)
{
    char subject[NATS_SUBJECT_SIZE];
    natsInbox *inbox = NULL;
    jsConsumerConfig config;
    jsOptions options;
    jsErrCode error = 0;
    natsStatus status = natsInbox_Create(&inbox);
    if (status == NATS_OK)
        status = natsConnection_SubscribeSync(&follower->subscription, link->connection, inbox);
    jsConsumerConfig_Init(&config);
    config.DeliverSubject = inbox;
    config.FilterSubject = nats_subject(link, subject, "log", follower->name);
    config.DeliverPolicy = js_DeliverByStartSequence;
    config.OptStartSeq = after + 1;
    config.AckPolicy = js_AckNone;
    config.FlowControl = true;
    config.Heartbeat = BEAT_NS;
    config.Replicas = 1;
    config.MemoryStorage = true;
    jsOptions_Init(&options);
    options.Wait = MAKE_MS;
    if (status == NATS_OK)
        status = js_AddConsumer(NULL, link->jetstream, link->logs, &config, &options, &error);
    natsInbox_Destroy(inbox);
    follower->passed = after;
    if (status == NATS_TIMEOUT) {
        __atomic_store_n(&link->rests_until_ns, link->host->now_ns() + REST_NS, __ATOMIC_RELAXED);
        return GYRE_AGAIN;
    }
    return status == NATS_OK
               ? GYRE_OK
               : nats_failed(link, status, error, GYRE_UNAVAILABLE, "follow the log", follower->name);
}

/* The list that has the follower of a log: a member of many shards follows many. */
static nats_follower **list_of(gyre_transport_link *link, const char *log)
{
    uint32_t hash = 2166136261u;
    for (const char *at = log; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return &link->followers[(hash ^ hash >> 15) % NATS_LISTS];
}

/* The follower of a log, locked; NULL: there is none, or (*is_busy) another thread has it. */
static nats_follower *take_follower(gyre_transport_link *link, const char *log, bool *is_busy)
{
    nats_follower **const list = list_of(link, log);
    pthread_mutex_lock(&link->mutex);
    nats_follower *follower = *list;
    while (follower && strcmp(follower->name, log) != 0)
        follower = follower->following;
    *is_busy = follower && pthread_mutex_trylock(&follower->mutex) != 0;
    pthread_mutex_unlock(&link->mutex);
    if (!follower || *is_busy)
        return NULL;
    follower->used_ns = link->host->now_ns();
    return follower;
}

static void drop_follower(gyre_transport_link *link, nats_follower *follower)
{
    nats_follower **at = list_of(link, follower->name);
    pthread_mutex_lock(&link->mutex);
    while (*at && *at != follower)
        at = &(*at)->following;
    if (*at)
        *at = follower->following;
    pthread_mutex_unlock(&link->mutex);
    pthread_mutex_unlock(&follower->mutex); /* nobody finds it any more */
    part_from(link, follower);
}

/* Takes those of a list that nobody used for long; under the link's mutex. */
static void take_unused(nats_follower **at, uint64_t now_ns, nats_follower **unused)
{
    while (*at) {
        nats_follower *follower = *at;
        if (pthread_mutex_trylock(&follower->mutex) != 0) {
            at = &follower->following;
            continue;
        }
        const bool goes = now_ns > follower->used_ns && now_ns - follower->used_ns > UNUSED_NS;
        pthread_mutex_unlock(&follower->mutex);
        if (!goes) {
            at = &follower->following;
            continue;
        }
        *at = follower->following;
        follower->following = *unused;
        *unused = follower;
    }
}

/* Those that nobody waits for any more: a shard that went elsewhere. */
static void drop_unused(gyre_transport_link *link, uint64_t now_ns)
{
    nats_follower *unused = NULL;
    pthread_mutex_lock(&link->mutex);
    nats_follower *gone = take_gone(&link->gone, now_ns);
    const bool is_due = now_ns - link->swept_ns > UNUSED_NS / 10;
    link->swept_ns = is_due ? now_ns : link->swept_ns;
    for (size_t i = 0; is_due && i < NATS_LISTS; i++)
        take_unused(&link->followers[i], now_ns, &unused);
    pthread_mutex_unlock(&link->mutex);
    while (unused) {
        nats_follower *follower = unused;
        unused = follower->following;
        part_from(link, follower);
    }
    free_all(gone);
}

/* In the list before the server is asked, with its lock, so that no other thread makes a second one. */
static gyre_status make_follower(gyre_transport_link *link, const char *log, uint64_t after,
                                 nats_follower **out)
{
    nats_follower *follower = calloc(1, sizeof *follower), **const list = list_of(link, log);
    *out = NULL;
    if (!follower)
        return link->host->error(GYRE_EXHAUSTED, "no memory to follow the cluster's log '%s'", log);
    strncpy(follower->name, log, GYRE_TRANSPORT_NAME_MAX);
    pthread_mutex_init(&follower->mutex, NULL);
    pthread_mutex_lock(&follower->mutex);
    follower->used_ns = link->host->now_ns();
    pthread_mutex_lock(&link->mutex);
    follower->following = *list;
    *list = follower;
    pthread_mutex_unlock(&link->mutex);
    const gyre_status status = subscribe(link, follower, after);
    if (status != GYRE_OK)
        drop_follower(link, follower);
    else
        *out = follower;
    return status;
}

/* ---- blocks ---- */

/* Takes a message as the next block. False: a block before it did not come, or it is none. */
static bool take_message(gyre_transport_link *link, nats_follower *follower, natsMsg *message)
{
    uint64_t number = 0, count = 0;
    const char *reply = natsMsg_GetReply(message);
    if (!reply || strncmp(reply, "$JS.ACK.", 8) != 0) {
        answer_control(link, message);
        natsMsg_Destroy(message);
        return true;
    }
    if (!read_numbers(reply, &number, &count) || count != follower->count + 1) {
        natsMsg_Destroy(message);
        return false;
    }
    follower->count = count;
    follower->ahead = message;
    follower->ahead_number = number;
    return true;
}

/* Drops the blocks up to `after`. True: the next one is at hand. */
static bool has_block(nats_follower *follower, uint64_t after)
{
    if (follower->ahead && follower->ahead_number <= after) {
        follower->passed = follower->ahead_number;
        natsMsg_Destroy(follower->ahead);
        follower->ahead = NULL;
    }
    return follower->ahead != NULL;
}

/* Looks for the first block behind `after`, for so long. *is_whole: false when the follower is of no use any more. */
static bool await_block(gyre_transport_link *link, nats_follower *follower, uint64_t after, uint64_t until_ns,
                        bool *is_whole)
{
    *is_whole = true;
    while (*is_whole && !has_block(follower, after)) {
        natsMsg *message = NULL;
        uint64_t queued = 0;
        const uint64_t now = link->host->now_ns();
        natsSubscription_QueuedMsgs(follower->subscription, &queued);
        if (!queued && now >= until_ns)
            return false;
        const int64_t left_ms = now < until_ns ? (int64_t)((until_ns - now) / 1000000) + 1 : 1;
        const natsStatus status = natsSubscription_NextMsg(&message, follower->subscription,
                                                           left_ms < SLICE_MS ? left_ms : SLICE_MS);
        if (status == NATS_OK)
            *is_whole = take_message(link, follower, message);
        else
            *is_whole = status == NATS_TIMEOUT;
    }
    return *is_whole;
}

/* Of a block that a question found and the follower has not got: it may be under way for a moment. */
static bool is_behind(nats_follower *follower, uint64_t number, uint64_t now_ns)
{
    if (follower->behind <= follower->passed) {
        follower->behind = number;
        follower->behind_ns = now_ns;
    }
    return now_ns - follower->behind_ns > BEHIND_NS;
}

gyre_status nats_follow_read(gyre_transport_link *link, const char *log, uint64_t after, void *bytes,
                             size_t room, size_t *byte_count, uint64_t *number)
{
    bool is_busy, is_whole;
    nats_follower *follower = take_follower(link, log, &is_busy);
    if (!follower)
        return GYRE_AGAIN;
    if (after < follower->passed || !await_block(link, follower, after, 0, &is_whole)) {
        pthread_mutex_unlock(&follower->mutex);
        return GYRE_AGAIN;
    }
    const gyre_status status = nats_copy(link, follower->ahead, log, bytes, room, byte_count);
    *number = follower->ahead_number;
    if (status == GYRE_OK)
        has_block(follower, *number);
    pthread_mutex_unlock(&follower->mutex);
    return status;
}

void nats_follow_found(gyre_transport_link *link, const char *log, uint64_t number)
{
    bool is_busy;
    nats_follower *follower = take_follower(link, log, &is_busy);
    if (follower && number > follower->passed && is_behind(follower, number, link->host->now_ns()))
        drop_follower(link, follower);
    else if (follower)
        pthread_mutex_unlock(&follower->mutex);
}

/* A follower that is behind the log's readers begins again where they are. AGAIN: there is none, and the server is not asked for one now. */
static gyre_status follower_at(gyre_transport_link *link, const char *log, uint64_t after, uint64_t until_ns,
                               nats_follower **out, bool *is_busy)
{
    const uint64_t now = link->host->now_ns();
    *out = take_follower(link, log, is_busy);
    if (*is_busy)
        return GYRE_OK;
    if (*out && after < (*out)->passed) {
        drop_follower(link, *out);
        *out = NULL;
    }
    if (*out)
        return GYRE_OK;
    const bool rests = now < __atomic_load_n(&link->rests_until_ns, __ATOMIC_RELAXED);
    return now < until_ns && !rests ? make_follower(link, log, after, out) : GYRE_AGAIN;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

gyre_status nats_wait(gyre_transport_link *link, const char *log, uint64_t after, uint64_t deadline_ns)
{
    bool is_busy, is_whole;
    nats_follower *follower;
    const uint64_t now = link->host->now_ns(), slice_ns = now + (uint64_t)SLICE_MS * 1000000,
                   until_ns = deadline_ns < slice_ns ? deadline_ns : slice_ns;
    drop_unused(link, now);
    const gyre_status status = follower_at(link, log, after, until_ns, &follower, &is_busy);
    if (is_busy) { /* another thread of this process waits for the same log */
        nap();
        return GYRE_OK;
    }
    if (status == GYRE_AGAIN && now < until_ns) /* a server that is slow is asked by each read for a while */
        nap();
    if (status != GYRE_OK)
        return status;
    if (await_block(link, follower, after, until_ns, &is_whole)) {
        pthread_mutex_unlock(&follower->mutex);
        return GYRE_OK;
    }
    if (!is_whole) { /* a read asks, and the next wait makes another one */
        drop_follower(link, follower);
        return GYRE_OK;
    }
    pthread_mutex_unlock(&follower->mutex);
    if (link->host->now_ns() < deadline_ns)
        return GYRE_OK; /* a server that stopped pushing is found by a read */
    return link->host->error(GYRE_TIMEOUT, "nothing was appended to the cluster's log '%s' in time", log);
}

void nats_followers_close(gyre_transport_link *link)
{
    for (size_t i = 0; i < NATS_LISTS; i++)
        free_all(link->followers[i]);
    free_all(link->gone);
}
