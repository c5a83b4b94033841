/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a server for a copy of a kernel's state, and reads it (the server's side: state_told.c). Takes no lock. Must
 * not believe the packets: the fields of the state's type say how many bytes must come, and no other number of bytes
 * is taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/types/types.h"
#include "gyre/waiting.h"

enum { ASK_MS = 5000, ASK_DOUBLINGS = 4 };
/* the first pause before a server without room is asked again; later pauses grow to 16 times this */
#define ASK_AGAIN_NS UINT64_C(5000000)

struct gyre_state_copy {
    struct gyre_kept_block *types;
    const gyre_type *type;
    unsigned char *bytes;
};

/* What is asked for: the state of a kernel, or of one of its keys. */
struct wish {
    const char *kernel;
    const char *key; /* NULL: of the kernel */
};

static gyre_status take_type(struct gyre_parcel *parcel, gyre_state_copy *copy)
{
    gyre_layout *layout = NULL;
    gyre_status status = gyre_state_answer_get(parcel, &copy->type, &copy->types);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(copy->type, GYRE_STATE_MAX, &layout);
    gyre_layout_destroy(layout);
    if (status != GYRE_OK)
        return gyre_error_add(status, "the type of the kernel's state, as the server told it");
    copy->bytes = malloc(copy->type->size);
    return copy->bytes ? GYRE_OK
                       : gyre_error_set(GYRE_EXHAUSTED, "no memory for a state of %llu bytes",
                                        (unsigned long long)copy->type->size);
}

static gyre_status take_bytes(struct gyre_parcel *parcel, int socket, uint64_t deadline_ns,
                              gyre_state_copy *copy)
{
    gyre_status status = GYRE_OK;
    for (uint64_t at = 0; status == GYRE_OK && at < copy->type->size; at += GYRE_STATE_PIECE) {
        const uint64_t left = copy->type->size - at;
        status = gyre_parcel_receive(parcel, socket, deadline_ns);
        if (status != GYRE_OK)
            break;
        gyre_parcel_get(parcel, copy->bytes + at, left < GYRE_STATE_PIECE ? left : GYRE_STATE_PIECE);
        if (gyre_parcel_operation(parcel) != GYRE_PARCEL_STATE || !gyre_parcel_whole(parcel))
            status = gyre_parcel_refuse(parcel, GYRE_INTERNAL,
                                        "the server told a kernel's state in packets that make no sense");
    }
    return status;
}

static gyre_status tell_unanswered(const char *path, gyre_status status)
{
    if (status == GYRE_TIMEOUT)
        return gyre_error_set(status, "the server at %s did not tell the state in time", path);
    if (status == GYRE_LOST)
        return gyre_error_set(status,
                              "the server at %s hung up before the state was told: it ended, or has no room "
                              "for one more program, which its log says then",
                              path);
    return gyre_error_add(status, "the answer of the server at %s", path);
}

/* Asks the server once. *again: the server has no room at this moment for a further program or a further reader. */
static gyre_status ask(struct gyre_parcel *parcel, const struct wish *wish, int socket, const char *path,
                       uint64_t deadline_ns, gyre_state_copy *copy, bool *again)
{
    gyre_state_request_put(parcel, wish->kernel, wish->key);
    gyre_status status = gyre_parcel_send(parcel, socket, deadline_ns);
    if (status == GYRE_OK)
        status = gyre_parcel_receive(parcel, socket, deadline_ns);
    *again = status == GYRE_LOST || (status == GYRE_OK && gyre_parcel_status(parcel) == GYRE_EXHAUSTED);
    if (status != GYRE_OK)
        return gyre_error_add_overdue(tell_unanswered(path, status), deadline_ns);
    if (gyre_parcel_status(parcel) != GYRE_OK)
        return gyre_meeting_refused(parcel);
    status = take_type(parcel, copy);
    if (status != GYRE_OK)
        return status;
    status = take_bytes(parcel, socket, deadline_ns, copy);
    return status == GYRE_OK ? GYRE_OK : gyre_error_add_overdue(tell_unanswered(path, status), deadline_ns);
}

