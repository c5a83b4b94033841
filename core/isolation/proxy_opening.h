/* SPDX-License-Identifier: Apache-2.0 */
/* Has a worker open the device (proxy_opening.c). Private to this folder. */
#ifndef GYRE_CORE_ISOLATION_PROXY_OPENING_H
#define GYRE_CORE_ISOLATION_PROXY_OPENING_H

#include "core/isolation/proxy_calls.h"

/** Opens the device in its first worker, and takes the device's description from the answer. */
gyre_status proxy_open_first(gyre_device *device);
/** Opens the device in a new worker, after the first one died. In the keeper's thread. */
gyre_status proxy_open_revived(gyre_device *device);
/** Opens the device in a second worker, beside the worker that is up, and ignores the description in the answer. */
gyre_status proxy_open_beside(gyre_device *device, struct proxy_connection *connection);

#endif
