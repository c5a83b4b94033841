/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills the table of a kernel's keeper (core/kernel/keeper.h): each entry calls checkpoints or journals. Locks: keeper.h.
 */
#include "core/durability/durability.h"

#include "core/durability/checkpoint_draw.h"
#include "core/durability/checkpoint_life.h"
#include "core/durability/checkpoint_take.h"
#include "core/durability/clocks.h"
#include "core/durability/durable.h"
#include "core/durability/durable_open.h"
#include "core/durability/durable_thread.h"
#include "core/durability/lead.h"
#include "core/durability/replay.h"
#include "core/durability/state_adopt.h"
#include "core/durability/together.h"
#include "core/kernel/keeper.h"

static gyre_status keeper_begin(gyre_kernel *kernel)
{
    gyre_status status = gyre_checkpoints_begin(kernel);
    return status == GYRE_OK ? gyre_durable_begin(kernel) : status;
}

static gyre_status keeper_queue_equip(gyre_kernel *kernel, gyre_queue *queue, struct gyre_durable *durable)
{
    gyre_status status = gyre_checkpoints_equip(kernel, queue, durable);
    const bool begins =
        kernel->resident && !gyre_view_of(queue)->of_pipeline; /* that of an entry begins when it is led */
    return status == GYRE_OK && begins ? gyre_durable_begin_queue(queue) : status;
}

static gyre_status keeper_adapt(gyre_kernel *kernel, bool back)
{
    gyre_status status = gyre_checkpoints_adapt(kernel);
    return status == GYRE_OK ? gyre_durable_adapt(kernel, back) : status;
}

static gyre_status keeper_check_convert(const gyre_kernel *kernel, const gyre_type *from)
{
    return gyre_state_check_adopt(&(struct gyre_state_change){
        .kernel = kernel, .from = from, .to = kernel->record->state, .where = ""});
}

static gyre_status keeper_convert(const gyre_kernel *kernel, const gyre_type *from, const void *before,
                                  void *after)
{
    return gyre_state_adopt(
        &(struct gyre_state_change){.kernel = kernel, .from = from, .to = kernel->record->state, .where = ""},
        before, after);
}

static const struct gyre_keeper keeper = {
    .begin = keeper_begin,
    .replay = gyre_replay_start,
    .running = gyre_durable_forget,
    .left = gyre_checkpoints_finish,
    .stand = gyre_checkpoints_stand,
    .draw_begin = gyre_checkpoint_draw_begin,
    .draw_copy = gyre_checkpoint_draw_copy,
    .draw_end = gyre_checkpoint_draw_end,
    .draw_kept = gyre_together_draw,
    .restore = gyre_replay_restore_in,
    .entry_has_kept = gyre_together_has_kept,
    .entry_gather = gyre_together_gather,
    .entry_begin = gyre_together_begin,
    .entry_write = gyre_together_write,
    .lead = gyre_lead,
    .lead_no_more = gyre_lead_no_more,
    .lead_prepare = gyre_lead_prepare,
    .lead_repeat = gyre_lead_repeat,
    .covers = gyre_checkpoints_cover,
    .has_journal = gyre_durable_has,
    .adapt = keeper_adapt,
    .check_convert = keeper_check_convert,
    .convert = keeper_convert,
    .stop = gyre_checkpoints_stop,
    .destroy = gyre_checkpoints_destroy,
    .queue_open = gyre_durable_open,
    .queue_equip = keeper_queue_equip,
    .queue_rewind = gyre_checkpoints_rewind,
    .queue_settle = gyre_checkpoints_settle,
    .queue_end = gyre_durable_end,
    .queue_free = gyre_durable_free,
};

gyre_status gyre_durability_create(gyre_kernel *kernel)
{
    kernel->keeper = &keeper;
    return gyre_checkpoints_create(kernel);
}

gyre_status gyre_durability_start(gyre_kernel *kernel, const char *source)
{
    gyre_checkpoints_judge(kernel);
    gyre_checkpoints_point_out(kernel, source);
    return gyre_checkpoints_start(kernel);
}
