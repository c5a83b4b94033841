/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues that store messages back to back: letters of any length, in rings that hold only a few of the
 * largest, so that they wrap all the time.
 */
#include "conformance.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGEST = 8000 }; /* words of a letter */

/* A runtime of its own, with a small ring of bytes; closed by `finish`. */
static struct conformance open_small(const struct conformance *test, const char *setting)
{
    const char *const settings[] = {"queue.default.layout=bridged", setting, NULL};
    const gyre_open_desc open = {.size = sizeof open, .settings = settings, .backend = test->backend};
    struct conformance other = {.backend = test->backend};
    must(gyre_open(&open, &other.runtime));
    return other;
}

/* Mostly a few words, now and then many; the same for the same number. */
static uint32_t words_of(uint64_t number, uint32_t most)
{
    const uint64_t dice = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 24;
    return (uint32_t)(dice % 16 == 0 ? dice / 16 % (most + 1) : dice / 16 % (most < 60 ? most + 1 : 60));
}

static letter *new_letters(size_t count)
{
    letter *letters = calloc(count, sizeof *letters);
    require(letters != NULL);
    return letters;
}

static void write_letter(letter *request, uint64_t number, uint32_t words, uint32_t wanted)
{
    gyre_begin(request);
    request->number = number;
    request->wanted = wanted;
    static _Thread_local u64 values[LARGEST];
    for (uint32_t i = 0; i < words; i++)
        values[i] = number * 1000003 + i;
    must(gyre_put(request, &request->words, values, words));
}

static void write_any(letter *request, uint64_t number, uint32_t most)
{
    write_letter(request, number, words_of(number, most), words_of(number * 7 + 5, most));
}

static bool is_answer(const letter *reply, size_t length, uint64_t number, uint32_t words, uint32_t wanted)
{
    const u64 *items = gyre_items(u64, reply, reply->words);
    bool right = reply->number == number && reply->words.count == wanted && reply->gyre_used == length;
    for (uint32_t i = 0; right && i < wanted; i++)
        right = items[i] == (i < words ? (number * 1000003 + i) * 3 : number + i);
    return right;
}

static bool is_any(const letter *reply, size_t length, uint64_t number, uint32_t most)
{
    return is_answer(reply, length, number, words_of(number, most), words_of(number * 7 + 5, most));
}

