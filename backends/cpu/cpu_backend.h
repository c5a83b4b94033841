/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that the files of the CPU backend share: the device, a loaded module, memory. A launched kernel
 * is in cpu_resident.h. Each operation of the backend's table (cpu_plugin.c) is a function with the
 * operation's name: `cpu_launch` implements `launch`. The header of the file that defines the function
 * declares it.
 */
#ifndef GYRE_CPU_BACKEND_H
#define GYRE_CPU_BACKEND_H

#include "backends/cpu/cpu_settings.h"
#include "gyre/backend.h"
#include "gyre/dialect/cpu_module.h"

/** Stack that a worker's thread needs for itself, in addition to a handler's stack. */
#define CPU_WORKER_STACK_SIZE ((size_t)1 << 20)

struct gyre_device {
    const gyre_host *host;
    struct cpu_settings settings;
    struct cpu_pool *pool;     /* the threads of the device's workers */
    struct cpu_checks *checks; /* NULL: handlers are not checked */
    struct cpu_turns *turns;   /* NULL: workers run as their threads do */
    struct cpu_seats *seats;   /* who runs which stage of a pipeline */
    struct cpu_relief *relief; /* for threads that do not come back from another stage */
};

struct gyre_module {
    struct gyre_device *device;
    void *library;
    const gyre_cpu_kernel **kernels; /* in the order of the source */
    uint32_t kernel_count;
    gyre_port_record *ports; /* of all kernels, in their order; NULL: they have none */
    const gyre_type **asks;  /* of each of these ports: the type of its answers; NULL: it does not ask */
    char *queries;           /* "ask;look;": message types that GYRE_QUERY handles; NULL: none */
};

struct gyre_memory {
    void *data;
};

#endif
