/* SPDX-License-Identifier: Apache-2.0 */
/* Has a worker open the device. Private to this folder. */
#ifndef GYRE_CORE_ISOLATION_PROXY_OPENING_H
#define GYRE_CORE_ISOLATION_PROXY_OPENING_H

#include "core/isolation/proxy_calls.h"

/** Opens it in the first worker, and takes the device's description from the answer. */
gyre_status proxy_open_first(gyre_device *device);
/** The same in a new worker. In the keeper's thread. */
gyre_status proxy_open_revived(gyre_device *device);
/** Opens it in a second worker, beside the worker that is up, and ignores the description in the answer. */
gyre_status proxy_open_beside(gyre_device *device, struct proxy_connection *connection);

#endif
