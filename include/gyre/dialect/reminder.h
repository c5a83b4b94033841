/* SPDX-License-Identifier: Apache-2.0 */
/* What GYRE_REMINDED is given. One text for all dialects. */
#ifndef GYRE_DIALECT_REMINDER_H
#define GYRE_DIALECT_REMINDER_H

#include "gyre/types.h"

/** A reminder of a keyed actor's key. */
typedef struct gyre_reminder {
    gyre_u64 due_ns; /* when it was due, by the clock of gyre_time_ns; it comes then or later */
} gyre_reminder;

#endif
