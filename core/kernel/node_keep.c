/* SPDX-License-Identifier: Apache-2.0 */
/* What stages of a pipeline keep (node_keep.h). Lock: kernel->lock, of the kernel that has the entry, for views and its table of queues. */
#include "core/kernel/node_keep.h"

#include "core/kernel/control.h"
#include "core/kernel/keeper.h"
#include "core/kernel/queue_table.h"
#include "core/kernel/turn.h"
#include "core/pipeline/build.h"
#include "core/stages/expiry.h"
#include "core/stages/log.h"

bool gyre_node_has_checkpoints(const gyre_kernel *kernel)
{
    return kernel->checkpoints != NULL;
}

struct gyre_kept_stage gyre_node_kept_stage(gyre_kernel *kernel)
{
    return (struct gyre_kept_stage){.kernel = kernel,
                                    .name = kernel->name,
                                    .checkpoints = kernel->checkpoints,
                                    .handler = gyre_build_handler(kernel->build)};
}

bool gyre_node_is_saved_together(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    const bool together = kernel->node.saved_together;
    pthread_mutex_unlock(&kernel->lock);
    return together;
}

void gyre_node_save_together(gyre_kernel *kernel, bool in_journal)
{
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_await_turn(kernel); /* one that is being taken of the kernel alone ends first */
    kernel->node.saved_together = true;
    kernel->node.in_journal = in_journal;
    pthread_mutex_unlock(&kernel->lock);
}

gyre_status gyre_node_lead(gyre_kernel *leader, gyre_queue *entry, gyre_queue *repeater,
                           const gyre_flow *flows)
{
    pthread_mutex_lock(&leader->lock);
    const struct gyre_led led = {.entry = entry,
                                 .repeater = repeater,
                                 .flows = flows,
                                 .log_bytes = (uint64_t)gyre_kernel_setting(leader, "replay_log")};
    const bool has_room = led.log_bytes >= gyre_queue_log_bytes(entry, 1);
    const gyre_status status = leader->keeper->lead(leader->checkpoints, &led);
    pthread_mutex_unlock(&leader->lock);
    return status != GYRE_OK && !has_room ? gyre_config_blame(leader->runtime->config, GYRE_SECTION_KERNEL,
                                                              leader->name, "replay_log", GYRE_CONFIG)
                                          : status;
}

void gyre_node_lead_no_more(gyre_kernel *leader)
{
    pthread_mutex_lock(&leader->lock);
    leader->keeper->lead_no_more(leader->checkpoints);
    pthread_mutex_unlock(&leader->lock);
}

bool gyre_node_entry_is_timed(const gyre_queue *entry)
{
    return gyre_ring_of(entry)->slots.stamps_offset != 0;
}

bool gyre_node_is_timed(const gyre_kernel *kernel)
{
    return gyre_kernel_setting(kernel, "timing") != 0;
}

void gyre_node_hold_entry(gyre_queue *entry)
{
    gyre_queue_log_hold(entry);
}

void gyre_node_let_go_entry(gyre_queue *entry)
{
    gyre_queue_log_let_go(entry);
}

bool gyre_node_entry_is_settled(const gyre_queue *entry)
{
    return gyre_queue_log_is_settled(entry);
}

/* Under the lock. */
static void show_in_place(gyre_queue *entry, bool repeats)
{
    gyre_queue *repeater = gyre_view_of(entry)->repeater;
    gyre_view_for(entry)->repeats = gyre_view_for(entry)->withdrawn = repeats;
    gyre_view_for(entry)->repeats_one = false;
    gyre_view_for(entry)->repeated_number = gyre_view_of(repeater)->entry_number;
    gyre_view_for(repeater)->withdrawn = !repeats;
    gyre_view_for(repeater)->gate = UINT64_MAX;
    gyre_view_for(repeater)->closed = false;
}

bool gyre_node_prepare_repeat(gyre_kernel *leader)
{
    return leader->keeper->lead_prepare(leader->checkpoints);
}

