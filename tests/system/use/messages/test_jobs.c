/* SPDX-License-Identifier: Apache-2.0 */
/* The example of headers in docs/messages.md, run: priorities, correlation, duplicates, time to live. */
#include <gyre/gyre.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "jobs.h"
#include "../../../patience.h"

static void require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "required: %s\n  last error: %s\n", what, gyre_error_text());
    exit(EXIT_FAILURE);
}

/* The sections of docs/messages.md, as settings. */
static const char *const settings[] = {"queue.jobs.header=correlation deadline sent sender",
                                       "queue.jobs.levels=3",
                                       "queue.jobs.window=8",
                                       "queue.jobs.ttl_ms=1000",
                                       "queue.jobs.dedup=1000",
                                       NULL};

static gyre_status send_job(gyre_queue *queue, uint64_t id, uint64_t number, uint16_t priority)
{
    const job request = {.number = number};
    const gyre_header header = {.id = id, .priority = priority, .correlation = number, .sender = 42};
    return gyre_send_with(queue, &request, sizeof request, &header, NULL, gyre_in_ms(100));
}

static gyre_status receive_job(gyre_queue *queue, uint64_t number, job_done *reply)
{
    gyre_message_info info = {.size = sizeof info};
    gyre_completion completion;
    gyre_status status =
        gyre_receive_for(queue, number, reply, sizeof *reply, &completion, &info, gyre_in_ms(60000));
    if (status == GYRE_OK && completion.outcome == GYRE_REPLIED)
        printf("job %llu of sender %u: %llu\n", (unsigned long long)info.header.id, info.header.sender,
               (unsigned long long)reply->square);
    return status;
}

static void read_dead_letters(gyre_queue *queue)
{
    gyre_dead_letter letter = {.size = sizeof letter};
    job request;
    while (gyre_dead_letter_take(queue, &letter, &request, sizeof request, GYRE_NO_WAIT) == GYRE_OK)
        printf("job %llu, number %llu: %s\n", (unsigned long long)letter.header.id,
               (unsigned long long)request.number, letter.reason);
}

static void sleep_past_the_deadline(void)
{
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 500000000}, NULL);
}

int main(int argc, char **argv)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    job_done reply;
    const gyre_open_desc open = {
        .size = sizeof open, .settings = settings, .backend = argc > 1 ? argv[1] : "cpu"};
    const gyre_launch_desc launch = {.size = sizeof launch,
                                     .source = JOBS_KERNELS,
                                     .request = GYRE_TYPE(job),
                                     .reply = GYRE_TYPE(job_done)};
    require(gyre_open(&open, &runtime) == GYRE_OK, "a runtime");
    if (gyre_launch(runtime, &launch, &kernel) != GYRE_OK) {
        puts(gyre_error_text());
        return 77;
    }
    gyre_queue *queue = gyre_kernel_queue(kernel);
    require(send_job(queue, 1, 11, 0) == GYRE_OK, "a message");
    require(send_job(queue, 2, 12, 2) == GYRE_OK, "an urgent message");
    require(send_job(queue, 2, 12, 2) == GYRE_DROPPED, "a duplicate");
    require(receive_job(queue, 12, &reply) == GYRE_OK, "the second message's reply");
    require(reply.square == 144 && reply.for_whom == 42, "the right reply");
    require(receive_job(queue, 11, &reply) == GYRE_OK, "the first message's reply");
    require(gyre_kernel_deactivate(kernel, gyre_in_ms(patiently(5000))) == GYRE_OK, "a pause");
    require(send_job(queue, 3, 13, 0) == GYRE_OK, "a message that waits too long");
    sleep_past_the_deadline();
    require(gyre_kernel_activate(kernel, gyre_in_ms(patiently(5000))) == GYRE_OK, "an active kernel");
    require(receive_job(queue, 13, &reply) == GYRE_OK, "its completion");
    gyre_queue_stats stats = {.size = sizeof stats};
    require(gyre_queue_stats_get(queue, &stats) == GYRE_OK, "statistics");
    require(stats.dead_letters >= 1 && stats.duplicates == 1, "a dead letter and a duplicate");
    read_dead_letters(queue);
    gyre_close(runtime);
    return EXIT_SUCCESS;
}
