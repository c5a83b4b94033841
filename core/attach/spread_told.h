/* SPDX-License-Identifier: Apache-2.0 */
/* Tells programs which devices a kernel is on (server.h: the session of a client). */
#ifndef GYRE_CORE_ATTACH_SPREAD_TOLD_H
#define GYRE_CORE_ATTACH_SPREAD_TOLD_H

#include "core/attach/server.h"

/** Answers a program that wants to attach to a kernel on several devices, or refuses. Does not wait for the program. */
void gyre_session_tell_spread(struct gyre_session *session, struct gyre_parcel *parcel);

#endif
