/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that the files of the OpenCL backend share: the device, a loaded module, memory. A launched
 * kernel is in opencl_resident.h. Each operation of the backend's table (opencl_plugin.c) is a function with
 * the operation's name: `opencl_launch` implements `launch`. The header of the file that defines the function
 * declares it.
 */
#ifndef GYRE_OPENCL_BACKEND_H
#define GYRE_OPENCL_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "gyre/backend.h"
#include "gyre/dialect/opencl_module.h"
#include "backends/opencl/platforms/opencl_loader.h"
#include "backends/opencl/opencl_settings.h"

/** The type of clCreateBufferNV, which makes host memory that kernels reach even while it is mapped. */
typedef cl_mem (*opencl_create_reachable)(cl_context context, cl_mem_flags flags, cl_bitfield location,
                                          size_t size, void *host_pointer, cl_int *code);

/**
 * A stage: memory in which the pump leaves requests for the device and finds replies (opencl_stage.c). All
 * zeros: there is no stage.
 */
struct opencl_stage {
    cl_mem memory;
    unsigned char *host; /* if kernels reach the stage: the same memory; else a copy of it */
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
    cl_command_queue service; /* transfers; one caller at a time, as the backend's contract requires */
    cl_command_queue nudges;  /* processors: markers alone (opencl_wait.c); else NULL */
    char name[128], platform_name[128], platform_version[128], driver[64], architecture[64];
    cl_device_type type;
    uint64_t memory_size, allocation_max, local_size;
    uint32_t unit_count, group_max, lanes_default;
    bool direct; /* the device works in the queues' own memory */
    /* not direct: the platform is shown the queues' memory, so that it may pin it */
    bool pins;
    /* not direct, and kernels reach the stages: the function that makes them; else NULL */
    opencl_create_reachable create_reachable;
    /* not direct: buffers are shared virtual memory, so messages can name them by address */
    bool shared_addresses;
    void *anchor;      /* shared_addresses: a little shared virtual memory that always exists */
    char options[256]; /* of every compile on this device, before the user's options */
    /* a processor: kernels whose lanes never meet at barriers are compiled without barriers */
    bool solo;
    /* solo: kernels whose lanes meet at barriers are compiled without the platform's optimizer */
    bool plain_blocks;
    /*
     * For gyre_time_ns on processors: the time was `clock_ns` when the counter read `clock_ticks`; clock_rate
     * 0: no clock.
     */
    uint64_t clock_ns, clock_ticks, clock_rate;
    /*
     * The first failure after which no call works any more. The failing thread writes the text, then sets
     * `lost` with release. The lock is also held while waiters of a dead kernel's queues are woken.
     */
    pthread_mutex_t lost_lock;
    atomic_bool lost;
    char lost_text[256];
    gyre_queue_memory *queues; /* those that were not released. Lock: lost_lock */
};

/** A kernel of a module. The module owns the types and texts of `record`. */
struct opencl_kernel {
    gyre_kernel_record record;
    gyre_device_kernel seen; /* the kernel's description, as the device's compiler wrote it */
    /* of each port: bytes of a message with an empty tail; the size of its type when it has no tail */
    gyre_u32 port_least[GYRE_PORTS_MAX];
    gyre_u32 flow_most; /* bytes of memory of a flow, at that kernel of the file that has most */
};

struct gyre_module {
    struct gyre_device *device;
    cl_program program;
    /* solo devices: the program for lanes that meet, once a launch asked for it; else NULL */
    cl_program meeting;
    char *source, *options; /* source and options of `meeting`; NULL: no kernel of the module needs it */
    struct opencl_records *records; /* owns the types and texts of the kernels */
    struct opencl_kernel *kernels;  /* in the order of the source */
    uint32_t kernel_count;
};

/**
 * A queue's region as the device reaches it. The control region's table of queues holds the address of the region
 * (opencl_queue_find).
 */
struct gyre_queue_memory {
    gyre_queue_region *region;
    struct gyre_device *device;
    cl_mem memory; /* direct: the region itself; staged with `pin`: never used; else NULL */
    gyre_queue_memory *next;
};

/**
 * A buffer. `address` is the address of its first byte on host and device, if messages may name it by
 * address; else NULL. A buffer without `memory` is shared virtual memory, for which OpenCL has calls of its
 * own.
 */
struct gyre_memory {
    struct gyre_device *device;
    cl_mem memory;
    void *address;
};

#endif
