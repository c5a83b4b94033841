/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spare of a keeper: a second worker process, which becomes the worker when the first worker has died (spare.c).
 * What the device does with it: standby.h.
 */
#ifndef GYRE_CORE_ISOLATION_SPARE_H
#define GYRE_CORE_ISOLATION_SPARE_H

#include <poll.h>

#include "core/isolation/worker_keeper.h"

/* These functions may be called from any thread. */

/** Asks for a spare, when there is none or it is about to end. The keeper's `spare` tells what became of it. */
void gyre_keeper_want_spare(struct gyre_keeper *keeper);
/** Makes a connection to the spare; *socket is the caller's end of it. LOST when there is no spare. */
gyre_status gyre_keeper_connect_spare(struct gyre_keeper *keeper, int *socket);
void gyre_keeper_kill_spare(struct gyre_keeper *keeper);

/* These functions may be called in the keeper's thread only. */

/**
 * Call after a poll of the spare's pidfd and socket (`news`). Hears the spare, reaps a dead spare, starts a spare
 * that is wanted.
 */
void gyre_spare_tend(struct gyre_keeper *keeper, const struct pollfd news[2]);
/** Ends the spare, if there is one. */
void gyre_spare_end(struct gyre_keeper *keeper);

#endif
