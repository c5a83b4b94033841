/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses a kernel while its state is copied. The contract: standstill.h. */
#include "core/kernel/standstill.h"

#include "core/base/error.h"
#include "core/kernel/control.h"
#include "core/queue/queue.h"

gyre_status gyre_standstill_check(const gyre_kernel *kernel)
{
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        if (gyre_view_of(queue)->gate != UINT64_MAX)
            return gyre_error_set(GYRE_AGAIN, "kernel '%s' is being brought back", kernel->name);
    if (kernel->node.behind)
        return gyre_error_set(GYRE_AGAIN, "what kernel '%s' kept is being brought back", kernel->name);
    return GYRE_OK;
}

void gyre_standstill_order(gyre_kernel *kernel)
{
    kernel->turn.saving = true;
    if (gyre_control_verb(kernel) == GYRE_VERB_RUN) {
        kernel->paused_to_save = true;
        gyre_control_order(kernel, GYRE_VERB_PAUSE);
    }
}

gyre_status gyre_standstill_await(gyre_kernel *kernel, uint64_t generation, uint64_t deadline_ns)
{
    gyre_status status = gyre_control_acknowledged(kernel, GYRE_YIELD_TO_TURN, deadline_ns);
    if (status == GYRE_CLOSED)
        return gyre_error_set(GYRE_AGAIN, "kernel '%s' is being changed by another thread", kernel->name);
    if (status == GYRE_OK && kernel->generation != generation)
        return gyre_error_set(GYRE_AGAIN, "kernel '%s' was brought back meanwhile", kernel->name);
    return status;
}

gyre_status gyre_standstill_begin(gyre_kernel *kernel, uint64_t deadline_ns)
{
    const uint64_t generation = kernel->generation;
    gyre_standstill_order(kernel);
    return gyre_standstill_await(kernel, generation, deadline_ns);
}

/* A kernel that was revived meanwhile runs already. */
void gyre_standstill_end(gyre_kernel *kernel, uint64_t generation)
{
    gyre_error_hold(); /* the error of the copy stays, whatever the device returns for this command */
    if (kernel->generation == generation && kernel->paused_to_save) {
        kernel->paused_to_save = false;
        gyre_control_order(kernel, GYRE_VERB_RUN);
    }
    gyre_error_let_go();
    kernel->turn.saving = false;
    pthread_cond_broadcast(&kernel->changed);
}

uint64_t gyre_standstill_verb(gyre_kernel *kernel, uint64_t verb)
{
    if (!kernel->turn.change_waits || verb != GYRE_VERB_RUN)
        return verb;
    kernel->paused_to_save = true;
    return GYRE_VERB_PAUSE;
}
