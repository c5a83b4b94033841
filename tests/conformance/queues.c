/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: several at once, opened and closed under load, shared by threads, full, and watched by an event
 * loop. */
#include "conformance.h"
#include "kernels/links.h"

#include <gyre/pipeline.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gyre_queue *open_queue(gyre_kernel *kernel, gyre_queue_desc desc)
{
    gyre_queue *queue = NULL;
    desc.size = sizeof desc;
    must(gyre_queue_open(kernel, &desc, &queue));
    return queue;
}

static void several_queues_feed_one_kernel(struct conformance *test)
{
    enum { QUEUES = 20 };
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_queue *queues[QUEUES];
    for (int i = 0; i < QUEUES; i++)
        queues[i] = open_queue(kernel, (gyre_queue_desc){.capacity = 4});
    for (uint64_t round = 0; round < 50; round++) {
        words_1 request, reply;
        for (uint64_t i = 0; i < QUEUES; i++) {
            request.w[0] = round * 100 + i;
            must(gyre_send(queues[i], &request, sizeof request, NULL, soon()));
        }
        for (uint64_t i = 0; i < QUEUES; i++) {
            must(gyre_receive(queues[i], &reply, sizeof reply, NULL, soon()));
            require(reply.w[0] == (round * 100 + i) * 3);
        }
    }
    require(info_of(kernel).queues == QUEUES + 1);
}

static void queues_have_names(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_queue *orders = open_queue(kernel, (gyre_queue_desc){.name = "orders"}), *twice = NULL;
    gyre_queue_desc again = {.size = sizeof again, .name = "orders"};
    require(gyre_queue_find(kernel, "orders") == orders);
    require(gyre_queue_find(kernel, "words_of_1") == gyre_kernel_queue(kernel));
    require(gyre_queue_find(kernel, "nobody") == NULL);
    require(gyre_queue_open(kernel, &again, &twice) == GYRE_INVALID && !twice);
    require_sentence("has a queue 'orders' already");
    gyre_queue_close(orders);
    require(gyre_queue_find(kernel, "orders") == NULL);
}

/* A kernel whose requests and replies have a number in them. */
struct numbered {
    gyre_kernel *kernel;
    size_t request, at; /* bytes of a request, and where its number is */
    size_t reply;       /* bytes of a reply, which begins with the number, */
    uint64_t more;      /* and so much more */
};

static void send_number(const struct numbered *to, gyre_queue *queue, uint64_t number)
{
    unsigned char request[64] = {0};
    memcpy(request + to->at, &number, sizeof number);
    must(gyre_send(queue, request, to->request, NULL, soon()));
}

/* Whether this number's reply is there; no other one is. */
static bool receive_number(const struct numbered *from, gyre_queue *queue, uint64_t number,
                           uint64_t deadline_ns)
{
    uint64_t reply[8];
    const gyre_status status = gyre_receive(queue, reply, from->reply, NULL, deadline_ns);
    require(status == GYRE_OK || deadline_ns == GYRE_NO_WAIT);
    require(status != GYRE_OK || reply[0] == number + from->more);
    return status == GYRE_OK;
}

/* In a queue that is kept filled there is always another request: those of the block's other queues have their turn all the same. */
static void fill_one_and_ask_others(struct numbered by)
{
    enum { FILLED = 3000, MOST = 100000, EACH = 100 };
    gyre_queue *busy = open_queue(by.kernel, (gyre_queue_desc){.capacity = 4096});
    gyre_queue *others[] = {gyre_kernel_queue(by.kernel),
                            open_queue(by.kernel, (gyre_queue_desc){.capacity = 4})};
    uint64_t sent = 0, received = 0;
    for (; sent < FILLED; sent++)
        send_number(&by, busy, sent);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const uint64_t limit = received + MOST;
        send_number(&by, others[i], i);
        do {
            require(received < limit);
            for (int j = 0; j < EACH; j++) {
                require(receive_number(&by, busy, received++, soon()));
                send_number(&by, busy, sent++);
            }
        } while (!receive_number(&by, others[i], i, GYRE_NO_WAIT));
    }
}