static void receive_any(gyre_queue *queue, letter *reply, uint64_t number, uint32_t most)
{
    gyre_completion completion;
    must(gyre_receive(queue, reply, sizeof *reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && is_any(reply, completion.length, number, most));
}

/* As many as fit are under way. */
static void stream(gyre_queue *queue, uint64_t count, uint32_t most)
{
    letter *letters = new_letters(2);
    uint64_t sent = 0, received = 0;
    while (received < count) {
        write_any(&letters[0], sent, most);
        gyre_status status =
            sent < count ? gyre_send(queue, &letters[0], sizeof letters[0], NULL, GYRE_NO_WAIT) : GYRE_AGAIN;
        require(status == GYRE_OK || status == GYRE_AGAIN);
        if (status == GYRE_OK)
            sent++;
        else
            receive_any(queue, &letters[1], received++, most);
    }
    free(letters);
}

static void letters_of_every_size_come_back(struct conformance *test)
{
    struct conformance own = open_small(test, "queue.default.bytes=1");
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(&own, "bridged.gyre.c", "letters");
    desc.blocks = 1; /* each has room for replies of its own */
    must(gyre_launch(own.runtime, &desc, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
    require(stats_of(queue).region_size < 64 * sizeof(letter)); /* slots: 2,048 */
    stream(queue, 3000, LARGEST);
    stream(queue, 6000, 64);
    gyre_close(own.runtime);
}

static void several_blocks_share_a_bridge(struct conformance *test)
{
    struct conformance own = open_small(test, "queue.default.bytes=1");
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(&own, "bridged.gyre.c", "letters");
    desc.blocks = 3;
    must(gyre_launch(own.runtime, &desc, &kernel));
    stream(gyre_kernel_queue(kernel), 3000, LARGEST);
    stream(gyre_kernel_queue(kernel), 6000, 64);
    gyre_close(own.runtime);
}

/* ---- in place ---- */

static void send_in_place(gyre_queue *queue, uint64_t number)
{
    void *place = NULL;
    const size_t room = sizeof(letter) - 8 * (LARGEST - 400);
    must(gyre_reserve_sized(queue, room, &place, soon()));
    write_any(place, number, 300); /* less than was reserved */
    must(gyre_commit(queue, 1));
}

static void send_some_in_place(gyre_queue *queue, uint64_t number)
{
    void *place = NULL;
    size_t stride = 0, count = 2;
    must(gyre_reserve(queue, &place, &stride, &count, soon()));
    require(count >= 1 && stride >= sizeof(letter));
    write_any(place, number, 300);
    must(gyre_commit(queue, 1)); /* fewer than were reserved */
}

static uint64_t look_in_place(gyre_queue *queue, uint64_t number)
{
    gyre_view views[8];
    size_t found = 0;
    must(gyre_peek(queue, views, 8, &found, soon()));
    for (size_t i = 0; i < found; i++)
        require(views[i].outcome == GYRE_REPLIED && views[i].index == number + i &&
                is_any(views[i].reply, views[i].length, number + i, 300));
    const size_t kept = found > 1 ? found / 2 : 0;
    must(gyre_release_views(queue, found - kept));
    return number + found - kept;
}

static void letters_are_written_and_read_in_place(struct conformance *test)
{
    struct conformance own = open_small(test, "queue.default.capacity=16");
    gyre_queue *queue = gyre_kernel_queue(launch(&own, "bridged.gyre.c", "letters"));
    void *place = NULL;
    uint64_t sent = 0, received = 0;
    require(gyre_reserve_sized(queue, sizeof(letter) + 1, &place, soon()) == GYRE_INVALID);
    require_sentence("gyre_reserve_sized: the queue's requests have 32 to");
    must(gyre_reserve_sized(queue, 48, &place, soon()));
    *(uint32_t *)place = 49; /* bytes in use: more than were reserved */
    require(gyre_commit(queue, 1) == GYRE_INVALID);
    require_sentence(
        "request 0 says that it uses 49 bytes, and has 48: start it with gyre_begin, and send or reserve ");
    must(gyre_commit(queue, 0));
    while (received < 2000) {
        for (; sent - received < 12; sent++)
            if (sent % 3)
                send_in_place(queue, sent);
            else
                send_some_in_place(queue, sent);
        received = look_in_place(queue, received);
    }
    gyre_close(own.runtime);
}

/* ---- threads ---- */

struct sender {
    pthread_t thread;
    gyre_queue *queue;
    uint64_t number;
    uint32_t count;
};

static void *send_letters(void *argument)
{
    const struct sender *sender = argument;
    letter *request = new_letters(1);
    for (uint64_t i = 0; i < sender->count; i++) {
        write_any(request, sender->number << 32 | i, 500);
        must(gyre_send(sender->queue, request, sizeof *request, NULL, soon()));
    }
    free(request);
    return NULL;
}

static void *call_letters(void *argument)
{
    const struct sender *sender = argument;
    letter *letters = new_letters(2);
    for (uint64_t i = 0; i < sender->count; i++) {
        const uint64_t number = sender->number << 32 | i;
        gyre_completion completion;
        write_any(&letters[0], number, 500);
        must(gyre_call(sender->queue, &letters[0], sizeof letters[0], &letters[1], sizeof letters[1],
                       &completion, soon()));
        require(is_any(&letters[1], completion.length, number, 500));
    }
    free(letters);
    return NULL;
}

static void senders_and_callers_share_a_bridge(struct conformance *test)
{
    enum { SENDERS = 2, CALLERS = 2, COUNT = 500 };
    struct conformance own = open_small(test, "queue.default.bytes=1");
    gyre_queue *queue = gyre_kernel_queue(launch(&own, "bridged.gyre.c", "letters"));
    struct sender senders[SENDERS + CALLERS];
    uint64_t next[SENDERS] = {0};
    letter *reply = new_letters(1);
    for (uint64_t i = 0; i < SENDERS + CALLERS; i++) {
        senders[i] = (struct sender){.queue = queue, .number = i, .count = COUNT};
        require(pthread_create(&senders[i].thread, NULL, i < SENDERS ? send_letters : call_letters,
                               &senders[i]) == 0);
    }
    for (uint32_t i = 0; i < SENDERS * COUNT; i++) {
        gyre_completion completion;
        must(gyre_receive(queue, reply, sizeof *reply, &completion, soon()));
        const uint64_t sender = reply->number >> 32;
        require(sender < SENDERS && (reply->number & 0xffffffff) == next[sender]++);
        require(is_any(reply, completion.length, reply->number, 500));
    }
    for (uint32_t i = 0; i < SENDERS + CALLERS; i++)
        pthread_join(senders[i].thread, NULL);
    free(reply);
    gyre_close(own.runtime);
}

/* ---- full, and the end ---- */

static void a_full_bridge_says_so(struct conformance *test)
{
    struct conformance own = open_small(test, "queue.default.bytes=1");
    gyre_kernel *kernel = launch(&own, "bridged.gyre.c", "letters");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    letter *request = new_letters(1);
    uint64_t sent = 0;
    must(gyre_kernel_deactivate(kernel, soon()));
    write_letter(request, 0, LARGEST, 3);
    while (sent < 16 && gyre_send(queue, request, sizeof *request, NULL, GYRE_NO_WAIT) == GYRE_OK)
        write_letter(request, ++sent, LARGEST, 3);
    require(sent == 2);
    require_sentence("is full: 2 messages take its 131072 bytes; receive replies, or set a larger `bytes`");
    require(gyre_send(queue, request, sizeof *request, NULL, gyre_in_ms(5)) == GYRE_TIMEOUT);
    write_letter(request, sent++, 0, 3); /* a short one still has room in its slot */
    must(gyre_send(queue, request, sizeof *request, NULL, GYRE_NO_WAIT));
    must(gyre_kernel_activate(kernel, soon()));
    for (uint64_t i = 0; i < sent; i++) {
        must(gyre_receive(queue, request, sizeof *request, NULL, soon()));
        require(is_answer(request, request->gyre_used, i, i < 2 ? LARGEST : 0, 3));
    }
    free(request);
    gyre_close(own.runtime);
}

static void a_bridge_drops_the_oldest(struct conformance *test)
{
    struct conformance own = open_small(test, "queue.default.bytes=1");
    gyre_kernel *kernel = launch(&own, "bridged.gyre.c", "letters");
    gyre_queue *queue = NULL;
    const gyre_queue_desc desc = {.size = sizeof desc, .name = "news", .policy = GYRE_FULL_DROP_OLDEST};
    letter *request = new_letters(1);
    must(gyre_queue_open(kernel, &desc, &queue));
    for (uint64_t i = 0; i < 40; i++) {
        write_letter(request, i, LARGEST, 1);
        must(gyre_send(queue, request, sizeof *request, NULL, soon()));
    }
    const uint64_t dropped = stats_of(queue).dropped;
    require(dropped >= 38);
    for (uint64_t i = dropped; i < 40; i++) {
        must(gyre_receive(queue, request, sizeof *request, NULL, soon()));
        require(is_answer(request, request->gyre_used, i, LARGEST, 1));
    }
    free(request);
    gyre_close(own.runtime);
}

/* Short requests with long replies: the device waits for room, and is stopped there. */
static void replies_wait_for_room(struct conformance *test)
{
    enum { COUNT = 100 };
    struct conformance own = open_small(test, "queue.default.bytes=1");
    gyre_kernel *kernel = launch(&own, "bridged.gyre.c", "letters");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    letter *letters = new_letters(1);
    uint64_t unhandled = 0, found = 0;
    for (int life = 0; life < 2; life++) {
        for (uint64_t i = 0; i < COUNT; i++) {
            write_letter(letters, i, 0, LARGEST);
            must(gyre_send(queue, letters, sizeof *letters, NULL, soon()));
        }
        if (life == 0) {
            must(gyre_kernel_terminate(kernel, gyre_in_ms(50), &unhandled));
            must(gyre_kernel_relaunch(kernel));
            require(unhandled > 0 && unhandled < COUNT);
        }
        for (uint64_t i = 0; i < COUNT; i++) {
            gyre_completion completion;
            must(gyre_receive(queue, letters, sizeof *letters, &completion, soon()));
            found += completion.outcome == GYRE_WAS_UNHANDLED;
            require(completion.outcome == GYRE_WAS_UNHANDLED ||
                    is_answer(letters, completion.length, i, 0, LARGEST));
        }
    }
    require(found == unhandled);
    free(letters);
    gyre_close(own.runtime);
}

/* A device that sleeps when such a request comes wakes up for the room as well. */
static void a_request_may_come_when_replies_have_no_room(struct conformance *test)
{
    enum { ROUNDS = 3, MOST = 16 };
    const struct timespec pause = {0, 20000000}; /* it sleeps by then */
    struct conformance own = open_small(test, "queue.default.bytes=1");
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(&own, "bridged.gyre.c", "letters");
    desc.blocks = 1;
    must(gyre_launch(own.runtime, &desc, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
    letter *letters = new_letters(1);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t sent = 0, index = 0;
        gyre_status status = GYRE_OK;
        while (status == GYRE_OK && sent < MOST) { /* until one is not answered, for want of room */
            write_letter(letters, sent++, 0, LARGEST);
            nanosleep(&pause, NULL);
            must(gyre_send(queue, letters, sizeof *letters, &index, soon()));
            status = gyre_await(queue, index, GYRE_PROCESSED, gyre_in_ms(20));
        }
        require(status == GYRE_TIMEOUT);
        for (uint64_t i = 0; i < sent; i++) {
            gyre_completion completion;
            must(gyre_receive(queue, letters, sizeof *letters, &completion, soon()));
            require(completion.outcome == GYRE_REPLIED &&
                    is_answer(letters, completion.length, i, 0, LARGEST));
        }
    }
    free(letters);
    gyre_close(own.runtime);
}

/* A device that is paused touches no queue, whatever waited for room there. */
static void a_paused_kernel_lets_go_of_a_full_bridge(struct conformance *test)
{
    enum { ROUNDS = 10, FULL = 3 };
    struct conformance own = open_small(test, "queue.default.bytes=1");
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(&own, "bridged.gyre.c", "letters");
    desc.blocks = 1;
    must(gyre_launch(own.runtime, &desc, &kernel));
    letter *letters = new_letters(1);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        gyre_queue *queue = NULL;
        uint64_t index = 0;
        must(gyre_queue_open(kernel, NULL, &queue));
        for (uint64_t i = 0; i < FULL; i++) {
            write_letter(letters, i, 0, LARGEST);
            must(gyre_send(queue, letters, sizeof *letters, &index, soon()));
        }
        must(gyre_await(queue, index - 1, GYRE_PROCESSED, soon()));
        must(gyre_kernel_deactivate(kernel, soon()));
        gyre_queue_close(queue);
        must(gyre_kernel_activate(kernel, soon()));
        write_letter(letters, round, 1, 1);
        must(gyre_call(gyre_kernel_queue(kernel), letters, sizeof *letters, letters, sizeof *letters, NULL,
                       soon()));
        require(is_answer(letters, letters->gyre_used, round, 1, 1));
    }
    free(letters);
    gyre_close(own.runtime);
}

/* One that expired in front of the ring comes into it without its bytes, and holds none of those of others. */
static void what_expired_before_a_bridge_takes_no_room(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.layout=bridged", "queue.default.bytes=1",
                                           "queue.default.levels=2",       "queue.default.window=1",
                                           "queue.default.ttl_ms=3600000", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "bridged.gyre.c", "letters");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    letter *letters = new_letters(2), *request = &letters[0], *reply = &letters[1];
    gyre_completion completion;
    for (uint64_t i = 0; i < 30; i++) { /* as many bytes as the ring has, and more */
        write_letter(request, i, LARGEST, 1);
        must(gyre_call(queue, request, sizeof *request, reply, sizeof *reply, &completion, soon()));
        require(is_answer(reply, completion.length, i, LARGEST, 1));
    }
    must(gyre_kernel_deactivate(kernel, soon()));
    write_letter(request, 1, 1, 1);
    must(gyre_send(queue, request, sizeof *request, NULL, soon()));
    const gyre_header late = {.deadline_ns = gyre_in_ms(20)};
    must(gyre_send_with(queue, request, sizeof *request, &late, NULL, soon()));
    sleep_ms(100);
    must(gyre_kernel_activate(kernel, soon()));
    must(gyre_receive(queue, reply, sizeof *reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && is_answer(reply, completion.length, 1, 1, 1));
    const gyre_header other = {.correlation = 7};
    write_letter(request, 2, LARGEST, 1);
    must(gyre_send_with(queue, request, sizeof *request, &other, NULL, soon()));
    must(gyre_receive_for(queue, 7, reply, sizeof *reply, &completion, NULL, soon()));
    require(is_answer(reply, completion.length, 2, LARGEST, 1));
    must(gyre_receive(queue, reply, sizeof *reply, &completion, soon()));
    require_expired(&completion);
    free(letters);
    gyre_close(runtime);
}

/* Takes one before its turn, behind a call that was given up: the cursor steps over both together. */
static void take_before_its_turn(gyre_kernel *kernel, letter *letters, uint64_t number)
{
    gyre_queue *queue = gyre_kernel_queue(kernel);
    letter *request = &letters[0], *reply = &letters[1];
    const gyre_header header = {.correlation = 7};
    gyre_completion completion;
    must(gyre_kernel_deactivate(kernel, soon()));
    write_any(request, number, 64);
    require(gyre_call(queue, request, sizeof *request, reply, sizeof *reply, NULL, GYRE_NO_WAIT) ==
            GYRE_TIMEOUT);
    must(gyre_send_with(queue, request, sizeof *request, &header, NULL, soon()));
    must(gyre_kernel_activate(kernel, soon()));
    must(gyre_receive_for(queue, 7, reply, sizeof *reply, &completion, NULL, soon()));
    require(is_any(reply, completion.length, number, 64));
}

static void take_in_reverse(gyre_queue *queue, letter *letters, uint64_t count)
{
    gyre_completion completion;
    for (uint64_t i = 0; i < count; i++) {
        const gyre_header header = {.correlation = i};
        write_any(&letters[0], i, 64);
        must(gyre_send_with(queue, &letters[0], sizeof letters[0], &header, NULL, soon()));
    }
    for (uint64_t i = count; i-- > 0;) {
        must(gyre_receive_for(queue, i, &letters[1], sizeof letters[1], &completion, NULL, soon()));
        require(is_any(&letters[1], completion.length, i, 64));
    }
}

/* Else places of other replies are taken for free later, and, as these have other sizes, none is found free any more:
 * each reply has to wait for those before it then. */
static void what_is_taken_before_its_turn_gives_its_bytes_back_once(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.layout=bridged", "queue.default.bytes=1",
                                           "queue.default.header=correlation", NULL};
    struct conformance own = {.backend = test->backend, .runtime = open_with(test, settings)};
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(&own, "bridged.gyre.c", "letters");
    letter *letters = new_letters(2);
    desc.blocks = 1; /* one ring of reply bytes, in the order of the requests */
    must(gyre_launch(own.runtime, &desc, &kernel));
    for (uint64_t number = 0; number < 300; number++)
        take_before_its_turn(kernel, letters, number);
    stream(gyre_kernel_queue(kernel), 5000, 64);
    take_in_reverse(gyre_kernel_queue(kernel), letters, 100);
    free(letters);
    gyre_close(own.runtime);
}

const struct conformance_case bridged_cases[] = {
    {"letters_of_every_size_come_back", letters_of_every_size_come_back},
    {"several_blocks_share_a_bridge", several_blocks_share_a_bridge},
    {"letters_are_written_and_read_in_place", letters_are_written_and_read_in_place},
    {"senders_and_callers_share_a_bridge", senders_and_callers_share_a_bridge},
    {"a_full_bridge_says_so", a_full_bridge_says_so},
    {"a_bridge_drops_the_oldest", a_bridge_drops_the_oldest},
    {"replies_wait_for_room", replies_wait_for_room},
    {"a_request_may_come_when_replies_have_no_room", a_request_may_come_when_replies_have_no_room},
    {"a_paused_kernel_lets_go_of_a_full_bridge", a_paused_kernel_lets_go_of_a_full_bridge},
    {"what_expired_before_a_bridge_takes_no_room", what_expired_before_a_bridge_takes_no_room},
    {"what_is_taken_before_its_turn_gives_its_bytes_back_once",
     what_is_taken_before_its_turn_gives_its_bytes_back_once},
    {NULL, NULL},
};
