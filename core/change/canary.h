/* SPDX-License-Identifier: Apache-2.0 */
/* Tries another handler on a part of a kernel's messages before it gets all of them (canary.c). */
#ifndef GYRE_CORE_CHANGE_CANARY_H
#define GYRE_CORE_CHANGE_CANARY_H

#include "core/kernel/kernel.h"
#include "gyre/change.h"

enum gyre_canary_verdict {
    GYRE_CANARY_NO_WORSE,
    GYRE_CANARY_FAILS_MORE,
    GYRE_CANARY_SLOWER,
    GYRE_CANARY_DIED
};

/**
 * Compares what was seen of the two handlers (canary_judge.c). `final`: the last look; before it the new handler has to be worse by more,
 * because a few messages say little, and how long it takes is not compared at all. Has no state.
 */
enum gyre_canary_verdict gyre_canary_judge(const struct gyre_canary_seen *seen, bool final);

/**
 * The API's function of the same name says what it does. `gives_up`, called with `context` now and then, says why the canary is to end, or NULL;
 * itself it may be NULL. */
gyre_status gyre_change_canary(gyre_kernel *kernel, const char *source, const gyre_canary_desc *desc,
                               const char *(*gives_up)(void *context), void *context, uint64_t deadline_ns,
                               gyre_canary_report *report);
/** Ends the kernel's canary, if it has one, and waits until the old handler is back. */
gyre_status gyre_canary_end(gyre_kernel *kernel, uint64_t deadline_ns, bool *had_one);

#endif
