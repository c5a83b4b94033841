/* SPDX-License-Identifier: Apache-2.0 */
/* What `gyre cluster verify` and `gyre cluster dead` do: what a cluster keeps, read from outside. Each returns an exit code. */
#ifndef GYRE_CLI_CLUSTER_CLUSTER_KEPT_H
#define GYRE_CLI_CLUSTER_CLUSTER_KEPT_H

#include "cli/cli.h"

/** Verifies all shards; CLI_FAILED when something does not agree. */
int cluster_verify(const cli_context *cli);
/** Lists the dead letters of a shard (NULL: of all); with their bytes if `with_messages`. */
int cluster_dead(const cli_context *cli, const char *shard, bool with_messages);
/** Sends dead letter `number` of the shard again, and tells the outcome. */
int cluster_dead_again(const cli_context *cli, const char *shard, const char *number, uint64_t timeout_ms);

#endif
