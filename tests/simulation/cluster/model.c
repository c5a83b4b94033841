/* SPDX-License-Identifier: Apache-2.0 */
/* See model.h. */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cluster/format.h"
#include "core/cluster/kept.h"
#include "fibers.h"
#include "memory_transport.h"
#include "plain.h"

enum { CLIENTS_MAX = 64 };

struct request {
    uint32_t client;
    uint64_t number, account, amount, position;
    uint32_t length;
    uint64_t answered_at; /* the last block of its client's log with the reply */
    bool is_worked_out, is_given_up, is_answered;
    sim_state state; /* of its account, behind it */
};

/* What a log of states has: the checkpoint that is being written, and the last one. */
struct checkpoint {
    uint64_t number, begin; /* the block with its first piece */
    sim_state states[SIM_ACCOUNTS];
    bool is_written[SIM_ACCOUNTS];
    struct gyre_cluster_caller callers[CLIENTS_MAX];
    size_t caller_count;
};

struct shard {
    struct request *requests;
    size_t count, room, worked_out;
    uint64_t known[CLIENTS_MAX]; /* the last number of each client */
    sim_state states[SIM_ACCOUNTS];
    uint64_t place_epoch, state_epoch, fence_epoch, letter_epoch;
    char owner[GYRE_MEMBER_NAME_MAX];
    uint64_t incarnation, closing_ns; /* of its place */
    bool works;
    struct checkpoint coming, last;
    uint64_t position, whole_begin;
    uint64_t offered_epoch; /* the highest one at which a member said that it was ready, */
    uint64_t offered_ns;    /* when it said so first, */
    uint32_t loaded;        /* and the checkpoint that it has loaded, */
    uint64_t followed;      /* and how far it followed; */
    uint64_t ready_ns;      /* when it took back that it has the states; 0: it did not */
    uint64_t handled;       /* what the place says that it should have followed */
};

static struct {
    uint32_t shard_count;
    bool offers;
    uint64_t lease_ns;
    size_t client_count;
    unsigned char clients[CLIENTS_MAX][GYRE_CLIENT_ID_SIZE];
    struct shard shards[MODEL_SHARDS_MAX];
    struct {
        bool is_there;
        uint32_t shard;
        size_t index;
    } serials[MODEL_SERIALS_MAX];
    bool is_deaf[CLIENTS_MAX];          /* its replies were given up */
    uint64_t purged_below[CLIENTS_MAX]; /* of its log */
    char leaving[CLIENTS_MAX][GYRE_MEMBER_NAME_MAX];
    size_t leaving_count;
    uint64_t letters;
} model;

void model_begin(uint32_t shards, bool offers, uint64_t lease_ns)
{
    for (uint32_t i = 0; i < MODEL_SHARDS_MAX; i++)
        plain_free(model.shards[i].requests);
    memset(&model, 0, sizeof model);
    model.shard_count = shards;
    model.offers = offers;
    model.lease_ns = lease_ns;
}

static uint32_t client_of(const unsigned char id[GYRE_CLIENT_ID_SIZE])
{
    size_t i = 0;
    while (i < model.client_count && memcmp(model.clients[i], id, GYRE_CLIENT_ID_SIZE) != 0)
        i++;
    if (i == CLIENTS_MAX)
        violation("the machine", "more than %d clients", CLIENTS_MAX);
    if (i == model.client_count)
        memcpy(model.clients[model.client_count++], id, GYRE_CLIENT_ID_SIZE);
    return (uint32_t)i;
}

/* The client whose log that is; client_count: none that sent something. */
static uint32_t client_of_log(const char *log)
{
    char name[GYRE_CLUSTER_NAME_SIZE];
    uint32_t client = 0;
    while (client < model.client_count &&
           strcmp(log, gyre_cluster_client_name(name, model.clients[client])) != 0)
        client++;
    return client;
}

void model_given_up(const char *log)
{
    const uint32_t client = client_of_log(log);
    if (client == model.client_count)
        violation("numbers", "replies to a client that sent nothing are given up");
    model.is_deaf[client] = true;
}

bool model_is_given_up(const char *log)
{
    const uint32_t client = client_of_log(log);
    return client < model.client_count && model.is_deaf[client];
}

bool model_is_purged(const char *log)
{
    const uint32_t client = client_of_log(log);
    return client < model.client_count && model.purged_below[client] > 0;
}