static void a_busy_queue_lets_others_in(struct conformance *test)
{
    static const char *const names[] = {"behave", "behave_in_turn"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        fill_one_and_ask_others((struct numbered){.kernel = launch(test, "behave.gyre.c", names[i]),
                                                  .request = sizeof(behaviour),
                                                  .at = offsetof(behaviour, number),
                                                  .reply = sizeof(words_1),
                                                  .more = 1});
}

/* A stage has its own queues beside its links, and kernels of a file with ports are served as stages are. */
static void a_busy_queue_of_a_stage_lets_others_in(struct conformance *test)
{
    static const char *const first = "pass", *const last = "finish";
    const gyre_link_desc link = {.size = sizeof link, .from = "pass.out", .to = "finish"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "tested",
                                     .entries = &first,
                                     .entry_count = 1,
                                     .answers = &last,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_pipeline *pipeline = NULL;
    launch(test, "links.gyre.c", first);
    gyre_kernel *stage = launch(test, "links.gyre.c", last);
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    fill_one_and_ask_others((struct numbered){.kernel = stage, .request = sizeof(job), .reply = sizeof(job)});
    must(gyre_pipeline_close(pipeline, soon()));
    fill_one_and_ask_others((struct numbered){.kernel = launch(test, "links.gyre.c", "answer_by_lanes"),
                                              .request = sizeof(word),
                                              .reply = sizeof(word)});
}

struct load {
    gyre_queue *queue;
    uint32_t stop; /* atomic */
    uint64_t calls;
    gyre_kernel *kernel; /* of those who open queues themselves */
};

static void *call_until_told(void *argument)
{
    struct load *load = argument;
    while (!__atomic_load_n(&load->stop, __ATOMIC_ACQUIRE)) {
        require(call_word(load->queue, load->calls) == load->calls * 3);
        load->calls++;
    }
    return NULL;
}

static void queues_come_and_go_under_load(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    struct load load = {.queue = gyre_kernel_queue(kernel)};
    pthread_t thread;
    require(pthread_create(&thread, NULL, call_until_told, &load) == 0);
    for (uint64_t i = 0; i < 200; i++) {
        gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = 8});
        require(call_word(queue, i) == i * 3);
        gyre_queue_close(queue);
    }
    __atomic_store_n(&load.stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    require(load.calls > 0);
}

/* Opens queues of many sizes, uses each and closes it. */
static void *open_and_close_many(void *argument)
{
    enum { ROUNDS = 1000, UNUSED = 15 };
    struct load *load = argument;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        gyre_queue *queue = open_queue(load->kernel, (gyre_queue_desc){.capacity = UINT64_C(2) << i % 8});
        require(i % (UNUSED + 1) != 0 || call_word(queue, i) == i * 3);
        gyre_queue_close(queue);
    }
    return NULL;
}

/* An entry of the table that one thread gives up is not another's before the device has let it go. */
static void several_threads_open_and_close_queues(struct conformance *test)
{
    enum { THREADS = 3 };
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_1");
    desc.blocks = 2;
    must(gyre_launch(test->runtime, &desc, &kernel));
    struct load load = {.kernel = kernel};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        require(pthread_create(&threads[i], NULL, open_and_close_many, &load) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    require(info_of(kernel).queues == 1);
}

/* A queue that is closed leaves its block to others: each goes on where the block that had it was. */
static void queues_move_between_blocks(struct conformance *test)
{
    enum { QUEUES = 4, ROUNDS = 60 };
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "state.gyre.c", "tally_lanes");
    gyre_queue *queues[QUEUES];
    uint64_t handled = 0;
    desc.blocks = 2;
    must(gyre_launch(test->runtime, &desc, &kernel));
    for (int i = 0; i < QUEUES; i++)
        queues[i] = open_queue(kernel, (gyre_queue_desc){.capacity = 8});
    for (int round = 0; round < ROUNDS; round++) {
        const int closed = round % QUEUES;
        gyre_queue_close(queues[closed]);
        for (int i = 0; i < QUEUES; i++)
            if (i != closed)
                require(call_word(queues[i], 0) == handled++);
        queues[closed] = open_queue(kernel, (gyre_queue_desc){.capacity = 8});
        for (int i = 0; i < QUEUES; i++)
            require(call_word(queues[i], 0) == handled++);
    }
}

