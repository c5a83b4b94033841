/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ops table of a backend that runs in a worker process (proxy_ops.c): each operation becomes a message over a socket.
 *
 * Each object keeps what it was made from (a module's file, a buffer's contents, a queue's descriptor). After the
 * death of a worker, gyre_proxy_revive (worker_return.h) makes all objects again in the next worker, under the same
 * handles. An operation that a death interrupts waits for the next worker and is done again. Launched kernels are not
 * made again: their `wait` answers LOST, and the caller launches them again. Rings and control regions are memory of
 * the core, so they outlive any worker.
 *
 * Threads: as backend.h says for each operation. Every operation has a deadline, and a worker that does not answer by
 * then is killed.
 */
#ifndef GYRE_CORE_ISOLATION_PROXY_H
#define GYRE_CORE_ISOLATION_PROXY_H

#include <stdbool.h>

#include "core/loader/host.h"
#include "gyre/backend.h"

struct gyre_proxy_desc {
    const char *backend, *library; /* gyre_proxy_open copies these, and the parameters */
    const gyre_parameter *parameters;
    size_t parameter_count;
    uint32_t ordinal;
    bool found;               /* the backend's probe found this device */
    uint64_t call_timeout_ns; /* of operations without a deadline of their own */
    bool standby;             /* a second worker stands by */
    gyre_log_function *log;   /* may be NULL */
    void *log_context;
};

/** The ops table. It lacks `probe` and `device_open`: gyre_proxy_open opens the device. */
extern const gyre_backend_ops gyre_proxy_ops;

/**
 * Starts a worker and opens the device in it. `build` receives the plugin's version. Returns the plugin's answer,
 * or UNAVAILABLE without the worker program.
 */
gyre_status gyre_proxy_open(const struct gyre_proxy_desc *desc, char *build, size_t build_size,
                            gyre_device **out);

/* The functions below may be called from any thread. */

/** Whether the worker that the kernel was launched in is up, or has died unnoticed. */
bool gyre_proxy_is_current(const gyre_resident *resident);
/** The number of the worker that is up, or was up last. Each worker of a device has a larger one. */
uint64_t gyre_proxy_incarnation(gyre_device *device);
/**
 * The operation transfer, for this worker alone: LOST when another one is up, or none. After a failure the worker that comes next may
 * get bytes of the transfer with the buffer, but the transfer itself never reaches it.
 */
gyre_status gyre_proxy_transfer_in(gyre_device *device, const gyre_transfer_desc *desc, uint64_t incarnation);
/** Whether the backend copies within its device. */
bool gyre_proxy_can_copy(const gyre_device *device);
/** Where the control region of a launched kernel lies in the worker that it was launched in. */
uint64_t gyre_proxy_control_address(const gyre_resident *resident);
/** The address at which the present worker's device sees a queue. */
uint64_t gyre_proxy_queue_address(const gyre_queue_memory *memory);

#endif
