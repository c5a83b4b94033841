/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches to the server that `gyre call --attach NAME` names. One thread. */
#ifndef GYRE_CLI_CALLS_CALL_ATTACH_H
#define GYRE_CLI_CALLS_CALL_ATTACH_H

#include "gyre/gyre.h"

/** After so long a person who watches is told what the command waits for. */
#define CALL_ATTACH_TOLD_MS 1000

/**
 * Attaches to a server's queue, and reconnects after a restart of the server. `path`: its socket. Waits for the server as long as
 * `timeout_ms` says; 0: for ever. Fails as gyre_attach does.
 */
gyre_status call_attach(const char *name, const char *path, uint64_t timeout_ms, gyre_queue **queue);

#endif
