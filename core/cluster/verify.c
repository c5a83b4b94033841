/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See verify.h. The order of reading makes it right beside members that work: requests before states, so that whatever was purged of the
 * requests meanwhile is in the checkpoint that is read afterwards; the place last, since an owner writes it before its fence. But that a
 * checkpoint is kept, the place says afterwards: so what it said before the states were read counts for that.
 */
#include "core/cluster/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/cluster/kept.h"
#include "gyre/waiting.h"

#define READ_NS   UINT64_C(2000000000)
#define SETTLE_NS UINT64_C(10000000000)

/* Requests of one client that follow each other, in one block. */
struct run {
    unsigned char client[GYRE_CLIENT_ID_SIZE];
    uint64_t first, count, position;
    uint32_t unsettled;
};

struct verifying {
    struct gyre_transport *transport;
    const struct gyre_cluster_app *app;
    struct gyre_verified *out;
    struct gyre_kept kept;
    struct run *runs;
    size_t run_count, run_room;
    unsigned char *block; /* room for one */
    uint64_t seen_epoch;  /* the highest one in the log of states */
    bool was_kept;        /* its place said so before the states were read */
};

static void tell(const struct verifying *verifying, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void tell(const struct verifying *verifying, const char *format, ...)
{
    char text[GYRE_VERIFY_PROBLEM_SIZE];
    const int length = snprintf(text, sizeof text, "shard %u: ", verifying->out->shard);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    verifying->out->problems++;
    verifying->out->problem(verifying->out->context, text);
}

/* What is wrong with what was read is told; only what kept it from being read ends the look. */
static gyre_status judge(const struct verifying *verifying, gyre_status status)
{
    if (status == GYRE_OK || status == GYRE_UNAVAILABLE || status == GYRE_TIMEOUT || status == GYRE_EXHAUSTED)
        return status;
    tell(verifying, "%s", gyre_error_text());
    gyre_error_clear();
    return GYRE_OK;
}

/* ---- logs ---- */

/* Reads the blocks of a log that are there up to its end as of now, and calls `each` for them. */
static gyre_status read_log(struct verifying *verifying, const char *log,
                            gyre_status (*each)(struct verifying *verifying, uint64_t number, size_t size))
{
    uint64_t last = 0;
    gyre_status status = gyre_transport_last(verifying->transport, log, &last);
    for (uint64_t at = 0; status == GYRE_OK && at < last;) {
        size_t size;
        uint64_t number;
        status = gyre_transport_read(verifying->transport, log, at, verifying->block,
                                     GYRE_TRANSPORT_BLOCK_MAX, &size, &number);
        if (status == GYRE_AGAIN) /* purged meanwhile */
            return GYRE_OK;
        if (status == GYRE_OK && number <= at) {
            tell(verifying, "log '%s': block %" PRIu64 " follows block %" PRIu64, log, number, at);
            return GYRE_OK;
        }
        if (status == GYRE_OK)
            status = each(verifying, number, size);
        at = number;
    }
    return judge(verifying, status);
}

/* ---- requests ---- */

static gyre_status note_requests(struct verifying *verifying, uint64_t number, size_t size)
{
    struct gyre_cluster_requests head;
    struct gyre_cluster_walk walk;
    char where[GYRE_CLUSTER_NAME_SIZE + 32];
    snprintf(where, sizeof where, "block %" PRIu64 " of the log 'in.%u'", number, verifying->out->shard);
    const gyre_status status = gyre_cluster_requests_open(verifying->block, size, where, &head, &walk);
    if (status != GYRE_OK)
        return judge(verifying, status);
    if (verifying->run_count == verifying->run_room) {
        const size_t room = verifying->run_room ? 2 * verifying->run_room : 256;
        struct run *runs = realloc(verifying->runs, room * sizeof *runs);
        if (!runs)
            return gyre_error_set(GYRE_EXHAUSTED, "no memory for the requests of a shard");
        verifying->runs = runs;
        verifying->run_room = room;
    }
    struct run *run = &verifying->runs[verifying->run_count++];
    *run = (struct run){
        .first = head.first, .count = head.count, .position = number, .unsettled = head.unsettled};
    memcpy(run->client, head.client, sizeof run->client);
    return GYRE_OK;
}

/* The requests behind the checkpoint, as the next owner would handle them. */
static void follow_requests(struct verifying *verifying)
{
    for (size_t i = 0; i < verifying->run_count; i++) {
        const struct run *run = &verifying->runs[i];
        char client[GYRE_CLUSTER_NAME_SIZE];
        if (run->position <= verifying->kept.position)
            continue;
        struct gyre_cluster_caller *caller =
            gyre_callers_note(&verifying->kept.callers, run->client, run->position);
        const uint64_t end = run->first + run->count - 1;
        const struct gyre_cluster_requests head = {.first = run->first, .unsettled = run->unsettled};
        if (gyre_cluster_requests_come_again(&head, caller->number))
            continue;
        if (caller->number && run->first > caller->number + 1)
            tell(verifying,
                 "block %" PRIu64 " of the log 'in.%u' has the requests of client %s from %" PRIu64
                 " on, expected %" PRIu64 ": %" PRIu64 " are missing",
                 run->position, verifying->out->shard, gyre_cluster_client_name(client, run->client) + 4,
                 run->first, caller->number + 1, run->first - caller->number - 1);
        const uint64_t known = caller->number < run->first ? 0
                               : caller->number < end      ? caller->number - run->first + 1
                                                           : run->count;
        verifying->out->repeated += known;
        verifying->out->waiting += run->count - known;
        if (end > caller->number)
            caller->number = end;
    }
}

/* ---- states ---- */

/* A place that cannot be read is told by check_place. */
static gyre_status note_was_kept(struct verifying *verifying)
{
    struct gyre_shard_place place;
    const gyre_status status = gyre_place_read(verifying->transport, verifying->out->shard, &place);
    verifying->was_kept = status == GYRE_OK && place.is_kept;
    if (status != GYRE_INCOMPATIBLE && status != GYRE_NOT_FOUND)
        return status;
    gyre_error_clear();
    return GYRE_OK;
}

/*
 * Reads the log of states as an owner would, until it neither went on nor was purged meanwhile, in so far as that matters: a block whose
 * predecessors were purged under the reader does not agree with what was read before it, and the whole checkpoint behind it may not be read yet.
 * What does not agree at the same block twice, while nothing is purged, is damage, however much its owner writes behind it.
 */
static gyre_status read_settled_states(struct verifying *verifying)
{
    const struct gyre_verified *out = verifying->out;
    struct gyre_kept *kept = &verifying->kept;
    const uint64_t until_ns = gyre_clock_ns() + SETTLE_NS;
    uint64_t failed_at = 0, failed_first = 0;
    for (;;) {
        gyre_kept_finish(kept);
        gyre_status status =
            gyre_kept_init(kept, verifying->transport, out->shard, verifying->app->table_size);
        if (status != GYRE_OK)
            return status;
        const uint64_t first = gyre_kept_first(kept);
        status = gyre_kept_read(kept, gyre_clock_ns() + READ_NS);
        if (status != GYRE_OK && status != GYRE_INCOMPATIBLE)
            return status;
        uint64_t last = 0;
        const bool was_purged = gyre_kept_first(kept) != first;
        const bool went_on = status != GYRE_OK &&
                             gyre_transport_last(verifying->transport, kept->log, &last) == GYRE_OK &&
                             last != kept->last;
        const bool is_again = status != GYRE_OK && kept->at == failed_at && first == failed_first;
        if (!was_purged && (!went_on || is_again))
            return status;
        failed_at = status != GYRE_OK && !was_purged ? kept->at : 0;
        failed_first = first;
        if (gyre_clock_ns() >= until_ns)
            return status == GYRE_OK ? status
                                     : gyre_error_set(GYRE_TIMEOUT,
                                                      "the cluster's log '%s' changed all the time while it "
                                                      "was read: verify it when its shard has less to do",
                                                      kept->log);
    }
}

static gyre_status read_states(struct verifying *verifying)
{
    struct gyre_verified *out = verifying->out;
    const struct gyre_kept *kept = &verifying->kept;
    const gyre_status status = read_settled_states(verifying);
    verifying->seen_epoch = kept->seen_epoch;
    out->checkpoint = kept->checkpoint;
    out->position = kept->position;
    out->clients = kept->callers.count;
    return judge(verifying, status);
}

static gyre_status check_place(struct verifying *verifying)
{
    struct gyre_verified *out = verifying->out;
    char log[GYRE_CLUSTER_NAME_SIZE];
    uint64_t last = 0;
    gyre_status status = gyre_place_read(verifying->transport, out->shard, &out->place);
    if (status == GYRE_OK && out->place.epoch < verifying->seen_epoch)
        tell(verifying, "its place says epoch %" PRIu64 ", and the log 'state.%u' has one of epoch %" PRIu64,
             out->place.epoch, out->shard, verifying->seen_epoch);
    if (status == GYRE_OK && verifying->was_kept && !out->checkpoint)
        tell(verifying, "its place says that a checkpoint was kept, and the log 'state.%u' has none",
             out->shard);
    if (status == GYRE_OK)
        status =
            gyre_transport_last(verifying->transport, gyre_cluster_shard_name(log, "in", out->shard), &last);
    if (status == GYRE_OK && last < out->position)
        tell(verifying,
             "the log '%s' ends with block %" PRIu64 ", and the checkpoint has the effect of block %" PRIu64,
             log, last, out->position);
    return judge(verifying, status);
}

/* ---- dead letters ---- */

struct letters {
    struct gyre_cluster_letter *list;
    size_t count;
};

static gyre_status add_letter(struct letters *letters, const struct gyre_cluster_letter *letter)
{
    struct gyre_cluster_letter *list = realloc(letters->list, (letters->count + 1) * sizeof *list);
    if (!list)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the dead letters of a shard");
    letters->list = list;
    list[letters->count++] = *letter;
    return GYRE_OK;
}

static gyre_status check_letter(struct verifying *verifying, struct letters *letters, uint64_t number,
                                size_t size, const char *log)
{
    struct gyre_cluster_letter letter;
    const gyre_status status = gyre_cluster_letter_open(verifying->block, size, log, &letter, NULL);
    if (status != GYRE_OK)
        return judge(verifying, status);
    for (size_t i = 0; i < letters->count; i++) {
        const struct gyre_cluster_letter *earlier = &letters->list[i];
        if (earlier->position == letter.position && earlier->number == letter.number)
            tell(verifying, "block %" PRIu64 " of the log '%s' gives a request up that was given up before",
                 number, log);
        if (earlier->epoch > letter.epoch)
            tell(verifying,
                 "block %" PRIu64 " of the log '%s' is of epoch %" PRIu64 ", behind one of epoch %" PRIu64,
                 number, log, letter.epoch, earlier->epoch);
    }
    return add_letter(letters, &letter);
}

static gyre_status check_letters(struct verifying *verifying)
{
    struct letters letters = {0};
    char log[GYRE_CLUSTER_NAME_SIZE];
    uint64_t last = 0;
    gyre_status status = gyre_transport_last(
        verifying->transport, gyre_cluster_shard_name(log, "dead", verifying->out->shard), &last);
    for (uint64_t at = 0; status == GYRE_OK && at < last;) {
        size_t size;
        status = gyre_transport_read(verifying->transport, log, at, verifying->block,
                                     GYRE_TRANSPORT_BLOCK_MAX, &size, &at);
        if (status == GYRE_OK)
            status = check_letter(verifying, &letters, at, size, log);
        else if (status == GYRE_AGAIN) {
            tell(verifying, "the log '%s' lacks blocks up to %" PRIu64, log, last);
            status = GYRE_OK;
            break;
        }
    }
    verifying->out->letters = letters.count;
    free(letters.list);
    return judge(verifying, status);
}

/* ---- replies ---- */

/* Replies that do not follow the one before. */
struct gap {
    uint64_t expected, found; /* 0: there is none */
};

static struct gap note_replies(struct verifying *verifying, const char *log, size_t size, uint64_t *last)
{
    struct gyre_cluster_replies head;
    struct gyre_cluster_walk walk;
    struct gap gap = {0};
    const gyre_status status = gyre_cluster_replies_open(verifying->block, size, log, &head, &walk);
    if (status != GYRE_OK) {
        judge(verifying, status);
        return gap;
    }
    const uint64_t settled = gyre_cluster_replies_settled(verifying->block, &head);
    while (head.shard == verifying->out->shard && gyre_cluster_walk_next(&walk)) {
        const uint64_t its = walk.message.number;
        if (*last && its > *last + 1 && settled <= *last) /* it comes again, behind those that are missing */
            continue;
        if (*last && its > *last + 1 && !gap.found)
            gap = (struct gap){*last + 1, its};
        verifying->out->replies += its > *last;
        *last = its > *last ? its : *last;
    }
    return gap;
}

/* A client purges what it received, also while this reads: then blocks are missing in front of a gap, and the one before them as well. */
static gyre_status tell_gap(struct verifying *verifying, const char *log, uint64_t before, uint64_t number,
                            const struct gap *gap)
{
    size_t size;
    uint64_t found = 0;
    const gyre_status status = gyre_transport_read(verifying->transport, log, before ? before - 1 : 0,
                                                   verifying->block, GYRE_TRANSPORT_BLOCK_MAX, &size, &found);
    if (status == GYRE_OK && (found == before || !before))
        tell(verifying,
             "block %" PRIu64 " of the log '%s' has the reply to request %" PRIu64
             ", expected that to %" PRIu64,
             number, log, gap->found, gap->expected);
    return status;
}

/* What the log of a client has of this shard: replies follow each other; one that came before is passed over by the client. */
static gyre_status check_client(struct verifying *verifying, const struct gyre_cluster_caller *caller)
{
    char log[GYRE_CLUSTER_NAME_SIZE];
    uint64_t end = 0, last = 0;
    gyre_status status =
        gyre_transport_last(verifying->transport, gyre_cluster_client_name(log, caller->client), &end);
    for (uint64_t at = 0; status == GYRE_OK && at < end;) {
        size_t size;
        const uint64_t before = at;
        struct gap gap = {0};
        status = gyre_transport_read(verifying->transport, log, at, verifying->block,
                                     GYRE_TRANSPORT_BLOCK_MAX, &size, &at);
        if (status == GYRE_OK)
            gap = note_replies(verifying, log, size, &last);
        if (gap.found)
            status = tell_gap(verifying, log, before, at, &gap);
    }
    return status == GYRE_AGAIN ? GYRE_OK : judge(verifying, status);
}

static gyre_status check_clients(struct verifying *verifying)
{
    const struct gyre_callers *callers = &verifying->kept.callers;
    gyre_status status = GYRE_OK;
    for (size_t i = 0; status == GYRE_OK && i < callers->count; i++)
        status = check_client(verifying, &callers->list[i]);
    return status;
}

/* ---- all of it ---- */

static gyre_status verify(struct verifying *verifying)
{
    char log[GYRE_CLUSTER_NAME_SIZE];
    gyre_status status = gyre_callers_init(&verifying->kept.callers);
    verifying->block = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    if (status == GYRE_OK && !verifying->block)
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for a block of a log");
    if (status == GYRE_OK)
        status =
            read_log(verifying, gyre_cluster_shard_name(log, "in", verifying->out->shard), note_requests);
    if (status == GYRE_OK)
        status = note_was_kept(verifying);
    if (status == GYRE_OK)
        status = read_states(verifying);
    if (status == GYRE_OK)
        status = check_place(verifying);
    if (status == GYRE_OK)
        follow_requests(verifying);
    if (status == GYRE_OK)
        status = check_letters(verifying);
    return status == GYRE_OK ? check_clients(verifying) : status;
}

gyre_status gyre_cluster_verify(struct gyre_transport *transport, const struct gyre_cluster_app *app,
                                uint32_t shard, struct gyre_verified *verified)
{
    struct verifying verifying = {.transport = transport, .app = app, .out = verified};
    verified->shard = shard;
    const gyre_status status = verify(&verifying);
    gyre_kept_finish(&verifying.kept);
    free(verifying.runs);
    free(verifying.block);
    return status;
}
