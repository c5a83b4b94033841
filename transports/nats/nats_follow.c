/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Followers of logs: the server pushes the blocks of a log that somebody waits for, so that each costs no question. A follower is a help and
 * never the truth: what it has not got is asked for by nats_read, and one that lost a block, or falls behind, is thrown away and made anew.
 *
 * There are two ways. The stream's leader publishes each block that it kept once more, with its number and the number of the block before it
 * in the same log; whoever subscribes gets it, and the server looks for nothing. A block counts only behind the one before it, which the reader
 * has read: what is missing in between is asked for. Who has more than a few to ask for makes a consumer, until nothing is left that waits.
 * Streams that were made without that setting have consumers alone.
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
/* A subscription comes to the leader's server some time later. So the reader asks after LOOK_NS, LOOK_MORE times that and so on, until LAST_NS. */
#define LOOK_NS   UINT64_C(4000000)
#define LOOK_MORE 8
#define LAST_NS   UINT64_C(2100000000)
#define DOUBT_NS  UINT64_C(30000000000) /* consumers alone, after what was published once more did not come */
/* More blocks than that are not asked for one by one, nor kept by the library. */
enum { ASKED_MAX = 16, QUEUED_MAX = 1024, QUEUED_BYTES = 4 << 20 };

/* ---- what the server says about a message ---- */

/*
 * The subject for answers of a pushed message: $JS.ACK.STREAM.CONSUMER.TIMES.NUMBER.COUNT.TIME.LEFT, or with DOMAIN.ACCOUNT behind ACK and
 * perhaps one more word at the end. Later servers may add more.
 */
static bool read_numbers(const char *reply, uint64_t *number, uint64_t *count, uint64_t *left)
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
    *left = first + 3 < found ? strtoull(words[first + 3], NULL, 10) : 1;
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

static natsStatus make_consumer(gyre_transport_link *link, nats_follower *follower, uint64_t after,
                                jsErrCode *error)
{
    char subject[NATS_SUBJECT_SIZE];
    natsInbox *inbox = NULL;
    jsConsumerConfig config;
    jsOptions options;
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
        status = js_AddConsumer(NULL, link->jetstream, link->logs, &config, &options, error);
    natsInbox_Destroy(inbox);
    return status;
}

/* The library would keep what comes until the memory is full; what is too much for it is asked for. */
static natsStatus hear_again(gyre_transport_link *link, nats_follower *follower)
{
    char subject[2 * NATS_SUBJECT_SIZE];
    snprintf(subject, sizeof subject, "%s%s", link->again, follower->name);
    const natsStatus status =
        natsConnection_SubscribeSync(&follower->subscription, link->connection, subject);
    return status == NATS_OK
               ? natsSubscription_SetPendingLimits(follower->subscription, QUEUED_MAX, QUEUED_BYTES)
               : status;
}

