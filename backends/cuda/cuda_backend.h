/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that the files of the CUDA backend share: the device, a loaded module, a kernel of a module. A
 * launched kernel is in cuda_resident.h, which also says where a kernel gets onto the GPU. Each operation of
 * the backend's table (cuda_plugin.c) is a function with the operation's name: `cuda_launch` implements
 * `launch`. The header of the file that defines the function declares it.
 *
 * There are two kinds of device. A device of the driver is a GPU of this machine. A device with the parameter
 * compile_for only compiles: its `driver` is NULL, and an operation that would need the GPU answers
 * UNAVAILABLE.
 */
#ifndef GYRE_CUDA_BACKEND_H
#define GYRE_CUDA_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "backends/cuda/driver/cuda_driver.h"
#include "backends/cuda/cuda_settings.h"
#include "gyre/backend.h"
#include "gyre/dialect/device_module.h"

/* Lanes of a block when the launch names no number (gyre_lanes_default). */
enum { CUDA_LANES_DEFAULT = 512, CUDA_LANES_DEFAULT_LEAST = 128 };

struct cuda_residents; /* cuda_resident.h */
struct cuda_combiners; /* cuda_combine.c */

struct cuda_piece; /* cuda_peek.c */

/** Copies of the GPU's memory for those who must not wait for it (cuda_peek.c). */
struct cuda_peeks {
    pthread_mutex_t lock, copying;
    struct cuda_piece *first; /* atomic */
    uint64_t looked_ns;       /* the monitor's: when it last copied */
};

struct gyre_device {
    const gyre_host *host;
    struct cuda_settings settings;
    const struct cuda_driver *driver; /* NULL: a device that only compiles */
    uint32_t ordinal;
    bool shown_alone; /* the driver sees this GPU only, as its number 0 (cuda_show_one) */
    CUdevice handle;
    CUcontext context; /* the GPU's primary context, retained; cuda_enter makes it current */
    char name[128], architecture[32], uuid[48];
    int major, minor; /* compute capability */
    uint64_t memory_size;
    uint32_t sm_count;         /* multiprocessors that Gyre may use: all, or settings.sms */
    uint32_t sm_total;         /* multiprocessors that the GPU has */
    uint32_t compute_mode;     /* CUcomputemode */
    bool native_atomics;       /* the GPU makes a read-modify-write on host memory in one transaction */
    uint32_t shared_size_max;  /* most bytes of shared memory of a block, when the kernel opts in */
    uint32_t shared_size_unit; /* bytes of shared memory of a multiprocessor */
    bool cooperative, can_map, pools;
    bool watchdog;         /* the driver ends kernels that run for seconds: the device drives a display */
    bool wsl;              /* the process runs under WSL: Windows ends long kernels, too */
    uint32_t residency_ms; /* the longest stay of a kernel in force; 0: unbounded */
    /*
     * held for work on the whole context: all kernels leave, a module is loaded or unloaded, memory is
     * unregistered
     */
    pthread_mutex_t lock;
    struct cuda_residents *residents;
    /* threads and memory of large transfers; NULL until a transfer was large */
    struct cuda_carriers *carriers;
    /*
     * cuda_peers.c: bit N: the driver's device number N was asked whether it lets this one into its memory. One copy of
     * the device at a time touches it.
     */
    uint64_t peers_asked;
    struct cuda_combiners
        *combiners; /* kernels that combine memories of devices; NULL until one was needed */
    struct cuda_peeks peeks;
    /*
     * The first failure after which no call works any more. The failing thread writes the text, then sets
     * `lost` with release.
     */
    pthread_mutex_t lost_lock;
    atomic_bool lost;
    char lost_text[256];
    char lost_why[52]; /* the text of the failure, shortened for gyre_control_device */
};

/** A kernel of a module. The module owns the types and texts of `record`. */
struct cuda_kernel {
    gyre_kernel_record record;
    gyre_device_kernel seen; /* the kernel's description, as the device compiler wrote it into the cubin */
    uint32_t shared_size;    /* bytes of static shared memory of the kernel's resident entry */
    uint32_t stack_size; /* bytes of local memory of a thread, with those of all functions that it may call */
};

struct gyre_module {
    struct gyre_device *device;
    CUmodule handle;              /* NULL on a device that only compiles */
    struct cuda_records *records; /* owns the types and texts of the kernels */
    struct cuda_kernel *kernels;  /* in the order of the source */
    uint32_t kernel_count;
};

#endif
