/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attaches to a kernel on several devices (the server's side: spread_told.c): asks which devices it is on, attaches to each part, and
 * joins the queues. Takes no lock. The server's word decides only which names are asked for and which queue a message goes to.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/attach/spread_packets.h"
#include "core/base/error.h"
#include "core/links/shards_join.h"
#include "gyre/waiting.h"

enum { ASK_MS = 5000 };

/* A name as gyre_attach takes it: KERNEL, and "/QUEUE" or "". */
struct attached_name {
    char kernel[GYRE_MEETING_NAME_MAX];
    const char *queue;
};

static gyre_status ask(struct gyre_parcel *parcel, const char *kernel, int socket, const char *path,
                       uint64_t deadline_ns, struct gyre_spread_view *view)
{
    gyre_spread_request_put(parcel, kernel);
    gyre_status status = gyre_parcel_send(parcel, socket, deadline_ns);
    if (status == GYRE_OK)
        status = gyre_parcel_receive(parcel, socket, deadline_ns);
    if (status != GYRE_OK)
        return gyre_error_add(status, "the answer of the server at %s", path);
    return gyre_parcel_status(parcel) == GYRE_OK ? gyre_spread_answer_get(parcel, view)
                                                 : gyre_meeting_refused(parcel);
}

static gyre_status ask_server(const char *kernel, const gyre_attach_desc *desc, struct gyre_spread_view *view)
{
    char path[GYRE_PLACE_MAX];
    int socket = -1;
    struct gyre_parcel parcel;
    gyre_status status = gyre_place_find(desc->path, false, path);
    if (status == GYRE_OK)
        status = gyre_place_socket(&socket);
    if (status != GYRE_OK)
        return status;
    status = gyre_place_connect(path, desc->deadline_ns, socket);
    if (status == GYRE_OK)
        status = gyre_parcel_init(&parcel);
    if (status == GYRE_OK) {
        status = ask(&parcel, kernel, socket, path, desc->deadline_ns, view);
        gyre_parcel_finish(&parcel);
    }
    close(socket);
    return status;
}

static void close_queues(gyre_queue *const *queues, uint32_t count)
{
    gyre_error_hold();
    for (uint32_t i = 0; i < count; i++)
        gyre_queue_close(queues[i]);
    gyre_error_let_go();
}

static gyre_status join(const struct attached_name *name, const struct gyre_spread_view *view,
                        gyre_queue *const *queues, gyre_shards **out)
{
    struct gyre_message_key key = {.path = ""};
    const gyre_type *request, *reply;
    gyre_queue_types(queues[0], &request, &reply);
    const gyre_status status =
        view->rule == GYRE_SHARD_KEY ? gyre_message_key_find(request, view->key, &key) : GYRE_OK;
    if (status != GYRE_OK)
        return gyre_error_add(status, "the key of kernel '%s', as the server told it", name->kernel);
    return gyre_shards_join(&(struct gyre_shards_joined){.name = name->kernel,
                                                         .queues = queues,
                                                         .count = view->count,
                                                         .rule = view->rule,
                                                         .key = &key,
                                                         .owned = true},
                            out);
}

static gyre_status attach_all(const struct attached_name *name, const gyre_attach_desc *desc,
                              const struct gyre_spread_view *view, gyre_shards **out)
{
    gyre_queue *queues[GYRE_SPREAD_DEVICES_MAX];
    char part[GYRE_MEETING_NAME_MAX + 16];
    gyre_status status = GYRE_OK;
    uint32_t attached = 0;
    while (status == GYRE_OK && attached < view->count) {
        snprintf(part, sizeof part, "%s#%u%s", name->kernel, view->devices[attached], name->queue);
        status = gyre_attach(part, desc, &queues[attached]);
        attached += status == GYRE_OK;
    }
    if (status == GYRE_OK)
        status = join(name, view, queues, out);
    if (status != GYRE_OK)
        close_queues(queues, attached);
    return status;
}

static gyre_status split_name(const char *given, struct attached_name *name)
{
    const size_t length = strcspn(given, "/");
    if (strlen(given) >= sizeof name->kernel)
        return gyre_error_set(GYRE_INVALID, "no kernel has a name of %zu characters", strlen(given));
    snprintf(name->kernel, sizeof name->kernel, "%.*s", (int)length, given);
    name->queue = given + length;
    return GYRE_OK;
}

gyre_status gyre_attach_shards(const char *name, const gyre_attach_desc *desc, gyre_shards **out)
{
    gyre_attach_desc given = {.size = sizeof given};
    struct attached_name split;
    struct gyre_spread_view view = {.count = 0};
    if (!name || !name[0] || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_attach_shards", {"name", name && name[0]}, {"out", out},
                              GYRE_SIZED_OR_NULL(desc));
    *out = NULL;
    if (desc)
        memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    given.size = sizeof given;
    if (given.reconnect || given.client)
        return gyre_error_set(
            GYRE_INVALID,
            "gyre_attach_shards: `reconnect` and `client` are for one queue; attach to the parts of '%s' one by "
            "one (gyre_attach) for these",
            name);
    given.deadline_ns = given.deadline_ns ? given.deadline_ns : gyre_in_ms(ASK_MS);
    gyre_status status = split_name(name, &split);
    if (status == GYRE_OK)
        status = ask_server(split.kernel, &given, &view);
    return status == GYRE_OK ? attach_all(&split, &given, &view, out) : status;
}
