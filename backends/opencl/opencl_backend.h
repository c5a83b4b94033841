/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the OpenCL backend share. Each op is implemented by the function of its slot's name:
 * opencl_launch.
 */
#ifndef GYRE_OPENCL_BACKEND_H
#define GYRE_OPENCL_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "gyre/backend.h"
#include "gyre/dialect/opencl_module.h"
#include "opencl_loader.h"

/** How messages reach the device. */
enum opencl_transfer {
    OPENCL_TRANSFER_AUTO,   /* direct where the device can */
    OPENCL_TRANSFER_DIRECT, /* it works in the queues themselves */
    OPENCL_TRANSFER_STAGED  /* it gets copies */
};

/** A switch that the backend may decide. */
enum opencl_switch { OPENCL_NO, OPENCL_YES, OPENCL_AUTO };

enum { OPENCL_EPOCHS_MAX = 8 }; /* of one kernel under way at once, whatever is configured */

/** The keys of [backend.opencl], parsed. */
struct opencl_settings {
    char platform[128], device[128]; /* patterns of names with * and ?; "*": any */
    cl_device_type type;
    int32_t index; /* of what matches; -1: all of them are devices of Gyre */
    enum opencl_transfer transfer;
    uint32_t batch;             /* messages of an epoch at most */
    uint32_t epochs;            /* under way at once */
    uint32_t target_us;         /* an epoch grows as long as it takes less */
    uint32_t stay;              /* 1: mode = resident, kernels poll the queues themselves */
    enum opencl_switch pin;     /* staged: the platform is shown the queues' memory, so that it may pin it */
    enum opencl_switch courier; /* a second thread hands out replies; auto: where processors are enough */
    uint32_t profile;           /* 1: command queues measure; the figures are logged when a kernel ends */
    enum opencl_switch optimize_blocks; /* those of several lanes; auto: but for some PoCLs */
};

/** Reads the parameters; CONFIG with origin and expectation when one is wrong. */
gyre_status opencl_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                                 struct opencl_settings *settings);

/** As clCreateBufferNV: memory of the host that kernels reach, also while it is mapped. */
typedef cl_mem (*opencl_create_reachable)(cl_context context, cl_mem_flags flags, cl_bitfield location,
                                          size_t size, void *host_pointer, cl_int *code);

/** Memory in which both sides leave messages (opencl_stage.c); zeros: there is none. */
struct opencl_stage {
    cl_mem memory;
    unsigned char *host; /* reachable: the same memory; else a copy of it */
    size_t size;
};

struct gyre_device {
    const gyre_host *host;
    struct opencl_settings settings;
    const struct opencl_loader *cl;
    uint32_t ordinal;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue service; /* transfers; one caller at a time, as the contract says */
    cl_command_queue nudges;  /* processors: markers alone (opencl_wait.c); else NULL */
    char name[128], platform_name[128], platform_version[128], driver[64], architecture[64];
    cl_device_type type;
    uint64_t memory_size, allocation_max, local_size;
    uint32_t unit_count, group_max, lanes_default;
    bool direct;                              /* it works in the queues' own memory */
    bool pins;                                /* not direct: the platform is shown the queues' memory */
    opencl_create_reachable create_reachable; /* not direct: stages are memory that both reach; else NULL */
    bool shared_addresses; /* not direct: buffers are shared virtual memory, so that messages can name them */
    void *anchor;          /* shared_addresses: a little of it that is always there */
    char options[256];     /* of every compile on this device, before the user's */
    bool solo;             /* a processor: what needs no lanes that meet is compiled without barriers */
    bool plain_blocks;     /* solo: what needs them is compiled without the platform's optimizer */
    /* gyre_time_ns on processors: time `clock_ns` was at `clock_ticks`; rate 0: no clock */
    uint64_t clock_ns, clock_ticks, clock_rate;
    /* The first failure after which nothing works any more; `lost` is set, with release, after the text. The lock is
     * also held while waiters of a dead kernel's queues are woken. */
    pthread_mutex_t lost_lock;
    atomic_bool lost;
    char lost_text[256];
};

/** A kernel of a module. What `record` points to lives as long as the module. */
struct opencl_kernel {
    gyre_kernel_record record;
    gyre_device_kernel seen; /* as the device's compiler wrote it */
};

