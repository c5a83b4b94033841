/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the packets of spread_packets.h. Takes no lock. Believes no number and no text of a packet. */
#include "core/attach/spread_packets.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"

/* Copies the next text of a packet. False when it is too long, or not there. */
static bool take_text(struct gyre_parcel *parcel, char *out, size_t size)
{
    const char *text = gyre_parcel_get_text(parcel);
    const bool fits = text && strlen(text) < size;
    snprintf(out, size, "%s", fits ? text : "");
    return fits;
}

void gyre_spread_request_put(struct gyre_parcel *parcel, const char *kernel)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_SPREAD, GYRE_OK);
    gyre_parcel_put_text(parcel, kernel);
}

gyre_status gyre_spread_request_get(struct gyre_parcel *parcel, char kernel[GYRE_MEETING_NAME_MAX])
{
    if (take_text(parcel, kernel, GYRE_MEETING_NAME_MAX) && kernel[0] && gyre_parcel_whole(parcel))
        return GYRE_OK;
    return gyre_parcel_refuse(
        parcel, GYRE_INVALID,
        "a program that asked for the devices of a kernel sent a request that makes no sense");
}

void gyre_spread_answer_put(struct gyre_parcel *parcel, const struct gyre_spread_view *view)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_SPREAD, GYRE_OK);
    gyre_parcel_put_u64(parcel, view->rule);
    gyre_parcel_put_text(parcel, view->key);
    gyre_parcel_put_u64(parcel, view->count);
    for (uint32_t i = 0; i < view->count; i++)
        gyre_parcel_put_u64(parcel, view->devices[i]);
}

gyre_status gyre_spread_answer_get(struct gyre_parcel *parcel, struct gyre_spread_view *out)
{
    out->rule = (gyre_shard_rule)gyre_parcel_get_u32(parcel, GYRE_SHARD_ROUND_ROBIN);
    const bool told = take_text(parcel, out->key, sizeof out->key);
    out->count = gyre_parcel_get_u32(parcel, GYRE_SPREAD_DEVICES_MAX);
    for (uint32_t i = 0; i < out->count; i++)
        out->devices[i] = gyre_parcel_get_u32(parcel, UINT32_MAX);
    if (told && out->count > 0 && out->rule != GYRE_SHARD_DEFAULT &&
        (out->rule == GYRE_SHARD_KEY) == (out->key[0] != '\0') &&
        gyre_parcel_operation(parcel) == GYRE_PARCEL_SPREAD && gyre_parcel_whole(parcel))
        return GYRE_OK;
    return gyre_parcel_refuse(parcel, GYRE_INTERNAL,
                              "the server told the devices of a kernel in a way that makes no sense");
}

void gyre_spread_refusal_put(struct gyre_parcel *parcel, gyre_status status, const char *why)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_SPREAD, status);
    gyre_parcel_put_text(parcel, why);
}
