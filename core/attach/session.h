/* SPDX-License-Identifier: Apache-2.0 */
/* One client's connection to a server (server.h): a thread that answers the client's packets. */
#ifndef GYRE_CORE_ATTACH_SESSION_H
#define GYRE_CORE_ATTACH_SESSION_H

#include "core/attach/server.h"

/**
 * The thread of a session, from the client's first packet to its end. It owns and frees the session (`argument`), and
 * counts it out of server->inside.
 */
void *gyre_session_main(void *argument);

#endif