struct gyre_module {
    struct gyre_device *device;
    cl_program program;
    cl_program meeting;     /* solo devices: of lanes that meet, once a launch asked for it; else NULL */
    char *source, *options; /* that it is built from; NULL: no kernel of the module needs it */
    struct opencl_records *records; /* owns types and texts */
    struct opencl_kernel *kernels;  /* in the order of the source */
    uint32_t kernel_count;
};

/** A queue's region as the device gets to it. Its address is what the control region's table holds. */
struct gyre_queue_memory {
    gyre_queue_region *region; /* first: kernels that stay read it (opencl_stay.h) */
    struct gyre_device *device;
    cl_mem memory; /* direct: the region itself; staged with pin: never used; else NULL */
};

/**
 * A buffer. Where messages may name it, `address` is what both sides call its first byte; else NULL. Without
 * `memory` it is shared virtual memory, which OpenCL has calls of its own for.
 */
struct gyre_memory {
    struct gyre_device *device;
    cl_mem memory;
    void *address;
};

/* ---- opencl_check.c ---- */

/**
 * GYRE_OK for CL_SUCCESS. Else a sentence with call, code and name, and
 *   EXHAUSTED    memory or another resource lacks: later it may work
 *   INVALID      the values passed cannot work on this device
 *   UNAVAILABLE  the device, its compiler or what was asked for is not there
 *   INTERNAL     the call was wrong: a defect of this backend
 */
gyre_status opencl_check(const gyre_device *device, cl_int code, const char *call);
/** As opencl_check, before there is a device. */
gyre_status opencl_check_host(const gyre_host *host, cl_int code, const char *call);
/** A command that ran on the device ended with `code`: LOST; the first cause is kept. */
gyre_status opencl_lose(gyre_device *device, cl_int code, const char *what);
/** GYRE_OK, or LOST with the first cause. Any thread, cheap. */
gyre_status opencl_lost(gyre_device *device);

/* ---- opencl_compile.c ---- */

gyre_status opencl_compile(gyre_device *device, const gyre_compile_desc *desc);
/** Which lanes a program is for, on a device that makes a difference (solo). */
enum opencl_lanes {
    OPENCL_LANES_ALONE, /* lane kernels, actors, blocks of one lane */
    OPENCL_LANES_MEET   /* block kernels */
};
/** A program to build: of the text that it was made from, the compiler's errors tell. */
struct opencl_build_desc {
    cl_program program;
    enum opencl_lanes lanes;
    const char *source, *options; /* options: the user's */
    char *messages;               /* receives the compiler's words, cut; may be NULL */
    size_t messages_size;
};

/** Builds the program with the device's options, those for such lanes and, last, the user's. */
cl_int opencl_build_program(const gyre_device *device, cl_program program, enum opencl_lanes lanes,
                            const char *options);
/** The same; FAILED with the compiler's first error. */
gyre_status opencl_build(gyre_device *device, const struct opencl_build_desc *desc);

/* ---- opencl_module.c ---- */

gyre_status opencl_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status opencl_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void opencl_module_release(gyre_module *module);
/** The program of such lanes, which stays the module's; it may have to be built. One thread a device. */
gyre_status opencl_module_program(gyre_module *module, enum opencl_lanes lanes, cl_program *program);
/** The kernel of that name, or NULL. */
const struct opencl_kernel *opencl_module_find(const struct gyre_module *module, const char *name);

/* ---- opencl_memory.c ---- */

gyre_status opencl_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc,
                               gyre_queue_memory **out, uint64_t *device_address);
void opencl_queue_release(gyre_queue_memory *memory);
gyre_status opencl_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void opencl_memory_release(gyre_memory *memory);
gyre_status opencl_transfer(gyre_device *device, const gyre_transfer_desc *desc);
gyre_status opencl_memory_copy(gyre_device *device, const gyre_copy_desc *desc);
gyre_status opencl_memory_address(gyre_memory *memory, uint64_t *address);
/**
 * Tells the device which buffers messages to `kernel` may name from now on: those of the table, which has
 * GYRE_HANDLES_MAX entries. One that is freed must leave the list before, or the driver looks at it.
 */
gyre_status opencl_name_buffers(const gyre_device *device, cl_kernel kernel,
                                const gyre_control_handle *table);

/* ---- opencl_launch.c ---- */

gyre_status opencl_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status opencl_wait(gyre_resident *resident, uint64_t deadline_ns);
void opencl_release(gyre_resident *resident);

#endif
