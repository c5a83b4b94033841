/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the request that killed a worker process.
 *
 * If the worker could see exactly one unanswered request, that request killed it. If it saw several, the first unanswered
 * request of each queue is suspected. When another worker dies with the same suspect, requests are handed out one by one
 * (careful.c). A request is failed after poison_limit deaths at which it was alone.
 *
 * Runs in the thread of the worker's keeper. Lock: kernel->lock.
 */
#include "core/recovery/suspects.h"
#include "core/recovery/stages.h"

#include <stdio.h>

#include "core/base/error.h"
#include "core/durability/checkpoint.h"
#include "core/kernel/node.h"
#include "core/queue/label.h"
#include "core/queue/end.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/ring/express.h"

enum { DOUBTS_MAX = 4 /* times poison_limit deaths: a suspect that was never alone is failed */ };

/* The requests that the worker could see when it died. */
struct sight {
    uint64_t answered; /* answered requests of all kernels, to compare with the last death */
    uint64_t visible;  /* unanswered requests, counted up to two */
    uint32_t crashes;  /* the most deaths at which one suspect was present */
    gyre_kernel *kernel;
    gyre_queue *queue; /* the queue of the request, when it was the only one */
};

/* Fails requests whose slots the dead worker overwrote, because no handler can read them any more. Under the lock. */
static void fail_damaged(gyre_kernel *kernel, gyre_queue *queue)
{
    char label[GYRE_LABEL_SIZE];
    const uint64_t count = gyre_queue_fail_damaged(queue);
    kernel->tally.condemned += (uint32_t)count;
    if (count)
        gyre_runtime_log(
            kernel->runtime, GYRE_LOG_WARNING,
            "kernel '%s', %s: %llu unanswered requests are failed, because the worker process that "
            "died had overwritten them",
            kernel->name, gyre_queue_label(queue, label, sizeof label), (unsigned long long)count);
}

static void look_at_queue(gyre_kernel *kernel, gyre_queue *queue, struct sight *sight)
{
    gyre_express_settle(gyre_ring_of(queue)); /* the next device writes into slots */
    if (gyre_view_of(queue)->is_reserve)
        return; /* its requests are those of another queue, which `repeats` */
    fail_damaged(kernel, queue);
    uint64_t first = gyre_queue_first_unanswered(queue);
    uint64_t visible = gyre_queue_count_unanswered(queue, gyre_view_of(queue)->gate, 2);
    sight->answered += first;
    if (gyre_view_of(queue)->repeats) /* the worker saw of the queue what is repeated */
        visible = gyre_view_of(queue)->repeats_one;
    if (!visible || !kernel->care->revival.seen || (kernel->checkpoints && kernel->checkpoints->replaying))
        return; /* the worker could not see the requests */
    if (gyre_view_of(queue)->suspect != first)
        gyre_view_for(queue)->suspect_crashes = gyre_view_for(queue)->alone_crashes = 0;
    gyre_view_for(queue)->suspect_crashes++;
    gyre_view_for(queue)->suspect = first;
    if (gyre_view_of(queue)->suspect_crashes > sight->crashes)
        sight->crashes = gyre_view_of(queue)->suspect_crashes;
    sight->visible += visible;
    sight->kernel = kernel;
    sight->queue = queue;
}

/* What the sender is told. `stage`: at which the request was; NULL: it is none of a pipeline, or at none. */
static void write_failure(char text[sizeof((gyre_failure *)NULL)->text], uint32_t times, const char *stage,
                          const char *reason)
{
    const size_t size = sizeof((gyre_failure *)NULL)->text;
    if (!stage && snprintf(text, size, "crashed %ux: %s", times, reason) >= (int)size)
        snprintf(text, size, "crashed %ux, the log says of what", times);
    else if (stage && snprintf(text, size, "crashed %ux in %s: %s", times, stage, reason) >= (int)size)
        snprintf(text, size, "crashed %ux in %s", times, stage);
}

/* Fails the queue's suspect, and logs why. Under the kernel's lock. */
static void condemn_suspect(gyre_kernel *kernel, gyre_queue *queue, uint32_t times, const char *stage,
                            const char *reason)
{
    char text[sizeof((gyre_failure *)NULL)->text], label[GYRE_LABEL_SIZE];
    write_failure(text, times, stage, reason);
    gyre_runtime_log(/* before the sender learns of the failure, so that the sender finds it in the log */
                     kernel->runtime, GYRE_LOG_WARNING,
                     "kernel '%s', %s: the request with index %llu is failed, because %s%s took the worker "
                     "process down %u times: %s",
                     gyre_node_facts_of(kernel).name, gyre_queue_label(queue, label, sizeof label),
                     (unsigned long long)gyre_view_of(queue)->suspect,
                     stage ? "what it caused at stage " : "its handler", stage ? stage : "", times, reason);
    gyre_queue_fail(queue, gyre_view_of(queue)->suspect, GYRE_FAILURE_CRASH, text);
    gyre_view_for(queue)->suspect_crashes = gyre_view_for(queue)->alone_crashes = 0;
    kernel->tally.condemned++;
}