/* ---- requests ---- */

static void note_request(uint32_t number, const struct request *request)
{
    struct shard *shard = &model.shards[number];
    if (shard->count == shard->room) {
        shard->room = shard->room ? 2 * shard->room : 64;
        shard->requests = plain_resize(shard->requests, shard->room * sizeof *shard->requests);
    }
    const uint64_t serial = SIM_SERIAL(request->amount);
    if (serial >= MODEL_SERIALS_MAX || model.serials[serial].is_there)
        violation("numbers", "request %" PRIu64 " is in the log under two numbers", serial);
    for (size_t i = shard->count; i-- > 0;) {
        if (shard->requests[i].client != request->client)
            continue;
        if (SIM_SERIAL(shard->requests[i].amount) > serial)
            violation("order", "a client's request %" PRIu64 " is behind %" PRIu64 " in the log", serial,
                      SIM_SERIAL(shard->requests[i].amount));
        break;
    }
    model.serials[serial].is_there = true;
    model.serials[serial].shard = number;
    model.serials[serial].index = shard->count;
    shard->requests[shard->count++] = *request;
}

static void take_requests(uint32_t number, uint64_t position, const unsigned char *bytes, size_t size)
{
    struct gyre_cluster_requests head;
    struct gyre_cluster_walk walk;
    if (gyre_cluster_requests_open(bytes, size, "a block", &head, &walk) != GYRE_OK)
        return; /* of nobody */
    const uint32_t client = client_of(head.client);
    uint64_t *known = &model.shards[number].known[client];
    if (gyre_cluster_requests_come_again(&head, *known))
        return;
    if (head.first > *known + 1)
        violation("numbers", "a client's requests %" PRIu64 " follow %" PRIu64, head.first, *known);
    for (uint64_t its = head.first; gyre_cluster_walk_next(&walk); its++) {
        struct request request = {
            .client = client, .number = its, .position = position, .length = walk.message.length};
        if (its <= *known)
            continue;
        memcpy(&request.account, walk.contents, sizeof request.account);
        memcpy(&request.amount, walk.contents + sizeof request.account, sizeof request.amount);
        note_request(number, &request);
        *known = its;
    }
}

static bool has_effect(const struct request *request)
{
    return !request->is_given_up && SIM_KIND(request->amount) != SIM_REFUSED &&
           SIM_KIND(request->amount) != SIM_SHORT;
}

/* Works out what the requests up to and with `index` do. What was given up until now is, and the others are not. */
static void work_out(struct shard *shard, size_t index)
{
    for (; shard->worked_out <= index; shard->worked_out++) {
        struct request *request = &shard->requests[shard->worked_out];
        sim_state *state = &shard->states[request->account % SIM_ACCOUNTS];
        if (SIM_KIND(request->amount) == SIM_POISON && !request->is_given_up)
            violation("letters", "a request that takes each owner down was passed, and no letter says so");
        if (has_effect(request))
            sim_handle(state, request->amount);
        request->state = *state;
        request->is_worked_out = true;
    }
}

/* A request that counted, and does not any more. */
static void work_out_again(struct shard *shard, size_t index)
{
    memset(shard->states, 0, sizeof shard->states);
    for (size_t i = 0; i < index; i++)
        shard->states[shard->requests[i].account % SIM_ACCOUNTS] = shard->requests[i].state;
    for (size_t i = index; i < shard->count; i++)
        shard->requests[i].is_worked_out = false;
    shard->worked_out = index;
}

static struct request *find_request(struct shard *shard, uint32_t client, uint64_t number)
{
    for (size_t i = 0; i < shard->count; i++)
        if (shard->requests[i].client == client && shard->requests[i].number == number)
            return &shard->requests[i];
    return NULL;
}

static void compare_states(const char *where, uint64_t of, const sim_state *found, const sim_state *expected)
{
    const char *rule = found->count > expected->count   ? "doubled"
                       : found->count < expected->count ? "lost"
                                                        : "order";
    if (found->count != expected->count || found->trace != expected->trace)
        violation(rule, "%s %" PRIu64 " has the effect of %" PRIu64 " requests, expected %" PRIu64, where, of,
                  found->count, expected->count);
}

/* ---- replies ---- */