static void threads_share_a_queue(struct conformance *test)
{
    enum { THREADS = 4 };
    gyre_queue *queue = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_1"));
    struct load loads[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        loads[i] = (struct load){.queue = queue};
        require(pthread_create(&threads[i], NULL, call_until_told, &loads[i]) == 0);
    }
    for (uint64_t deadline = gyre_in_ms(300); gyre_now_ns() < deadline;)
        require(call_word(queue, 5) == 15);
    for (int i = 0; i < THREADS; i++)
        __atomic_store_n(&loads[i].stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        require(loads[i].calls > 0);
    }
}

static void *send_until_told(void *argument)
{
    struct load *load = argument;
    while (!__atomic_load_n(&load->stop, __ATOMIC_ACQUIRE)) {
        words_1 request = {{load->calls}};
        gyre_status status = gyre_send(load->queue, &request, sizeof request, NULL, gyre_in_ms(10));
        require(status == GYRE_OK || status == GYRE_TIMEOUT);
        load->calls += status == GYRE_OK;
    }
    return NULL;
}

static void receive_tripled(gyre_queue *queue, uint64_t said)
{
    words_1 reply;
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    require(reply.w[0] == said * 3);
}

/* Its few slots hold a later message while the device still ends the work that brought an earlier one. */
static void a_small_queue_is_used_again_and_again(struct conformance *test)
{
    enum { QUEUES = 20, CAPACITY = 4 };
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    for (int i = 0; i < QUEUES; i++) {
        gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = CAPACITY});
        struct load load = {.queue = queue};
        pthread_t thread;
        uint64_t received = 0;
        require(pthread_create(&thread, NULL, send_until_told, &load) == 0);
        for (uint64_t end = gyre_in_ms(20); received < 100 || gyre_now_ns() < end; received++)
            receive_tripled(queue, received);
        __atomic_store_n(&load.stop, 1, __ATOMIC_RELEASE);
        pthread_join(thread, NULL);
        while (received < load.calls)
            receive_tripled(queue, received++);
        gyre_queue_close(queue);
    }
}

static void indices_cross_the_32_bit_wrap(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    uint64_t first = UINT64_C(0xffffffff) - 500, index = 0;
    gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = 16, .first_sequence = first});
    for (uint64_t i = 0; i < 1000; i++) {
        words_1 request = {{i}}, reply;
        must(gyre_send(queue, &request, sizeof request, &index, soon()));
        require(index == first + i);
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.w[0] == i * 3);
    }
    require(stats_of(queue).sent == 1000 && stats_of(queue).received == 1000);
}

/* Sends while the kernel is inactive until the queue has something to say. */
static gyre_status overfill(gyre_kernel *kernel, gyre_queue *queue, uint64_t deadline_ns)
{
    words_1 request;
    must(gyre_kernel_deactivate(kernel, soon()));
    for (request.w[0] = 0; request.w[0] < 8; request.w[0]++)
        must(gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT));
    return gyre_send(queue, &request, sizeof request, NULL, deadline_ns);
}

static void receive_words(gyre_queue *queue, uint64_t first, uint64_t end)
{
    words_1 reply;
    for (uint64_t i = first; i < end; i++) {
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.w[0] == i * 3);
    }
}

