/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of an operation, which its message holds. The core wrote them, and nothing of them is believed. */
#ifndef GYRE_CORE_WORKER_ARGUMENTS_H
#define GYRE_CORE_WORKER_ARGUMENTS_H

#include "core/parcel/parcel.h"

/** The next text of the message; "" where it has none. It lives as long as the message. */
const char *worker_text(struct gyre_parcel *parcel);
/** "The message makes no sense": INTERNAL. */
gyre_status worker_nonsense(void);

#endif
