/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre_stress: load over the public API alone. A mode is a function that returns when all went well;
 * `require` ends the process with file, line and the thread's error text otherwise.
 */
#ifndef GYRE_TESTS_STRESS_H
#define GYRE_TESTS_STRESS_H

#include <gyre/gyre.h>
#include <pthread.h>
#include <stdbool.h>

#include "messages.h"

enum { STRESS_FACTS_MAX = 8 };

struct stress_fact {
    const char *name;
    double value;
};

struct stress {
    gyre_runtime *runtime;
    const char *const *settings; /* of the command line, NULL-terminated */
    bool is_long;
    uint64_t seconds; /* of modes that run for a time; 0: their own */
    uint64_t count;   /* of what a mode counts (rounds, messages); 0: its own */
    bool json;
    struct stress_fact facts[STRESS_FACTS_MAX]; /* what the mode found */
    int fact_count;
};

struct stress_mode {
    const char *name, *what;
    void (*run)(struct stress *stress);
};

/** Ends with NULL. */
extern const struct stress_mode flow_modes[], life_modes[], end_modes[], chaos_modes[], long_modes[],
    device_modes[];

_Noreturn void require_(const char *what, const char *file, int line);
#define require(condition) ((condition) ? (void)0 : require_(#condition, __FILE__, __LINE__))
#define must(call)         ((call) == GYRE_OK ? (void)0 : require_(#call, __FILE__, __LINE__))

/** `small` in a short run, `large` in a long one. Sanitizers take many times as long for a message. */
static inline uint64_t scaled(const struct stress *stress, uint64_t small, uint64_t large)
{
    if (stress->count)
        return stress->count;
    return stress->is_long ? large : small / STRESS_SHORTENED;
}

/** Keeps a figure for the line that the mode ends with, or for the JSON document. */
void note(struct stress *stress, const char *name, double value);

/** Far off: what does not happen until then hangs. */
uint64_t far_off(void);

/** Opens a runtime with the settings of the command line and up to four more, ended by NULL. */
gyre_runtime *open_runtime(const struct stress *stress, const char *const *more);
/** Where the handlers are; a bundle has moved them. */
const char *stress_kernels(void);
gyre_kernel *launch(gyre_runtime *runtime, const char *kernel, uint32_t blocks);
gyre_queue *open_queue(gyre_kernel *kernel, gyre_queue_desc desc);
gyre_queue_stats stats_of(gyre_queue *queue);
gyre_kernel_info info_of(gyre_kernel *kernel);

/** True when the kernel has handled so many messages, now or within a second. */
bool handles(gyre_kernel *kernel, uint64_t count);
void start_thread(pthread_t *thread, void *(*run)(void *), void *argument);

void sleep_ms(uint64_t milliseconds);

/** Memory of this process, in KiB. */
uint64_t resident_kib(void);
/** Whether that says anything: not under a sanitizer. */
bool memory_tells(void);
/** Memory of GPU 0 that is taken, by whomever, in KiB; 0 where no backend uses one. */
uint64_t device_memory_used_kib(void);

/** The one request of a producer and number. */
stamp make_stamp(uint64_t producer, uint64_t number);
/** Every word of the reply is right. */
bool is_reply(const stamp *reply, uint64_t producer, uint64_t number);

enum { STREAM_BATCH = 64 };

/**
 * Sends numbers `first` to `end` - 1 of a producer from one thread and receives them in between, every reply
 * checked, in order. Nobody else receives from the queue.
 */
void stream(gyre_queue *queue, uint64_t producer, uint64_t first, uint64_t end);

#endif