static void a_full_queue_follows_its_policy(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_queue *block = open_queue(kernel, (gyre_queue_desc){.capacity = 8});
    require(overfill(kernel, block, gyre_in_ms(20)) == GYRE_TIMEOUT);
    gyre_queue *reject = open_queue(kernel, (gyre_queue_desc){.capacity = 8, .policy = GYRE_FULL_REJECT});
    require(overfill(kernel, reject, GYRE_FOREVER) == GYRE_AGAIN);
    gyre_queue *newest =
        open_queue(kernel, (gyre_queue_desc){.capacity = 8, .policy = GYRE_FULL_DROP_NEWEST});
    require(overfill(kernel, newest, GYRE_FOREVER) == GYRE_DROPPED);
    must(gyre_kernel_activate(kernel, soon()));
    receive_words(block, 0, 8);
    receive_words(reject, 0, 8);
    receive_words(newest, 0, 8);
    require(stats_of(block).rejected == 1 && stats_of(reject).rejected == 1 && stats_of(newest).dropped == 1);
    require(stats_of(block).high_water == 8 && stats_of(block).send_waits == 1);
}

static void the_oldest_is_dropped_when_so_told(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = 8, .policy = GYRE_FULL_DROP_OLDEST});
    words_1 request = {{0}}, reply;
    for (; request.w[0] < 100; request.w[0]++)
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    receive_words(queue, 92, 100);
    require(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    require(stats_of(queue).dropped == 92 && stats_of(queue).sent == 100 && stats_of(queue).received == 8);
}

static void nothing_is_dropped_in_vain(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.capacity = 4, .policy = GYRE_FULL_DROP_OLDEST});
    words_1 request = {{0}};
    must(gyre_kernel_deactivate(kernel, soon()));
    for (; request.w[0] < 4; request.w[0]++)
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    require(gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    require(gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(30)) == GYRE_TIMEOUT);
    must(gyre_kernel_activate(kernel, soon()));
    receive_words(queue, 0, 4);
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    receive_words(queue, 4, 5);
    require(stats_of(queue).dropped == 0 && stats_of(queue).sent == 5);
}

static int readable(int descriptor, int timeout_ms)
{
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    return poll(&entry, 1, timeout_ms);
}

static void an_event_loop_can_wait_on_a_descriptor(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_1"));
    int descriptor = -1;
    must(gyre_queue_descriptor(queue, &descriptor));
    for (uint64_t i = 0; i < 50; i++) {
        words_1 request = {{i}}, reply;
        require(readable(descriptor, 0) == 0);
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        require(readable(descriptor, 20000) == 1);
        must(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT));
        require(reply.w[0] == i * 3);
    }
}

/* Who asks whenever the descriptor is readable would ask for ever if it heard "not yet". */
static void an_event_loop_learns_of_the_end(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const words_1 request = {{7}};
    words_1 reply;
    gyre_view view;
    size_t found;
    int descriptor = -1;
    must(gyre_queue_descriptor(queue, &descriptor));
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    must(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT)); /* what was answered comes first */
    require(reply.w[0] == 21);
    require(readable(descriptor, 20000) == 1);
    require(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_CLOSED);
    require_sentence("is closed, and no request is under way");
    require(gyre_peek(queue, &view, 1, &found, GYRE_NO_WAIT) == GYRE_CLOSED);
    must(gyre_kernel_relaunch(kernel));
    require(readable(descriptor, 0) == 0);
    require(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    require(readable(descriptor, 20000) == 1);
    must(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT));
}

