/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the CUDA backend share. Each op is implemented by the function of its slot's name:
 * cuda_launch.
 *
 * Two kinds of device: one of the driver, and, with the parameter compile_for, one that only compiles; its
 * `driver` is NULL, and what would need the GPU answers UNAVAILABLE.
 */
#ifndef GYRE_CUDA_BACKEND_H
#define GYRE_CUDA_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cuda_driver.h"
#include "gyre/backend.h"
#include "gyre/dialect/device_module.h"

/** The keys of [backend.cuda], parsed. */
struct cuda_settings {
    uint32_t sms;          /* multiprocessors that kernels may use together; 0: all */
    uint32_t pause_ns;     /* between two polls of an idle block */
    uint32_t residency_ms; /* how long a kernel stays at a stretch; 0: unbounded; CUDA_RESIDENCY_AUTO */
    /* "0,1" or UUIDs: which of the driver's devices are 0, 1, ... here; "": all, in its order */
    char devices[512];
    char compile_for[32]; /* "sm_90": a device that only compiles; "" for one of the driver */
    char nvrtc[PATH_MAX]; /* the compiler's library; "": by its known names */
    char parts[PATH_MAX]; /* the folder of cuda_parts.h's files; "": beside this plugin's */
};

/** Reads the parameters; CONFIG with origin and expectation when one is wrong. */
gyre_status cuda_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                               struct cuda_settings *settings);

/* Lanes of a launch that does not say how many (gyre_lanes_default). */
enum { CUDA_LANES_DEFAULT = 512, CUDA_LANES_DEFAULT_LEAST = 128 };
#define CUDA_RESIDENCY_AUTO UINT32_MAX /* as the device and the process need it */

struct cuda_residents; /* cuda_resident.h */

struct gyre_device {
    const gyre_host *host;
    struct cuda_settings settings;
    const struct cuda_driver *driver; /* NULL: a device that only compiles */
    uint32_t ordinal;
    bool shown_alone; /* the driver sees this device only, as its 0 (cuda_show_one) */
    CUdevice handle;
    CUcontext context; /* the primary one, retained; make it current with cuda_enter */
    char name[128], architecture[32], uuid[48];
    int major, minor; /* compute capability */
    uint64_t memory_size;
    uint32_t sm_count;         /* what Gyre may use: all, or settings.sms */
    uint32_t sm_total;         /* what it has */
    uint32_t compute_mode;     /* CUcomputemode */
    bool native_atomics;       /* read-modify-write on host memory is one transaction */
    uint32_t shared_size_max;  /* bytes of shared memory of a block, opted in */
    uint32_t shared_size_unit; /* bytes of shared memory of a multiprocessor */
    bool cooperative, can_map, pools;
    bool watchdog;         /* the driver ends kernels that run for seconds: the device drives a display */
    bool wsl;              /* under Windows, which does the same */
    uint32_t residency_ms; /* the bound in force; 0: none */
    pthread_mutex_t lock;  /* context-wide work: makes residents leave, loads, unloads, unregisters */
    struct cuda_residents *residents;
    struct cuda_carriers *carriers; /* of transfers; NULL until one was large */
    /* The first failure after which nothing works any more; `lost` is set, with release, after the text. */
    pthread_mutex_t lost_lock;
    atomic_bool lost;
    char lost_text[256];
    char lost_why[52]; /* the same in short, for gyre_control_device */
};

/** A kernel of a module. What `record` points to lives as long as the module. */
struct cuda_kernel {
    gyre_kernel_record record;
    gyre_device_kernel seen; /* as the device compiler wrote it */
    uint32_t shared_size;    /* bytes of static shared memory of its resident entry */
};

struct gyre_module {
    struct gyre_device *device;
    CUmodule handle;              /* NULL on a device that only compiles */
    struct cuda_records *records; /* owns types and texts */
    struct cuda_kernel *kernels;  /* in the order of the source */
    uint32_t kernel_count;
};

/* ---- cuda_context.c ---- */

/** Takes the device's context, and makes it current. After a failure device->context is NULL if there is none. */
gyre_status cuda_context_open(gyre_device *device);
/** Makes the device's context current in the calling thread: before any call into the driver. UNAVAILABLE
 * on a device that only compiles. */
gyre_status cuda_enter(gyre_device *device);
/** Gives it back. */
void cuda_context_close(gyre_device *device);

/* ---- cuda_check.c ---- */

/**
 * GYRE_OK for CUDA_SUCCESS. Else a sentence with call, code, name and the driver's text, and
 *   EXHAUSTED    memory or another resource lacks, or the device is busy: later it may work
 *   INVALID      the values passed cannot work (a kernel that needs too much, a wrong image)
 *   LOST         the device does not work any more in this process; from then on cuda_lost tells the first
 *                cause
 *   UNAVAILABLE  the device or what was asked for is not there
 *   INTERNAL     the call was wrong: a defect of this backend
 */
