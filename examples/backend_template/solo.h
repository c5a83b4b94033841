/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the template backend share. It serves each kernel with one host thread, one message after
 * the other, and compiles handlers with the C compiler. An operation is implemented by the function of its
 * slot's name: slot `launch`, solo_launch.
 */
#ifndef SOLO_H
#define SOLO_H

#include <gyre/backend.h>
#include <gyre/dialect/cpu_module.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SOLO_BLOCKS_MAX = 64, SOLO_SCRATCH_MAX = 1 << 20 };

struct gyre_device {
    const gyre_host *host;
    char compiler[256];          /* key `compiler` */
    char compiler_identity[256]; /* its name and version; "" when there is none */
};

struct gyre_module {
    gyre_device *device;
    void *library;
    const gyre_cpu_kernel *const *kernels;
    uint32_t kernel_count;
};

struct gyre_memory {
    void *data;
};

/** How far a queue was served. */
struct solo_queue {
    gyre_queue_region *region; /* NULL: no queue in this entry */
    gyre_queue_slots slots;
    uint64_t serial, next;
};

/** A launched kernel. Its thread alone touches `context`, `turn` and `queues`. */
struct gyre_resident {
    gyre_device *device;
    const gyre_cpu_kernel *kernel;
    gyre_control_region *control;
    uint32_t blocks;
    gyre_idle idle;
    uint32_t spin_turns;
    int light_barriers;
    void *state, *scratch;
    gyre_cpu_stage stage;
    gyre_binding *bindings;
    void (*kernel_log)(void *context, const char *text, int64_t value);
    void *kernel_log_context;
    pthread_t thread;
    uint32_t left; /* futex word: 1 once the thread is done with all of this */
    gyre_context context;
    uint32_t turn;
    struct solo_queue queues[GYRE_QUEUES_MAX];
};

/* solo_compile.c */
void solo_identify_compiler(gyre_device *device);
gyre_status solo_compile(gyre_device *device, const gyre_compile_desc *desc);

/* solo_text.c */
/** The first line of a compiler's output that tells an error, as "FILE:LINE: text"; "" when there is none. */
void solo_first_error(const char *output, char *sentence, size_t size);
/** From the make rule that -MD writes to one path a line. False with errno set. */
bool solo_list_dependencies(const char *rule_path, const char *list_path);

/* solo_module.c */
gyre_status solo_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out);
gyre_status solo_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record);
void solo_module_release(gyre_module *module);

/* solo_memory.c */
gyre_status solo_queue_alloc(gyre_device *device, const gyre_queue_memory_desc *desc, gyre_queue_memory **out,
                             uint64_t *device_address);
void solo_queue_release(gyre_queue_memory *memory);
gyre_status solo_memory_alloc(gyre_device *device, uint64_t byte_count, gyre_memory **out);
void solo_memory_release(gyre_memory *memory);
gyre_status solo_transfer(gyre_device *device, const gyre_transfer_desc *desc);
gyre_status solo_memory_address(gyre_memory *memory, uint64_t *address);

/* solo_resident.c */
gyre_status solo_launch(gyre_module *module, const gyre_resident_desc *desc, gyre_resident **out);
gyre_status solo_wait(gyre_resident *resident, uint64_t deadline_ns);
void solo_release(gyre_resident *resident);

/* solo_worker.c */
/** What a handler of this kernel may call. */
const gyre_cpu_services *solo_services(const gyre_cpu_kernel *kernel);
/** The thread of a kernel; `argument` is its gyre_resident. Returns once the control word says so. */
void *solo_main(void *argument);

#endif