/* The stages whose handlers were at the queue's suspect; NULL: none was. Without the lock: it looks at other kernels as well. */
static const char *stages_of(const struct gyre_recovery *recovery, gyre_kernel *kernel,
                             const gyre_queue *queue, char text[GYRE_STAGES_TEXT_SIZE])
{
    const struct gyre_queue_view *view = gyre_view_of(queue);
    const uint32_t number = view->repeats ? view->repeated_number : view->entry_number;
    return view->of_pipeline
               ? gyre_stages_at(recovery, kernel, number, view->repeats ? view->repeated : view->suspect,
                                text, GYRE_STAGES_TEXT_SIZE)
               : NULL;
}

/* Counts a death against the only request that the worker saw. */
static void accuse_only_request(const struct gyre_recovery *recovery, const struct sight *sight,
                                const char *reason)
{
    gyre_kernel *kernel = sight->kernel;
    gyre_queue *queue = sight->queue;
    uint32_t limit = (uint32_t)gyre_kernel_setting(kernel, "poison_limit");
    char text[GYRE_STAGES_TEXT_SIZE];
    const char *stage = stages_of(recovery, kernel, queue, text);
    pthread_mutex_lock(&kernel->lock);
    if (++gyre_view_for(queue)->alone_crashes >= limit)
        condemn_suspect(kernel, queue, gyre_view_of(queue)->alone_crashes, stage, reason);
    pthread_mutex_unlock(&kernel->lock);
}

/*
 * Under one lock: fails the suspect of `queue` (NULL: none), and finds the next queue whose suspect was present at too many deaths
 * without ever being alone. NULL: there is none.
 */
static gyre_queue *condemn_and_find(gyre_kernel *kernel, gyre_queue *queue, const char *stage,
                                    const char *reason)
{
    uint32_t limit = (uint32_t)gyre_kernel_setting(kernel, "poison_limit");
    pthread_mutex_lock(&kernel->lock);
    if (queue)
        condemn_suspect(kernel, queue, gyre_view_of(queue)->suspect_crashes, stage, reason);
    queue = kernel->queues.first;
    while (queue && gyre_view_of(queue)->suspect_crashes < DOUBTS_MAX * limit)
        queue = gyre_view_of(queue)->next;
    pthread_mutex_unlock(&kernel->lock);
    return queue;
}

/* Fails such suspects. */
static void condemn_doubtful(const struct gyre_recovery *recovery, gyre_kernel *kernel, const char *reason)
{
    char text[GYRE_STAGES_TEXT_SIZE];
    gyre_queue *queue = condemn_and_find(kernel, NULL, NULL, reason);
    while (queue)
        queue = condemn_and_find(kernel, queue, stages_of(recovery, kernel, queue, text), reason);
}

/* Forgets failed launches of a kernel that answered a request: the answer proves that the worker launched the kernel, even if
 * the worker died before it reported the launch. Under the lock. */
static void forget_refusals(gyre_kernel *kernel)
{
    uint64_t answered = 0;
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        answered += gyre_queue_first_unanswered(queue);
    if (answered != kernel->care->revival.answered)
        kernel->care->revival.refusals = 0;
    kernel->care->revival.answered = answered;
}

void gyre_suspects_investigate(const struct gyre_recovery *recovery, const char *reason)
{
    struct gyre_open_device *device = recovery->device;
    struct sight sight = {0};
    for (size_t i = 0; i < recovery->count; i++) {
        gyre_kernel *kernel = recovery->kernels[i];
        pthread_mutex_lock(&kernel->lock);
        for (gyre_queue *queue = kernel->queues.first; kernel->care->revival.runs && queue;
             queue = gyre_view_of(queue)->next)
            look_at_queue(kernel, queue, &sight);
        forget_refusals(kernel);
        kernel->care->revival.seen = false;
        pthread_mutex_unlock(&kernel->lock);
    }
    device->futile = sight.answered == device->answered ? device->futile + 1 : 1;
    device->answered = sight.answered;
    if (sight.visible == 1) {
        accuse_only_request(recovery, &sight, reason);
    } else if (sight.crashes > 1) {
        device->careful = true;
        for (size_t i = 0; i < recovery->count; i++)
            condemn_doubtful(recovery, recovery->kernels[i], reason);
    }
}
