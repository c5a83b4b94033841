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
 * cannot become the new one; UNIMPLEMENTED for kernels with ports; INVALID for a stage of a pipeline and for queues with `threads = one`; TIMEOUT when a handler did not return until
 * `deadline_ns`, or when that passed while the file was compiled: the kernel is not asked to stand still then; else the errors of a launch.
 */
GYRE_API gyre_status gyre_kernel_swap(gyre_kernel *kernel, const char *source, uint64_t deadline_ns);

/**
 * Brings the handler back that worked before the last gyre_kernel_swap, as it was compiled then, whatever its file says now. What was done
 * since stays: the state goes back as in a swap, so INCOMPATIBLE when it would lose a field. Called again, it brings the other handler back.
 * INVALID when the kernel was never swapped, or was moved to another device since; else as for gyre_kernel_swap.
 */
GYRE_API gyre_status gyre_kernel_swap_back(gyre_kernel *kernel, uint64_t deadline_ns);

/** How long a canary works when its description does not say. */
#define GYRE_CANARY_TIME_NS UINT64_C(10000000000)

/** A handler that is tried on a part of a kernel's messages. Zero-initialise, then set `size`. */
typedef struct gyre_canary_desc {
    uint32_t size;
    uint32_t share, of; /**< the new handler gets `share` of `of` messages, which is 2^20 at most: 1 of 16 */
    uint64_t time_ns;   /**< how long both work at most; 0: ten seconds */
    uint64_t messages;  /**< so many messages of the new handler are enough; 0: all of `time_ns` */
} gyre_canary_desc;

/** What was counted of both handlers. Set `size` before the call: as much is filled in. */
typedef struct gyre_canary_report {
    uint32_t size;
    uint32_t took_over;                 /**< 1: the new handler has all messages now */
    uint64_t handled, failed;           /**< by the old handler */
    uint64_t next_handled, next_failed; /**< by the new one */
    char text
        [512]; /**< a sentence with these numbers, and why the old handler goes on if it does; empty: nothing was tried */
    uint32_t
        was_worse; /**< 1: the old handler goes on because the new one was worse, or a worker process died meanwhile */
    uint32_t reserved;
} gyre_canary_report;

/**
 * As gyre_kernel_swap, but first a part of the messages alone goes to the new handler while the old one answers the others: of a keyed actor a
 * part of its keys, each with all its messages, of other kernels every so many messages. The new handler gets all of them when it failed no
 * larger share of its messages than chance explains, no worker process died meanwhile, and, in kernels with `timing`, it takes no more than
 * twice as long and a microsecond more; else the old one goes on, and the error is FAILED with the counts, which `report` has as well: a file that does not
 * compile is FAILED with an empty `text`, as after any other error. Returns when that is decided. `deadline_ns` is for the swap to both handlers; `time_ns` comes on top. What either of them
 * did stays. gyre_kernel_swap_back ends a canary before, and so does the end of the kernel (FAILED with a text); other swaps and moves fail with AGAIN meanwhile. UNIMPLEMENTED for kernels that keep
 * one state, or write buffers, for all messages, for hooks, actors and kernels that a header declares, and for files that `gyre compile`
 * made; INCOMPATIBLE when macros or headers of one file could mean another thing beside the other (docs/operations.md). `report` may be NULL.
 */
GYRE_API gyre_status gyre_kernel_swap_canary(gyre_kernel *kernel, const char *source,
                                             const gyre_canary_desc *desc, uint64_t deadline_ns,
                                             gyre_canary_report *report);

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

/**
 * Asks a server to try a handler on a part of a kernel's messages, as gyre_kernel_swap_canary does there, for a day at most. Where this
 * program ends before, the old handler goes on. `report`, which may be NULL, is filled in as there: FAILED with an empty `text` is a file that does
 * not compile, and FAILED with a text a canary that was tried. The deadline of `desc` is for the swap, and the time of the canary comes on top. The
 * rest is as for gyre_served_swap.
 */
GYRE_API gyre_status gyre_served_swap_canary(const char *kernel, const char *source,
                                             const gyre_canary_desc *canary, const gyre_attach_desc *desc,
                                             gyre_canary_report *report);

/** Asks a server to bring a kernel's handler back, as gyre_kernel_swap_back does there. The rest is as for gyre_served_swap. */
GYRE_API gyre_status gyre_served_swap_back(const char *kernel, const gyre_attach_desc *desc);

/** Asks a server to move a kernel, as gyre_kernel_move does there. The rest is as for gyre_served_swap. */
GYRE_API gyre_status gyre_served_move(const char *kernel, const char *backend, uint32_t device,
                                      const gyre_attach_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
