/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the packets of a subscription (meeting.h). Takes no lock. Must not believe a packet from the other side. */
#include <stdio.h>
#include <string.h>

#include "core/attach/meeting.h"
#include "core/base/error.h"

void gyre_subscribe_request_put(struct gyre_parcel *parcel, const struct gyre_subscribe_request *request)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_SUBSCRIBE, GYRE_OK);
    gyre_parcel_put_text(parcel, request->name);
    gyre_parcel_put_u64(parcel, (uint64_t)request->slow);
    gyre_parcel_put_u64(parcel, request->capacity);
}

gyre_status gyre_subscribe_request_get(struct gyre_parcel *parcel, struct gyre_subscribe_request *out)
{
    const char *name = gyre_parcel_get_text(parcel);
    const bool named = name && name[0] && strlen(name) < sizeof out->name;
    snprintf(out->name, sizeof out->name, "%s", named ? name : "");
    out->slow = (gyre_slow)gyre_parcel_get_u32(parcel, GYRE_SLOW_CUT);
    out->capacity = gyre_parcel_get_u64(parcel);
    if (named && gyre_parcel_whole(parcel) && !(out->capacity & (out->capacity - 1)))
        return GYRE_OK;
    return gyre_parcel_refuse(parcel, GYRE_INVALID,
                              "a program that wanted to subscribe sent a request that makes no sense");
}

void gyre_subscribe_answer_put(struct gyre_parcel *parcel, const char *name, const gyre_type *type)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_SUBSCRIBE, GYRE_OK);
    gyre_parcel_put_text(parcel, name);
    gyre_type_put(parcel, type);
}

gyre_status gyre_subscribe_answer_get(struct gyre_parcel *parcel, char name[GYRE_MEETING_NAME_MAX],
                                      const gyre_type **out, struct gyre_kept_block **types)
{
    const char *told = gyre_parcel_get_text(parcel);
    const bool named = told && strlen(told) < GYRE_MEETING_NAME_MAX;
    snprintf(name, GYRE_MEETING_NAME_MAX, "%s", named ? told : "");
    *out = gyre_type_get(parcel, types);
    if (*out && named && gyre_parcel_operation(parcel) == GYRE_PARCEL_SUBSCRIBE && gyre_parcel_whole(parcel))
        return GYRE_OK;
    return gyre_parcel_refuse(parcel, GYRE_INTERNAL,
                              "the server described the topic in a way that makes no sense");
}

void gyre_published_put(struct gyre_parcel *parcel, const struct gyre_published *published,
                        const void *message)
{
    gyre_parcel_put_u64(parcel, published->missed);
    gyre_parcel_put_u64(parcel, published->length);
    gyre_parcel_put(parcel, message, published->length);
}

bool gyre_published_get(struct gyre_parcel *parcel, uint64_t most, struct gyre_published *out)
{
    out->missed = gyre_parcel_get_u64(parcel);
    out->length = gyre_parcel_get_u64(parcel);
    return !parcel->broken && out->length <= most;
}

void gyre_publishing_end_put(struct gyre_parcel *parcel, const struct gyre_publishing_end *end)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_ENDED, GYRE_CLOSED);
    gyre_parcel_put_text(parcel, end->why);
    gyre_parcel_put_u64(parcel, end->missed);
    gyre_parcel_put_u64(parcel, end->is_cut);
}

struct gyre_publishing_end gyre_publishing_end_get(struct gyre_parcel *parcel)
{
    struct gyre_publishing_end end = {.why = gyre_parcel_get_text(parcel)};
    end.missed = gyre_parcel_get_u64(parcel);
    end.is_cut = gyre_parcel_get_u32(parcel, 1) != 0;
    if (!end.why || !end.why[0])
        end.why = "the server gave no reason";
    return end;
}
