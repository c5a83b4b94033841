/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the arguments of an operation from its message (arguments.c). The core wrote the message, and the worker
 * still checks every value in it.
 */
#ifndef GYRE_CORE_WORKER_ARGUMENTS_H
#define GYRE_CORE_WORKER_ARGUMENTS_H

#include "core/parcel/parcel.h"

/** Reads the next text of the message; "" where the message has none. The text lives as long as the message. */
const char *worker_text(struct gyre_parcel *parcel);
/** Makes the error for a message that makes no sense. Returns INTERNAL. */
gyre_status worker_nonsense(void);

#endif
