/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the CPU backend share. Each op is implemented by the function of its slot's name:
 * cpu_launch. */
#ifndef GYRE_CPU_BACKEND_H
#define GYRE_CPU_BACKEND_H

#include <stdbool.h>

#include "gyre/backend.h"
#include "gyre/dialect/cpu_module.h"

enum { CPU_PIN_MAX = 1024 };

/** The keys of [backend.cpu], parsed. */
struct cpu_settings {
    uint32_t threads;           /* worker threads of a launch that does not say; at least 1 */
    bool spread;                /* pin = spread: `pins` are filled when the device is opened */
    uint32_t pin_count;         /* 0: not pinned */
    uint16_t pins[CPU_PIN_MAX]; /* worker i runs on pins[i % pin_count] */
    uint64_t lane_stack_size;   /* of each lane of a block kernel */
    char compiler[256];
    char compiler_options[1024];
    char sanitize[128]; /* "" or what follows -fsanitize= */
    bool checked;       /* kernels check their indices */
};

/** Reads the parameters; CONFIG with origin and expectation when one is wrong. */
gyre_status cpu_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                              struct cpu_settings *settings);

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

/* cpu_compile.c */
gyre_status cpu_compile(gyre_device *device, const gyre_compile_desc *desc);
/** The compiler in use and what tells it from another: resolved path, size, time of change. "" when there is
 * none. */
void cpu_compiler_identity(const struct gyre_device *device, char *text, size_t size);

/* cpu_module.c */
gyre_status cpu_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status cpu_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void cpu_module_release(gyre_module *module);
/** The kernel of that name, or NULL. */
const gyre_cpu_kernel *cpu_module_find(const struct gyre_module *module, const char *name);

/* cpu_memory.c */
gyre_status cpu_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                            uint64_t *device_address);
void cpu_queue_release(gyre_queue_memory *memory);
gyre_status cpu_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void cpu_memory_release(gyre_memory *memory);
gyre_status cpu_transfer(gyre_device *device, const gyre_transfer_desc *desc);
gyre_status cpu_memory_address(gyre_memory *memory, uint64_t *address);
gyre_status cpu_memory_copy(gyre_device *device, const gyre_copy_desc *desc);

/* cpu_launch.c */
gyre_status cpu_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status cpu_wait(gyre_resident *resident, uint64_t deadline_ns);
void cpu_release(gyre_resident *resident);

#endif