static void a_receiver_in_any_order_learns_of_the_end(struct conformance *test)
{
    gyre_runtime *runtime = open_with(test, (const char *const[]){"queue.default.order=any", NULL});
    gyre_kernel *kernel = launch_in(runtime, "words.gyre.c", "words_of_1");
    words_1 reply;
    require(gyre_receive(gyre_kernel_queue(kernel), &reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    require(gyre_receive(gyre_kernel_queue(kernel), &reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_CLOSED);
    gyre_close(runtime);
}

static void every_idle_strategy_answers(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    for (int idle = GYRE_WAIT_SPIN; idle <= GYRE_WAIT_PARK; idle++) {
        gyre_queue *queue = open_queue(kernel, (gyre_queue_desc){.idle = (gyre_idle_strategy)idle});
        for (uint64_t i = 0; i < 200; i++)
            require(call_word(queue, i) == i * 3);
        gyre_queue_close(queue);
    }
}

/* ---- recordings ---- */

/* Writes the bytes of words as hexadecimal digits. */
static void write_words(char *text, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count * sizeof *words; i++)
        sprintf(text + 2 * i, "%02x", ((const unsigned char *)words)[i]);
}

/* The file has a header that names the kernel, then a line for each call of words_of_7, in order. */
static void require_recorded(const char *path, uint64_t calls)
{
    char line[1024], request[128], reply[128], expected[512];
    FILE *file = fopen(path, "r");
    require(file && fgets(line, sizeof line, file));
    require(strstr(line, "{\"gyre_case\":1,\"kernel\":\"/") == line &&
            strstr(line, "words.gyre.c:words_of_7\""));
    for (uint64_t i = 0; i < calls; i++) {
        const words_7 sent = {{i, 1, 2, 3, 4, 5, i}}, back = {{i * 3, 4, 8, 12, 16, 20, i * 3 + 6}};
        write_words(request, sent.w, 7);
        write_words(reply, back.w, 7);
        snprintf(expected, sizeof expected, "{\"request_bytes\":\"%s\",\"reply_bytes\":\"%s\"}\n", request,
                 reply);
        require(fgets(line, sizeof line, file) && strcmp(line, expected) == 0);
    }
    require(!fgets(line, sizeof line, file));
    fclose(file);
}

static void requests_and_replies_are_recorded(struct conformance *test)
{
    char path[] = "/tmp/gyre-recorded-XXXXXX", setting[64];
    const int descriptor = mkstemp(path);
    require(descriptor >= 0);
    snprintf(setting, sizeof setting, "queue.words_of_7.record=%s", path);
    gyre_runtime *runtime = open_with(test, (const char *const[]){setting, NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "words.gyre.c", "words_of_7"));
    for (uint64_t i = 0; i < 40; i++) { /* calls, then sends and receipts */
        const words_7 request = {{i, 1, 2, 3, 4, 5, i}};
        words_7 reply;
        gyre_completion completion;
        if (i < 20) {
            must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
        } else {
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
            must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        }
        require(completion.outcome == GYRE_REPLIED && reply.w[6] == i * 3 + 6);
    }
    require_recorded(path, 40); /* before the end: a program may die */
    gyre_close(runtime);
    require_recorded(path, 40);
    close(descriptor);
    unlink(path);
}

const struct conformance_case queue_cases[] = {
    {"requests_and_replies_are_recorded", requests_and_replies_are_recorded},
    {"several_queues_feed_one_kernel", several_queues_feed_one_kernel},
    {"queues_have_names", queues_have_names},
    {"a_busy_queue_lets_others_in", a_busy_queue_lets_others_in},
    {"a_busy_queue_of_a_stage_lets_others_in", a_busy_queue_of_a_stage_lets_others_in},
    {"several_threads_open_and_close_queues", several_threads_open_and_close_queues},
    {"queues_come_and_go_under_load", queues_come_and_go_under_load},
    {"queues_move_between_blocks", queues_move_between_blocks},
    {"threads_share_a_queue", threads_share_a_queue},
    {"a_small_queue_is_used_again_and_again", a_small_queue_is_used_again_and_again},
    {"indices_cross_the_32_bit_wrap", indices_cross_the_32_bit_wrap},
    {"a_full_queue_follows_its_policy", a_full_queue_follows_its_policy},
    {"the_oldest_is_dropped_when_so_told", the_oldest_is_dropped_when_so_told},
    {"nothing_is_dropped_in_vain", nothing_is_dropped_in_vain},
    {"an_event_loop_can_wait_on_a_descriptor", an_event_loop_can_wait_on_a_descriptor},
    {"an_event_loop_learns_of_the_end", an_event_loop_learns_of_the_end},
    {"a_receiver_in_any_order_learns_of_the_end", a_receiver_in_any_order_learns_of_the_end},
    {"every_idle_strategy_answers", every_idle_strategy_answers},
    {NULL, NULL},
};
