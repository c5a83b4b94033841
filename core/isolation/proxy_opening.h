/* SPDX-License-Identifier: Apache-2.0 */
/* Has a worker open the device. Private to this folder. */
#ifndef GYRE_CORE_ISOLATION_PROXY_OPENING_H
#define GYRE_CORE_ISOLATION_PROXY_OPENING_H

#include "core/isolation/proxy_calls.h"

/** In the first worker; the device's description becomes the worker's answer. */
gyre_status proxy_open_first(gyre_device *device);
/** The same in a new worker, in the keeper's thread. */
gyre_status proxy_open_revived(gyre_device *device);
/** In a second worker beside the one that is up. The description in its answer is left unread. */
gyre_status proxy_open_beside(gyre_device *device, struct proxy_connection *connection);

#endif