static gyre_status fetch_once(const struct wish *wish, const char *path, uint64_t deadline_ns,
                              gyre_state_copy *copy, bool *again)
{
    int socket = -1;
    struct gyre_parcel parcel;
    *again = false;
    gyre_status status = gyre_place_socket(&socket);
    if (status != GYRE_OK)
        return status;
    status = gyre_place_connect(path, deadline_ns, socket);
    if (status == GYRE_OK)
        status = gyre_parcel_init(&parcel);
    if (status == GYRE_OK) {
        status = ask(&parcel, wish, socket, path, deadline_ns, copy, again);
        gyre_parcel_finish(&parcel);
    }
    close(socket);
    return status;
}

static void wait_for_room(int tries, uint64_t deadline_ns)
{
    const uint64_t now = gyre_clock_ns(), left = deadline_ns > now ? deadline_ns - now : 0,
                   nap = ASK_AGAIN_NS << (tries < ASK_DOUBLINGS ? tries : ASK_DOUBLINGS);
    const struct timespec pause = gyre_clock_timespec(nap < left ? nap : left);
    nanosleep(&pause, NULL);
}

/*
 * Asks a server without room again until the deadline, as gyre_attach does. The error at the deadline is the server's
 * last refusal, also when the server has gone since.
 */
static gyre_status fetch(const struct wish *wish, const gyre_attach_desc *desc, gyre_state_copy *copy)
{
    char path[GYRE_PLACE_MAX], why[512];
    const uint64_t deadline = desc->deadline_ns ? desc->deadline_ns : gyre_in_ms(ASK_MS);
    bool again = false;
    gyre_status status = gyre_place_find(desc->path, false, path);
    if (status == GYRE_OK)
        status = fetch_once(wish, path, deadline, copy, &again);
    for (int tries = 0; again && gyre_clock_ns() < deadline; tries++) {
        const gyre_status before = status;
        snprintf(why, sizeof why, "%s", gyre_error_text());
        wait_for_room(tries, deadline);
        status = fetch_once(wish, path, deadline, copy, &again);
        if (status == GYRE_UNAVAILABLE || (status == GYRE_TIMEOUT && !copy->bytes))
            return gyre_error_set(before, "%s", why);
    }
    return status;
}

static gyre_status copy_wish(const struct wish *wish, const gyre_attach_desc *desc, gyre_state_copy **out)
{
    gyre_attach_desc given = {.size = sizeof given};
    *out = NULL;
    if (desc)
        memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    if (strlen(wish->kernel) >= GYRE_MEETING_NAME_MAX)
        return gyre_error_set(GYRE_INVALID, "no kernel has a name of %zu characters", strlen(wish->kernel));
    if (wish->key && strlen(wish->key) >= GYRE_MEETING_KEY_MAX)
        return gyre_error_set(GYRE_INVALID, "no key is a text of %zu characters", strlen(wish->key));
    gyre_state_copy *copy = calloc(1, sizeof *copy);
    if (!copy)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the copy of a state");
    gyre_status status = fetch(wish, &given, copy);
    if (status == GYRE_OK)
        *out = copy;
    else
        gyre_state_copy_release(copy);
    return status;
}

gyre_status gyre_state_copy_get(const char *kernel, const gyre_attach_desc *desc, gyre_state_copy **out)
{
    if (!kernel || !kernel[0] || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_state_copy_get", {"kernel", kernel && kernel[0]}, {"out", out},
                              GYRE_SIZED_OR_NULL(desc));
    return copy_wish(&(struct wish){kernel, NULL}, desc, out);
}

gyre_status gyre_key_state_copy_get(const char *kernel, const char *key, const gyre_attach_desc *desc,
                                    gyre_state_copy **out)
{
    if (!kernel || !kernel[0] || !key || !out || (desc && desc->size < sizeof desc->size))
        return GYRE_ARGUMENTS("gyre_key_state_copy_get", {"kernel", kernel && kernel[0]}, {"key", key},
                              {"out", out}, GYRE_SIZED_OR_NULL(desc));
    return copy_wish(&(struct wish){kernel, key}, desc, out);
}

const gyre_type *gyre_state_copy_type(const gyre_state_copy *copy)
{
    return copy ? copy->type : NULL;
}

const void *gyre_state_copy_bytes(const gyre_state_copy *copy)
{
    return copy ? copy->bytes : NULL;
}

void gyre_state_copy_release(gyre_state_copy *copy)
{
    if (!copy)
        return;
    gyre_kept_release(&copy->types);
    free(copy->bytes);
    free(copy);
}
