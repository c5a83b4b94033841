/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GYRE_TESTS_CLUSTER_CLIENT_H
#define GYRE_TESTS_CLUSTER_CLIENT_H

#include <gyre/gyre.h>

#include "counters.h"

/** Sends one request as a client of its own. */
gyre_status count_once(gyre_runtime *runtime, count_request request, count_state *out);

#endif
