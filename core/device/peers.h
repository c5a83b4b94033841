/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who reaches whom: how bytes get from one device to another, and how long that takes. Peers are asked for each copy, since the
 * answer costs no journey; figures are measured when somebody wants to see them, and kept (peers_measure.c, peers_kept.c).
 */
#ifndef GYRE_CORE_DEVICE_PEERS_H
#define GYRE_CORE_DEVICE_PEERS_H

#include <stdbool.h>

#include "core/dispatch/dispatch.h"
#include "gyre/gyre.h"

/** The way of bytes from one device to another. */
enum gyre_reach {
    GYRE_REACH_HOST = 0, /* down to the host's memory and up again */
    GYRE_REACH_SAME = 1, /* within one device */
    GYRE_REACH_BUS = 2,  /* device to device over the machine's bus */
    GYRE_REACH_LINK = 3  /* device to device over a link of their own */
};
/** "host", "same", "bus", "link". */
const char *gyre_reach_word(enum gyre_reach reach);

/** The way that gyre_peers_copy takes with the present settings; HOST where it answers UNIMPLEMENTED. */
enum gyre_reach gyre_peers_reach(const gyre_runtime *runtime, struct gyre_dispatch *source,
                                 struct gyre_dispatch *target);
/**
 * Copies from memory of one device to memory of the same or another device, without the host. UNIMPLEMENTED, without a sentence,
 * when the way is HOST; the first time that this is so between two devices the log has a line.
 */
gyre_status gyre_peers_copy(gyre_runtime *runtime, struct gyre_dispatch *source, struct gyre_dispatch *target,
                            const gyre_copy_desc *desc);

/** A device in a matrix. */
struct gyre_peer_device {
    char backend[64];
    uint32_t ordinal;
    char name[128];
    struct gyre_dispatch *dispatch; /* NULL: it could not be opened, and `lack` says why */
    char lack[512];
};

/** From the device of a row to the device of a column. */
struct gyre_peer_figure {
    enum gyre_reach reach;
    uint64_t latency_ns;       /* of 64 bytes, the median; 0: not measured */
    uint64_t bytes_per_second; /* of a large copy */
};

enum { GYRE_PEER_DEVICES_MAX = 32 };

/** All devices of all backends that can start. */
struct gyre_peer_matrix {
    uint32_t count;
    uint32_t left_out; /* devices beyond GYRE_PEER_DEVICES_MAX */
    bool remembered;   /* the figures were measured by an earlier process */
    struct gyre_peer_device devices[GYRE_PEER_DEVICES_MAX];
    struct gyre_peer_figure figures[GYRE_PEER_DEVICES_MAX][GYRE_PEER_DEVICES_MAX]; /* [from][to] */
};

/**
 * Opens every device, and measures, or remembers, the figures. `again`: measures them in any case. EXHAUSTED. A device that cannot be
 * opened, or a copy that fails, is no error. Owner of *out: the caller, free(); devices are borrowed until the runtime is closed.
 */
gyre_status gyre_peers_measure(gyre_runtime *runtime, bool again, struct gyre_peer_matrix **out);

/**
 * Puts remembered figures of these devices into the matrix. False when there are none, or one of a pair of open devices lacks; then the
 * matrix may have some of them.
 */
bool gyre_peers_recall(const gyre_runtime *runtime, struct gyre_peer_matrix *matrix);
/**
 * Remembers the figures in the cache's folder, when every pair of open devices has both: what failed once, for lack of memory say, is
 * measured again the next time. Failures are passed over: the figures are measured again then.
 */
void gyre_peers_keep(const gyre_runtime *runtime, const struct gyre_peer_matrix *matrix);

#endif