gyre_status cuda_check(gyre_device *device, CUresult result, const char *call);
/**
 * As cuda_check for what a kernel ended with: whatever failure that is, also one that is not known yet, the
 * device is lost.
 */
gyre_status cuda_check_end(gyre_device *device, CUresult result, const char *call);
/**
 * For calls whose failure changes nothing for anybody: a fatal one is kept as the first cause, others are not
 * told.
 */
void cuda_note(gyre_device *device, CUresult result, const char *call);
/** For failures that no caller can be told: a warning in the log, with `what` becomes of it. */
void cuda_tell(gyre_device *device, CUresult result, const char *call, const char *what);
/** The same for calls that give something back. */
void cuda_check_gone(gyre_device *device, CUresult result, const char *call);
/** As cuda_check without a device: before there is one. */
gyre_status cuda_check_host(const gyre_host *host, const struct cuda_driver *driver, CUresult result,
                            const char *call);
/** GYRE_OK, or LOST with the first cause. Any thread, cheap. */
gyre_status cuda_lost(gyre_device *device);
/** The sentence that says that this device only compiles: UNAVAILABLE. */
gyre_status cuda_compile_only(const gyre_device *device, const char *what);

/* ---- cuda_compile.c ---- */

gyre_status cuda_compile(gyre_device *device, const gyre_compile_desc *desc);
/** The compiler and what tells it from another; "" when there is none. */
void cuda_compiler_identity(const gyre_device *device, char *text, size_t size);

/* ---- cuda_module.c ---- */

gyre_status cuda_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status cuda_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void cuda_module_release(gyre_module *module);
/** The kernel of that name, or NULL. */
const struct cuda_kernel *cuda_module_find(const struct gyre_module *module, const char *name);

/* ---- cuda_shape.c ---- */

/** Threads and dynamic shared memory of a block of `lanes` lanes; `tight`: with less for more messages than one. */
void cuda_block_shape(const gyre_device *device, const struct cuda_kernel *kernel, uint32_t lanes, bool tight,
                      uint32_t *threads, uint32_t *shared_size);
/** How many such blocks one multiprocessor holds, by its registers, threads and shared memory. */
uint32_t cuda_blocks_per_sm(const gyre_device *device, const struct cuda_kernel *kernel, uint32_t threads,
                            uint32_t shared_size);

/* ---- cuda_memory.c ---- */

gyre_status cuda_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                             uint64_t *device_address);
void cuda_queue_release(gyre_queue_memory *memory);
gyre_status cuda_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void cuda_memory_release(gyre_memory *memory);
gyre_status cuda_memory_address(gyre_memory *memory, uint64_t *address);

/* ---- cuda_transfer.c ---- */

gyre_status cuda_transfer(gyre_device *device, const gyre_transfer_desc *desc);
gyre_status cuda_memory_copy(gyre_device *device, const gyre_copy_desc *desc);
/** What transfers kept for the next one; before the device is closed. */
void cuda_carriers_destroy(gyre_device *device);

/* ---- cuda_launch.c ---- */

gyre_status cuda_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status cuda_wait(gyre_resident *resident, uint64_t deadline_ns);
void cuda_release(gyre_resident *resident);

/* ---- cuda_order.c ---- */

gyre_status cuda_notify(gyre_resident *resident);

/* ---- cuda_residents.c ---- */

/** Called when a device of the driver is opened, its context current, and before it is closed. */
gyre_status cuda_residents_open(gyre_device *device);
void cuda_residents_close(gyre_device *device); /* accepts a device whose residents were never opened */

/* ---- cuda_quiet.c ---- */

/**
 * Between the two no kernel is resident on the device, so calls that block while one is may be made: each
 * resident kernel leaves at a message boundary and comes back afterwards. Serialised; not recursive. When
 * `begin` fails, `end` must not be called. The context is current after `begin`.
 */
gyre_status cuda_quiet_begin(gyre_device *device);
gyre_status cuda_quiet_end(gyre_device *device);

/**
 * Around other work with the driver. Makes the context current; where launches serialise (cuda_serial.c), a
 * call into the driver may wait for resident kernels too, so it is made in a quiet moment. `quiet` is handed
 * from the one to the other.
 */
gyre_status cuda_work_begin(gyre_device *device, bool *quiet);
void cuda_work_end(gyre_device *device, bool quiet);
/** The same with residents->lock held between the two in either case. */
gyre_status cuda_hold_begin(gyre_device *device, bool *quiet);
void cuda_hold_end(gyre_device *device, bool quiet);

#endif
