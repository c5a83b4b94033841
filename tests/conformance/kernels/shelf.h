/* SPDX-License-Identifier: Apache-2.0 */
/* A shelf is filled by one type of messages and looked at by another, whose handler changes nothing. */
#ifndef GYRE_CONFORMANCE_SHELF_H
#define GYRE_CONFORMANCE_SHELF_H

#include <gyre/message.h>

#define SHELF_PLACES 64

#define SHELF_PUT(FIELD) FIELD(u32, place) FIELD(u64, value)
GYRE_MESSAGE(shelf_put, SHELF_PUT)
#define SHELF_LOOK(FIELD) FIELD(u32, place)
GYRE_MESSAGE(shelf_look, SHELF_LOOK)
#define SHELF_SEEN(FIELD) FIELD(u64, value) FIELD(u64, puts)
GYRE_MESSAGE(shelf_seen, SHELF_SEEN)
#define SHELF_STATE(FIELD) FIELD(u64, puts)
GYRE_MESSAGE(shelf_state, SHELF_STATE)

#define SHELF(TAKES) TAKES(shelf_put, shelf_seen) TAKES(shelf_look, shelf_seen)
GYRE_PROTOCOL(shelf, SHELF)

/* The same for blocks: a type has one handler in a file. */
#define WIDE_PUT(FIELD) FIELD(u64, values[SHELF_PLACES])
GYRE_MESSAGE(wide_put, WIDE_PUT)
#define WIDE_LOOK(FIELD) FIELD(u32, place)
GYRE_MESSAGE(wide_look, WIDE_LOOK)
#define WIDE(TAKES) TAKES(wide_look, shelf_seen) TAKES(wide_put, shelf_seen)
GYRE_PROTOCOL(wide, WIDE)

#endif
