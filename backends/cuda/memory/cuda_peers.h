/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that reach each other's memory: the table "peers" of the backend (gyre/peer.h). */
#ifndef GYRE_CUDA_PEERS_H
#define GYRE_CUDA_PEERS_H

#include "backends/cuda/cuda_backend.h"

/** get_extension of the backend's table. */
gyre_status cuda_extension(gyre_device *device, const char *name, uint32_t version, const void **out);

#endif
