/* SPDX-License-Identifier: Apache-2.0 */
/* Another handler for a kernel: built, compared, put in (swap.c). Under kernel->changer, unless a function says otherwise. */
#ifndef GYRE_CORE_CHANGE_SWAP_H
#define GYRE_CORE_CHANGE_SWAP_H

#include "core/kernel/kernel.h"
#include "core/pipeline/canary_unit.h"

enum gyre_swap_kind {
    GYRE_SWAP_PLAIN,
    GYRE_SWAP_CANARY /* the unit of a canary comes or goes: what it counts is its state, and nothing is remembered */
};

struct gyre_swap {
    gyre_kernel *successor; /* never listed nor started: it has a build and a record */
    enum gyre_swap_kind kind;
};

/**
 * Builds the handler of a file for the kernel, also together with the present one (`unit`, which has to live as long). `source` NULL: the
 * handler before the last swap, as it was built then. *out is the caller's, also after a failure: gyre_swap_discard.
 */
gyre_status gyre_swap_build(gyre_kernel *kernel, const char *source, const struct gyre_canary_unit *unit,
                            gyre_kernel **out);
/** The handler that the kernel has now. */
gyre_status gyre_swap_present(gyre_kernel *kernel, gyre_kernel **out);
/** Accepts NULL. Keeps the error. Any thread. */
void gyre_swap_discard(gyre_kernel *successor);

/** INCOMPATIBLE or UNIMPLEMENTED, and a sentence, unless the successor can take the kernel's place. *converts: its state is another one. */
gyre_status gyre_swap_check(const gyre_kernel *kernel, const gyre_kernel *successor, bool *converts);
/** Puts the successor into the kernel, or fails whole, as gyre_change_run. */
gyre_status gyre_swap_put(gyre_kernel *kernel, const struct gyre_swap *swap, uint64_t deadline_ns);

#endif
