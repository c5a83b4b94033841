/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens devices, and calls the operations of a backend's table through wrappers, one for each operation (dispatch.c;
 * the operations' contracts are in backend.h). No other file calls a plugin's operations.
 *
 * A wrapper serialises calls that the table does not allow from any thread (one lock per device). It gives an absent
 * optional operation its default, and puts backend and operation on the error stack. A faulty plugin may fail without
 * a sentence, set *out and fail, succeed without *out, or return no status of status.h: the wrapper turns this into
 * an INTERNAL error with a sentence.
 *
 * Objects of a device (modules, queues, memories, residents) must be released before the device's last reference is
 * closed. Release wrappers accept NULL. Threads: any, but an object must not be used while it is released.
 */
#ifndef GYRE_CORE_DISPATCH_DISPATCH_H
#define GYRE_CORE_DISPATCH_DISPATCH_H

#include "core/loader/host.h"
#include "core/registry/registry.h"
#include "gyre/backend.h"
#include "gyre/host_memory.h"
#include "gyre/peek.h"
#include "gyre/peer.h"

/** One opened device of one backend. */
struct gyre_dispatch;

/**
 * Loads the candidate's plugin and opens device `ordinal`. Copies the candidate's strings. The candidate need not
 * have been judged (registry.h). `log` may be NULL, and may be called from any thread until the device is closed.
 * INVALID when the plugin has no such device; else returns the plugin's answer.
 * Owner of *out: the caller, who holds the first reference, until gyre_dispatch_close.
 */
gyre_status gyre_dispatch_open(const struct gyre_candidate *candidate, uint32_t ordinal,
                               gyre_log_function *log, void *log_context, struct gyre_dispatch **out);
/** Takes a further reference to the device. Returns `dispatch`. */
struct gyre_dispatch *gyre_dispatch_retain(struct gyre_dispatch *dispatch);
/** Gives one reference back. The last reference closes the device. Accepts NULL. */
void gyre_dispatch_close(struct gyre_dispatch *dispatch);

/** The backend's name as configured ("cpu"), and the plugin's version. The texts live as long as the dispatch. */
const char *gyre_dispatch_backend(const struct gyre_dispatch *dispatch);
const char *gyre_dispatch_build(const struct gyre_dispatch *dispatch);
/** What the device told when it was opened. Checked: limits are at least 1, strings end. Does not change. */
const gyre_device_info *gyre_dispatch_device_info(const struct gyre_dispatch *dispatch);

/**
 * The number of blocks for a kernel whose launch sets none. `held`: the blocks that other kernels of the device have.
 */
uint32_t gyre_dispatch_blocks_default(const struct gyre_dispatch *dispatch, const gyre_kernel_record *record,
                                      uint32_t held);

/*
 * Devices in a worker process (isolation = process). The contracts are in core/isolation/proxy.h and worker_return.h,
 * at the functions with the same last word.
 */

bool gyre_dispatch_isolated(const struct gyre_dispatch *dispatch);
void gyre_dispatch_guard(struct gyre_dispatch *dispatch, bool (*lost)(void *context), void *context);
void gyre_dispatch_bury(struct gyre_dispatch *dispatch);
gyre_status gyre_dispatch_revive(struct gyre_dispatch *dispatch);
bool gyre_dispatch_pause(struct gyre_dispatch *dispatch, uint64_t length_ns);
bool gyre_dispatch_watch(struct gyre_dispatch *dispatch, uint64_t deadline_ns);
void gyre_dispatch_kill(struct gyre_dispatch *dispatch, const char *reason);
void gyre_dispatch_reason(struct gyre_dispatch *dispatch, char *text, size_t size);
/** Whether a launched kernel can still be running: true, unless its worker process died. */
bool gyre_dispatch_is_current(struct gyre_dispatch *dispatch, const gyre_resident *resident);
/** Whether a second worker process is ready to take over. */
bool gyre_dispatch_stands_by(const struct gyre_dispatch *dispatch);
/** Where the control region of a launched kernel, which lies at `here`, lies in the process of its device. */
uint64_t gyre_dispatch_control_address(const struct gyre_dispatch *dispatch, const gyre_resident *resident,
                                       const void *here);
/** The address at which an isolated device sees a queue now. */
uint64_t gyre_dispatch_queue_address(const struct gyre_dispatch *dispatch, const gyre_queue_memory *memory);

/* The operations (contracts in backend.h). The caller sets the member `size` of descriptors, as everywhere. */
gyre_status gyre_dispatch_compile(struct gyre_dispatch *dispatch, const gyre_compile_desc *desc);
gyre_status gyre_dispatch_module_load(struct gyre_dispatch *dispatch, const gyre_module_desc *desc,
                                      gyre_module **out);
