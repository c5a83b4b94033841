/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks every runtime as foreign in a forked child: calls on the runtime return an error there, and closing it does nothing.
 * A child has copies of all objects and no threads, and shares the rings and the control regions with its parent. A child
 * that used them would mix up its parent's messages.
 *
 * Lock: list_lock for the list of runtimes. The thread that forks holds it across fork, because any thread may fork. The child
 * reads the lists of each runtime without runtime->lock, because no thread of the child can give that lock back. An object is
 * complete before it is linked into a list.
 */
#include "core/kernel/forked.h"

#include "core/base/error.h"
#include "core/kernel/kernel.h"
#include "core/queue/queue.h"
#include "core/queue/state.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static gyre_runtime *runtimes; /* linked by `next` */

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

static void prepare_for_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

void gyre_runtime_enlist(gyre_runtime *runtime)
{
    pthread_once(&prepared, prepare_for_forks);
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
