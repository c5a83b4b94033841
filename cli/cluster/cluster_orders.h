/* SPDX-License-Identifier: Apache-2.0 */
/* What `gyre cluster drain` and `gyre cluster move` do. Each returns an exit code. */
#ifndef GYRE_CLI_CLUSTER_CLUSTER_ORDERS_H
#define GYRE_CLI_CLUSTER_CLUSTER_ORDERS_H

#include "cli/cli.h"

/** Orders a member to give all its shards to the others, and waits until it owns none; `ends`: takes that order back. */
int cluster_drain(const cli_context *cli, const char *member, bool ends, uint64_t timeout_ms);
/** Orders a shard to a member, and waits until it works there, or that member says that it cannot take it; member NULL: takes that order back. */
int cluster_move(const cli_context *cli, const char *shard, const char *member, uint64_t timeout_ms);
/** Replaces orders that are damaged by none. */
int cluster_reset(const cli_context *cli, uint64_t timeout_ms);

#endif
