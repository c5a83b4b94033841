/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for several queues at once, whatever is awaited of each, and sets of queues for event loops. */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conformance.h"

static gyre_queue *open_small(gyre_kernel *kernel, uint64_t capacity)
{
    gyre_queue *queue;
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = capacity};
    must(gyre_queue_open(kernel, &desc, &queue));
    return queue;
}

static void require_word(gyre_queue *queue, uint64_t word)
{
    words_1 reply;
    must(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT));
    require(reply.w[0] == word);
}

static int readable(int descriptor, int milliseconds)
{
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    return poll(&entry, 1, milliseconds);
}

/* Queues of one kernel, and one of the CPU, whatever the backend is. */
static void a_wait_tells_which_queue_has_a_completion(struct conformance *test)
{
    enum { QUEUES = 4 };
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1"), *other;
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_1");
    gyre_wish wishes[QUEUES + 1] = {{0}};
    size_t ready = 9;
    desc.backend = "cpu";
    desc.name = "other";
    must(gyre_launch(test->runtime, &desc, &other));
    for (uintptr_t i = 0; i < QUEUES; i++)
        wishes[i] = (gyre_wish){i ? open_small(kernel, 8) : gyre_kernel_queue(other), GYRE_WISH_COMPLETION, 9,
                                (void *)i}; /* the last element names none */
    require(gyre_wait_any(wishes, QUEUES + 1, &ready, GYRE_NO_WAIT) == GYRE_AGAIN && ready == 0);
    require(gyre_wait_any(wishes, QUEUES + 1, &ready, gyre_in_ms(5)) == GYRE_TIMEOUT && ready == 0);
    for (uint64_t round = 0; round < 40; round++) {
        const size_t one = round % QUEUES;
        send_word(wishes[one].queue, round, NULL);
        must(gyre_wait_any(wishes, QUEUES + 1, &ready, soon()));
        require(ready == 1);
        for (uintptr_t i = 0; i <= QUEUES; i++) {
            require(wishes[i].ready == (i == one ? GYRE_WISH_COMPLETION : 0u));
            require(i == QUEUES || wishes[i].context == (void *)i);
        }
        require_word(wishes[one].queue, round * 3);
    }
    gyre_kernel_release(other);
}

