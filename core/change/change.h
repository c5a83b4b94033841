/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts another body into a kernel while clients use it: another handler (swap.c), or the same one on another device (move.c). Why it
 * goes this way: docs/adr/changing.md. "The lock" is kernel->lock.
 */
#ifndef GYRE_CORE_CHANGE_CHANGE_H
#define GYRE_CORE_CHANGE_CHANGE_H

#include "core/change/changing.h"

/** An error when no swap, or no move, of the kernel is possible at all: a stage of a pipeline, a kernel that does not run or has a canary. */
gyre_status gyre_change_check(gyre_kernel *kernel, bool moves);
/**
 * Carries a prepared change out. After a failure the old body works on, unless its device died too; the error says which. The caller
 * finishes the change in any case. `deadline_ns`: until when the kernel has to come to a message boundary.
 */
gyre_status gyre_change_run(struct gyre_kernel_change *change, uint64_t deadline_ns);
/** Frees what the change still owns: the body that is not in the kernel, but not a build whose types may be in use. */
void gyre_change_finish(struct gyre_kernel_change *change);

/**
 * Takes what the successor has built as the other body's build. A build that the kernel loaded from the same file of the cache onto the
 * same device, now or before a change, takes the place of the successor's, so that a file is loaded once.
 */
void gyre_change_adopt(struct gyre_kernel_change *change, gyre_kernel *successor);

/** The changes; the API's functions of the same names say what they do. One change of a kernel at a time. */
gyre_status gyre_change_swap(gyre_kernel *kernel, const char *source, uint64_t deadline_ns);
gyre_status gyre_change_swap_back(gyre_kernel *kernel, uint64_t deadline_ns);
gyre_status gyre_change_move(gyre_kernel *kernel, const char *backend, uint32_t device, uint64_t deadline_ns);

#endif
