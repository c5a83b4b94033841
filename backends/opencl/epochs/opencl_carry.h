/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries epochs (opencl_epoch.h) to the device and back: chooses requests, sends them, completes them. Only the
 * pump's thread calls these functions.
 */
#ifndef GYRE_OPENCL_CARRY_H
#define GYRE_OPENCL_CARRY_H

#include "backends/opencl/epochs/opencl_epoch.h"

/**
 * Returns how many requests from queue->next on are there or, for direct lanes, about to be; at most `most`.
 * Moves queue->next past answered requests where copies would overwrite their replies.
 */
uint32_t opencl_ready(const gyre_resident *resident, struct opencl_queue *queue, uint32_t most);

/**
 * Returns how many of the `ready` requests to send now. 0: better wait, because their sender may send more.
 */
uint32_t opencl_share(const gyre_resident *resident, const struct opencl_queue *queue, uint32_t ready);

/** Sends `count` requests from queue->next on to the device. `epochs` has a free place. GYRE_OK or LOST. */
gyre_status opencl_submit(gyre_resident *resident, struct opencl_queue *queue, uint32_t count,
                          gyre_u64 command);

/** Runs an epoch without messages and waits for it, so that the driver's work at a first run is done. */
gyre_status opencl_warm_up(gyre_resident *resident);
/** Runs an epoch without messages, and waits for its end. No other one is under way. GYRE_OK or LOST. */
gyre_status opencl_run_nothing(gyre_resident *resident, struct opencl_epoch *nothing);

/**
 * Whether the oldest epoch is complete. If it is a gathered epoch (its messages are packed), hands out the
 * replies that came.
 */
bool opencl_oldest_is_done(gyre_resident *resident);

/** Waits for the oldest epoch and completes its requests. GYRE_OK or LOST. */
gyre_status opencl_collect(gyre_resident *resident);

/**
 * The parts of opencl_collect, for epochs that are put together otherwise (opencl_links.c): waits for the end of an epoch,
 * counts its messages, adapts how large epochs are, and frees the epoch's events.
 */
gyre_status opencl_await_epoch(gyre_resident *resident, struct opencl_epoch *epoch);
void opencl_count_messages(gyre_resident *resident, uint32_t handled, uint32_t failed);
void opencl_adapt_limit(gyre_resident *resident, const struct opencl_epoch *epoch);
void opencl_release_events(const struct opencl_loader *cl, struct opencl_epoch *epoch);

/** Frees the objects and stages of all epochs. */
void opencl_epochs_release(gyre_resident *resident);

#endif
