/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One opened device, and one wrapper for each operation of the backend's table (contracts in backend.h).
 *
 * The wrappers serialise what the table does not allow from any thread (one lock per device), give absent
 * optional operations their default, put backend and operation on the error stack, and turn what a faulty
 * plugin may do (fail without a sentence, set *out and fail, succeed without *out, return no status of
 * status.h) into an INTERNAL error with a sentence. Nobody else calls a plugin's operations.
 *
 * Objects of a device (modules, queues, memories, residents) must be released before its last reference is
 * closed; release wrappers accept NULL. Threads: any, for all of it, an object not being used while released.
 */
#ifndef GYRE_CORE_DISPATCH_DISPATCH_H
#define GYRE_CORE_DISPATCH_DISPATCH_H

#include "core/loader/host.h"
#include "core/registry/registry.h"
#include "gyre/backend.h"

/** One opened device of one backend. */
struct gyre_dispatch;

/**
 * Loads the candidate's plugin and opens device `ordinal`. The candidate's strings are copied; it need not
 * have been judged. `log` may be NULL; it may be called from any thread until the device is closed.
 * INVALID when the plugin has no such device, or what the plugin answers.
 * Owner of *out: the caller, who holds the first reference, until gyre_dispatch_close.
 */
gyre_status gyre_dispatch_open(const struct gyre_candidate *candidate, uint32_t ordinal,
                               gyre_log_function *log, void *log_context, struct gyre_dispatch **out);
/** One more reference; returns `dispatch`. */
struct gyre_dispatch *gyre_dispatch_retain(struct gyre_dispatch *dispatch);
/** Gives one reference back; the last one closes the device. Accepts NULL. */
void gyre_dispatch_close(struct gyre_dispatch *dispatch);

/** The backend's name as configured ("cpu"), and the plugin's version. Live as long as the dispatch. */
const char *gyre_dispatch_backend(const struct gyre_dispatch *dispatch);
const char *gyre_dispatch_build(const struct gyre_dispatch *dispatch);
/** As the device told when it was opened; checked: limits are at least 1, strings end. Does not change. */
const gyre_device_info *gyre_dispatch_device_info(const struct gyre_dispatch *dispatch);

/** Blocks of a kernel's launch that does not say how many, where other kernels of the device have `held`. */
uint32_t gyre_dispatch_blocks_default(const struct gyre_dispatch *dispatch, const gyre_kernel_record *record,
                                      uint32_t held);

/* Devices in a worker process (isolation = process); the contracts are those of core/isolation/proxy.h and revival.h. */

bool gyre_dispatch_isolated(const struct gyre_dispatch *dispatch);
void gyre_dispatch_guard(struct gyre_dispatch *dispatch, bool (*lost)(void *context), void *context);
void gyre_dispatch_bury(struct gyre_dispatch *dispatch);
gyre_status gyre_dispatch_revive(struct gyre_dispatch *dispatch);
bool gyre_dispatch_pause(struct gyre_dispatch *dispatch, uint64_t length_ns);
bool gyre_dispatch_watch(struct gyre_dispatch *dispatch, uint64_t deadline_ns);
void gyre_dispatch_kill(struct gyre_dispatch *dispatch, const char *reason);
void gyre_dispatch_reason(struct gyre_dispatch *dispatch, char *text, size_t size);
/** Whether what was launched can still be running: always, unless its worker process died. */
bool gyre_dispatch_is_current(struct gyre_dispatch *dispatch, const gyre_resident *resident);
/** Another worker process is ready to take over. */
bool gyre_dispatch_stands_by(const struct gyre_dispatch *dispatch);
/** Where the device sees a queue now; of isolated devices. */
uint64_t gyre_dispatch_queue_address(const struct gyre_dispatch *dispatch, const gyre_queue_memory *memory);

/* The operations. Descriptor sizes are set by the caller, as everywhere. */
gyre_status gyre_dispatch_compile(struct gyre_dispatch *dispatch, const gyre_compile_desc *desc);
gyre_status gyre_dispatch_module_load(struct gyre_dispatch *dispatch, const gyre_module_desc *desc,
                                      gyre_module **out);
/** NOT_FOUND past the last kernel. The record is checked: no pointer in it that must not be NULL is. */
gyre_status gyre_dispatch_module_kernel(struct gyre_dispatch *dispatch, gyre_module *module, uint32_t index,
                                        gyre_kernel_record *record);
void gyre_dispatch_module_release(struct gyre_dispatch *dispatch, gyre_module *module);
gyre_status gyre_dispatch_queue_alloc(struct gyre_dispatch *dispatch, const gyre_queue_memory_desc *desc,
                                      gyre_queue_memory **out, uint64_t *device_address);
void gyre_dispatch_queue_release(struct gyre_dispatch *dispatch, gyre_queue_memory *memory);
gyre_status gyre_dispatch_memory_alloc(struct gyre_dispatch *dispatch, uint64_t byte_count,
                                       gyre_memory **out);
void gyre_dispatch_memory_release(struct gyre_dispatch *dispatch, gyre_memory *memory);
gyre_status gyre_dispatch_transfer(struct gyre_dispatch *dispatch, const gyre_transfer_desc *desc);
gyre_status gyre_dispatch_launch(struct gyre_dispatch *dispatch, gyre_module *module,
                                 const gyre_resident_desc *desc, gyre_resident **out);
gyre_status gyre_dispatch_wait(struct gyre_dispatch *dispatch, gyre_resident *resident, uint64_t deadline_ns);
/** OK where the backend has no such operation: its device watches the control word. */
bool gyre_dispatch_has_notify(const struct gyre_dispatch *dispatch);
gyre_status gyre_dispatch_notify(struct gyre_dispatch *dispatch, gyre_resident *resident);
void gyre_dispatch_release(struct gyre_dispatch *dispatch, gyre_resident *resident);
/** UNIMPLEMENTED where messages cannot name buffers. */
gyre_status gyre_dispatch_memory_address(struct gyre_dispatch *dispatch, gyre_memory *memory,
                                         uint64_t *address);
/** Whether the backend copies within the device: only then the next one is of use. */
bool gyre_dispatch_can_copy(const struct gyre_dispatch *dispatch);
gyre_status gyre_dispatch_memory_copy(struct gyre_dispatch *dispatch, const gyre_copy_desc *desc);

#endif
