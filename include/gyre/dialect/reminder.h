/* SPDX-License-Identifier: Apache-2.0 */
/* What GYRE_REMINDED is given. One text for all dialects. */
#ifndef GYRE_DIALECT_REMINDER_H
#define GYRE_DIALECT_REMINDER_H

#include "gyre/types.h"

/** A reminder of a keyed actor's key. */
typedef struct gyre_reminder {
    /* When it was due, by the clock of gyre_time_ns; it comes then or later. As a gyre_i64 below 0: before this start of the machine. */
    gyre_u64 due_ns;
} gyre_reminder;

#endif
