/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the OpenCL backend that its files share. The function of a slot's name implements each op, opencl_launch for
 * example; the header of the file that has it declares it.
 */
#ifndef GYRE_OPENCL_BACKEND_H
#define GYRE_OPENCL_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "gyre/backend.h"
#include "gyre/dialect/opencl_module.h"
#include "opencl_loader.h"
#include "opencl_settings.h"

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
    bool direct;                              /* the device works in the queues' own memory */
    bool pins;                                /* not direct: the platform is shown the queues' memory */
    opencl_create_reachable create_reachable; /* not direct: stages are memory that both reach; else NULL */
    bool shared_addresses; /* not direct: buffers are shared virtual memory, so that messages can name them */
    void *anchor;          /* shared_addresses: a little shared virtual memory that is always there */
    char options[256];     /* of every compile on this device, before the user's */
    bool solo;             /* a processor: kernels whose lanes need not meet are compiled without barriers */
    bool plain_blocks;     /* solo: kernels whose lanes meet are compiled without the platform's optimizer */
    /* gyre_time_ns on processors: time `clock_ns` was at `clock_ticks`; rate 0: no clock */
    uint64_t clock_ns, clock_ticks, clock_rate;
    /* The first failure after which nothing works any more; `lost` is set, with release, after the text. The lock is
     * also held while waiters of a dead kernel's queues are woken. */
    pthread_mutex_t lost_lock;
    atomic_bool lost;
    char lost_text[256];
};

/** A kernel of a module. The texts and types of `record` live as long as the module. */
struct opencl_kernel {
    gyre_kernel_record record;
    gyre_device_kernel seen; /* as the device's compiler wrote it */
};

struct gyre_module {
    struct gyre_device *device;
    cl_program program;
    cl_program meeting;     /* solo devices: of lanes that meet, once a launch asked for it; else NULL */
    char *source, *options; /* of `meeting`; NULL: no kernel of the module needs it */
    struct opencl_records *records; /* owns types and texts */
    struct opencl_kernel *kernels;  /* in the order of the source */
    uint32_t kernel_count;
};

/** A queue's region as the device reaches it. The control region's table holds the address of this object. */
struct gyre_queue_memory {
    gyre_queue_region *region; /* first: kernels that stay read it (opencl_stay.h) */
    struct gyre_device *device;
    cl_mem memory; /* direct: the region itself; staged with pin: never used; else NULL */
};

/**
 * A buffer. `address` is the address of its first byte on both sides, where messages may name it; else NULL. Without
 * `memory` the buffer is shared virtual memory, for which OpenCL has calls of its own.
 */
struct gyre_memory {
    struct gyre_device *device;
    cl_mem memory;
    void *address;
};

#endif
