/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launched kernels, and what a GPU has for all of them: cuda_residents.c makes the latter, cuda_launch.c makes and
 * frees kernels, cuda_presence.c puts them onto the device and sees them leave it, cuda_quiet.c has all of them leave
 * for a while, cuda_monitor.c watches over them; cuda_memory.c and cuda_transfer.c use the stream beside them.
 */
#ifndef GYRE_CUDA_RESIDENT_H
#define GYRE_CUDA_RESIDENT_H

#include "cuda_backend.h"
#include "gyre/dialect/cuda_module.h"

enum { CUDA_RESIDENTS_MAX = 64, CUDA_LOG_LINES = 1024 };

/**
 * What a GPU has for all kernels of this process, whichever runtime launched them: they share one context,
 * and what makes one of them wait for another concerns them all.
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
    bool launches_known; /* one returned while its kernel stayed: the others will too */
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
    /* Orders tell it to yield; it comes back. Written under both residents->lock and order_lock, read under either. */
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

/** Whether it runs: it obeyed the first command, whatever the call that launched it does. */
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

/* ---- cuda_order.c ---- */

/** Tells the device that there is something new to obey: the control word, or (leaving) to yield. Returns the
 * order's number. Under residents->lock. */
uint64_t cuda_resident_order(gyre_resident *resident, bool leaving);

/* ---- cuda_presence.c ---- */

/* Under residents->lock, context current. */

/** Looking for its end this long does not sleep: a kernel that leaves takes some 10 us. */
#define CUDA_EAGER_NS UINT64_C(200000)

/** Puts it onto the device; its positions are in its memory. */
gyre_status cuda_resident_start(gyre_resident *resident);
/** Back onto the device for one that left it for a moment. OK also when that is tried again. */
gyre_status cuda_resident_come_back(gyre_resident *resident);
/** OK: it is not on the device; AGAIN: it is; LOST: a fault of the device ended it. Others: its launch was refused, for
 * good, which shows here where launches wait for their kernel. */
gyre_status cuda_resident_look(gyre_resident *resident);
/** The same until the deadline, with TIMEOUT for AGAIN. */
gyre_status cuda_resident_await(gyre_resident *resident, uint64_t deadline_ns);
/** Those who wait for it give up. `why` in few words. */
void cuda_resident_tell_lost(gyre_resident *resident, const char *why);

/* ---- cuda_quiet.c ---- */

/** Where launches serialise, one kernel has the device at a time: the one that was away longest comes back, once nobody
 * has it. Under residents->lock, context current. */
gyre_status cuda_give_turn(struct cuda_residents *residents);
/** For one that left because it was told to, and was not told to stop: back onto the device, or, where
 * launches serialise, in its turn. Under residents->lock, context current. */
gyre_status cuda_resident_return(gyre_resident *resident);

/* ---- cuda_monitor.c ---- */

/** The thread that watches over the kernels of `argument`, a struct cuda_residents, until `leave` is set. */
void *cuda_residents_watch(void *argument);

/* ---- cuda_serial.c ---- */

/** Whether the environment says that launches wait for their kernels; with a sentence for the log. */
bool cuda_serial_expected(const gyre_host *host);
/** Launches the kernel: at once, or, where a launch waits for its kernel, in a thread of the resident's own, which
 * cuda_launcher_await tells of. The first launch finds out which way it is. Under residents->lock, context current. */
gyre_status cuda_serial_start(gyre_resident *resident);
/** Waits for the thread's call to return: AGAIN when it has not after so long, else what became of it. */
gyre_status cuda_launcher_await(gyre_resident *resident, uint64_t patience_ns);
/** Ends the thread; its kernel has left. Accepts a resident without one. */
void cuda_launcher_destroy(gyre_resident *resident);

/* ---- cuda_stays.c ---- */

/** Makes the events of a kernel whose stays are to be measured. Context current. */
gyre_status cuda_stays_prepare(gyre_resident *resident);
/** Before and behind the launch, in its stream. */
void cuda_stay_begins(gyre_resident *resident);
void cuda_stay_ends(gyre_resident *resident);
/** Counts a stay whose end was seen. Under residents->lock, context current. */
void cuda_stay_count(gyre_resident *resident);
/** Accepts a resident without events. Context current. */
void cuda_stays_finish(gyre_resident *resident);

/* ---- cuda_tell.c ---- */

/** Makes room for what blocks are at. */
gyre_status cuda_tell_prepare(gyre_resident *resident);
/** The blocks of a kernel that was launched will be told of, unless calls into the driver wait for it. */
void cuda_tell_present(const gyre_resident *resident);
/** Writes into the blocks' lines what they are at, if it is time to look. Under residents->lock, context current,
 * where calls into the driver do not wait for kernels. */
void cuda_tell_look(gyre_resident *resident);
/** It left the device: its blocks are at nothing. Under residents->lock. */
void cuda_tell_gone(gyre_resident *resident);
/** Accepts a resident that has no room for it. */
void cuda_tell_finish(gyre_resident *resident);

/* ---- cuda_memory.c ---- */

/** Registers host memory that the device is to see. Context current. */
gyre_status cuda_host_register(gyre_device *device, void *address, size_t size);
/** Takes that back, in a quiet moment; residents->lock is not held. */
void cuda_host_unregister(gyre_device *device, void *address);
/** Frees memory of the pool behind what stands in the service stream. Context current. */
void cuda_memory_give_back(gyre_device *device, uint64_t address);
/** Copies from the device, behind what stands in the service stream, and waits for it. False: the log says why, and
 * `otherwise` becomes of it. Context current. */
bool cuda_memory_read(gyre_device *device, void *to, uint64_t from, size_t size, const char *otherwise);
/**
 * Gives freed memory that the pool keeps back to the device, while kernels are away: true when it was more
 * than none, so that what failed for want of memory may be tried once more. residents->lock is not held.
 */
bool cuda_reclaim(gyre_device *device);
/** Where a buffer lies on the device. */
uint64_t cuda_memory_place(const gyre_memory *memory);

/* ---- cuda_log.c ---- */

/** Passes on what handlers logged since the last time. Under residents->lock, context current. */
void cuda_log_drain(gyre_resident *resident);
/** The same unless nothing was handled since the last look: then nothing was logged either. */
void cuda_log_look(gyre_resident *resident);

#endif
