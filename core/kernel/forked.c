/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork: the child gets copies of everything but the threads, and shares the rings and the orders with its
 * parent. Used there, they would mix up its parent's messages, so in the child every runtime is marked as
 * another process's: its calls say so, and destroying it does nothing.
 *
 * Lock: list_lock for the list of runtimes, held across fork, which may run in any thread. What a runtime
 * lists is read without its locks, which nobody may hold for a child: members are linked when they are
 * complete.
 */
#include "core/kernel/forked.h"

#include "core/base/error.h"
#include "core/kernel/kernel.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static gyre_runtime *runtimes; /* by `next` */

static void before_fork(void)
{
    pthread_mutex_lock(&list_lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&list_lock);
}

static void in_child(void)
{
    for (gyre_runtime *runtime = runtimes; runtime; runtime = runtime->next) {
        runtime->foreign = true;
        for (gyre_kernel *kernel = runtime->kernels; kernel; kernel = kernel->next)
            for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
                gyre_queue_disown(queue);
    }
    runtimes = NULL;
    pthread_mutex_unlock(&list_lock);
}

static void prepare(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

void gyre_runtime_enlist(gyre_runtime *runtime)
{
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&list_lock);
    runtime->next = runtimes;
    runtimes = runtime;
    pthread_mutex_unlock(&list_lock);
}

void gyre_runtime_unlist(gyre_runtime *runtime)
{
    pthread_mutex_lock(&list_lock);
    gyre_runtime **link = &runtimes;
    while (*link && *link != runtime)
        link = &(*link)->next;
    if (*link)
        *link = runtime->next;
    pthread_mutex_unlock(&list_lock);
}