static enum gyre_completion_outcome outcome_of(const struct request *request, int32_t *code)
{
    const enum sim_kind kind = SIM_KIND(request->amount);
    *code = request->is_given_up  ? GYRE_FAILURE_CRASH
            : kind == SIM_REFUSED ? SIM_REFUSED_CODE
            : kind == SIM_SHORT   ? GYRE_FAILURE_LENGTH
                                  : 0;
    if (*code)
        return GYRE_HANDLER_FAILED;
    return kind == SIM_SILENT ? GYRE_NOT_REPLIED : GYRE_REPLIED;
}

static void compare_reply(const struct request *request, uint32_t outcome, int32_t code, uint32_t length,
                          const void *bytes)
{
    sim_reply reply;
    int32_t expected_code;
    const enum gyre_completion_outcome expected = outcome_of(request, &expected_code);
    const uint64_t serial = SIM_SERIAL(request->amount);
    if (outcome != (uint32_t)expected || code != expected_code)
        violation("outcome",
                  "request %" PRIu64 " was completed with outcome %u, code %d, expected outcome %d, code %d",
                  serial, outcome, code, (int)expected, expected_code);
    if (expected != GYRE_REPLIED)
        return;
    if (length != sizeof reply)
        violation("outcome", "the reply to request %" PRIu64 " has %u bytes", serial, length);
    memcpy(&reply, bytes, sizeof reply);
    if (reply.amount != request->amount)
        violation("order", "the reply to request %" PRIu64 " is that to request %" PRIu64, serial,
                  SIM_SERIAL(reply.amount));
    compare_states("the reply to request", serial, &(sim_state){reply.count, reply.trace}, &request->state);
}

/* What a block of replies says of those before it: they are there, or the shard has said that it gives replies to that client up. */
static void check_settled(const struct shard *shard, uint32_t client, uint64_t settled)
{
    for (size_t i = 0; i < shard->count && !model.is_deaf[client]; i++) {
        const struct request *request = &shard->requests[i];
        if (request->client == client && request->number <= settled && !request->is_answered)
            violation("lost", "a reply says that the one to request %" PRIu64 " is there, and it is not",
                      SIM_SERIAL(request->amount));
    }
}

static void take_replies(const char *log, uint64_t number, const unsigned char *bytes, size_t size)
{
    struct gyre_cluster_replies head;
    struct gyre_cluster_walk walk;
    if (gyre_cluster_replies_open(bytes, size, "a block", &head, &walk) != GYRE_OK)
        return;
    const uint32_t client = client_of_log(log);
    if (client == model.client_count || head.shard >= model.shard_count)
        violation("numbers", "a reply to a client that sent nothing");
    check_settled(&model.shards[head.shard], client, gyre_cluster_replies_settled(bytes, &head));
    while (gyre_cluster_walk_next(&walk)) {
        struct shard *shard = &model.shards[head.shard];
        struct request *request = find_request(shard, client, walk.message.number);
        if (!request) { /* cppcheck does not see that a violation ends the program */
            violation("numbers", "a reply to request %" PRIu64 " of a client, which sent none",
                      walk.message.number);
            return;
        }
        work_out(shard, (size_t)(request - shard->requests));
        compare_reply(request, walk.message.outcome, walk.message.code, walk.message.length, walk.contents);
        request->is_answered = true;
        request->answered_at = number;
    }
}

static struct request *by_serial(uint64_t amount)
{
    const uint64_t serial = SIM_SERIAL(amount);
    return model.serials[serial].is_there
               ? &model.shards[model.serials[serial].shard].requests[model.serials[serial].index]
               : NULL;
}

void model_acknowledged(uint64_t amount)
{
    if (!by_serial(amount))
        violation("lost", "request %" PRIu64 " was acknowledged, and the transport does not have it",
                  SIM_SERIAL(amount));
}

void model_received(uint64_t amount, const gyre_completion *completion, const sim_reply *reply)
{
    const struct request *request = by_serial(amount);
    if (!request || !request->is_worked_out)
        violation("numbers", "a reply to request %" PRIu64 ", which was not handled", SIM_SERIAL(amount));
    compare_reply(request, (uint32_t)completion->outcome, completion->failure_code, completion->length,
                  reply);
}

/* ---- states ---- */

static sim_state state_at(struct shard *shard, uint64_t account, uint64_t position)
{
    sim_state state = {0};
    for (size_t i = 0; i < shard->count && shard->requests[i].position <= position; i++) {
        work_out(shard, i);
        if (shard->requests[i].account % SIM_ACCOUNTS == account)
            state = shard->requests[i].state;
    }
    return state;
}

