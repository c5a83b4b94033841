/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kernel or the pipeline that a client asks for (server.h: the session of a client). */
#ifndef GYRE_CORE_ATTACH_SESSION_KERNEL_H
#define GYRE_CORE_ATTACH_SESSION_KERNEL_H

#include "core/attach/server.h"

/**
 * Has the session visit the kernel of that name, so that the kernel is not freed meanwhile. NOT_FOUND.
 *
 */
gyre_status gyre_session_visit(struct gyre_session *session, const char *kernel);

/**
 * Has the session visit the open pipeline of the request's name, which is PIPELINE or PIPELINE/ENTRY, if there is one. A pipeline
 * is found before a kernel of the same name. *entry: ENTRY, a copy in the request, else NULL.
 */
bool gyre_session_find_pipeline(struct gyre_session *session, struct gyre_attach_request *request,
                                const char **entry);

/** INVALID where the client asks for more slots than the server allows. */
gyre_status gyre_session_check_wishes(const struct gyre_session *session,
                                      const struct gyre_attach_request *request);

/**
 * Visits the kernel of the request's name, which is KERNEL or KERNEL/QUEUE; the slash is replaced by a NUL. *section:
 * QUEUE, else KERNEL. NOT_FOUND where the server has no such kernel or no section of that queue; INVALID where the
 * client asks for more slots than the server allows.
 */
gyre_status gyre_session_find_kernel(struct gyre_session *session, struct gyre_attach_request *request,
                                     const char **section);

#endif