static void a_wish_has_to_be_one(struct conformance *test)
{
    gyre_wish wish = {.queue = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_1"))};
    gyre_queue_set *set;
    require(gyre_wait_any(&wish, 1, NULL, GYRE_NO_WAIT) == GYRE_INVALID);
    require_sentence("GYRE_WISH_COMPLETION, GYRE_WISH_ROOM or both");
    wish.queue = NULL;
    require(gyre_wait_any(&wish, 1, NULL, GYRE_NO_WAIT) == GYRE_INVALID);
    require_sentence("at least one wish that names a queue");
    must(gyre_queue_set_create(&set));
    require(gyre_queue_set_add(set, &wish) == GYRE_INVALID);
    require_sentence("names no queue");
    gyre_queue_set_destroy(set);
}

struct waiter {
    gyre_wish wish;
    pthread_t thread;
    pid_t id; /* atomic; 0: the thread does not wait yet */
    gyre_status status;
};

static void *wait_for_one(void *argument)
{
    struct waiter *waiter = argument;
    __atomic_store_n(&waiter->id, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    waiter->status = gyre_wait_any(&waiter->wish, 1, NULL, soon());
    return NULL;
}

static bool is_asleep(pid_t thread)
{
    char path[64], state = 'R';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    require(file != NULL);
    require(fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
    fclose(file);
    return state == 'S';
}

/* Returns when the thread sleeps in its wait: a queue must not be closed before another thread is in it. */
static void start_waiter(struct waiter *waiter, gyre_queue *queue, uint32_t wants)
{
    *waiter = (struct waiter){.wish = {.queue = queue, .wants = wants}};
    require(pthread_create(&waiter->thread, NULL, wait_for_one, waiter) == 0);
    while (!__atomic_load_n(&waiter->id, __ATOMIC_ACQUIRE) || !is_asleep(waiter->id))
        sleep_ms(1);
}

static uint32_t end_waiter(struct waiter *waiter)
{
    pthread_join(waiter->thread, NULL);
    must(waiter->status);
    return waiter->wish.ready;
}

static void a_wait_tells_of_room_in_a_full_queue(struct conformance *test)
{
    gyre_queue *queue = open_small(launch(test, "words.gyre.c", "words_of_1"), 2);
    gyre_wish wish = {.queue = queue, .wants = GYRE_WISH_ROOM};
    struct waiter waiter;
    for (uint64_t round = 0; round < 20; round++) {
        must(gyre_wait_any(&wish, 1, NULL, GYRE_NO_WAIT));
        send_word(queue, round, NULL);
        send_word(queue, round + 1, NULL);
        require(gyre_wait_any(&wish, 1, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
        wish.wants = GYRE_WISH_COMPLETION | GYRE_WISH_ROOM;
        must(gyre_wait_any(&wish, 1, NULL, soon()));
        require(wish.ready == GYRE_WISH_COMPLETION);
        wish.wants = GYRE_WISH_ROOM;
        start_waiter(&waiter, queue, GYRE_WISH_ROOM);
        require_word(queue, round * 3);
        require(end_waiter(&waiter) == GYRE_WISH_ROOM);
        words_1 reply;
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    }
}

static void a_wait_learns_of_the_end(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_queue *main = gyre_kernel_queue(kernel), *queue = open_small(kernel, 2);
    struct waiter waiter;
    start_waiter(&waiter, queue, GYRE_WISH_COMPLETION);
    gyre_queue_close(queue); /* returns when the other thread is out of it */
    require(end_waiter(&waiter) == GYRE_WISH_ENDED);
    start_waiter(&waiter, main, GYRE_WISH_COMPLETION);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    require(end_waiter(&waiter) == GYRE_WISH_ENDED);
    gyre_wish wish = {.queue = main, .wants = GYRE_WISH_ROOM};
    must(gyre_wait_any(&wish, 1, NULL, GYRE_NO_WAIT));
    require(wish.ready == GYRE_WISH_ENDED);
    must(gyre_kernel_relaunch(kernel));
    must(gyre_wait_any(&wish, 1, NULL, GYRE_NO_WAIT));
    require(wish.ready == GYRE_WISH_ROOM);
}

static unsigned threads_of_this_process(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;
    require(tasks != NULL);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static void add(gyre_queue_set *set, gyre_queue *queue, uint32_t wants)
{
    const gyre_wish wish = {.queue = queue, .wants = wants, .context = queue};
    must(gyre_queue_set_add(set, &wish));
}

/* What an event loop does that found the descriptor readable; returns how many completions there were. */
static uint64_t take_what_is_ready(gyre_queue_set *set)
{
    gyre_wish wishes[3];
    uint64_t taken = 0;
    size_t count;
    while (gyre_queue_set_wait(set, wishes, 3, &count, GYRE_NO_WAIT) == GYRE_OK) {
        require(count >= 1 && count <= 3);
        for (size_t i = 0; i < count; i++) {
            words_1 reply;
            require(wishes[i].context == wishes[i].queue && wishes[i].ready == GYRE_WISH_COMPLETION);
            must(gyre_receive(wishes[i].queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT));
            taken++;
        }
    }
    require_sentence("no queue of the set has what its wish waits for");
    return taken;
}

static void a_set_has_one_descriptor_and_one_thread(struct conformance *test)
{
    enum { QUEUES = 10 };
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_queue *queues[QUEUES];
    gyre_queue_set *set;
    int descriptor = -1;
    must(gyre_queue_set_create(&set));
    for (int i = 0; i < QUEUES; i++)
        add(set, queues[i] = open_small(kernel, 8), GYRE_WISH_COMPLETION);
    const unsigned threads = threads_of_this_process();
    must(gyre_queue_set_descriptor(set, &descriptor));
    require(threads_of_this_process() == threads + 1);
    require(readable(descriptor, 0) == 0);
    for (uint64_t round = 0; round < 30; round++) {
        const uint64_t sent = round % QUEUES + 1;
        if (round % 8 == 7)
            sleep_ms(5); /* the set's thread sleeps for good */
        for (uint64_t i = 0; i < sent; i++)
            send_word(queues[(round + i) % QUEUES], i, NULL);
        for (uint64_t taken = 0; taken < sent;) {
            require(readable(descriptor, 20000) == 1);
            taken += take_what_is_ready(set);
        }
    }
    require(take_what_is_ready(set) == 0);
    require(readable(descriptor, 0) == 0);
    must(gyre_queue_set_remove(set, queues[0]));
    require(gyre_queue_set_remove(set, queues[0]) == GYRE_NOT_FOUND);
    send_word(queues[0], 1, NULL);
    require(receive_word(queues[0], &(uint64_t){0}).outcome == GYRE_REPLIED);
    require(readable(descriptor, 0) == 0);
    gyre_queue_set_destroy(set);
}

static void a_set_tells_of_room_in_a_full_queue(struct conformance *test)
{
    gyre_queue *queue = open_small(launch(test, "words.gyre.c", "words_of_1"), 2);
    gyre_queue_set *set;
    gyre_wish wish;
    size_t count;
    int descriptor = -1;
    must(gyre_queue_set_create(&set));
    must(gyre_queue_set_descriptor(set, &descriptor));
    send_word(queue, 1, NULL);
    send_word(queue, 2, NULL);
    add(set, queue, GYRE_WISH_ROOM);
    require(gyre_queue_set_wait(set, &wish, 1, &count, GYRE_NO_WAIT) == GYRE_AGAIN && count == 0);
    words_1 reply;
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    require(readable(descriptor, 20000) == 1);
    must(gyre_queue_set_wait(set, &wish, 1, &count, GYRE_NO_WAIT));
    require(count == 1 && wish.ready == GYRE_WISH_ROOM);
    add(set, queue, GYRE_WISH_COMPLETION); /* another wish */
    must(gyre_queue_set_wait(set, &wish, 1, &count, soon()));
    require(count == 1 && wish.ready == GYRE_WISH_COMPLETION);
    gyre_queue_set_destroy(set);
}

/* ---- many threads ---- */

struct traffic {
    gyre_kernel *kernel;
    gyre_queue_set *set;
    uint32_t over; /* atomic */
};

/* A queue of its own that comes and goes, in the set as long as it is there. */
static void *come_and_go(void *argument)
{
    const struct traffic *traffic = argument;
    for (uint64_t i = 0; i < 100; i++) {
        gyre_queue *queue = open_small(traffic->kernel, 4);
        add(traffic->set, queue, GYRE_WISH_COMPLETION | GYRE_WISH_ROOM * (uint32_t)(i % 2));
        require(call_word(queue, i) == i * 3);
        gyre_queue_close(queue);
    }
    return NULL;
}

static void *wait_until_over(void *argument)
{
    struct traffic *traffic = argument;
    gyre_wish wishes[2];
    size_t count;
    while (!__atomic_load_n(&traffic->over, __ATOMIC_ACQUIRE)) { /* what it hears of may be closed already */
        const gyre_status status = gyre_queue_set_wait(traffic->set, wishes, 2, &count, gyre_in_ms(20));
        require(status == GYRE_TIMEOUT || (status == GYRE_OK && count >= 1));
    }
    return NULL;
}

static void queues_leave_a_set_when_they_are_closed(struct conformance *test)
{
    enum { COMING = 3, WAITING = 2 };
    struct traffic traffic = {.kernel = launch(test, "words.gyre.c", "words_of_1")};
    pthread_t threads[COMING + WAITING];
    gyre_wish wish;
    size_t count;
    int descriptor;
    must(gyre_queue_set_create(&traffic.set));
    must(gyre_queue_set_descriptor(traffic.set, &descriptor));
    for (int i = 0; i < COMING + WAITING; i++)
        require(pthread_create(&threads[i], NULL, i < COMING ? come_and_go : wait_until_over, &traffic) == 0);
    for (int i = 0; i < COMING; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&traffic.over, 1, __ATOMIC_RELEASE);
    for (int i = COMING; i < COMING + WAITING; i++)
        pthread_join(threads[i], NULL);
    require(gyre_queue_set_wait(traffic.set, &wish, 1, &count, GYRE_NO_WAIT) == GYRE_AGAIN);
    add(traffic.set, gyre_kernel_queue(traffic.kernel), GYRE_WISH_COMPLETION);
    gyre_kernel_release(traffic.kernel); /* takes it out as well */
    require(gyre_queue_set_wait(traffic.set, &wish, 1, &count, GYRE_NO_WAIT) == GYRE_AGAIN);
    gyre_queue_set_destroy(traffic.set);
}

/* More queues than a thread can sleep at: one message at a time, to any of them. */
static void a_wait_for_very_many_queues_misses_none(struct conformance *test)
{
    enum { PLACES = 64, EACH = 40 };
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_wish wishes[2 * PLACES] = {{0}};
    struct waiter waiter;
    for (int i = 0; i < EACH; i++) /* twice over: a queue may stand in several elements */
        wishes[i] = wishes[PLACES + i] =
            (gyre_wish){.queue = open_small(kernel, 2), .wants = GYRE_WISH_COMPLETION};
    for (uint64_t round = 0; round < EACH; round++) {
        size_t ready;
        gyre_queue *queue = wishes[round * 7 % EACH].queue;
        require(gyre_wait_any(wishes, 2 * PLACES, &ready, gyre_now_ns() + 100000) == GYRE_TIMEOUT);
        start_waiter(&waiter, queue, GYRE_WISH_COMPLETION);
        send_word(queue, round, NULL);
        must(gyre_wait_any(wishes, 2 * PLACES, &ready, soon()));
        require(ready >= 1);
        require(end_waiter(&waiter) == GYRE_WISH_COMPLETION);
        require_word(queue, round * 3);
    }
}

const struct conformance_case wait_cases[] = {
    {"a_wait_tells_which_queue_has_a_completion", a_wait_tells_which_queue_has_a_completion},
    {"a_wish_has_to_be_one", a_wish_has_to_be_one},
    {"a_wait_tells_of_room_in_a_full_queue", a_wait_tells_of_room_in_a_full_queue},
    {"a_wait_learns_of_the_end", a_wait_learns_of_the_end},
    {"a_set_has_one_descriptor_and_one_thread", a_set_has_one_descriptor_and_one_thread},
    {"a_set_tells_of_room_in_a_full_queue", a_set_tells_of_room_in_a_full_queue},
    {"queues_leave_a_set_when_they_are_closed", queues_leave_a_set_when_they_are_closed},
    {"a_wait_for_very_many_queues_misses_none", a_wait_for_very_many_queues_misses_none},
    {NULL, NULL},
};
