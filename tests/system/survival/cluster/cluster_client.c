/* SPDX-License-Identifier: Apache-2.0 */
/* The client of docs/cluster.md: one deposit. */
#include "cluster_client.h"

#include <gyre/cluster.h>

gyre_status count_once(gyre_runtime *runtime, count_request request, count_state *out)
{
    gyre_cluster *cluster = NULL;
    count_state reply = {0};
    /* clang-format off */
    const gyre_cluster_desc desc = {
        .size = sizeof desc, .request = GYRE_TYPE(count_request), .reply = GYRE_TYPE(count_state)};
    gyre_status status = gyre_cluster_open(runtime, &desc, &cluster);
    if (status == GYRE_OK)
        status = gyre_cluster_call(cluster, &request, sizeof request, &reply, sizeof reply, NULL, gyre_in_ms(30000));
    /* clang-format on */
    gyre_cluster_close(cluster);
    *out = reply;
    return status;
}
