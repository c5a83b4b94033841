/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that changes a reply while its client reads it: the client copies the reply, then believes the copy. One case a run:
 * `test_attach_foreign_server CASE`.
 */
#include <pthread.h>

#include <gyre/ring_layout.h>

#include "foreign_scene.h"

static volatile uint64_t turns;
static volatile int stopped; /* the flipper is to come back; a volatile bool is read once alone under UBSan */
static const gyre_queue_shape *shape;

/* The reply's type, as a program has it that was compiled before `text` was appended. */
#define EARLIER_TAIL(FIELD) FIELD(u64, number) FIELD(span_u64, words)
GYRE_MESSAGE_TAIL(earlier_tail, EARLIER_TAIL, 400)

static void *flip_replies(void *argument)
{
    unsigned char *base = (unsigned char *)(uintptr_t)shape;
    const gyre_queue_shape at = *shape;
    (void)argument;
    for (uint64_t slot = 0; !stopped; slot = (slot + 1) % SLOTS) {
        unsigned char *const reply = base + at.reply_offset + slot * at.reply_stride + sizeof(gyre_slot);
        volatile gyre_part *words = (volatile gyre_part *)(void *)(reply + offsetof(foreign_tail, words));
        const uint32_t offset = words->offset;
        words->offset = 0x7ffffff0u;
        for (uint32_t i = turns % 32; i; i--)
            turns++;
        words->offset = offset;
        turns += 5;
    }
    return NULL;
}

/* By a thread of its own, as a server could: the reply changes while it is turned into the earlier type. */
static void call_of_an_earlier_type(const party *self)
{
    struct iovec regions[REGIONS_MAX];
    gyre_type earlier = *GYRE_TYPE(earlier_tail);
    pthread_t flipper;
    gyre_queue *queue = NULL;
    earlier.name = "foreign_tail";
    gyre_attach_desc desc = {.size = sizeof desc,
                             .path = meeting_place(),
                             .capacity = SLOTS,
                             .request = GYRE_TYPE(foreign_count),
                             .reply = &earlier};
    must(gyre_attach(scene.kernel, &desc, &queue));
    require(writable_regions(regions, REGIONS_MAX) == 1);
    shape = regions[0].iov_base;
    require(pthread_create(&flipper, NULL, flip_replies, NULL) == 0);
    const uint64_t end = gyre_in_ms((uint64_t)attack_ms(SHORT_MS));
    for (uint64_t i = 0; gyre_now_ns() < end; i++) {
        earlier_tail reply;
        const gyre_status status = gyre_call(queue, &i, sizeof i, &reply, sizeof reply, NULL, soon());
        require(status == GYRE_OK || status == GYRE_INTERNAL);
        require(status != GYRE_OK || reply.gyre_used <= sizeof reply);
    }
    stopped = true;
    require(pthread_join(flipper, NULL) == 0);
    gyre_queue_close(queue);
    party_wait(self);
}

static void a_reply_that_changes_under_a_clients_hands_is_copied_first(void)
{
    serve_one("nothing_tail", call_of_an_earlier_type);
}

static const named_case cases[] = {
    {"a_reply_that_changes_under_a_clients_hands_is_copied_first",
     a_reply_that_changes_under_a_clients_hands_is_copied_first},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
