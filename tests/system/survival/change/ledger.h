/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the kernels that are swapped and moved in test_changes.c. */
#ifndef LEDGER_H
#define LEDGER_H

#include <gyre/message.h>

#define ENTRY(FIELD) FIELD(u64, add)
GYRE_MESSAGE(entry, ENTRY)
/* `count` is the number of the message among all that the kernel ever handled: none comes twice, none is left out. */
#define RECEIPT(FIELD) FIELD(u64, count) FIELD(u64, sum) FIELD(u64, add) FIELD(u64, version)
GYRE_MESSAGE(receipt, RECEIPT)

/* For a kernel that reads the first word of a buffer. */
#define PLACE(FIELD) FIELD(gyre_handle, words)
GYRE_MESSAGE(place, PLACE)

#endif
