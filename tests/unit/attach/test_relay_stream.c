/* SPDX-License-Identifier: Apache-2.0 */
/* Streams through a relay, turn by turn, and when its turns are lent. The test is the clients and the device. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "core/attach/relay.h"
#include "core/attach/relay_lent.h"
#include "core/attach/relay_ring.h"
#include "core/queue/life.h"
#include "core/queue/mark.h"
#include "core/queue/origin.h"
#include "core/queue/progress.h"
#include "core/queue/state.h"
#include "core/ring/ring_message.h"
#include "core/stages/log.h"
#include "core/stages/make.h"
#include "unit/unit.h"

enum { CLIENTS = 2, SLOTS = 128, REQUEST = 56, TURNS = 2000, LOG = 1 << 20 };

struct message {
    uint64_t number, client;
    unsigned char rest[REQUEST - 16];
};

struct client {
    struct gyre_relay_ring *ring;
    uint64_t sent, received;
};

static struct gyre_relay relay;
static struct gyre_kernel_errand errand;
static struct client clients[CLIENTS];
static uint64_t served, chance;

static uint64_t pick(uint64_t below)
{
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (chance >> 33) % below;
}

static struct gyre_queue_options options_of(uint32_t request_size)
{
    return (struct gyre_queue_options){.name = "kept",
                                       .capacity = SLOTS,
                                       .request_size = request_size,
                                       .reply_size = request_size,
                                       .policy = GYRE_FULL_BLOCK,
                                       .idle = GYRE_WAIT_PARK,
                                       .many_threads = true,
                                       .device_wakes = true,
                                       .control = relay.control};
}

static void begin(uint32_t request_size)
{
    memset(&relay, 0, sizeof relay);
    memset(clients, 0, sizeof clients);
    memset(&errand, 0, sizeof errand);
    served = chance = 0;
    gyre_errand_init(&errand);
    relay.errand = &errand;
    relay.control = aligned_alloc(GYRE_LINE_SIZE, sizeof *relay.control);
    memset(relay.control, 0, sizeof *relay.control);
    pthread_mutex_init(&relay.lock, NULL);
    pthread_cond_init(&relay.changed, NULL);
    struct gyre_queue_options options = options_of(request_size);
    ck_assert_int_eq(gyre_queue_create(&options, &relay.target), GYRE_OK);
    ck_assert_int_eq(gyre_queue_log_create(relay.target, LOG), GYRE_OK);
    ck_assert_int_eq(gyre_origins_create(relay.target), GYRE_OK);
    relay.places = calloc(SLOTS, sizeof *relay.places);
    ck_assert_int_eq(gyre_relay_make_room(&relay), GYRE_OK);
    for (int i = 0; i < CLIENTS; i++) {
        options.lent = true;
        ck_assert_int_eq(gyre_relay_ring_create(&relay, &options, 0, 0, &clients[i].ring), GYRE_OK);
    }
}

static void finish(void)
{
    for (int i = 0; i < CLIENTS; i++) {
        gyre_queue_destroy(clients[i].ring->queue);
        free(clients[i].ring);
    }
    gyre_queue_destroy(relay.target);
    gyre_relay_free_room(&relay);
    free(relay.places);
    free(relay.control);
}

static struct message message_of(uint64_t client, uint64_t number)
{
    struct message message = {.number = number, .client = client};
    memset(message.rest, (int)(number % 251), sizeof message.rest);
    return message;
}

/* Writes requests into a client's ring, as its process would. */
static void send_some(uint64_t client, uint64_t count, uint32_t size)
{
    struct client *one = &clients[client];
    const struct gyre_ring *ring = gyre_ring_of(one->ring->queue);
    for (; count > 0 && one->sent - one->received < SLOTS; count--, one->sent++) {
        const struct message message = message_of(client, one->sent);
        gyre_slot *slot = gyre_request_slot(ring, one->sent);
        memcpy(slot + 1, &message, size);
        slot->length = size;
        __atomic_store_n(&slot->sequence, one->sent + 1, __ATOMIC_RELEASE);
    }
}

