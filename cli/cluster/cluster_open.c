/* SPDX-License-Identifier: Apache-2.0 */
/* See cluster_open.h. No state. */
#include "cli/cluster/cluster_open.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/open.h"
#include "core/base/error.h"
#include "core/config/config.h"

static gyre_status read_app(struct cluster_opened *opened)
{
    const gyre_status status = gyre_cluster_app_read(opened->transport, &opened->app);
    return status == GYRE_NOT_FOUND
               ? gyre_error_set(GYRE_NOT_FOUND, "no member of this cluster was ever there: start one, "
                                                "with the same [cluster]")
               : status;
}

int cluster_open(const cli_context *cli, bool needs_app, struct cluster_opened *out)
{
    *out = (struct cluster_opened){0};
    int code = cli_fail_unless_ok(cli_load(cli, &out->config));
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_transport_open(
            out->config, NULL, NULL,
            gyre_in_ms((uint64_t)gyre_config_int(out->config, GYRE_SECTION_CLUSTER, NULL, "reach_ms")),
            &out->transport));
    if (code == CLI_OK && needs_app)
        code = cli_fail_unless_ok(read_app(out));
    return code;
}

void cluster_close(struct cluster_opened *opened)
{
    gyre_transport_close(opened->transport);
    gyre_config_destroy(opened->config);
}

bool cluster_read_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

int cluster_read_shard(const cli_context *cli, const struct cluster_opened *opened, const char *text,
                       uint32_t *shard)
{
    uint64_t number;
    if (!cluster_read_number(text, &number))
        return cli_usage_error(cli, "expected the number of a shard, found '%.100s'", text);
    if (number >= opened->app.shards)
        return cli_error(CLI_FAILED, "the cluster has the shards 0 to %u, found %.20s",
                         opened->app.shards - 1, text);
    *shard = (uint32_t)number;
    return CLI_OK;
}
