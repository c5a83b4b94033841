/* SPDX-License-Identifier: Apache-2.0 */
/* The spare of a keeper: a second worker process, which takes the place of the first one when there is none. */
#ifndef GYRE_CORE_ISOLATION_SPARE_H
#define GYRE_CORE_ISOLATION_SPARE_H

#include <poll.h>

#include "core/isolation/keeper.h"

/* From any thread. */

/** Asks for a spare. There is none, or it is on its way out. */
void gyre_keeper_want_spare(struct gyre_keeper *keeper);
/** As gyre_keeper_connect, to the spare. */
gyre_status gyre_keeper_connect_spare(struct gyre_keeper *keeper, int *socket);
void gyre_keeper_kill_spare(struct gyre_keeper *keeper);

/* In the keeper's thread only. */

/** After poll: what became of the spare, its pidfd and its socket; starts one that is wanted. */
void gyre_spare_tend(struct gyre_keeper *keeper, const struct pollfd news[2]);
/** Ends the spare, if there is one. */
void gyre_spare_end(struct gyre_keeper *keeper);

#endif
