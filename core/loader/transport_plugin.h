/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a transport's shared object (gyre/transport.h) and loads it into the process, as loader.h does a backend's. */
#ifndef GYRE_CORE_LOADER_TRANSPORT_PLUGIN_H
#define GYRE_CORE_LOADER_TRANSPORT_PLUGIN_H

#include "gyre/transport.h"

/**
 * Checks and loads the transport in the file `path` (absolute); it stays loaded until the process ends. Statuses as those of
 * gyre_plugin_load. *out is NULL after a failure.
 */
gyre_status gyre_transport_load(const char *path, const gyre_transport_plugin **out);

#endif
