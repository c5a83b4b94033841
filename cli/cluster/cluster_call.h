/* SPDX-License-Identifier: Apache-2.0 */
/* What `gyre cluster call` and, with a [cluster], `gyre serve` do. */
#ifndef GYRE_CLI_CLUSTER_CLUSTER_CALL_H
#define GYRE_CLI_CLUSTER_CLUSTER_CALL_H

#include "cli/cli.h"

/** Sends requests in JSON to the owners of their keys and prints the replies. Returns an exit code. */
int cluster_call(const cli_context *cli, const char *source, const char *const *requests, size_t count,
                 uint64_t timeout_ms);
/** Is a member of the cluster of [cluster] with this kernel until `await_end` returns. */
int cluster_serve(const cli_context *cli, gyre_runtime *runtime, const char *source,
                  void (*await_end)(void *context), void *context);

#endif
