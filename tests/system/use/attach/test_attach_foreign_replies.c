/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of which handlers leave something out, and the padding of replies: no byte of the server's memory reaches a client
 * there. One case a run: `test_attach_foreign_replies CASE`.
 */
#include <string.h>

#include <gyre/ring_layout.h>

#include "foreign_scene.h"

/* Bytes [from, size) of a reply's slot, as the client finds them in the memory that it shares. */
static void require_zeros(const void *bytes, size_t from, size_t size)
{
    for (size_t i = from; i < size; i++)
        require(((const unsigned char *)bytes)[i] == 0);
}

/* Whole slots: also what is behind a reply, or in the padding of one. */
static void require_zero_slots(size_t length)
{
    struct iovec regions[REGIONS_MAX];
    require(writable_regions(regions, REGIONS_MAX) == 1);
    const gyre_queue_shape *const its = regions[0].iov_base;
    const unsigned char *replies = (const unsigned char *)its + its->reply_offset;
    for (uint64_t slot = 0; slot < its->capacity; slot++) {
        const unsigned char *const reply = replies + slot * its->reply_stride + sizeof(gyre_slot);
        require_zeros(reply, length, its->reply_stride - sizeof(gyre_slot));
    }
}

static void ask_for_nothing(const party *self)
{
    unsigned char reply[sizeof(foreign_large)];
    gyre_queue *queue = attach_scene(SLOTS);
    for (uint64_t i = 0; i < 3 * (uint64_t)SLOTS; i++) {
        gyre_completion completion = {0};
        memset(reply, 0xff, sizeof reply);
        must(gyre_call(queue, &i, sizeof i, reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && completion.length > 0);
        require_zeros(reply, 0, completion.length);
    }
    require_zero_slots(0);
    gyre_queue_close(queue);
    party_wait(self);
}

/* Every other request fills what it makes. */
static void ask_for_empty_tails(const party *self)
{
    gyre_queue *queue = attach_scene(SLOTS);
    for (uint64_t i = 0; i < 3 * (uint64_t)SLOTS; i++) {
        foreign_tail reply;
        must(gyre_call(queue, &i, sizeof i, &reply, sizeof reply, NULL, soon()));
        require(reply.words.count == 20 && reply.text.count == 60);
        if (i % 2 == 0)
            require_zeros(&reply, reply.words.offset, reply.gyre_used);
    }
    gyre_queue_close(queue);
    party_wait(self);
}

static void ask_for_nothing_of_a_protocol(const party *self)
{
    gyre_queue *queue = attach_scene(SLOTS);
    for (uint64_t i = 0; i < 3 * (uint64_t)SLOTS; i++) {
        const foreign_poke poke = {.number = i};
        foreign_large full, large;
        foreign_holes holes;
        memset(&full, 0xff, sizeof full);
        memset(&holes, 0xff, sizeof holes);
        must(gyre_call_as(queue, GYRE_TYPE(foreign_large), &full, GYRE_TYPE(foreign_large), &large, NULL,
                          soon()));
        require(memcmp(&full, &large, sizeof full) == 0);
        must(gyre_call_as(queue, GYRE_TYPE(foreign_poke), &poke, GYRE_TYPE(foreign_holes), &holes, NULL,
                          soon()));
        require_zeros(&holes, 0, sizeof holes);
        full.one = 0;
        must(gyre_call_as(queue, GYRE_TYPE(foreign_large), &full, GYRE_TYPE(foreign_large), &large, NULL,
                          soon()));
        require_zeros(&large, 0, sizeof large);
    }
    gyre_queue_close(queue);
    party_wait(self);
}

static void replies_hold_nothing_of_the_server(void)
{
    static const char *const kernels[] = {"nothing_small", "nothing_large", "nothing_block", "nothing_actor"};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        serve_one(kernels[i], ask_for_nothing);
    serve_one("nothing_tail", ask_for_empty_tails);
    serve_one("foreign_left_out", ask_for_nothing_of_a_protocol);
}

static void replies_that_are_relayed_hold_nothing_of_the_server(void)
{
    keep_in_a_journal();
    replies_hold_nothing_of_the_server();
}

/*
 * Some requests fill what the first stage sends on, the others leave it out: by turns, and in any place of the ring one after the
 * other.
 */
static void ask_stages_for_nothing(const party *self)
{
    gyre_queue *queue = attach_scene(SLOTS);
    for (uint64_t i = 0; i < 128; i++) {
        const uint64_t number = i + i / 16 + i / 32;
        foreign_large reply;
        memset(&reply, 0xff, sizeof reply);
        must(gyre_call(queue, &number, sizeof number, &reply, sizeof reply, NULL, soon()));
        if (number % 2)
            require(reply.words[0] == UINT64_MAX && reply.words[99] == UINT64_MAX);
        else
            require_zeros(&reply, 0, sizeof reply);
    }
    gyre_queue_close(queue);
    party_wait(self);
}

/* What a stage left out of a message that it sent on shows nothing of earlier messages, to whom the next stage replies. */
static void replies_of_stages_hold_nothing_of_the_server(void)
{
    static const char *const first[] = {"nothing_first_lane", "nothing_first_actor"};
    scene.pipeline = true;
    scene.file = ATTACH_KERNELS "nothing_stages.gyre.c";
    scene.kernel = "stages";
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        scene.first = first[i];
        serve_scene(ask_stages_for_nothing);
    }
}

static const named_case cases[] = {
    {"replies_hold_nothing_of_the_server", replies_hold_nothing_of_the_server},
    {"replies_that_are_relayed_hold_nothing_of_the_server",
     replies_that_are_relayed_hold_nothing_of_the_server},
    {"replies_of_stages_hold_nothing_of_the_server", replies_of_stages_hold_nothing_of_the_server},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
