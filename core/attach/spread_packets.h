/* SPDX-License-Identifier: Apache-2.0 */
/* The packets about a kernel on several devices: the client asks once (SPREAD: the kernel's name), the server answers. */
#ifndef GYRE_CORE_ATTACH_SPREAD_PACKETS_H
#define GYRE_CORE_ATTACH_SPREAD_PACKETS_H

#include "core/api/spread.h"
#include "core/attach/meeting.h"

void gyre_spread_request_put(struct gyre_parcel *parcel, const char *kernel);
/** INVALID for a packet that makes no sense. */
gyre_status gyre_spread_request_get(struct gyre_parcel *parcel, char kernel[GYRE_MEETING_NAME_MAX]);
void gyre_spread_answer_put(struct gyre_parcel *parcel, const struct gyre_spread_view *view);
/** INTERNAL for a packet that makes no sense. */
gyre_status gyre_spread_answer_get(struct gyre_parcel *parcel, struct gyre_spread_view *out);
/** The refusal that gyre_meeting_refused reads. */
void gyre_spread_refusal_put(struct gyre_parcel *parcel, gyre_status status, const char *why);

#endif