static gyre_status subscribe(gyre_transport_link *link, nats_follower *follower, uint64_t after)
{
    jsErrCode error = 0;
    const natsStatus status =
        follower->hears_again ? hear_again(link, follower) : make_consumer(link, follower, after, &error);
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

static void count_connections(gyre_transport_link *link)
{
    natsStatistics *statistics = NULL;
    uint64_t ignored, connections = 0;
    if (natsStatistics_Create(&statistics) == NATS_OK &&
        natsConnection_GetStats(link->connection, statistics) == NATS_OK &&
        natsStatistics_GetCounts(statistics, &ignored, &ignored, &ignored, &ignored, &connections) == NATS_OK)
        __atomic_store_n(&link->connections, connections, __ATOMIC_RELAXED);
    natsStatistics_Destroy(statistics);
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
    if (is_due)
        count_connections(link);
}

/* In the list before the server is asked, with its lock, so that no other thread makes a second one. */
static gyre_status make_follower(gyre_transport_link *link, const char *log, uint64_t after, bool hears_again,
                                 nats_follower **out)
{
    nats_follower *follower = calloc(1, sizeof *follower), **const list = list_of(link, log);
    *out = NULL;
    if (!follower)
        return link->host->error(GYRE_EXHAUSTED, "no memory to follow the cluster's log '%s'", log);
    strncpy(follower->name, log, GYRE_TRANSPORT_NAME_MAX);
    pthread_mutex_init(&follower->mutex, NULL);
    pthread_mutex_lock(&follower->mutex);
    follower->used_ns = follower->made_ns = link->host->now_ns();
    follower->hears_again = hears_again;
    follower->look_ns = LOOK_NS;
    follower->connections = __atomic_load_n(&link->connections, __ATOMIC_RELAXED);
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

/* Whether blocks of a log may come as they are published once more, or the server did not do so lately. */
static bool may_hear_again(gyre_transport_link *link, uint64_t now_ns)
{
    return link->again[0] && now_ns >= __atomic_load_n(&link->doubts_until_ns, __ATOMIC_RELAXED);
}

static void doubt(gyre_transport_link *link)
{
    __atomic_store_n(&link->doubts_until_ns, link->host->now_ns() + DOUBT_NS, __ATOMIC_RELAXED);
}

static uint64_t header_number(natsMsg *message, const char *name)
{
    const char *text = NULL;
    return natsMsgHeader_Get(message, name, &text) == NATS_OK && text ? strtoull(text, NULL, 10) : 0;
}

/* Takes a block that was published once more. Its place in the log is judged when it is looked at. False: it is none. */
static bool take_again(gyre_transport_link *link, nats_follower *follower, natsMsg *message)
{
    const uint64_t number = header_number(message, "Nats-Sequence"),
                   last = header_number(message, "Nats-Last-Sequence");
    if (number <= last) {
        natsMsg_Destroy(message);
        doubt(link);
        return false;
    }
    follower->ahead = message;
    follower->ahead_number = number;
    follower->ahead_last = last;
    return true;
}

/* Takes a message as the next block. False: a block before it did not come, or it is none. */
static bool take_message(gyre_transport_link *link, nats_follower *follower, natsMsg *message)
{
    uint64_t number = 0, count = 0, left = 1;
    if (follower->hears_again)
        return take_again(link, follower, message);
    const char *reply = natsMsg_GetReply(message);
    if (!reply || strncmp(reply, "$JS.ACK.", 8) != 0) {
        answer_control(link, message);
        natsMsg_Destroy(message);
        return true;
    }
    if (!read_numbers(reply, &number, &count, &left) || count != follower->count + 1) {
        natsMsg_Destroy(message);
        return false;
    }
    follower->count = count;
    follower->is_level = left == 0;
    follower->ahead = message;
    follower->ahead_number = number;
    return true;
}

/*
 * Whether a block before the one at hand did not come. The first block of a log has none before it; a server that could not find the block before says the same, so
 * the reader asks.
 */
static bool has_gap(const nats_follower *follower, uint64_t after)
{
    return follower->hears_again && follower->ahead &&
           (follower->ahead_last == 0 || follower->ahead_last > after);
}

/* Drops the blocks up to `after`. True: the next one is at hand. */
static bool has_block(nats_follower *follower, uint64_t after)
{
    if (follower->ahead && follower->ahead_number <= after) {
        follower->passed = follower->ahead_number;
        natsMsg_Destroy(follower->ahead);
        follower->ahead = NULL;
    }
    return follower->ahead && !has_gap(follower, after);
}

/* Looks for the first block behind `after`, for so long. *is_whole: false when the follower is of no use any more. */
static bool await_block(gyre_transport_link *link, nats_follower *follower, uint64_t after, uint64_t until_ns,
                        bool *is_whole)
{
    *is_whole = true;
    while (*is_whole && !has_block(follower, after)) {
        if (follower->ahead)
            return false;
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

/* Whether the leader's server may not know the subscription yet. */
static bool is_new(const nats_follower *follower, uint64_t now_ns)
{
    return follower->hears_again && now_ns - follower->made_ns < LAST_NS;
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
    follower->asked = 0;
    if (status == GYRE_OK)
        has_block(follower, *number);
    pthread_mutex_unlock(&follower->mutex);
    return status;
}

/* A reader that has many blocks to ask for goes on with a consumer. */
static void catch_up(gyre_transport_link *link, nats_follower *follower, const char *log, uint64_t after)
{
    nats_follower *made;
    if (link->host->now_ns() < __atomic_load_n(&link->rests_until_ns, __ATOMIC_RELAXED)) {
        pthread_mutex_unlock(&follower->mutex);
        return;
    }
    drop_follower(link, follower);
    if (make_follower(link, log, after, false, &made) == GYRE_OK)
        pthread_mutex_unlock(&made->mutex);
}

void nats_follow_found(gyre_transport_link *link, const char *log, uint64_t number)
{
    bool is_busy;
    const uint64_t now = link->host->now_ns();
    nats_follower *follower = take_follower(link, log, &is_busy);
    if (!follower)
        return;
    if (follower->hears_again && ++follower->asked > ASKED_MAX) {
        catch_up(link, follower, log, number);
        return;
    }
    if (is_new(follower, now)) { /* it may have been published before the server knew who subscribes */
        follower->passed = number > follower->passed ? number : follower->passed;
    } else if (number > follower->passed && is_behind(follower, number, now)) {
        if (follower->hears_again)
            doubt(link);
        drop_follower(link, follower);
        return;
    }
    pthread_mutex_unlock(&follower->mutex);
}

/* A consumer that has nothing left goes. The reader asks for what comes before the subscription is there. */
static bool is_to_hear_again(gyre_transport_link *link, const nats_follower *follower, uint64_t now_ns,
                             uint64_t until_ns)
{
    return !follower->hears_again && follower->is_level && !follower->ahead && now_ns < until_ns &&
           may_hear_again(link, now_ns);
}

/* A follower that is behind the log's readers begins again where they are. AGAIN: there is none, and the server is not asked for one now. */
static gyre_status follower_at(gyre_transport_link *link, const char *log, uint64_t after, uint64_t until_ns,
                               nats_follower **out, bool *is_busy)
{
    const uint64_t now = link->host->now_ns();
    *out = take_follower(link, log, is_busy);
    if (*is_busy)
        return GYRE_OK;
    if (*out && (after < (*out)->passed || is_to_hear_again(link, *out, now, until_ns))) {
        drop_follower(link, *out);
        *out = NULL;
    }
    if (*out)
        return GYRE_OK;
    if (now < until_ns && may_hear_again(link, now))
        return make_follower(link, log, after, true, out);
    const bool rests = now < __atomic_load_n(&link->rests_until_ns, __ATOMIC_RELAXED);
    return now < until_ns && !rests ? make_follower(link, log, after, false, out) : GYRE_AGAIN;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* When the reader is to ask, whatever comes; after that the subscription is known everywhere, or of no use. */
static uint64_t look_at_ns(gyre_transport_link *link, nats_follower *follower, uint64_t now_ns)
{
    const uint64_t connections = __atomic_load_n(&link->connections, __ATOMIC_RELAXED);
    if (!follower->hears_again)
        return UINT64_MAX;
    if (follower->connections != connections) { /* another server has to be told who subscribes */
        follower->connections = connections;
        follower->made_ns = now_ns;
        follower->look_ns = 0;
    }
    return follower->look_ns < LAST_NS ? follower->made_ns + follower->look_ns : UINT64_MAX;
}

/* Whether the reader is to ask now. *goes: it asked in vain for what has to be there, for too long. */
static bool is_to_ask(nats_follower *follower, uint64_t after, uint64_t look_ns, uint64_t now_ns, bool *goes)
{
    if (has_gap(follower, after)) {
        if (follower->gap_after != after || !follower->gap_ns)
            follower->gap_ns = now_ns;
        follower->gap_after = after;
        *goes = now_ns - follower->gap_ns > BEHIND_NS;
        return true;
    }
    *goes = false;
    follower->gap_ns = 0;
    if (now_ns < look_ns)
        return false;
    follower->look_ns = follower->look_ns ? follower->look_ns * LOOK_MORE : LOOK_NS;
    return true;
}

gyre_status nats_wait(gyre_transport_link *link, const char *log, uint64_t after, uint64_t deadline_ns)
{
    bool is_busy, is_whole, goes;
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
    const uint64_t look_ns = look_at_ns(link, follower, now);
    if (await_block(link, follower, after, until_ns < look_ns ? until_ns : look_ns, &is_whole)) {
        pthread_mutex_unlock(&follower->mutex);
        return GYRE_OK;
    }
    const bool asks = is_whole && is_to_ask(follower, after, look_ns, link->host->now_ns(), &goes);
    if (asks && goes)
        doubt(link);
    if (asks && !goes) {
        const bool naps = follower->gap_ns && follower->gap_ns <= now && now < until_ns;
        pthread_mutex_unlock(&follower->mutex);
        if (naps) /* it asked for this block before */
            nap();
        return GYRE_OK;
    }
    if (!is_whole || asks) { /* a read asks, and the next wait makes another one */
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
