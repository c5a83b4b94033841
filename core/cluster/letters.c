/* SPDX-License-Identifier: Apache-2.0 */
/* See letters.h. No state. */
#include "core/cluster/letters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

gyre_status gyre_letters_read(struct gyre_transport *transport, uint32_t shard,
                              bool (*each)(void *context, const struct gyre_letter_view *view), void *context)
{
    char log[GYRE_CLUSTER_NAME_SIZE];
    unsigned char *block = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    struct gyre_letter_view view = {0};
    uint64_t last = 0;
    bool goes_on = true;
    gyre_status status =
        block ? gyre_transport_last(transport, gyre_cluster_shard_name(log, "dead", shard), &last)
              : gyre_error_set(GYRE_EXHAUSTED, "no memory for a dead letter");
    while (status == GYRE_OK && goes_on && view.number < last) {
        size_t size;
        status = gyre_transport_read(transport, log, view.number, block, GYRE_TRANSPORT_BLOCK_MAX, &size,
                                     &view.number);
        if (status == GYRE_OK)
            status = gyre_cluster_letter_open(block, size, log, &view.letter, &view.bytes);
        if (status == GYRE_OK)
            goes_on = each(context, &view);
    }
    free(block);
    return status == GYRE_AGAIN ? GYRE_OK : status;
}

/* ---- again ---- */

/* The client as whom a letter is sent: one that is used once. */
struct sender {
    unsigned char client[GYRE_CLIENT_ID_SIZE];
    char log[GYRE_CLUSTER_NAME_SIZE]; /* of its replies */
};

static gyre_status append_request(struct gyre_transport *transport, uint32_t shard,
                                  const struct sender *sender, const struct gyre_letter_view *view,
                                  uint64_t deadline_ns)
{
    char log[GYRE_CLUSTER_NAME_SIZE];
    struct gyre_cluster_requests head = {.first = 1, .count = 1};
    const struct gyre_cluster_message message = {.length = (uint32_t)view->letter.length};
    const size_t size = sizeof head + gyre_cluster_message_room(message.length);
    unsigned char *block = malloc(size);
    if (!block)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a request");
    memcpy(head.client, sender->client, sizeof head.client);
    memcpy(block, &head, sizeof head);
    gyre_cluster_message_add(block, sizeof head, &message, view->bytes);
    gyre_block_seal(block, size, GYRE_BLOCK_REQUESTS);
    const gyre_transport_block desc = {
        .size = sizeof desc, .bytes = block, .byte_count = size, .expected = GYRE_TRANSPORT_ANY};
    gyre_status status;
    do { /* a block that is there twice is handled once: its client and number are the same */
        status = gyre_transport_append(transport, gyre_cluster_shard_name(log, "in", shard), &desc, NULL);
        if (status == GYRE_TIMEOUT || status == GYRE_UNAVAILABLE)
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    } while ((status == GYRE_TIMEOUT || status == GYRE_UNAVAILABLE) && gyre_clock_ns() < deadline_ns);
    free(block);
    return status;
}

static gyre_status take_answer(const unsigned char *block, size_t size, const char *log,
                               struct gyre_letter_answer *answer)
{
    struct gyre_cluster_replies head;
    struct gyre_cluster_walk walk;
    const gyre_status status = gyre_cluster_replies_open(block, size, log, &head, &walk);
    if (status != GYRE_OK)
        return status;
    if (!gyre_cluster_walk_next(&walk) || walk.message.number != 1)
        return gyre_error_set(GYRE_INCOMPATIBLE, "the cluster's log '%s': expected one reply, to request 1",
                              log);
    *answer = (struct gyre_letter_answer){.outcome = (enum gyre_completion_outcome)walk.message.outcome,
                                          .code = walk.message.code,
                                          .length = walk.message.length};
    if (answer->outcome == GYRE_HANDLER_FAILED)
        snprintf(answer->text, sizeof answer->text, "%.*s",
                 (int)(walk.message.length < sizeof answer->text ? walk.message.length : 255),
                 (const char *)walk.contents);
    return GYRE_OK;
}

static gyre_status await_answer(struct gyre_transport *transport, const struct sender *sender,
                                uint64_t deadline_ns, struct gyre_letter_answer *answer)
{
    unsigned char *block = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    gyre_status status = block ? GYRE_AGAIN : gyre_error_set(GYRE_EXHAUSTED, "no memory for a reply");
    while (status == GYRE_AGAIN || status == GYRE_UNAVAILABLE || status == GYRE_TIMEOUT) {
        size_t size;
        uint64_t number;
        status =
            gyre_transport_read(transport, sender->log, 0, block, GYRE_TRANSPORT_BLOCK_MAX, &size, &number);
        if (status == GYRE_OK)
            status = take_answer(block, size, sender->log, answer);
        else if (gyre_clock_ns() >= deadline_ns) {
            status = gyre_error_set(GYRE_TIMEOUT,
                                    "the request was sent again, and no reply came in time: it is handled as "
                                    "soon as its shard has an owner");
            break;
        } else if (status == GYRE_AGAIN) {
            gyre_transport_wait(transport, sender->log, 0, gyre_clock_ns() + 50000000);
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        }
    }
    free(block);
    return status;
}

gyre_status gyre_letter_send_again(struct gyre_transport *transport, uint32_t shard,
                                   const struct gyre_letter_view *view, uint64_t deadline_ns,
                                   struct gyre_letter_answer *answer)
{
    struct sender sender;
    if (view->letter.length > GYRE_CLUSTER_MESSAGE_MAX)
        return gyre_error_set(GYRE_INCOMPATIBLE, "a dead letter has %" PRIu64 " bytes, expected %d at most",
                              view->letter.length, GYRE_CLUSTER_MESSAGE_MAX);
    if (getrandom(sender.client, sizeof sender.client, 0) != sizeof sender.client)
        return gyre_error_set(GYRE_UNAVAILABLE, "the system has no random numbers for a client's name");
    gyre_cluster_client_name(sender.log, sender.client);
    gyre_status status = append_request(transport, shard, &sender, view, deadline_ns);
    if (status == GYRE_OK)
        status = await_answer(transport, &sender, deadline_ns, answer);
    if (status == GYRE_OK) {
        gyre_error_hold(); /* the log of a client that is gone stays empty */
        uint64_t last;
        if (gyre_transport_last(transport, sender.log, &last) == GYRE_OK)
            gyre_transport_purge(transport, sender.log, last + 1);
        gyre_error_let_go();
    }
    return status;
}
