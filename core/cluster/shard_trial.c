/* SPDX-License-Identifier: Apache-2.0 */
/* See trial.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/cluster/answers.h"
#include "core/cluster/owned_place.h"
#include "core/cluster/shard.h"
#include "core/kernel/kernel.h"

/* ---- deaths ---- */

enum { MISSED_MAX = 8, WAIT_LEASES = 10 };

/*
 * A mark counts if the owner that died made it: one that died elsewhere, as by another shard of its process, says nothing about it. After
 * many of those the search begins anew.
 */
void gyre_trial_count_death(struct gyre_shard_place *place)
{
    struct gyre_cluster_trial *mark = &place->trial;
    if (!place->has_died)
        return;
    if (mark->block && mark->epoch != place->epoch && mark->missed < MISSED_MAX) {
        mark->missed++;
        return;
    }
    if (!mark->block || mark->epoch != place->epoch) {
        *mark = (struct gyre_cluster_trial){.deaths = 1};
        return;
    }
    if (mark->deaths < UINT32_MAX)
        mark->deaths++;
    mark->alone += mark->request && mark->alone < UINT32_MAX;
}

/* Two deaths tell the block; those after them, at which the request was alone, tell the request. */
static bool is_enough(const struct gyre_shard *shard)
{
    const uint64_t limit = (uint64_t)gyre_kernel_setting(shard->kernel, "poison_limit");
    const uint64_t least = limit > 2 ? limit - 2 : 1;
    return shard->place.trial.alone >= least;
}

static gyre_status write_mark(struct gyre_shard *shard)
{
    shard->place.trial.epoch = shard->place.epoch;
    shard->place.trial.missed = 0;
    return gyre_shard_write_place(shard);
}

/* ---- letters ---- */

static gyre_status note_letter(struct gyre_trial *trial, const struct gyre_cluster_letter *letter)
{
    struct gyre_cluster_letter *list = realloc(trial->letters, (trial->count + 1) * sizeof *trial->letters);
    if (!list)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the dead letters of a shard");
    trial->letters = list;
    list[trial->count++] = *letter;
    return GYRE_OK;
}

static gyre_status take_letter(struct gyre_shard *shard, size_t size)
{
    struct gyre_cluster_letter letter;
    const gyre_status status =
        gyre_cluster_letter_open(shard->requests, size, shard->trial.log, &letter, NULL);
    if (status != GYRE_OK || letter.position <= shard->kept.position)
        return status;
    return note_letter(&shard->trial, &letter);
}

static gyre_status read_letters(struct gyre_shard *shard)
{
    struct gyre_transport *transport = shard->site->transport;
    struct gyre_trial *trial = &shard->trial;
    gyre_status status = gyre_transport_last(transport, trial->log, &trial->last);
    for (uint64_t at = 0; status == GYRE_OK && at < trial->last;) {
        size_t size;
        status = gyre_transport_read(transport, trial->log, at, shard->requests, GYRE_TRANSPORT_BLOCK_MAX,
                                     &size, &at);
        if (status == GYRE_AGAIN) /* servers may show a block late: the shard is tried again */
            return gyre_error_set(GYRE_UNAVAILABLE, "the cluster's log '%s' ended before block %" PRIu64,
                                  trial->log, trial->last);
        if (status == GYRE_OK)
            status = take_letter(shard, size);
    }
    return status;
}

/*
 * AGAIN: something is behind the last letter that this owner knows. It is this one when an append that was not acknowledged took place.
 * AGAIN also while the transport does not show it yet.
 */
static gyre_status find_letter(struct gyre_shard *shard, const gyre_transport_block *letter)
{
    struct gyre_trial *trial = &shard->trial;
    size_t size;
    uint64_t number;
    unsigned char *bytes = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    if (!bytes)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a dead letter");
    gyre_status status = gyre_transport_read(shard->site->transport, trial->log, trial->last, bytes,
                                             GYRE_TRANSPORT_BLOCK_MAX, &size, &number);
    if (status == GYRE_OK && (size != letter->byte_count || memcmp(bytes, letter->bytes, size) != 0))
        status = gyre_error_set(GYRE_LOST, "shard %u: another member gave a request up", shard->number);
    if (status == GYRE_OK)
        trial->last = number;
    free(bytes);
    return status;
}

/* Until the letter is in the log, while the shard has its lease. */
static gyre_status append_until_there(struct gyre_shard *shard, const gyre_transport_block *letter)
{
    const uint64_t begin_ns = gyre_clock_ns();
    for (;;) {
        uint64_t number;
        gyre_status status = gyre_transport_append(shard->site->transport, shard->trial.log, letter, &number);
        if (status == GYRE_OK) {
            shard->trial.last = number;
            return status;
        }
        if (status == GYRE_AGAIN)
            status = find_letter(shard, letter);
        if (status == GYRE_OK)
            return status;
        status = gyre_shard_try_again(shard, status, begin_ns);
        if (status != GYRE_OK)
            return status;
    }
}

static gyre_status append_letter(struct gyre_shard *shard, struct gyre_cluster_letter *letter,
                                 const void *bytes)
{
    struct gyre_trial *trial = &shard->trial;
    unsigned char *block = malloc(sizeof *letter + letter->length);
    if (!block)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a dead letter");
    memcpy(block, letter, sizeof *letter);
    memcpy(block + sizeof *letter, bytes, letter->length);
    gyre_block_seal(block, sizeof *letter + letter->length, GYRE_BLOCK_LETTER);
    const gyre_transport_block desc = {.size = sizeof desc,
                                       .bytes = block,
                                       .byte_count = sizeof *letter + letter->length,
                                       .expected = trial->last};
    const gyre_status status = append_until_there(shard, &desc);
    free(block);
    return status;
}