/**
 * Reads the record of kernel `index`. NOT_FOUND past the last kernel. Checked: pointers that must not be NULL are
 * not.
 */
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
/** As above, but AGAIN at once while another operation of the device runs, which may take any time. */
gyre_status gyre_dispatch_transfer_now(struct gyre_dispatch *dispatch, const gyre_transfer_desc *desc);
/**
 * As gyre_dispatch_transfer, for the worker process of that number alone: LOST when that one died, also when another one is up. In this
 * process the number says nothing.
 */
gyre_status gyre_dispatch_transfer_in(struct gyre_dispatch *dispatch, const gyre_transfer_desc *desc,
                                      uint64_t incarnation);
/** The number of the worker process that is up, or was up last; 0 for a device in this process. */
uint64_t gyre_dispatch_incarnation(const struct gyre_dispatch *dispatch);
gyre_status gyre_dispatch_launch(struct gyre_dispatch *dispatch, gyre_module *module,
                                 const gyre_resident_desc *desc, gyre_resident **out);
gyre_status gyre_dispatch_wait(struct gyre_dispatch *dispatch, gyre_resident *resident, uint64_t deadline_ns);
/** Whether the backend has the operation notify. A device without it watches the control word itself. */
bool gyre_dispatch_has_notify(const struct gyre_dispatch *dispatch);
/** OK, and no effect, where the backend does not have the operation. */
gyre_status gyre_dispatch_notify(struct gyre_dispatch *dispatch, gyre_resident *resident);
/** Handles what waits for a resident in the calling thread (`help` of backend.h). False: this resident cannot be helped. */
bool gyre_dispatch_help(struct gyre_dispatch *dispatch, gyre_resident *resident);
void gyre_dispatch_release(struct gyre_dispatch *dispatch, gyre_resident *resident);
/** The buffer's address in messages. UNIMPLEMENTED where the backend's messages cannot name buffers. */
gyre_status gyre_dispatch_memory_address(struct gyre_dispatch *dispatch, gyre_memory *memory,
                                         uint64_t *address);
/** Where the buffer lies in this process, as ordinary memory; NULL: it does not, or the backend does not say (host_memory.h). */
unsigned char *gyre_dispatch_memory_place(struct gyre_dispatch *dispatch, gyre_memory *memory);
/**
 * Reads words of memory without a wait for the device, as gyre/peek.h has it. UNIMPLEMENTED where the backend does not do that. The
 * memory is not released meanwhile.
 */
gyre_status gyre_dispatch_memory_peek(struct gyre_dispatch *dispatch, gyre_memory *memory, uint64_t offset,
                                      uint64_t *words, uint64_t byte_count);
/** Whether the backend copies within its device. Only then gyre_dispatch_memory_copy is of use. */
bool gyre_dispatch_can_copy(const struct gyre_dispatch *dispatch);
gyre_status gyre_dispatch_memory_copy(struct gyre_dispatch *dispatch, const gyre_copy_desc *desc);

/**
 * By which way bytes get from one device to another, different one. NONE unless one plugin of this process has both and knows the
 * table of peer.h.
 */
gyre_peer_way gyre_dispatch_peer_way(struct gyre_dispatch *source, struct gyre_dispatch *target);
/** Copies from memory of one device to memory of another one. UNIMPLEMENTED where gyre_dispatch_peer_way says NONE. */
gyre_status gyre_dispatch_peer_copy(struct gyre_dispatch *source, struct gyre_dispatch *target,
                                    const gyre_copy_desc *desc);
/** Lets kernels of `source` use memory of `target`, as gyre/peer.h has it. UNIMPLEMENTED: its backend cannot. */
gyre_status gyre_dispatch_peer_let_in(struct gyre_dispatch *source, struct gyre_dispatch *target);
/**
 * Has devices combine memories of theirs, as gyre/peer.h has it; `prepares`: only makes them ready for it. `devices` and `parts` have
 * desc->part_count entries; the devices of `parts` are filled in. UNIMPLEMENTED where one plugin of this process does not have all, or
 * cannot; else as the plugin says.
 */
gyre_status gyre_dispatch_combine(struct gyre_dispatch *const *devices, gyre_combine_desc *desc,
                                  gyre_combine_part *parts, bool prepares);
/** The device's number on its backend. */
uint32_t gyre_dispatch_ordinal(const struct gyre_dispatch *dispatch);

#endif
