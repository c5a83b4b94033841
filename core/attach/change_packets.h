/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of swaps and moves that other programs ask for: the client asks once (CHANGE), the server answers when it is done. */
#ifndef GYRE_CORE_ATTACH_CHANGE_PACKETS_H
#define GYRE_CORE_ATTACH_CHANGE_PACKETS_H

#include <limits.h>

#include "core/attach/meeting.h"
#include "gyre/change.h"

/** A server lets a canary work no longer. */
#define GYRE_CHANGE_CANARY_MAX_NS UINT64_C(86400000000000)

enum gyre_change_kind {
    GYRE_CHANGE_SWAP = 1,
    GYRE_CHANGE_MOVE = 2,
    GYRE_CHANGE_SWAP_BACK = 3,
    GYRE_CHANGE_CANARY = 4
};

/** What a program asks a server for. */
struct gyre_change_request {
    char kernel[GYRE_MEETING_NAME_MAX];
    enum gyre_change_kind kind;
    char what
        [PATH_MAX +
         GYRE_MEETING_NAME_MAX]; /* the source of a swap, an absolute path; the backend of a move; else empty */
    uint32_t device;             /* of a move */
    uint64_t time_ns;            /* until when a handler has to return, from now on */
    gyre_canary_desc canary;     /* of a canary; else zero */
};

void gyre_change_request_put(struct gyre_parcel *parcel, const struct gyre_change_request *request);
/** INVALID for a packet that makes no sense. */
gyre_status gyre_change_request_get(struct gyre_parcel *parcel, struct gyre_change_request *out);
/** The server's answer. `why`: of what failed; else empty. `report`: of a canary that was tried; else with an empty text. */
void gyre_change_answer_put(struct gyre_parcel *parcel, gyre_status status, const char *why,
                            const gyre_canary_report *report);
/** Reads what the answer tells of a canary, behind its `why`. Zero where the server tells nothing of it, or no sense. */
void gyre_change_report_get(struct gyre_parcel *parcel, gyre_canary_report *out);

#endif
