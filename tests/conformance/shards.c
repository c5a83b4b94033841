/* SPDX-License-Identifier: Apache-2.0 */
/* Several rings behind one name: who goes where, what order is kept, and how waits and ends behave. */
#include "conformance.h"

#include <gyre/shards.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { RINGS = 4, KEYS = 37, SENDERS = 3 };

static gyre_shards *open_shards(gyre_kernel *kernel, gyre_shards_desc desc)
{
    gyre_shards *shards = NULL;
    desc.size = sizeof desc;
    must(gyre_shards_open(kernel, &desc, &shards));
    return shards;
}

static gyre_kernel *launch_wide(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "shards.gyre.c", "orders");
    desc.blocks = 2; /* fewer than rings: each block has several */
    must(gyre_launch(test->runtime, &desc, &kernel));
    return kernel;
}

static gyre_queue_stats sums_of(const gyre_shards *shards)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    must(gyre_shards_stats_get(shards, &stats));
    return stats;
}

static uint32_t rings_used(gyre_shards *shards)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < gyre_shards_count(shards); i++)
        used += stats_of(gyre_shards_queue(shards, i)).sent > 0;
    return used;
}

static bool answers(const order_reply *reply, const order *request)
{
    return reply->who.account == request->who.account && reply->who.desk == request->who.desk &&
           reply->number == request->number && reply->total == request->number * 3 + request->who.account;
}

/* ---- order of equal keys ---- */

/* What the receiver has seen of each sender and key. */
struct seen {
    uint64_t next[SENDERS][KEYS]; /* the number that has to come now */
    uint32_t ring[KEYS];          /* + 1 */
    uint64_t received;
};

struct sender {
    pthread_t thread;
    gyre_shards *shards;
    uint32_t desk;
    uint64_t count;
};

static order make_order(const struct sender *sender, uint64_t i)
{
    return (order){.number = i / KEYS, .who = {.account = (i * 11) % KEYS, .desk = sender->desk}};
}

/* By turns one at a time and in batches. */
static void *send_orders(void *argument)
{
    const struct sender *sender = argument;
    order batch[16];
    uint64_t sent = 0;
    while (sent < sender->count) {
        size_t wanted = 1 + sent % 16, accepted = 0;
        wanted = sender->count - sent < wanted ? (size_t)(sender->count - sent) : wanted;
        for (size_t i = 0; i < wanted; i++)
            batch[i] = make_order(sender, sent + i);
        must(gyre_shards_send_batch(sender->shards, batch, sizeof batch[0], wanted, &accepted, soon()));
        require(accepted > 0 && accepted <= wanted);
        sent += accepted;
    }
    return NULL;
}

static void note(struct seen *seen, const order_reply *reply, uint32_t ring)
{
    const uint64_t key = reply->who.account;
    const order request = {.number = reply->number, .who = reply->who};
    require(key < KEYS && reply->who.desk < SENDERS && answers(reply, &request));
    require(reply->number == seen->next[reply->who.desk][key]);
    require(seen->ring[key] == 0 || seen->ring[key] == ring + 1);
    seen->next[reply->who.desk][key]++;
    seen->ring[key] = ring + 1;
    seen->received++;
}

static void receive_orders(gyre_shards *shards, struct seen *seen, uint64_t count)
{
    order_reply replies[32];
    gyre_shard_batch batch = {
        .size = sizeof batch, .replies = replies, .reply_size = sizeof replies[0], .count = 32};
    while (seen->received < count) {
        must(gyre_shards_receive_batch(shards, &batch, soon()));
        for (size_t i = 0; i < batch.received; i++)
            note(seen, &replies[i], batch.ring);
    }
}

