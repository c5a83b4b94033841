/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the CPU backend that its files share. The function of a slot's name implements each op, cpu_launch for
 * example; the header of the file that has it declares it.
 */
#ifndef GYRE_CPU_BACKEND_H
#define GYRE_CPU_BACKEND_H

#include "cpu_settings.h"
#include "gyre/backend.h"
#include "gyre/dialect/cpu_module.h"

struct gyre_device {
    const gyre_host *host;
    struct cpu_settings settings;
    struct cpu_pool *pool; /* the threads of its workers */
};

struct gyre_module {
    struct gyre_device *device;
    void *library;
    const gyre_cpu_kernel **kernels; /* in the order of the source */
    uint32_t kernel_count;
    char *queries; /* "ask;look;": types that GYRE_QUERY handles; NULL: none */
};

struct gyre_memory {
    void *data;
};

#endif
