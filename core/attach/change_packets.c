/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the packets of swaps and moves (change_packets.h). Takes no lock. Believes no length and no text of a packet. */
#include "core/attach/change_packets.h"

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

void gyre_change_request_put(struct gyre_parcel *parcel, const struct gyre_change_request *request)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_CHANGE, GYRE_OK);
    gyre_parcel_put_text(parcel, request->kernel);
    gyre_parcel_put_u64(parcel, request->kind);
    gyre_parcel_put_text(parcel, request->what);
    gyre_parcel_put_u64(parcel, request->device);
    gyre_parcel_put_u64(parcel, request->time_ns);
    gyre_parcel_put_u64(parcel, request->canary.share);
    gyre_parcel_put_u64(parcel, request->canary.of);
    gyre_parcel_put_u64(parcel, request->canary.time_ns);
    gyre_parcel_put_u64(parcel, request->canary.messages);
}

gyre_status gyre_change_request_get(struct gyre_parcel *parcel, struct gyre_change_request *out)
{
    const bool named = take_text(parcel, out->kernel, sizeof out->kernel);
    out->kind = (enum gyre_change_kind)gyre_parcel_get_u32(parcel, GYRE_CHANGE_CANARY);
    const bool told = take_text(parcel, out->what, sizeof out->what);
    out->device = gyre_parcel_get_u32(parcel, UINT32_MAX);
    out->time_ns = gyre_parcel_get_u64(parcel);
    out->canary = (gyre_canary_desc){.size = sizeof out->canary};
    out->canary.share = gyre_parcel_get_u32(parcel, UINT32_MAX);
    out->canary.of = gyre_parcel_get_u32(parcel, UINT32_MAX);
    out->canary.time_ns = gyre_parcel_get_u64(parcel);
    out->canary.messages = gyre_parcel_get_u64(parcel);
    const bool known = out->kind >= GYRE_CHANGE_SWAP && out->kind <= GYRE_CHANGE_CANARY;
    const bool complete = out->what[0] != '\0' || out->kind == GYRE_CHANGE_SWAP_BACK;
    if (named && out->kernel[0] && told && known && complete && gyre_parcel_whole(parcel))
        return GYRE_OK;
    return gyre_parcel_refuse(parcel, GYRE_INVALID,
                              "a program that wanted to change a kernel sent a request that makes no sense");
}

void gyre_change_answer_put(struct gyre_parcel *parcel, gyre_status status, const char *why,
                            const gyre_canary_report *report)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_CHANGE, status);
    gyre_parcel_put_text(parcel, why);
    gyre_parcel_put_text(parcel, report->text);
    gyre_parcel_put_u64(parcel, report->took_over);
    gyre_parcel_put_u64(parcel, report->was_worse);
    gyre_parcel_put_u64(parcel, report->handled);
    gyre_parcel_put_u64(parcel, report->failed);
    gyre_parcel_put_u64(parcel, report->next_handled);
    gyre_parcel_put_u64(parcel, report->next_failed);
}

void gyre_change_report_get(struct gyre_parcel *parcel, gyre_canary_report *out)
{
    gyre_canary_report told = {.size = out->size};
    const bool fits = take_text(parcel, told.text, sizeof told.text);
    told.took_over = gyre_parcel_get_u32(parcel, 1);
    told.was_worse = gyre_parcel_get_u32(parcel, 1);
    told.handled = gyre_parcel_get_u64(parcel);
    told.failed = gyre_parcel_get_u64(parcel);
    told.next_handled = gyre_parcel_get_u64(parcel);
    told.next_failed = gyre_parcel_get_u64(parcel);
    *out = fits && gyre_parcel_whole(parcel) ? told : (gyre_canary_report){.size = out->size};
}