void model_compare_table(uint32_t number, uint64_t position, const unsigned char *table)
{
    for (uint64_t account = 0; account < SIM_ACCOUNTS; account++) {
        sim_state found;
        const sim_state expected = state_at(&model.shards[number], account, position);
        memcpy(&found, table + account * SIM_STRIDE, sizeof found);
        compare_states("at the end, account", account, &found, &expected);
    }
}

static void take_epoch(uint64_t *last, uint64_t epoch, bool is_new, const char *what)
{
    if (is_new ? epoch <= *last : epoch < *last)
        violation("epochs", "%s of epoch %" PRIu64 " stands behind one of epoch %" PRIu64, what, epoch,
                  *last);
    *last = epoch;
}

/* A piece of a checkpoint: of the table, or of the clients. */
static void take_piece(struct checkpoint *coming, const struct gyre_cluster_piece *piece,
                       const unsigned char *bytes, bool is_table)
{
    if (!is_table) {
        const size_t count = piece->length / sizeof coming->callers[0];
        if (piece->offset + count > CLIENTS_MAX)
            violation("numbers", "a checkpoint knows more clients than there are");
        memcpy(&coming->callers[piece->offset], bytes, piece->length);
        coming->caller_count = piece->offset + count;
        return;
    }
    for (uint64_t account = 0; account < SIM_ACCOUNTS; account++) {
        const uint64_t at = account * SIM_STRIDE;
        if (at < piece->offset || at + sizeof(sim_state) > piece->offset + piece->length)
            continue;
        memcpy(&coming->states[account], bytes + at - piece->offset, sizeof(sim_state));
        coming->is_written[account] = true;
    }
}

static void compare_callers(const struct shard *shard, const struct checkpoint *checkpoint, uint64_t position)
{
    uint64_t known[CLIENTS_MAX] = {0};
    for (size_t i = 0; i < shard->count && shard->requests[i].position <= position; i++)
        known[shard->requests[i].client] = shard->requests[i].number;
    for (size_t i = 0; i < checkpoint->caller_count; i++) {
        const uint32_t client = client_of(checkpoint->callers[i].client);
        if (checkpoint->callers[i].number != known[client])
            violation("numbers",
                      "a checkpoint says that a client's last request is %" PRIu64 ", expected %" PRIu64,
                      checkpoint->callers[i].number, known[client]);
        known[client] = 0;
    }
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (known[i])
            violation("numbers", "a checkpoint has forgotten a client");
}

/* What was written of a checkpoint that no commit ended does not count. */
static void begin_checkpoint(struct shard *shard, uint64_t checkpoint, uint64_t block)
{
    if (checkpoint == shard->coming.number)
        return;
    shard->coming = shard->last;
    shard->coming.number = checkpoint;
    shard->coming.begin = block;
    shard->coming.caller_count = 0;
    memset(shard->coming.is_written, 0, sizeof shard->coming.is_written);
}

static void take_commit(struct shard *shard, const struct gyre_cluster_commit *commit)
{
    for (uint64_t account = 0; commit->is_whole && account < SIM_ACCOUNTS; account++)
        if (!shard->coming.is_written[account])
            shard->coming.states[account] = (sim_state){0};
    if (commit->position < shard->position)
        violation("lost", "a checkpoint is as of block %" PRIu64 ", behind one as of block %" PRIu64,
                  commit->position, shard->position);
    shard->position = commit->position;
    if (commit->is_whole)
        shard->whole_begin = shard->coming.begin;
    for (uint64_t account = 0; account < SIM_ACCOUNTS; account++) {
        const sim_state expected = state_at(shard, account, commit->position);
        compare_states("in a checkpoint, account", account, &shard->coming.states[account], &expected);
    }
    compare_callers(shard, &shard->coming, commit->position);
    for (size_t i = 0; i < shard->count && shard->requests[i].position <= commit->position; i++)
        if (!shard->requests[i].is_answered && !model.is_deaf[shard->requests[i].client])
            violation("lost", "a checkpoint is behind request %" PRIu64 ", whose reply was never written",
                      SIM_SERIAL(shard->requests[i].amount));
    shard->last = shard->coming;
    shard->coming.number = 0;
}