static void equal_keys_keep_their_order(struct conformance *test)
{
    static struct seen seen;
    gyre_shards *shards = open_shards(launch_wide(test), (gyre_shards_desc){.name = "orders",
                                                                            .rings = RINGS,
                                                                            .rule = GYRE_SHARD_KEY,
                                                                            .key = "who.account",
                                                                            .capacity = 64,
                                                                            .request = GYRE_TYPE(order),
                                                                            .reply = GYRE_TYPE(order_reply)});
    struct sender senders[SENDERS];
    const uint64_t each = KEYS * 200;
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.shards = shards, .desk = i, .count = each};
        require(pthread_create(&senders[i].thread, NULL, send_orders, &senders[i]) == 0);
    }
    receive_orders(shards, &seen, SENDERS * each);
    for (uint32_t i = 0; i < SENDERS; i++)
        pthread_join(senders[i].thread, NULL);
    for (uint32_t i = 0; i < SENDERS; i++)
        for (uint32_t key = 0; key < KEYS; key++)
            require(seen.next[i][key] == 200);
    require(rings_used(shards) == RINGS);
    require(sums_of(shards).sent == SENDERS * each && sums_of(shards).received == SENDERS * each);
    gyre_shards_close(shards);
}

/* ---- the other rules ---- */

static order_reply receive_one(gyre_shards *shards, uint32_t *ring)
{
    order_reply reply;
    gyre_completion completion;
    must(gyre_shards_receive(shards, &reply, sizeof reply, ring, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && completion.length == sizeof reply);
    return reply;
}

static void messages_take_turns_over_the_rings(struct conformance *test)
{
    gyre_shards *shards =
        open_shards(launch_wide(test),
                    (gyre_shards_desc){.rings = RINGS, .rule = GYRE_SHARD_ROUND_ROBIN, .capacity = 64});
    uint64_t numbers[RINGS] = {0};
    for (uint64_t i = 0; i < 40; i++) {
        gyre_shard_ticket ticket = {RINGS, 0};
        order request = {.number = i};
        must(gyre_shards_send(shards, &request, sizeof request, &ticket, soon()));
        require(ticket.ring == i % RINGS && ticket.index == i / RINGS);
    }
    for (uint64_t i = 0; i < 40; i++) {
        uint32_t ring = RINGS;
        order_reply reply = receive_one(shards, &ring);
        require(ring < RINGS && reply.number == numbers[ring] * RINGS + ring);
        numbers[ring]++;
    }
}

static void *send_from_here(void *argument)
{
    gyre_shards *shards = argument;
    gyre_shard_ticket first = {0, 0}, ticket = {0, 0};
    order request = {.number = 0};
    must(gyre_shards_send(shards, &request, sizeof request, &first, soon()));
    for (request.number = 1; request.number < 20; request.number++) {
        must(gyre_shards_send(shards, &request, sizeof request, &ticket, soon()));
        require(ticket.ring == first.ring);
    }
    return NULL;
}

static void each_sending_thread_has_its_ring(struct conformance *test)
{
    pthread_t threads[RINGS];
    gyre_shards *shards = open_shards(
        launch_wide(test), (gyre_shards_desc){.rings = RINGS, .rule = GYRE_SHARD_PRODUCER, .capacity = 64});
    for (int i = 0; i < RINGS; i++)
        require(pthread_create(&threads[i], NULL, send_from_here, shards) == 0);
    for (int i = 0; i < RINGS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < RINGS; i++)
        require(stats_of(gyre_shards_queue(shards, i)).sent == 20);
    for (int i = 0; i < RINGS * 20; i++)
        receive_one(shards, NULL);
}

static void calls_go_to_the_ring_of_their_key(struct conformance *test)
{
    gyre_shards *shards = open_shards(
        launch_wide(test),
        (gyre_shards_desc){.rings = RINGS, .rule = GYRE_SHARD_KEY, .key = "who.account", .capacity = 8});
    for (uint64_t i = 0; i < 100; i++) {
        order request = {.number = i, .who = {.account = i % 10}};
        order_reply reply = {0};
        uint32_t ring = RINGS;
        must(gyre_shards_pick(shards, &request, sizeof request, &ring));
        const uint64_t before = stats_of(gyre_shards_queue(shards, ring)).sent;
        must(gyre_shards_call(shards, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(answers(&reply, &request));
        require(stats_of(gyre_shards_queue(shards, ring)).sent == before + 1);
    }
    require(gyre_shards_queue(shards, RINGS) == NULL && gyre_shards_count(shards) == RINGS);
}

/* The bytes of a text are the key, wherever in the message they lie. */
static void texts_can_be_keys(struct conformance *test)
{
    static const char *const names[] = {"", "ACME", "a", "a longer name than the others"};
    gyre_shards *shards =
        open_shards(launch(test, "shards.gyre.c", "lengths"),
                    (gyre_shards_desc){.rings = 16, .rule = GYRE_SHARD_KEY, .key = "name", .capacity = 8});
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint32_t rings[2] = {16, 17};
        for (uint32_t later = 0; later < 2; later++) {
            note_request request;
            words_1 reply = {{0}};
            gyre_begin(&request);
            if (later)
                must(gyre_put_text(&request, &request.other, "so that the name lies elsewhere"));
            must(gyre_put_text(&request, &request.name, names[i]));
            must(gyre_shards_pick(shards, &request, sizeof request, &rings[later]));
            must(gyre_shards_call(shards, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
            require(reply.w[0] == strlen(names[i]));
        }
        require(rings[0] == rings[1]);
    }
    note_request broken;
    gyre_begin(&broken);
    broken.name = (gyre_part){sizeof broken - 1, 2};
    require(gyre_shards_send(shards, &broken, sizeof broken, NULL, soon()) == GYRE_INVALID);
    require_sentence("the key 'name' does not lie in the request");
    gyre_begin(&broken);
    must(gyre_put_large(&broken, &broken.name, "ACME", 4));
    require(gyre_shards_send(shards, &broken, sizeof broken, NULL, soon()) == GYRE_INVALID);
    require_sentence(
        "the key 'name' lies in a buffer, or stayed in the caller's memory: put it into the message");
}

/* ---- configuration and refusals ---- */

static void rings_follow_the_configuration(struct conformance *test)
{
    static const char *const settings[] = {"queue.trades.rings=3", "queue.trades.shard=key",
                                           "queue.trades.key=who.desk", "queue.trades.capacity=32", NULL};
    gyre_open_desc open = {.size = sizeof open, .settings = settings, .backend = test->backend};
    struct conformance other = {.backend = test->backend};
    must(gyre_open(&open, &other.runtime));
    gyre_kernel *kernel = launch(&other, "shards.gyre.c", "orders");
    gyre_shards *shards = open_shards(kernel, (gyre_shards_desc){.name = "trades"});
    order request = {.who = {.account = 1, .desk = 7}};
    uint32_t first = 3, second = 4;
    must(gyre_shards_pick(shards, &request, sizeof request, &first));
    request.who.account = 2; /* not the key */
    must(gyre_shards_pick(shards, &request, sizeof request, &second));
    require(gyre_shards_count(shards) == 3 && first == second);
    require(stats_of(gyre_shards_queue(shards, 0)).capacity == 32 && sums_of(shards).capacity == 96);
    require(gyre_queue_find(kernel, "trades/2") == gyre_shards_queue(shards, 2));
    gyre_shards_close(shards);
    require(gyre_queue_find(kernel, "trades/2") == NULL && info_of(kernel).queues == 1);
    gyre_close(other.runtime);
}

static void count_strangers(void *context, int level, const char *text)
{
    (void)level;
    if (strstr(text, "is for no queue that is known"))
        atomic_fetch_add((atomic_uint *)context, 1);
}

static void sections_of_shards_are_somebodys(struct conformance *test)
{
    static const char *const settings[] = {"queue.trades.rings=2", "queue.auctoins.capacity=8", NULL};
    atomic_uint strangers = 0;
    gyre_open_desc open = {.size = sizeof open,
                           .settings = settings,
                           .backend = test->backend,
                           .log = count_strangers,
                           .log_context = &strangers};
    struct conformance other = {.backend = test->backend};
    must(gyre_open(&open, &other.runtime));
    gyre_kernel *kernel = launch(&other, "shards.gyre.c", "orders");
    gyre_queue_desc alike = {.size = sizeof alike, .name = "trades/5"};
    gyre_queue *queue = NULL;
    gyre_shards *shards = open_shards(kernel, (gyre_shards_desc){.name = "trades"});
    must(gyre_queue_open(kernel, &alike, &queue));
    gyre_shards_close(shards);
    alike.name = "trade"; /* those shards may come again */
    must(gyre_queue_open(kernel, &alike, &queue));
    require(atomic_load(&strangers) == 0);
    open_shards(kernel, (gyre_shards_desc){.name = "auctions", .rings = 1});
    require(atomic_load(&strangers) == 1);
    gyre_close(other.runtime);
}

static void a_ring_of_shards_is_not_closed_alone(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "shards.gyre.c", "orders");
    gyre_shards *shards =
        open_shards(kernel, (gyre_shards_desc){.name = "trades", .rings = 2, .rule = GYRE_SHARD_ROUND_ROBIN});
    gyre_queue_close(gyre_shards_queue(shards, 1));
    require_sentence("'trades/1' of kernel 'orders' is a ring of shards");
    require(info_of(kernel).queues == 3);
    for (uint64_t i = 0; i < 4; i++) {
        order request = {.number = i};
        must(gyre_shards_send(shards, &request, sizeof request, NULL, soon()));
        order_reply reply = receive_one(shards, NULL);
        require(answers(&reply, &request));
    }
    gyre_shards_close(shards);
    require(info_of(kernel).queues == 1);
}

static void refuse(gyre_kernel *kernel, const char *key, const char *sentence)
{
    gyre_shards *shards = NULL;
    gyre_shards_desc desc = {.size = sizeof desc, .rings = 2, .rule = GYRE_SHARD_KEY, .key = key};
    require(gyre_shards_open(kernel, &desc, &shards) == GYRE_INVALID && !shards);
    require_sentence(sentence);
}

static void a_wrong_key_is_told(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "shards.gyre.c", "orders");
    gyre_shards *shards = NULL;
    refuse(kernel, NULL, "no key is named");
    refuse(kernel, "numbr", "'order' has no field 'numbr'; did you mean 'number'?");
    refuse(kernel, "who", "name a field inside it");
    refuse(kernel, "who.acount", "did you mean 'account'?");
    refuse(kernel, "number.x", "'number' is no record");
    static const char *const settings[] = {"queue.spread.shard=key", "queue.spread.key=numbr", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_shards_desc spread = {.size = sizeof spread, .name = "spread"};
    require(gyre_shards_open(launch_in(runtime, "shards.gyre.c", "orders"), &spread, &shards) == GYRE_CONFIG);
    require_sentence("shards 'spread' of kernel 'orders': the key 'numbr'");
    gyre_close(runtime);
    gyre_shards_desc many = {.size = sizeof many, .rings = 65};
    require(gyre_shards_open(kernel, &many, &shards) == GYRE_INVALID);
    require_sentence("expected 1 to 64 rings");
    many.rings = 64; /* the kernel's own queue is there already */
    require(gyre_shards_open(kernel, &many, &shards) == GYRE_EXHAUSTED && !shards);
    require(info_of(kernel).queues == 1);
    shards = open_shards(kernel, (gyre_shards_desc){.rings = 2, .rule = GYRE_SHARD_KEY, .key = "number"});
    require(gyre_shards_send(shards, "short", 5, NULL, soon()) == GYRE_INVALID);
    require_sentence("the key 'number' does not lie in the request of 5 bytes");
}

/* ---- waits and ends ---- */

static void receivers_wait_as_they_are_told(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "shards.gyre.c", "orders");
    for (int idle = GYRE_WAIT_SPIN; idle <= GYRE_WAIT_PARK; idle++) {
        gyre_shards *shards =
            open_shards(kernel, (gyre_shards_desc){.rings = 3, .idle = (gyre_idle_strategy)idle});
        order_reply reply;
        const uint64_t begun = gyre_now_ns();
        require(gyre_shards_receive(shards, &reply, sizeof reply, NULL, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
        require(gyre_shards_receive(shards, &reply, sizeof reply, NULL, NULL, gyre_in_ms(20)) ==
                GYRE_TIMEOUT);
        require(gyre_now_ns() - begun >= 20000000);
        for (uint64_t i = 0; i < 100; i++) {
            order request = {.number = i, .who = {.account = 5}};
            must(gyre_shards_send(shards, &request, sizeof request, NULL, soon()));
            reply = receive_one(shards, NULL);
            require(answers(&reply, &request));
        }
        gyre_shards_close(shards);
    }
}

static void sums_are_those_of_all_rings(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.dedup=3", "queue.default.header=16", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_shards *shards =
        open_shards(launch_in(runtime, "shards.gyre.c", "orders"), (gyre_shards_desc){.rings = RINGS});
    const order request = {.number = 1};
    for (uint32_t ring = 0; ring < RINGS; ring++) {
        const gyre_header header = {.id = 1000};
        gyre_queue *queue = gyre_shards_queue(shards, ring);
        must(gyre_send_with(queue, &request, sizeof request, &header, NULL, soon()));
        require(gyre_send_with(queue, &request, sizeof request, &header, NULL, soon()) == GYRE_DROPPED);
    }
    const gyre_queue_stats sums = sums_of(shards);
    require(sums.sent == RINGS && sums.duplicates == RINGS);
    require(sums.capacity == RINGS * stats_of(gyre_shards_queue(shards, 0)).capacity);
    gyre_close(runtime);
}

static void *receive_until_closed(void *argument)
{
    order_reply reply;
    gyre_status status;
    do
        status = gyre_shards_receive(argument, &reply, sizeof reply, NULL, NULL, GYRE_FOREVER);
    while (status == GYRE_OK);
    require(status == GYRE_CLOSED);
    return NULL;
}

static void await_receiver(const gyre_shards *shards, uint64_t waits)
{
    const uint64_t limit = soon();
    while (sums_of(shards).receive_waits < waits) {
        require(gyre_now_ns() < limit);
        sched_yield();
    }
}

static void an_end_lets_receivers_return(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "shards.gyre.c", "orders");
    for (int way = 0; way < 2; way++) {
        gyre_shards *shards = open_shards(kernel, (gyre_shards_desc){.rings = 3});
        pthread_t thread;
        order request = {.number = 1};
        require(pthread_create(&thread, NULL, receive_until_closed, shards) == 0);
        await_receiver(shards, 1);
        must(gyre_shards_send(shards, &request, sizeof request, NULL, soon()));
        await_receiver(shards, 2); /* for what follows the reply: an end is for who waits */
        require(sums_of(shards).received == 1);
        if (way == 0)
            gyre_shards_close(shards);
        else
            must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
        pthread_join(thread, NULL);
        if (way == 1) /* the shards go with it */
            require(gyre_shards_send(shards, &request, sizeof request, NULL, soon()) == GYRE_CLOSED);
    }
    gyre_kernel_release(kernel);
}

const struct conformance_case shard_cases[] = {
    {"equal_keys_keep_their_order", equal_keys_keep_their_order},
    {"messages_take_turns_over_the_rings", messages_take_turns_over_the_rings},
    {"each_sending_thread_has_its_ring", each_sending_thread_has_its_ring},
    {"calls_go_to_the_ring_of_their_key", calls_go_to_the_ring_of_their_key},
    {"texts_can_be_keys", texts_can_be_keys},
    {"rings_follow_the_configuration", rings_follow_the_configuration},
    {"sections_of_shards_are_somebodys", sections_of_shards_are_somebodys},
    {"a_ring_of_shards_is_not_closed_alone", a_ring_of_shards_is_not_closed_alone},
    {"a_wrong_key_is_told", a_wrong_key_is_told},
    {"receivers_wait_as_they_are_told", receivers_wait_as_they_are_told},
    {"sums_are_those_of_all_rings", sums_are_those_of_all_rings},
    {"an_end_lets_receivers_return", an_end_lets_receivers_return},
    {NULL, NULL},
};
