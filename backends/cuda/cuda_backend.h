/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the CUDA backend that its files share. The function of a slot's name implements each op, cuda_launch for
 * example; the header of the file that has it declares it.
 *
 * There are two kinds of device: a device of the driver and, with the parameter compile_for, one that only compiles.
 * The `driver` of the latter is NULL, and operations that would need the GPU answer UNAVAILABLE.
 */
#ifndef GYRE_CUDA_BACKEND_H
#define GYRE_CUDA_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cuda_driver.h"
#include "cuda_settings.h"
#include "gyre/backend.h"
#include "gyre/dialect/device_module.h"

/* Lanes of a launch that does not say how many (gyre_lanes_default). */
enum { CUDA_LANES_DEFAULT = 512, CUDA_LANES_DEFAULT_LEAST = 128 };

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
    uint32_t sm_count;         /* that Gyre may use: all, or settings.sms */
    uint32_t sm_total;         /* that the device has */
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

/** A kernel of a module. The texts and types of `record` live as long as the module. */
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

#endif
