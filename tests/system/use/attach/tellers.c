/* SPDX-License-Identifier: Apache-2.0 */
/* See tellers.h. */
#include "tellers.h"

#include <pthread.h>
#include <stdio.h>

enum { NUMBERS_MAX = 1 << 20 };

gyre_runtime *open_keeping(void)
{
    char journals[128];
    const char *settings[] = {journals,
                              "kernel.teller.checkpoints=true",
                              "kernel.teller.checkpoint_ms=20",
                              "queue.teller.durability=journal",
                              "queue.clerk.durability=journal",
                              "backend.cpu.restart_limit=50",
                              "gyre.client_return_ms=2000",
                              NULL};
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", journal_folder());
    return open_isolated(settings);
}

gyre_kernel *launch_teller(gyre_runtime *runtime, const char *kernel)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = TELLER, .kernel = kernel};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

gyre_status try_attach(const char *kernel, const char *name, gyre_queue **queue)
{
    gyre_attach_desc desc = {.size = sizeof desc,
                             .path = meeting_place(),
                             .capacity = 64,
                             .client = name,
                             .request = GYRE_TYPE(teller_request),
                             .reply = GYRE_TYPE(teller_reply),
                             .deadline_ns = gyre_in_ms(patiently(5000))};
    return gyre_attach(kernel, &desc, queue);
}

gyre_queue *attach_as(const char *kernel, const char *name)
{
    gyre_queue *queue = NULL;
    must(try_attach(kernel, name, &queue));
    return queue;
}

teller_reply ask(gyre_queue *queue, teller_request request)
{
    teller_reply reply = {0};
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    return reply;
}

/* What an account says once it took all numbers up to `number`. */
static uint64_t hash_of(uint64_t number)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t hashes[NUMBERS_MAX], known;
    require(number < NUMBERS_MAX);
    pthread_mutex_lock(&lock);
    for (; known < number; known++)
        hashes[known + 1] = mixed(hashes[known] + known + 1);
    const uint64_t hash = hashes[number];
    pthread_mutex_unlock(&lock);
    return hash;
}

void require_account(teller_reply reply, uint64_t number)
{
    require(reply.number == number && reply.hash == hash_of(number) && reply.wrong == 0);
}
