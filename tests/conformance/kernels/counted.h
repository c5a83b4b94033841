/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a kernel that makes many of one, and of one that neither replies nor sends: it counts them off, or writes them down. */
#ifndef GYRE_CONFORMANCE_COUNTED_H
#define GYRE_CONFORMANCE_COUNTED_H

#include <gyre/message.h>

/* `count` heads to make, with numbers from `first` on; each is written to its place in the words, if a buffer is named. */
#define HERD(FIELD) FIELD(gyre_handle, words) FIELD(u64, first) FIELD(u32, count)
GYRE_MESSAGE(herd, HERD)
#define HEAD(FIELD) FIELD(gyre_handle, words) FIELD(u64, number) FIELD(u64, place)
GYRE_MESSAGE(head, HEAD)
enum { HERD_MOST = 64, HEAD_FAILS = 1000000 };

#endif