static uint64_t day_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static gyre_status give_up(struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                           uint64_t number, uint64_t position, const struct gyre_cluster_walk *walk)
{
    struct gyre_cluster_letter letter = {.number = number,
                                         .position = position,
                                         .epoch = shard->place.epoch,
                                         .deaths = shard->place.trial.deaths,
                                         .length = walk->message.length,
                                         .at_ns = day_ns()};
    memcpy(letter.client, client, sizeof letter.client);
    memcpy(letter.owner, shard->place.owner, sizeof letter.owner);
    gyre_status status = append_letter(shard, &letter, walk->contents);
    if (status == GYRE_OK)
        status = note_letter(&shard->trial, &letter);
    if (status != GYRE_OK)
        return status;
    gyre_runtime_log(shard->site->runtime, GYRE_LOG_ERROR,
                     "shard %u: a request in block %" PRIu64 " of '%s' took %" PRIu64
                     " owners down: it is answered as failed, and kept in '%s'",
                     shard->number, position, shard->log, letter.deaths, shard->trial.log);
    /* these deaths say nothing about the requests behind it */
    shard->trial.is_alone = false;
    shard->place.trial = (struct gyre_cluster_trial){.block = position};
    return write_mark(shard);
}

static bool has_letter(const struct gyre_trial *trial, uint64_t number, uint64_t position)
{
    for (size_t i = 0; i < trial->count; i++)
        if (trial->letters[i].position == position && trial->letters[i].number == number)
            return true;
    return false;
}

/* ---- steps ---- */

gyre_status gyre_trial_begin(struct gyre_shard *shard)
{
    uint64_t last;
    gyre_cluster_shard_name(shard->trial.log, "dead", shard->number);
    gyre_status status = read_letters(shard);
    if (status != GYRE_OK || !shard->place.trial.deaths)
        return status;
    status = gyre_transport_last(shard->site->transport, shard->log, &last);
    if (status == GYRE_OK && last > shard->kept.position)
        shard->trial.careful_until = last;
    return status;
}

static void let_go(struct gyre_shard *shard)
{
    if (shard->trial.holds)
        pthread_mutex_unlock(&shard->site->careful);
    shard->trial.holds = false;
}

void gyre_trial_finish(struct gyre_shard *shard)
{
    let_go(shard);
    free(shard->trial.letters);
    shard->trial.letters = NULL;
}

/* Waits until no other shard is careful; for some leases, since a handler that does not return may hold it for ever. */
static gyre_status be_the_one(struct gyre_shard *shard)
{
    const uint64_t until = gyre_clock_ns() + WAIT_LEASES * shard->site->lease_ns;
    while (!shard->trial.holds) {
        shard->trial.holds = pthread_mutex_trylock(&shard->site->careful) == 0;
        shard->trial.has_waited = shard->trial.has_waited || gyre_clock_ns() >= until;
        if (shard->trial.holds || shard->trial.has_waited)
            break;
        if (gyre_shard_is_stopping(shard) || !gyre_shard_has_lease(shard))
            return gyre_error_set(GYRE_LOST, "shard %u: it is to be given back before it was restored",
                                  shard->number);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return GYRE_OK;
}

/* In front of a block in which an owner died, so that no other block is between this owner's beginning and the mark. */
static gyre_status begin_alone(struct gyre_shard *shard)
{
    shard->trial.is_alone = true;
    return shard->position != shard->kept.position ? gyre_shard_checkpoint(shard) : GYRE_OK;
}

gyre_status gyre_trial_block(struct gyre_shard *shard, uint64_t position)
{
    struct gyre_cluster_trial *mark = &shard->place.trial;
    shard->trial.is_alone = false;
    if (!shard->trial.careful_until)
        return GYRE_OK;
    const gyre_status status = be_the_one(shard);
    if (status != GYRE_OK || position < mark->block) /* an earlier owner passed it */
        return status;
    if (position == mark->block && mark->deaths > 1)
        return begin_alone(shard);
    *mark = (struct gyre_cluster_trial){.block = position, .deaths = 1};
    return write_mark(shard);
}

gyre_status gyre_trial_request(struct gyre_shard *shard, const unsigned char client[GYRE_CLIENT_ID_SIZE],
                               uint64_t number, uint64_t position, const struct gyre_cluster_walk *walk,
                               bool *is_given_up)
{
    struct gyre_cluster_trial *mark = &shard->place.trial;
    *is_given_up = has_letter(&shard->trial, number, position);
    if (*is_given_up || !shard->trial.is_alone || number < mark->request)
        return GYRE_OK;
    if (number == mark->request && is_enough(shard)) {
        bool is_answered;
        const gyre_status status =
            gyre_answers_find(shard->site->transport, client, shard->number, number, &is_answered);
        *is_given_up = status == GYRE_OK && !is_answered;
        if (status != GYRE_OK || *is_given_up)
            return status == GYRE_OK ? give_up(shard, client, number, position, walk) : status;
    }
    if (number != mark->request || is_enough(shard))
        mark->alone = 0;
    mark->request = number;
    return write_mark(shard);
}

gyre_status gyre_trial_after(struct gyre_shard *shard)
{
    if (!shard->trial.careful_until || shard->position < shard->trial.careful_until)
        return GYRE_OK;
    const gyre_status status =
        shard->position != shard->kept.position ? gyre_shard_checkpoint(shard) : GYRE_OK;
    shard->trial.careful_until = 0;
    shard->trial.is_alone = false;
    shard->place.trial = (struct gyre_cluster_trial){0};
    const gyre_status written = status == GYRE_OK ? write_mark(shard) : status;
    let_go(shard);
    return written;
}
