/* SPDX-License-Identifier: Apache-2.0 */
/* Answers programs that ask for a copy of a kernel's state (server.h: the session of a client). */
#ifndef GYRE_CORE_ATTACH_STATE_TOLD_H
#define GYRE_CORE_ATTACH_STATE_TOLD_H

#include "core/attach/server.h"

/**
 * Answers a program that asks for a copy of a kernel's state: sends the copy or a refusal. Gives up when the program
 * takes no packet in time.
 */
void gyre_session_tell_state(struct gyre_session *session, struct gyre_parcel *parcel);

#endif
