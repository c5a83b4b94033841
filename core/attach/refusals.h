/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which refusals the server's log told. A client that waits for its kernel asks again every 0.2 s: the log has one line for it,
 * and another one when the reason changes, or when the client was attached in between.
 */
#ifndef GYRE_CORE_ATTACH_REFUSALS_H
#define GYRE_CORE_ATTACH_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

struct gyre_server;

enum { GYRE_REFUSALS_MAX = 128 };

/** The last ones; a client beyond these is told of anew. Under server->lock. */
struct gyre_refusals {
    struct gyre_refusal {
        uint64_t who, why; /* hashes of the texts; 0: none */
    } told[GYRE_REFUSALS_MAX];
    uint32_t next;
};

/** Whether the log has no line yet for that client and that reason; from now on it has. Takes server->lock. */
bool gyre_refusals_are_new(struct gyre_server *server, const char *who, const char *why);
/** The client is attached: what it is refused for later is told again. Takes server->lock. */
void gyre_refusals_forget(struct gyre_server *server, const char *who);

#endif