static void take_state(struct shard *shard, uint64_t number, const unsigned char *bytes, size_t size)
{
    struct gyre_block_head head;
    struct gyre_cluster_piece piece = {.epoch = 0};
    struct gyre_cluster_commit commit;
    memcpy(&head, bytes, sizeof head);
    memcpy(&piece, bytes, size < sizeof piece ? size : sizeof piece);
    take_epoch(&shard->state_epoch, piece.epoch, false, "a block of states");
    switch (head.kind) {
    case GYRE_BLOCK_FENCE:
        take_epoch(&shard->fence_epoch, piece.epoch, true, "a fence");
        shard->coming.number = 0;
        break;
    case GYRE_BLOCK_COMMIT:
        memcpy(&commit, bytes, sizeof commit);
        begin_checkpoint(shard, commit.checkpoint, number);
        take_commit(shard, &commit);
        break;
    default:
        if (shard->fence_epoch != piece.epoch)
            violation("epochs", "an owner writes states, and has no fence");
        begin_checkpoint(shard, piece.checkpoint, number);
        take_piece(&shard->coming, &piece, bytes + sizeof piece, head.kind == GYRE_BLOCK_BYTES);
    }
}

/* ---- letters ---- */

static void take_letter(struct shard *shard, const unsigned char *bytes, size_t size)
{
    struct gyre_cluster_letter letter;
    if (gyre_cluster_letter_open(bytes, size, "a letter", &letter, NULL) != GYRE_OK)
        violation("letters", "a letter is damaged as it is written");
    struct request *request = find_request(shard, client_of(letter.client), letter.number);
    if (!request || request->position != letter.position)
        violation("letters", "a letter is about no request");
    if (request->is_given_up)
        violation("letters", "request %" PRIu64 " is given up a second time", SIM_SERIAL(request->amount));
    const bool is_forgotten = request->answered_at < model.purged_below[request->client];
    if (request->is_answered && !is_forgotten)
        violation("letters", "request %" PRIu64 " is given up, and was answered",
                  SIM_SERIAL(request->amount));
    if (request->is_answered)
        work_out_again(shard, (size_t)(request - shard->requests));
    if (request->is_worked_out)
        violation("letters", "request %" PRIu64 " is given up, and others behind it had its effect",
                  SIM_SERIAL(request->amount));
    if (letter.deaths < 3)
        violation("letters", "a request is given up after %" PRIu64 " deaths", letter.deaths);
    take_epoch(&shard->letter_epoch, letter.epoch, false, "a letter");
    request->is_given_up = true;
    model.letters++;
}

uint64_t model_letters(void)
{
    return model.letters;
}

uint64_t model_requests(void)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < model.shard_count; i++)
        count += model.shards[i].count;
    return count;
}

/* ---- places ---- */

void model_leaves(const char *name, bool leaves)
{
    size_t i = 0;
    while (i < model.leaving_count && strcmp(model.leaving[i], name) != 0)
        i++;
    if (i == model.leaving_count && leaves)
        snprintf(model.leaving[model.leaving_count++], sizeof model.leaving[0], "%s", name);
    else if (i < model.leaving_count && !leaves)
        memmove(model.leaving[i], model.leaving[--model.leaving_count], sizeof model.leaving[0]);
}

static bool is_leaving(const char *name)
{
    for (size_t i = 0; i < model.leaving_count; i++)
        if (strcmp(model.leaving[i], name) == 0)
            return true;
    return false;
}

/* The awaiting member has the states of the last checkpoint, but for one that was taken while the shard stood, and followed as far as it was told. */
static bool is_ready(const struct shard *shard)
{
    const uint32_t last = (uint32_t)shard->last.number;
    const bool has_followed = !shard->handled || shard->followed >= shard->handled;
    return has_followed && (!shard->loaded || last - shard->loaded < 2);
}

/*
 * Whether the owner may give the shard away. The answer to its last look may have taken long, and it may have stood still since; and it does not
 * wait for a member that takes too long.
 */
static bool has_states(const struct shard *shard)
{
    const uint64_t now = fibers_now_ns(), look_ns = transport_faults.late_ns + model.lease_ns;
    return is_ready(shard) || (shard->ready_ns && now - shard->ready_ns < look_ns) ||
           now - shard->offered_ns >= 2 * model.lease_ns;
}

