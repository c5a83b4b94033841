/* SPDX-License-Identifier: Apache-2.0 */
/* Swaps and moves kernels for programs that ask for it (server.h: the session of a client). */
#ifndef GYRE_CORE_ATTACH_CHANGE_TOLD_H
#define GYRE_CORE_ATTACH_CHANGE_TOLD_H

#include "core/attach/server.h"

/** Changes a kernel as a program asks, if it is of the server's own user or of root, and tells the result. */
void gyre_session_change(struct gyre_session *session, struct gyre_parcel *parcel);

#endif
