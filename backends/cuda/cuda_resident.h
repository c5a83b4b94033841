/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of launched kernels: a resident (a launched kernel), and what a GPU has for all its residents.
 *
 * A kernel's way onto the GPU and off it:
 *   cuda_launch.c     chooses the shape, makes a resident and its memory, and calls cuda_resident_start
 *   cuda_presence.c   cuda_resident_start puts the kernel onto the GPU, at first and after each absence
 *   cuda_serial.c     makes the driver call for that, cuLaunchCooperativeKernel, the only one in this folder
 *   cuda_order.c      tells a kernel to leave; the kernel then ends, and its positions stay in its memory
 *   cuda_quiet.c      has all kernels leave for a while and brings them back
 *   cuda_monitor.c    watches over kernels, ends long stays and brings kernels back
 *   cuda_residents.c  makes and frees what all kernels of a GPU share; it launches nothing
 *
 * cuda_service.c, cuda_memory.c and cuda_transfer.c use the service stream, which never holds a kernel.
 */
#ifndef GYRE_CUDA_RESIDENT_H
#define GYRE_CUDA_RESIDENT_H

#include "backends/cuda/cuda_backend.h"
#include "gyre/dialect/cuda_module.h"

enum { CUDA_RESIDENTS_MAX = 64, CUDA_CARRIERS_MAX = 8, CUDA_LOG_LINES = 1024 };

/**
 * What all kernels of this process on one GPU share, whichever runtime launched them. They have one context,
 * and a call that makes one kernel wait for another concerns all of them.
 */
struct cuda_residents {
    pthread_mutex_t lock; /* the list, and work on the context: leaving, loading, unloading, unregistering */
    uint32_t users;       /* opened devices that stand for this GPU */
    struct gyre_resident *first;
    CUstream service;                     /* transfers and allocations run in it; never a kernel */
    CUstream kernels[CUDA_RESIDENTS_MAX]; /* one for each resident, by its line */
    CUstream carriers[CUDA_CARRIERS_MAX]; /* of large transfers (cuda_transfer.c) */
    gyre_cuda_orders *orders;             /* pinned memory; one line for each resident */
    CUdeviceptr device_orders;
    uint64_t taken;     /* bits: the lines of `orders`, and the streams, that are in use */
    atomic_bool serial; /* a launch returns only once its kernel has left (cuda_serial.c); never reset */
    /* bytes of local memory that the device has for each thread; a launch that needs more waits for resident kernels */
    uint32_t stack_size;
    bool launches_known; /* a launch returned while its kernel stayed, so other launches do, too */
    pthread_t monitor;
    bool monitor_started;
    uint32_t leave; /* atomic: 1 tells the monitor to end */
};

struct gyre_resident {
    struct gyre_device *device;
    struct gyre_resident *next;
    CUfunction function;
    CUstream stream;
    gyre_control_region *control;
    bool control_registered;
    uint32_t line; /* the resident's line in residents->orders, and its stream in residents->kernels */
    uint32_t threads, blocks, shared_size, sms;
    CUdeviceptr memory; /* cursors, relay, arrivals, turns, log, times, then the stages of the blocks */
    size_t relay_offset, arrived_offset, turns_offset, log_offset, times_offset, stage_offset, memory_size;
    gyre_cuda_arguments arguments;

    pthread_mutex_t order_lock;
    uint64_t order_count;
    /*
     * Orders tell the kernel to yield; it comes back later. Written under residents->lock and order_lock,
     * read under either lock.
     */
    bool leaving;
    /* when the kernel was put onto the device, and when it was told to leave */
    uint64_t started_ns, ordered_ns;
    uint64_t left_ns;      /* when the absence before the last start began; 0: none, or it is counted */
    uint64_t residency_ns; /* the longest stay; 0: unbounded */
    uint64_t stay_range;   /* a profiler's range, from start to leave */
    CUevent arrived, gone; /* events around a stay; NULL unless stays are measured */
    char label[96];        /* the name of stay_range */
    struct cuda_launcher *launcher; /* launches the kernel in a thread; NULL: never needed */

    bool on_device;               /* launched, and nobody saw it end; under residents->lock */
    CUresult answer;              /* the driver's answer to the last launch */
    const char *call;             /* the driver call that answered so */
    uint64_t refused_ns;          /* when the driver first refused to take the kernel back; 0: it does not */
    uint64_t log_handled;         /* the monitor's: messages handled when it last looked at the log */
    uint32_t log_next;            /* log lines handed on */
    bool reminds;                 /* constant: keys are reminded, and their reminders may log */
    uint64_t log_looked_ns;       /* the monitor's: when it last looked whether reminders logged */
    struct cuda_telling *telling; /* the monitor's: what the blocks were at when it last looked */
    struct cuda_times *times;     /* the monitor's: how long handlers ran; NULL: not counted */
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;
};

/** The lines of the resident's blocks in the control region. */
static inline gyre_control_block *cuda_resident_lines(const gyre_resident *resident)
{
    return (gyre_control_block *)(resident->control + 1);
}

/** Whether the kernel runs: it obeyed the first command. The call that launched it may still be waiting. */
static inline bool cuda_resident_has_obeyed(const gyre_resident *resident)
{
    return __atomic_load_n(&cuda_resident_lines(resident)[0].acknowledged, __ATOMIC_ACQUIRE) != 0;
}

/** Messages that the resident's blocks handled since the kernel was launched. */
static inline uint64_t cuda_resident_handled(const gyre_resident *resident)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < resident->blocks; i++)
        sum += __atomic_load_n(&cuda_resident_lines(resident)[i].handled, __ATOMIC_RELAXED);
    return sum;
}

#endif
