/* SPDX-License-Identifier: Apache-2.0 */
/* Gives one message to the handler of a worker (cpu_handle.h). No state. */
#include "backends/cpu/handling/cpu_handle.h"

#include <string.h>

#include "backends/cpu/check/cpu_check.h"
#include "backends/cpu/check/cpu_explore.h"
#include "backends/cpu/check/cpu_finding.h"
#include "backends/cpu/handling/cpu_grid.h"
#include "backends/cpu/lanes/cpu_lane.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_watched.h"

enum { CLEARED_MAX = 65536 };

/* With turns: a handler that waits for ever is left from here on. */
static void begin_guard(struct cpu_turn *turn)
{
    turn->given_up = false;
    turn->asked_time = false;
    turn->leap_ns = 0;
    turn->repeats = 0;
    turn->waits_for[0] = '\0';
    turn->is_guarded = true;
}

/* True when it was left, which fails its message. */
static bool end_guard(struct cpu_turn *turn, gyre_context *context)
{
    const bool left = turn->given_up;
    turn->is_guarded = turn->given_up = false;
    turn->repeats = 0;
    if (left)
        cpu_finding_stuck(context, turn->last.code);
    return left;
}

/* Whether all lanes of a message return GYRE_MORE, or none does. */
static bool agree_on_more(const struct cpu_worker *worker)
{
    const struct gyre_resident *const resident = worker->resident;
    const uint32_t again = resident->kernel->port_count ? worker->links.ports[0].again : 0;
    return again == 0 || again == resident->lanes * resident->together;
}

/* In a block kernel all lanes run the block's handler for the message. */
static int handle_by_lanes(const void *request, void *reply, void *state, const gyre_binding *buffers,
                           gyre_context *context)
{
    struct cpu_worker *worker = context->owner;
    const bool turns = worker->turn.turns != NULL;
    const struct cpu_lanes_message message = {
        worker->resident->kernel->handle, request, reply, state, worker->scratch, buffers};
    cpu_check_begin(worker, request, worker->resident->kernel->sizes.request);
    if (turns)
        begin_guard(&worker->turn);
    int result = worker->watched && worker->watched->explored ? cpu_explore(worker, &message, context)
                 : worker->resident->grid                     ? cpu_grid_run(worker, &message, context)
                                          : cpu_lanes_run(worker->lanes, &message, context);
    if (turns && end_guard(&worker->turn, context))
        result = GYRE_OUTCOME_FAILED;
    if (worker->watched && !context->failed && !agree_on_more(worker)) {
        cpu_finding_more(context, worker->links.ports[0].again);
        result = GYRE_OUTCOME_FAILED;
    }
    cpu_check_end(worker);
    return result;
}

/* With turns: a handler that waits for ever is left, and its message fails. */
static int handle_in_turns(struct cpu_worker *worker, const struct cpu_lanes_message *message,
                           gyre_context *context)
{
    struct cpu_turn *const turn = &worker->turn;
    begin_guard(turn);
    if (setjmp(turn->out) == 0) {
        const int result = message->handle(message->request, message->reply, message->state, message->scratch,
                                           message->buffers, context);
        turn->is_guarded = false;
        return result;
    }
    end_guard(turn, context);
    cpu_check_end(worker);
    return GYRE_OUTCOME_FAILED;
}

/*
 * What a handler does not write of its reply must not be what lay there, of this program or another message: with checks it is zero. Longer
 * replies have tails, of which nobody sees the bytes that were not written.
 */
static void clear_reply(const struct cpu_worker *worker, void *reply)
{
    const gyre_u32 size = worker->resident->kernel->sizes.reply;
    if (worker->watched && reply)
        memset(reply, 0, size < CLEARED_MAX ? size : CLEARED_MAX);
}

int cpu_handle(const void *request, void *reply, void *state, void *scratch, const gyre_binding *buffers,
               gyre_context *context)
{
    struct cpu_worker *worker = context->owner;
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    clear_reply(worker, reply);
    if (gyre_form_shares(kernel->form))
        return handle_by_lanes(request, reply, state, buffers, context);
    if (__builtin_expect(worker->turn.turns != NULL, 0))
        return handle_in_turns(
            worker, &(struct cpu_lanes_message){kernel->handle, request, reply, state, scratch, buffers},
            context);
    return kernel->handle(request, reply, state, scratch, buffers, context);
}