static void check_given(const struct shard *shard, const struct gyre_cluster_place *place)
{
    const bool given = shard->works && shard->owner[0] && !place->owner[0] && !place->incarnation &&
                       place->epoch == shard->place_epoch && place->closing_ns != shard->closing_ns;
    if (given && model.offers && !is_leaving(shard->owner) && shard->offered_epoch != place->epoch)
        violation("offer", "member '%s' gives a shard away, and nobody waits for it", shard->owner);
    if (given && model.offers && !is_leaving(shard->owner) && !has_states(shard))
        violation("offer",
                  "member '%s' gives a shard away, and who waits for it has checkpoint %u of %" PRIu64,
                  shard->owner, shard->loaded, shard->last.number);
}

static void take_place(struct shard *shard, const unsigned char *bytes, size_t size)
{
    struct gyre_cluster_place place;
    if (size != sizeof place)
        return;
    memcpy(&place, bytes, sizeof place);
    const bool is_new =
        place.owner[0] && (place.incarnation != shard->incarnation || strcmp(place.owner, shard->owner) != 0);
    check_given(shard, &place);
    if (is_new && shard->owner[0] &&
        model_may_work(shard->owner, shard->incarnation, (uint32_t)(shard - model.shards),
                       shard->place_epoch))
        violation("leases", "member '%s' takes a shard from '%s', whose lease lasts", place.owner,
                  shard->owner);
    take_epoch(&shard->place_epoch, place.epoch, is_new, "a place");
    memcpy(shard->owner, place.owner, sizeof shard->owner);
    shard->incarnation = place.incarnation;
    shard->closing_ns = place.closing_ns;
    shard->works = place.works;
    shard->handled = place.handled;
}

static void take_offer(struct shard *shard, const unsigned char *bytes, size_t size)
{
    struct gyre_cluster_offer offer;
    if (size != sizeof offer)
        return;
    memcpy(&offer, bytes, sizeof offer);
    if (offer.state != GYRE_OFFER_READY || offer.epoch < shard->offered_epoch)
        return;
    const bool is_first = offer.epoch > shard->offered_epoch;
    const bool was_ready = !is_first && is_ready(shard);
    if (is_first)
        shard->offered_ns = fibers_now_ns();
    shard->ready_ns = is_first ? 0 : was_ready ? fibers_now_ns() : shard->ready_ns;
    shard->offered_epoch = offer.epoch;
    shard->loaded = offer.loaded;
    shard->followed = offer.followed;
}

/* ---- what the transport tells ---- */

/* The number behind such a prefix; false: it is another name. */
static bool is_of_shard(const char *name, const char *prefix, uint32_t *number)
{
    const size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0)
        return false;
    *number = (uint32_t)strtoul(name + length, NULL, 10);
    if (*number >= model.shard_count)
        violation("numbers", "there is no shard of '%s'", name);
    return true;
}

void model_appended(const char *log, uint64_t number, const unsigned char *bytes, size_t size)
{
    uint32_t shard;
    if (is_of_shard(log, "in.", &shard))
        take_requests(shard, number, bytes, size);
    else if (is_of_shard(log, "state.", &shard))
        take_state(&model.shards[shard], number, bytes, size);
    else if (is_of_shard(log, "dead.", &shard))
        take_letter(&model.shards[shard], bytes, size);
    else if (strncmp(log, "out.", 4) == 0)
        take_replies(log, number, bytes, size);
}

void model_recorded(const char *name, const unsigned char *bytes, size_t size)
{
    uint32_t shard;
    if (is_of_shard(name, "place.", &shard))
        take_place(&model.shards[shard], bytes, size);
    else if (is_of_shard(name, "offer.", &shard))
        take_offer(&model.shards[shard], bytes, size);
}

void model_purged(const char *log, uint64_t below, uint64_t last)
{
    uint32_t number;
    if (strncmp(log, "out.", 4) == 0) {
        const uint32_t client = client_of_log(log);
        if (client < model.client_count && below > model.purged_below[client])
            model.purged_below[client] = below;
    } else if (is_of_shard(log, "in.", &number)) {
        const struct shard *shard = &model.shards[number];
        for (size_t i = 0; i < shard->count; i++) {
            const uint64_t position = shard->requests[i].position;
            if (position < below && position != last && position > shard->position)
                violation("purge", "requests are purged that no checkpoint has the effect of");
        }
    } else if (is_of_shard(log, "state.", &number) && below > model.shards[number].whole_begin)
        violation("purge", "the last whole checkpoint is purged");
}
