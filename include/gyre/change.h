/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other handlers and other devices for kernels that are used (docs/operations.md), for applications and tools. Threads, errors and
 * stability as in gyre.h.
 */
#ifndef GYRE_CHANGE_H
#define GYRE_CHANGE_H

#include "gyre/attach.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Gives a kernel that is used the handler of another file ("FILE.gyre.c" or "FILE.gyre.c:KERNEL"), which is compiled and compared
 * while the old handler works. It takes over at a message boundary, with the state, buffers, queues, journals and attached
 * clients: each request is answered once, by one of the two. The state may have further fields, or be converted by
 * GYRE_MIGRATE(old, new) in the new file. After any failure the old handler works on, unless the error is LOST: INCOMPATIBLE for other messages, another form, or a state that
 * cannot become the new one; UNIMPLEMENTED for keyed actors and kernels with ports; INVALID for a stage of a pipeline and for queues with `threads = one`; TIMEOUT when a handler did not return until
 * `deadline_ns`; else the errors of a launch.
 */
GYRE_API gyre_status gyre_kernel_swap(gyre_kernel *kernel, const char *source, uint64_t deadline_ns);

/**
 * Brings the handler back that worked before the last gyre_kernel_swap, as it was compiled then, whatever its file says now. What was done
 * since stays: the state goes back as in a swap, so INCOMPATIBLE when it would lose a field. Called again, it brings the other handler back.
 * INVALID when the kernel was never swapped, or was moved to another device since; else as for gyre_kernel_swap.
 */
GYRE_API gyre_status gyre_kernel_swap_back(gyre_kernel *kernel, uint64_t deadline_ns);

/**
 * Takes a kernel that is used to another device, with its state, its buffers, its queues and attached clients, who see a pause. Its file is
 * compiled for that device while it works on. After any failure the kernel works on where it was, unless the error is LOST:
 * UNIMPLEMENTED when clients would have to wait in another way there (`isolation`, bells), for queues whose messages lie back to back, and as
 * for gyre_kernel_swap; INVALID when a buffer is bound to another kernel as well or named in messages, or for a file that `gyre compile`
 * made; INCOMPATIBLE when the file has changed since the launch; TIMEOUT as for gyre_kernel_swap.
 */
GYRE_API gyre_status gyre_kernel_move(gyre_kernel *kernel, const char *backend, uint32_t device,
                                      uint64_t deadline_ns);

/**
 * Asks a server to swap a kernel, as gyre_kernel_swap does there. The server reads `source`, whose path is taken from this program's
 * folder. Only the server's own user and root may ask, whoever may attach: INVALID for others. `desc` may be NULL; only its path and its
 * deadline count, which is also that of the swap (a minute at most; without one half a minute). Fails as gyre_attach and gyre_kernel_swap do.
 */
GYRE_API gyre_status gyre_served_swap(const char *kernel, const char *source, const gyre_attach_desc *desc);

/** Asks a server to bring a kernel's handler back, as gyre_kernel_swap_back does there. The rest is as for gyre_served_swap. */
GYRE_API gyre_status gyre_served_swap_back(const char *kernel, const gyre_attach_desc *desc);

/** Asks a server to move a kernel, as gyre_kernel_move does there. The rest is as for gyre_served_swap. */
GYRE_API gyre_status gyre_served_move(const char *kernel, const char *backend, uint32_t device,
                                      const gyre_attach_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
