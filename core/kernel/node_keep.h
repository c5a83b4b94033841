/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stage of a pipeline keeps between messages: its checkpoints are those of all stages, taken at one moment, and one stage leads
 * them (keeper.h). Which stages, and when: core/links/kept.h. Call without kernel->lock.
 */
#ifndef GYRE_CORE_KERNEL_NODE_KEEP_H
#define GYRE_CORE_KERNEL_NODE_KEEP_H

#include "core/kernel/keeper.h"
#include "core/kernel/node.h"

bool gyre_node_has_checkpoints(const gyre_kernel *kernel);
/** The stage, for the journal of its pipeline. */
struct gyre_kept_stage gyre_node_kept_stage(gyre_kernel *kernel);
/** As gyre_node_is_saved_together, under the lock. */
static inline bool gyre_node_saves_together(const gyre_kernel *kernel)
{
    return kernel->node.saved_together;
}
/** Whether the kernel is a stage whose checkpoints its pipeline takes. */
bool gyre_node_is_saved_together(gyre_kernel *kernel);
/**
 * Leaves the stage's checkpoints to its pipeline, until it is no stage of it any more. `in_journal`: they are in the journal of an entry, and
 * the kernel is not launched anew meanwhile.
 */
void gyre_node_save_together(gyre_kernel *kernel, bool in_journal);
/**
 * The stage leads, and one more entry is led: gyre_keeper.lead. `flows`: as gyre_led has them. The stage has checkpoints.
 */
gyre_status gyre_node_lead(gyre_kernel *leader, gyre_queue *entry, gyre_queue *repeater,
                           const gyre_flow *flows);
/** The stage leads no more. */
void gyre_node_lead_no_more(gyre_kernel *leader);
/** Whether the entry's flows say when their requests were taken, and whether those of further entries of the kernel will. */
bool gyre_node_entry_is_timed(const gyre_queue *entry);
bool gyre_node_is_timed(const gyre_kernel *kernel);
/** Senders of the entry wait from here on, until gyre_node_let_go_entry; and whether all that they sent is completed. */
void gyre_node_hold_entry(gyre_queue *entry);
void gyre_node_let_go_entry(gyre_queue *entry);
bool gyre_node_entry_is_settled(const gyre_queue *entry);

/**
 * All stages are in another worker process, and none has its links yet. Whether requests of entries have to be handled again:
 * gyre_keeper.lead_prepare.
 */
bool gyre_node_prepare_repeat(gyre_kernel *leader);
/** What the next gyre_node_wire_again shows the device: the entry's repeater in its place, or, as without checkpoints, the entry. */
void gyre_node_set_repeats(gyre_queue *entry, bool repeats);
/** In place of gyre_node_wire_again, of stages that have their links: shows the device the entry's repeater. The entry is hidden. */
void gyre_node_begin_repeats(const gyre_queue *entry);
/** Handles requests again: gyre_keeper.lead_repeat. */
gyre_status gyre_node_repeat(gyre_kernel *leader, bool (*watch)(void *context, uint64_t deadline_ns),
                             void *context);
/** That is done: shows the device the entry in its repeater's place. */
void gyre_node_end_repeats(gyre_queue *entry);
/** What gyre_keeper says of entries with a journal: entry_has_kept, entry_gather, entry_begin, entry_write. */
bool gyre_node_entry_has_journal(const gyre_queue *entry);
bool gyre_node_entry_has_kept(const gyre_queue *entry);
gyre_status gyre_node_gather_entry(const gyre_queue *entry);
gyre_status gyre_node_begin_entry(gyre_queue *entry);
void gyre_node_write_entry(const gyre_queue *entry, bool last);
/** Whether the application has paused the stage. */
bool gyre_node_is_paused(gyre_kernel *kernel);
/** Lets a stage that is paused run while that is done, and pauses it again: else what comes to it would wait for ever. */
void gyre_node_run_paused(gyre_kernel *kernel);
void gyre_node_pause_again(gyre_kernel *kernel);
/** What the stage keeps is what it was when its last worker died. */
void gyre_node_caught_up(gyre_kernel *kernel);
/** A queue by which nobody but its pipeline sends: no device sees it before gyre_node_prepare_repeat, and nobody finds it. */
void gyre_node_reserve_entry(gyre_queue *target);

#endif
