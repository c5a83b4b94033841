/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker process that is killed again and again under a stream, on any backend: every request is answered
 * once, in order, with its own reply. `test_killed BACKEND [SETTING...]`; exits 77 where the backend cannot
 * start. The kernel has no faults of its own, so that it compiles for every device.
 */
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../conformance/kernels/messages.h"

enum { KILLS = 6, BETWEEN = 5000 /* replies */, SETTINGS = 16, SKIPPED = 77 };

struct killer {
    uint64_t received; /* atomic */
    bool over;         /* atomic */
};

/* In the midst of the stream: once the worker before it has answered some. */
static void *kill_workers(void *argument)
{
    struct killer *killer = argument;
    for (uint64_t kills = 0, then = 0; kills < KILLS; kills++) {
        while (__atomic_load_n(&killer->received, __ATOMIC_ACQUIRE) < then + BETWEEN)
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

int main(int argc, char **argv)
{
    struct killer killer = {0};
    pthread_t thread;
    require(argc >= 2);
    gyre_runtime *runtime = open_backend(argv[1], argv + 2, argc - 2);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = WORDS_KERNELS, .kernel = "words_of_6"};
    must(gyre_launch(runtime, &desc, &kernel));
    require(pthread_create(&thread, NULL, kill_workers, &killer) == 0);
    const uint64_t answered = stream(gyre_kernel_queue(kernel), &killer);
    pthread_join(thread, NULL);
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    printf("%s: %llu requests answered over %u restarts\n", argv[1], (unsigned long long)answered,
           info.restarts);
    require(info.restarts >= KILLS - 1); /* after the last, all may have been answered */
    gyre_close(runtime);
    return EXIT_SUCCESS;
}
