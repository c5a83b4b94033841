/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of links with levels. */
#ifndef GYRE_CONFORMANCE_LINK_LEVELS_H
#define GYRE_CONFORMANCE_LINK_LEVELS_H

#include <gyre/message.h>

/* `rank`: as how manieth the message was handled; of a wheel: how often it went round. */
#define PARCEL(FIELD) FIELD(u64, number) FIELD(u64, rank) FIELD(u32, level) FIELD(u32, reserved)
GYRE_MESSAGE(parcel, PARCEL)

/* What a kernel keeps: how many parcels it has read; the number of the parcel that it stopped at. */
#define COUNTED(FIELD) FIELD(u64, count)
GYRE_MESSAGE(counted, COUNTED)

enum { WHEEL_MOST = 20000 }; /* rounds after which a wheel gives up */

#endif