/* Takes the replies that are in a client's ring: each comes once, in order, and is what was asked. */
static void receive_all(uint64_t client, uint32_t size)
{
    struct client *one = &clients[client];
    const struct gyre_ring *ring = gyre_ring_of(one->ring->queue);
    while (gyre_reply_ready(ring, one->received)) {
        const struct message expected = message_of(client, one->received);
        const gyre_slot *slot = gyre_reply_slot(ring, one->received++);
        ck_assert_uint_eq(slot->info, GYRE_OUTCOME_REPLY);
        ck_assert_uint_eq(slot->length, size);
        ck_assert_mem_eq(slot + 1, &expected, size);
    }
}

/* The device answers the next requests with what they are. */
static void serve_some(uint64_t count)
{
    const struct gyre_ring *ring = gyre_ring_of(relay.target);
    for (; count > 0; count--, served++) {
        const gyre_slot *request = gyre_request_slot(ring, served);
        gyre_slot *reply = gyre_reply_slot(ring, served);
        if (__atomic_load_n(&request->sequence, __ATOMIC_ACQUIRE) != served + 1)
            return;
        reply->length = request->length;
        reply->info = GYRE_OUTCOME_REPLY;
        memcpy(reply + 1, request + 1, request->length);
        __atomic_store_n(&reply->sequence, served + 1, __ATOMIC_RELEASE);
    }
}

static void drain(uint32_t size)
{
    for (int i = 0; i < 4 * SLOTS; i++) {
        gyre_relay_turn(&relay);
        serve_some(SLOTS);
        for (uint64_t client = 0; client < CLIENTS; client++)
            receive_all(client, size);
    }
    for (int i = 0; i < CLIENTS; i++)
        ck_assert_uint_eq(clients[i].received, clients[i].sent);
    ck_assert_uint_eq(gyre_relay_under_way(&relay), 0);
}

/* Every slot of the kernel's queue was given back, and no mark is left over for the next request there. */
static void check_given_back(void)
{
    ck_assert_uint_eq(gyre_received(relay.target), gyre_queue_next_index(relay.target));
    for (uint64_t index = 0; index < SLOTS; index++)
        ck_assert_uint_eq(gyre_mark_get(relay.target, index), GYRE_MARK_SEND);
}

/* Checkpoints come now and then, so that the log has room. */
static void cover(void)
{
    gyre_queue_log_look(relay.target);
    gyre_queue_log_commit(relay.target, UINT64_MAX);
}

static void stream(uint32_t size)
{
    begin(size);
    for (int turn = 0; turn < TURNS; turn++) {
        for (uint64_t client = 0; client < CLIENTS; client++) {
            send_some(client, pick(SLOTS), size);
            receive_all(client, size);
        }
        gyre_relay_turn(&relay);
        serve_some(pick(SLOTS));
        if (turn % 32 == 0)
            cover();
    }
    drain(size);
    ck_assert_uint_gt(served, TURNS);
    check_given_back();
    finish();
}

START_TEST(a_stream_of_small_messages_goes_there_and_back)
{
    stream(16);
}
END_TEST

START_TEST(a_stream_of_messages_beyond_a_line_goes_there_and_back)
{
    stream(sizeof(struct message));
}
END_TEST

/* The program's own requests lie between those of clients: their slots wait for the program's receiver. */
START_TEST(slots_between_requests_of_the_program_are_given_back)
{
    uint64_t reply[2], own = 0;
    begin(16);
    for (int turn = 0; turn < TURNS; turn++) {
        const struct message message = message_of(CLIENTS, own);
        send_some(0, pick(4), 16);
        gyre_relay_turn(&relay);
        ck_assert_int_eq(gyre_send(relay.target, &message, 16, NULL, GYRE_NO_WAIT), GYRE_OK);
        send_some(1, pick(4), 16);
        gyre_relay_turn(&relay);
        serve_some(SLOTS);
        gyre_relay_turn(&relay);
        ck_assert_int_eq(gyre_receive(relay.target, reply, sizeof reply, NULL, GYRE_NO_WAIT), GYRE_OK);
        ck_assert(reply[0] == own++ && reply[1] == CLIENTS);
        receive_all(0, 16);
        receive_all(1, 16);
        cover();
    }
    drain(16);
    check_given_back();
    finish();
}
END_TEST

