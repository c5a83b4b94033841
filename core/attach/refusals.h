/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers which refusals of clients the server's log has told. A client that waits for its kernel asks again every
 * 0.2 s. The log gets one line for that client, and a further line when the reason changes or when the client was
 * attached in between.
 */
#ifndef GYRE_CORE_ATTACH_REFUSALS_H
#define GYRE_CORE_ATTACH_REFUSALS_H

#include <stdbool.h>

#include "core/attach/server.h"

/** Whether the log has no line yet about this client and this reason. Notes that it has one now. Takes server->lock. */
bool gyre_refusals_are_new(struct gyre_server *server, const char *who, const char *why);
/** Forgets the refusals of a client that was attached: the log tells its next refusal again. Takes server->lock. */
void gyre_refusals_forget(struct gyre_server *server, const char *who);

#endif
