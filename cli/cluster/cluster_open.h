/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands of `gyre cluster` share: the transport of [cluster], opened, and arguments. */
#ifndef GYRE_CLI_CLUSTER_CLUSTER_OPEN_H
#define GYRE_CLI_CLUSTER_CLUSTER_OPEN_H

#include "cli/cli.h"
#include "core/cluster/app.h"

struct gyre_config;

struct cluster_opened {
    struct gyre_config *config;
    struct gyre_transport *transport;
    struct gyre_cluster_app app; /* if it was asked for */
};

/** Opens the transport of [cluster]; `needs_app`: reads the record `app`, and says so when no member ever was there. Returns an exit code. */
int cluster_open(const cli_context *cli, bool needs_app, struct cluster_opened *out);
/** After cluster_open, whatever it returned. */
void cluster_close(struct cluster_opened *opened);
/** Reads the number of a shard of the cluster. Returns an exit code. */
int cluster_read_shard(const cli_context *cli, const struct cluster_opened *opened, const char *text,
                       uint32_t *shard);
/** Reads a whole number; false when the text is none. */
bool cluster_read_number(const char *text, uint64_t *number);

#endif