/* A request whose length is not the type's, in a stream: it alone is refused. */
START_TEST(a_wrong_length_in_a_stream_is_refused_alone)
{
    begin(16);
    send_some(0, 64, 16);
    gyre_request_slot(gyre_ring_of(clients[0].ring->queue), 40)->length = 17;
    gyre_relay_turn(&relay);
    serve_some(SLOTS);
    gyre_relay_turn(&relay);
    for (uint64_t index = 0; index < 64; index++) {
        const gyre_slot *slot = gyre_reply_slot(gyre_ring_of(clients[0].ring->queue), index);
        ck_assert_uint_eq(slot->sequence, index + 1);
        ck_assert_uint_eq(slot->info, index == 40 ? GYRE_OUTCOME_FAILED : GYRE_OUTCOME_REPLY);
    }
    ck_assert_uint_eq(served, 63);
    finish();
}
END_TEST

/* ---- lent turns ---- */

enum { TRIES = 200 /* the lender of a slow machine takes its turns back before anybody took one */ };

static uint32_t lender_is_back;

static void *lend(void *argument)
{
    (void)argument;
    const bool lent = gyre_relay_lend(&relay);
    __atomic_store_n(&lender_is_back, 1, __ATOMIC_SEQ_CST);
    return lent ? &relay : NULL;
}

static bool is_open(void)
{
    return __atomic_load_n(&errand.shown.open, __ATOMIC_SEQ_CST) != 0;
}

/* The device takes lent turns, with a pause after each, until they are taken back. Returns how many it took. */
static int take_turns(long pause_us, int most)
{
    const struct timespec pause = {0, pause_us * 1000};
    pthread_t lender;
    void *lent = NULL;
    int turns = 0;
    __atomic_store_n(&errand.shown.looking, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&lender_is_back, 0, __ATOMIC_SEQ_CST);
    unit_start(&lender, lend, NULL);
    while (!is_open() && !__atomic_load_n(&lender_is_back, __ATOMIC_SEQ_CST))
        sched_yield();
    for (; is_open() && turns < most; turns++) {
        send_some(0, 64, 16);
        errand.shown.run(&errand.shown);
        nanosleep(&pause, NULL);
        serve_some(SLOTS);
        receive_all(0, 16);
    }
    gyre_errand_take_back(&errand, &relay);
    pthread_join(lender, &lent);
    ck_assert_ptr_nonnull(lent);
    return turns;
}

START_TEST(a_stream_is_not_lent_where_each_thread_has_a_processor)
{
    int turns = 0;
    begin(16);
    for (int i = 0; turns == 0 && i < TRIES; i++) {
        relay.loan.calm = UINT32_MAX;
        turns = take_turns(0, 1000);
    }
    ck_assert_int_eq(turns, 1);
    ck_assert_ptr_null(lend(NULL));
    drain(16);
    finish();
}
END_TEST

/* Where streams are not, the loan is over after the first turn. On a busy machine this handler is a slow one soon. */
START_TEST(a_stream_is_lent_where_threads_share_processors)
{
    int turns = 0;
    begin(16);
    relay.loan.streams = true;
    for (int i = 0; turns < 3 && i < TRIES; i++) {
        relay.loan.again_ns = 0;
        turns = take_turns(0, 20);
    }
    ck_assert_int_ge(turns, 3);
    drain(16);
    finish();
}
END_TEST

/* Its replies would wait until a whole batch is handled. */
START_TEST(a_stream_to_a_slow_handler_is_taken_back)
{
    begin(16);
    relay.loan.streams = true;
    for (int i = 0; !relay.loan.again_ns && i < TRIES; i++)
        ck_assert_int_lt(take_turns(500, 1000), 1000);
    ck_assert_uint_ne(relay.loan.again_ns, 0);
    relay.loan.again_ns = UINT64_MAX; /* later than the test */
    ck_assert_ptr_null(lend(NULL));
    drain(16);
    finish();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attach_relay_stream");
    TCase *tcase = tcase_create("attach_relay_stream");
    tcase_add_test(tcase, a_stream_of_small_messages_goes_there_and_back);
    tcase_add_test(tcase, a_stream_of_messages_beyond_a_line_goes_there_and_back);
    tcase_add_test(tcase, slots_between_requests_of_the_program_are_given_back);
    tcase_add_test(tcase, a_wrong_length_in_a_stream_is_refused_alone);
    tcase_add_test(tcase, a_stream_is_not_lent_where_each_thread_has_a_processor);
    tcase_add_test(tcase, a_stream_is_lent_where_threads_share_processors);
    tcase_add_test(tcase, a_stream_to_a_slow_handler_is_taken_back);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
