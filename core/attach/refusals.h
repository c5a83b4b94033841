/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers which refusals of clients the server's log has told. A client that waits for its kernel asks again every
 * 0.2 s. The log gets one line for that client, and a further line when the reason changes or when the client was
 * attached in between.
 */
#ifndef GYRE_CORE_ATTACH_REFUSALS_H
#define GYRE_CORE_ATTACH_REFUSALS_H

#include <stdbool.h>
#include <stdint.h>

struct gyre_server;

enum { GYRE_REFUSALS_MAX = 128 };

/** The last GYRE_REFUSALS_MAX refusals; an older refusal is told again. Under server->lock. */
struct gyre_refusals {
    struct gyre_refusal {
        uint64_t who, why; /* hashes of the client's text and the reason's text; 0: the entry is free */
    } told[GYRE_REFUSALS_MAX];
    uint32_t next;
};

/** Whether the log has no line yet about this client and this reason. Notes that it has one now. Takes server->lock. */
bool gyre_refusals_are_new(struct gyre_server *server, const char *who, const char *why);
/** Forgets the refusals of a client that was attached: the log tells its next refusal again. Takes server->lock. */
void gyre_refusals_forget(struct gyre_server *server, const char *who);

#endif
