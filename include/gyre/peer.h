/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named table "peers" of a backend (get_extension of backend.h): devices of one plugin that reach each other's memory. For
 * backend authors. A backend without it loses nothing but speed: the core copies through the host.
 *
 * Both devices of a call are opened by this process, are different, and have this plugin. The core makes no other call with either
 * of them meanwhile, except those that any thread may make. Stability: as backend.h.
 */
#ifndef GYRE_PEER_H
#define GYRE_PEER_H

#include "gyre/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GYRE_PEERS_NAME    "peers"
#define GYRE_PEERS_VERSION 1

/** By which way bytes get from one device to another. */
typedef enum gyre_peer_way {
    GYRE_PEER_NONE = 0, /* not without the host */
    GYRE_PEER_BUS = 1,  /* over the machine's bus */
    GYRE_PEER_LINK = 2  /* over a link of the devices' own */
} gyre_peer_way;

typedef struct gyre_peer_ops {
    size_t size; /* sizeof(gyre_peer_ops) as the plugin was compiled */

    /* required   threads: one per device (both)   blocks: no. Constant while both devices are open. */
    gyre_peer_way (*way)(gyre_device *source, gyre_device *target);

    /*
     * required   threads: one per device (both)   blocks: until the copy is made
     * Copies from memory of `source` to memory of `target`, between which `way` is not NONE. The core has checked the bounds.
     * Kernels of both devices may run meanwhile, as with memory_copy.
     */
    gyre_status (*copy)(gyre_device *source, gyre_device *target, const gyre_copy_desc *desc);
} gyre_peer_ops;

#ifdef __cplusplus
}
#endif
#endif
