/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the driver made of software share: devices with their contexts, streams, memory, modules.
 * See driver_state.c for what it is.
 *
 * One lock for everything, driver.lock, and one condition, driver.changed, that is signalled at each change; neither
 * is held while a stream works. A fault of any kernel stays for the rest of the process, as with the real driver.
 */
#ifndef GYRE_TESTS_EMULATOR_DRIVER_H
#define GYRE_TESTS_EMULATOR_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#include "machine.h"

enum { DEVICES_MAX = 4, UNITS_MAX = 256 };

/* What a stream of the driver's freed memory has of one size, for allocations of that size alone. */
struct kept {
    struct kept *next;
    size_t size, count;
};

/** A device, its primary context and its default pool. */
struct CUctx_st {
    int ordinal; /* of the machine */
    uint32_t retained;
    uint32_t grids;       /* launched, also those that wait for their turn */
    uint32_t units_taken; /* by those that run */
    char newest[96];      /* the kernel that was launched last */
    uint32_t stack;       /* bytes of local memory of each thread; 0: as many as from the start */
    size_t used, reserved, threshold;
    struct kept *kept;
    uint32_t streams, events, modules;
};

struct driver {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* on the clock of deadlines */
    int process;            /* that called cuInit; 0: none */
    int device_count;
    uint32_t units; /* multiprocessors of each */
    bool serial;    /* launches wait for their kernel */
    CUresult fault;
    bool dying;                           /* a fault is about to be told: kernels end first */
    uint32_t running;                     /* kernels that a machine runs */
    struct CUctx_st devices[DEVICES_MAX]; /* those that CUDA_VISIBLE_DEVICES shows */
};
extern struct driver driver;

/* ---- driver_state.c ---- */

/** The fault of a kernel, which `call` is about to answer; SUCCESS when there is none. */
CUresult driver_fault(const char *call);
/** Whether calls may be made: the fault of a kernel, or that cuInit is missing in this process. */
CUresult driver_ready(const char *call);
/** The same at the begin of a call, which may also be told to fail (driver_fail). driver.lock is not held. */
CUresult driver_begin(const char *call);
/** The same, and which context is current in the thread. */
CUresult driver_enter(struct CUctx_st **context, const char *call);
/** The device of a number; NULL when there is none. */
struct CUctx_st *driver_device(CUdevice number);
/** Says on stderr that the program uses the driver wrongly, and hands `result` back. */
CUresult driver_complain(CUresult result, const char *call, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Ends all kernels; from then on every call answers `result`. driver.lock is not held. */
void driver_break(CUresult result, const char *why);

/** Waits for a change, with driver.lock held. What takes long is told on stderr: `call` waits for `what`. */
struct patience {
    uint64_t since_ns, told_ns;
};
void driver_await_change(struct patience *patience, const char *call, const char *what);
/** Waits until no kernel is on the device, as calls do that block there; driver.lock held. The fault, or SUCCESS. */
CUresult driver_await_quiet(struct CUctx_st *context, const char *call);
uint64_t driver_now_ns(void);

/* ---- driver_fail.c ---- */

/** What the environment says of this call: SUCCESS, or what it answers in place of its work. */
CUresult driver_fail(const char *call);
/** `call` is about to answer the fault: told on stderr where the thread whose call was told to fail may not have said
 * so yet, and is another one. */
void driver_fail_spreads(const char *call);

/* ---- driver_peers.c ---- */

/**
 * A kernel that combines memories of devices is about to be launched: told as a copy is, and it may be told to fail as the call
 * `gyre_combine`. driver.lock held.
 */
CUresult driver_combine(const struct CUctx_st *context);
/** Such a kernel is about to begin, in its stream: EMULATOR_COMBINE_LATE=N:MS has the N-th one do so MS milliseconds later. */
void driver_combine_begins(void);

/** Whether the pool of a device lets another one in; driver.lock held. */
bool driver_lets_in(CUdevice owner, CUdevice who);

/* ---- driver_memory.c ---- */

enum memory_kind { MEMORY_DEVICE, MEMORY_PINNED, MEMORY_REGISTERED };

struct memory {
    struct memory *next;
    struct CUctx_st *context;
    unsigned char *from;
    size_t size;
    enum memory_kind kind;
    bool there;   /* kernels may touch it: the stream has come to its allocation */
    bool leaving; /* its release stands in a stream */
};

/** The memory that has all of the bytes, or NULL; driver.lock held. */
struct memory *driver_memory_find(const void *from, size_t size);
/** Memory of the device that streams may copy: it is there and nobody has released it. */
bool driver_memory_usable(const void *from, size_t size);
/** Where an address lies: behind the start of which memory. */
void driver_memory_describe(uint64_t address, char *text, size_t size);
/** How many pieces of memory of a kind a context has whose release stands in no stream. */
size_t driver_memory_count(const struct CUctx_st *context, enum memory_kind kind);

/* ---- driver_module.c ---- */

struct CUfunc_st {
    struct CUfunc_st *next;
    struct CUmod_st *module;
    const struct machine_function *code;
    struct machine_function_info info;
    char name[96];
    bool loaded;
    uint32_t dynamic_max;
};

/* ---- driver_stream.c ---- */

struct operation {
    struct operation *next;
    void (*run)(struct operation *operation);
    struct CUstream_st *stream;
    /* copies and fills; `staged` is a copy of the source that was made at the call, or NULL */
    unsigned char *target;
    const unsigned char *source;
    unsigned char *staged;
    size_t size;
    unsigned char value;
    bool within_device;
    struct memory *memory;
    struct CUevent_st *event;
    /* launches */
    struct CUfunc_st *function;
    struct machine_launch launch;
    uint32_t units;
};

/** An operation of a stream, to be filled and handed to driver_submit; NULL when the stream is not one. */
struct operation *driver_operation(CUstream stream, void (*run)(struct operation *));
/** It is freed when it was run. driver.lock is not held. */
void driver_submit(struct operation *operation);
/** Waits until the stream has done everything; driver.lock held. */
CUresult driver_await_stream(CUstream stream, const char *call);

#endif