void gyre_node_set_repeats(gyre_queue *entry, bool repeats)
{
    gyre_kernel *kernel = gyre_view_of(entry)->kernel;
    pthread_mutex_lock(&kernel->lock);
    show_in_place(entry, repeats);
    pthread_mutex_unlock(&kernel->lock);
}

void gyre_node_begin_repeats(const gyre_queue *entry)
{
    gyre_kernel *kernel = gyre_view_of(entry)->kernel;
    pthread_mutex_lock(&kernel->lock);
    gyre_kernel_show_queue(kernel, gyre_view_of(entry)->repeater);
    gyre_control_order(kernel, gyre_control_verb(kernel));
    pthread_mutex_unlock(&kernel->lock);
}

gyre_status gyre_node_repeat(gyre_kernel *leader, bool (*watch)(void *context, uint64_t deadline_ns),
                             void *context)
{
    return leader->keeper->lead_repeat(leader->checkpoints, watch, context);
}

void gyre_node_end_repeats(gyre_queue *entry)
{
    gyre_kernel *kernel = gyre_view_of(entry)->kernel;
    const gyre_queue *repeater = gyre_view_of(entry)->repeater;
    pthread_mutex_lock(&kernel->lock);
    show_in_place(entry, false);
    __atomic_store_n(&kernel->control->queues[gyre_view_of(repeater)->table_entry].address, 0,
                     __ATOMIC_RELAXED);
    if (!gyre_view_of(entry)->closed)
        gyre_kernel_show_queue(kernel, entry);
    gyre_control_order(kernel, gyre_control_verb(kernel));
    pthread_mutex_unlock(&kernel->lock);
}

static const struct gyre_keeper *keeper_of(const gyre_queue *entry)
{
    return gyre_view_of(entry)->kernel->keeper;
}

bool gyre_node_entry_has_journal(const gyre_queue *entry)
{
    return gyre_view_of(entry)->durable != NULL;
}

bool gyre_node_entry_has_kept(const gyre_queue *entry)
{
    return keeper_of(entry)->entry_has_kept(entry);
}

gyre_status gyre_node_gather_entry(const gyre_queue *entry)
{
    return keeper_of(entry)->entry_gather(entry);
}

gyre_status gyre_node_begin_entry(gyre_queue *entry)
{
    return keeper_of(entry)->entry_begin(entry);
}

void gyre_node_write_entry(const gyre_queue *entry, bool last)
{
    keeper_of(entry)->entry_write(entry, last);
}

bool gyre_node_is_paused(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    const bool paused = gyre_kernel_get_state(kernel) == GYRE_KERNEL_INACTIVE && kernel->resident;
    pthread_mutex_unlock(&kernel->lock);
    return paused;
}

/* Gives the command to one that the application has paused. */
static void order_paused(gyre_kernel *kernel, uint64_t verb)
{
    pthread_mutex_lock(&kernel->lock);
    if (gyre_kernel_get_state(kernel) == GYRE_KERNEL_INACTIVE && kernel->resident &&
        gyre_control_verb(kernel) != verb)
        gyre_control_order(kernel, verb);
    pthread_mutex_unlock(&kernel->lock);
}

void gyre_node_run_paused(gyre_kernel *kernel)
{
    order_paused(kernel, GYRE_VERB_RUN);
}

void gyre_node_pause_again(gyre_kernel *kernel)
{
    order_paused(kernel, GYRE_VERB_PAUSE);
}

void gyre_node_caught_up(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    kernel->node.behind = false;
    pthread_mutex_unlock(&kernel->lock);
}

void gyre_node_reserve_entry(gyre_queue *target)
{
    gyre_kernel *kernel = gyre_view_of(target)->kernel;
    gyre_expiry_set(target, 0); /* a request that was handled in time must not expire when it is repeated */
    pthread_mutex_lock(&kernel->lock);
    gyre_view_for(target)->withdrawn = gyre_view_for(target)->unfindable = gyre_view_for(target)->is_reserve =
        true;
    __atomic_store_n(&kernel->control->queues[gyre_view_of(target)->table_entry].address, 0,
                     __ATOMIC_RELAXED);
    gyre_control_order(kernel, gyre_control_verb(kernel));
    pthread_mutex_unlock(&kernel->lock);
}
