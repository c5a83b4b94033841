/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker process that is killed again and again, on any backend: under a stream every request is answered
 * once, in order, with its own reply, and every call of one who waits for each of them gets its own. `test_killed
 * BACKEND [SETTING...]`; exits 77 where the backend cannot start. The kernels have no faults of their own, so that
 * they compile for every device.
 */
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../conformance/kernels/messages.h"

enum { KILLS = 6, SETTINGS = 16, SKIPPED = 77 };

struct killer {
    uint64_t between;  /* replies */
    uint64_t received; /* atomic */
    bool over;         /* atomic */
};

/* In the midst of the traffic: once the worker before it has answered some. */
static void *kill_workers(void *argument)
{
    struct killer *killer = argument;
    for (uint64_t kills = 0, then = 0; kills < KILLS; kills++) {
        while (__atomic_load_n(&killer->received, __ATOMIC_ACQUIRE) < then + killer->between)
            usleep(500);
        const pid_t worker = worker_of(getpid());
        require(worker != 0);
        kill(worker, SIGKILL);
        then = __atomic_load_n(&killer->received, __ATOMIC_ACQUIRE);
    }
    __atomic_store_n(&killer->over, true, __ATOMIC_RELEASE);
    return NULL;
}

static void send_word(gyre_queue *queue, uint64_t number)
{
    words_6 request = {{number, number + 1, number + 2, number + 3, number + 4, number + 5}};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

static void receive_word(gyre_queue *queue, uint64_t number)
{
    words_6 reply = {{0}};
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.index == number && completion.outcome == GYRE_REPLIED);
    for (uint64_t i = 0; i < 6; i++)
        require(reply.w[i] == (number + i) * 3 + i);
}

/* Keeps a part of the queue filled until the last kill is over, and empties it. */
static uint64_t stream(gyre_queue *queue, struct killer *killer)
{
    uint64_t sent = 0, received = 0;
    while (!__atomic_load_n(&killer->over, __ATOMIC_ACQUIRE)) {
        while (sent - received < 300)
            send_word(queue, sent++);
        for (int i = 0; i < 100; i++)
            receive_word(queue, received++);
        __atomic_store_n(&killer->received, received, __ATOMIC_RELEASE);
    }
    while (received < sent)
        receive_word(queue, received++);
    return received;
}

/* One request after the other, of some lines. */
static uint64_t call_alone(gyre_queue *queue, struct killer *killer)
{
    uint64_t calls = 0;
    for (; !__atomic_load_n(&killer->over, __ATOMIC_ACQUIRE); calls++) {
        words_128 request, reply = {{0}};
        for (uint64_t i = 0; i < 128; i++)
            request.w[i] = calls * 1000003 + i;
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        for (uint64_t i = 0; i < 128; i++)
            require(reply.w[i] == request.w[i] * 3 + i);
        __atomic_store_n(&killer->received, calls + 1, __ATOMIC_RELEASE);
    }
    return calls;
}

static gyre_runtime *open_backend(const char *backend, char **settings, int count)
{
    char isolated[128];
    const char *all[SETTINGS + 4] = {isolated, "backend.default.restart_limit=1000"};
    gyre_runtime *runtime = NULL;
    snprintf(isolated, sizeof isolated, "backend.%s.isolation=process", backend);
    for (int i = 0; i < count && i < SETTINGS; i++)
        all[2 + i] = settings[i];
    gyre_open_desc open = {.size = sizeof open, .settings = all, .backend = backend};
    const gyre_status status = gyre_open(&open, &runtime);
    if (status == GYRE_UNAVAILABLE || status == GYRE_NOT_FOUND) {
        printf("%s\n", gyre_error_text());
        exit(SKIPPED);
    }
    require(status == GYRE_OK);
    return runtime;
}

static void run(const char *backend, char **settings, int count, const char *name, uint64_t between,
                uint64_t (*traffic)(gyre_queue *queue, struct killer *killer))
{
    struct killer killer = {.between = between};
    pthread_t thread;
    gyre_runtime *runtime = open_backend(backend, settings, count);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = WORDS_KERNELS, .kernel = name};
    must(gyre_launch(runtime, &desc, &kernel));
    require(pthread_create(&thread, NULL, kill_workers, &killer) == 0);
    const uint64_t answered = traffic(gyre_kernel_queue(kernel), &killer);
    pthread_join(thread, NULL);
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    printf("%s, %s: %llu requests answered over %u restarts\n", backend, name, (unsigned long long)answered,
           info.restarts);
    require(info.restarts >= KILLS - 1); /* after the last, all may have been answered */
    gyre_close(runtime);
}

int main(int argc, char **argv)
{
    require(argc >= 2);
    run(argv[1], argv + 2, argc - 2, "words_of_6", 5000, stream);
    run(argv[1], argv + 2, argc - 2, "words_of_128", 300, call_alone);
    return EXIT_SUCCESS;
}
