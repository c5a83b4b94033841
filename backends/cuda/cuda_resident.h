/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of launched kernels: a kernel, and what its GPU has for all kernels. cuda_residents.c makes the latter,
 * cuda_launch.c makes and frees kernels, cuda_presence.c puts them onto the device and sees them leave it, cuda_quiet.c has
 * all of them leave for a while, and cuda_monitor.c watches over them. cuda_service.c, cuda_memory.c and cuda_transfer.c use
 * the stream beside them.
 */
#ifndef GYRE_CUDA_RESIDENT_H
#define GYRE_CUDA_RESIDENT_H

#include "cuda_backend.h"
#include "gyre/dialect/cuda_module.h"

enum { CUDA_RESIDENTS_MAX = 64, CUDA_LOG_LINES = 1024 };

/**
 * The part of a GPU that all kernels of this process share, whichever runtime launched them: they have one context, and
 * a call that makes one of them wait for another concerns them all.
 */
struct cuda_residents {
    pthread_mutex_t lock; /* the list, and context-wide work: leaving, loading, unloading, unregistering */
    uint32_t users;       /* opened devices */
    struct gyre_resident *first;
    CUstream service;         /* transfers, allocations; never a kernel */
    gyre_cuda_orders *orders; /* pinned; one line a resident */
    CUdeviceptr device_orders;
    uint64_t taken;     /* which lines are in use */
    atomic_bool serial; /* a launch returns only once its kernel has left (cuda_serial.c); never taken back */
    bool launches_known; /* a launch returned while its kernel stayed: the others will too */
    pthread_t monitor;
    bool monitor_started;
    uint32_t leave; /* atomic: the monitor is to end */
};

struct gyre_resident {
    struct gyre_device *device;
    struct gyre_resident *next;
    CUfunction function;
    CUstream stream;
    gyre_control_region *control;
    bool control_registered;
    uint32_t line; /* of residents->orders */
    uint32_t threads, blocks, shared_size, sms;
    CUdeviceptr memory; /* cursors, relay, arrivals, turns, log, then the blocks' stages */
    size_t relay_offset, arrived_offset, turns_offset, log_offset, stage_offset, memory_size;
    gyre_cuda_arguments arguments;

    pthread_mutex_t order_lock;
    uint64_t order_count;
    /* Orders tell the kernel to yield, and it comes back. Written under residents->lock and order_lock, read under either. */
    bool leaving;
    uint64_t started_ns, ordered_ns; /* when it was put onto the device, and told to leave it */
    uint64_t left_ns;      /* of the absence that its last start ended; 0: there was none, or it is counted */
    uint64_t residency_ns; /* how long it stays at most; 0: unbounded */
    uint64_t stay_range;   /* of a profiler; from its start to its leave */
    CUevent arrived, gone; /* around a stay; NULL unless stays are measured */
    char label[96];        /* ... and its name */
    struct cuda_launcher *launcher; /* launches it in a thread of its own; NULL: it never needed one */

    bool on_device;               /* under residents->lock: launched, and nobody saw it end */
    CUresult answer;              /* of the last launch */
    const char *call;             /* that answered so */
    uint64_t refused_ns;          /* since when the driver refuses to have it back; 0: it does not */
    uint64_t log_handled;         /* of the monitor: messages handled when it last looked at the log */
    uint32_t log_next;            /* log lines passed on */
    struct cuda_telling *telling; /* of the monitor: what its blocks were at */
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;
};

/** The lines of its blocks. */
static inline gyre_control_block *cuda_resident_lines(const gyre_resident *resident)
{
    return (gyre_control_block *)(resident->control + 1);
}

/** Whether the kernel runs: it obeyed the first command, whether or not the call that launched it returned. */
static inline bool cuda_resident_has_obeyed(const gyre_resident *resident)
{
    return __atomic_load_n(&cuda_resident_lines(resident)[0].acknowledged, __ATOMIC_ACQUIRE) != 0;
}

/** Messages that its blocks handled since it was launched. */
static inline uint64_t cuda_resident_handled(const gyre_resident *resident)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < resident->blocks; i++)
        sum += __atomic_load_n(&cuda_resident_lines(resident)[i].handled, __ATOMIC_RELAXED);
    return sum;
}

#endif
