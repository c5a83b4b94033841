/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre_attach and gyre_queue_types. gyre_attach checks its arguments and leaves the rest to client.c (a queue at one
 * server) or to lasting_attach.c (a queue that outlasts its servers).
 *
 * Has no state and takes no lock.
 */
#include <string.h>

#include "core/attach/attachment.h"
#include "core/attach/lasting.h"
#include "core/attach/lasting_attach.h"
#include "core/base/error.h"
#include "core/plan/queue_plan.h"
#include "core/queue/foreign.h"
#include "core/queue/view.h"

gyre_status gyre_attach(const char *name, const gyre_attach_desc *desc, gyre_queue **out)
{
    gyre_attach_desc given = {.size = sizeof given};
    if (!name || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_attach", {"name", name}, {"out", out}, GYRE_SIZED_OR_NULL(desc));
    *out = NULL;
    if (desc)
        memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    if (!name[0] || name[0] == '/' || name[strlen(name) - 1] == '/')
        return gyre_error_set(name[0] ? GYRE_NOT_FOUND : GYRE_INVALID,
                              "gyre_attach: '%s' is no name: expected that of a kernel, or KERNEL/QUEUE",
                              name);
    if (strlen(name) >= GYRE_MEETING_NAME_MAX)
        return gyre_error_set(GYRE_INVALID, "no kernel has a name of %zu characters", strlen(name));
    if (given.client && strlen(given.client) >= GYRE_CLIENT_NAME_MAX)
        return gyre_error_set(GYRE_INVALID, "a client's name has at most %d characters, found %zu",
                              GYRE_CLIENT_NAME_MAX - 1, strlen(given.client));
    if (given.client && !given.client[0])
        return gyre_error_set(GYRE_INVALID,
                              "gyre_attach to '%s': client is \"\": expected a name, or NULL for none", name);
    if (given.capacity & (given.capacity - 1))
        return gyre_error_set(
            GYRE_INVALID,
            "gyre_attach to '%s': capacity must be a power of two (1, 2, 4, ..., 1024, ...), found %llu",
            name, (unsigned long long)given.capacity);
    gyre_status status = gyre_queue_plan_check_choices(given.policy, given.idle);
    if (status != GYRE_OK)
        return gyre_error_add(status, "gyre_attach to '%s'", name);
    if (given.reconnect)
        return gyre_lasting_attach(name, &given, out);
    struct gyre_attachment *attachment = NULL;
    struct gyre_met met;
    status = gyre_attachment_make(name, &given, 0, &met, &attachment);
    if (status == GYRE_OK)
        *out = attachment->queue;
    return status;
}

void gyre_queue_types(const gyre_queue *queue, const gyre_type **request, const gyre_type **reply)
{
    const struct gyre_attachment *attachment =
        queue && gyre_foreign_of(queue)->detach ? gyre_foreign_of(queue)->attachment : NULL;
    const struct gyre_queue_view *view = queue && !attachment ? gyre_view_of(queue) : NULL;
    if (request)
        *request = attachment ? attachment->request : view ? view->request : NULL;
    if (reply)
        *reply = attachment ? attachment->reply : view ? view->reply : NULL;
}
