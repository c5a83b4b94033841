/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of [backend.cpu], parsed. */
#ifndef GYRE_CPU_SETTINGS_H
#define GYRE_CPU_SETTINGS_H

#include <stdbool.h>

#include "gyre/backend.h"

enum { CPU_PIN_MAX = 1024 };

/** The words of `check`. */
enum {
    CPU_CHECK_RACES = 1,
    CPU_CHECK_MEMORY = 2,
    CPU_CHECK_DEADLOCK = 4,
    CPU_CHECK_SCHEDULE = 8,
    CPU_CHECK_TRAFFIC = 16,
    CPU_CHECK_ORDER = 32,
    CPU_CHECK_CRASH = 64
};
/** Whether a thread that sent a message to a sleeping stage runs that stage, in place of waking its thread. */
enum cpu_follow {
    CPU_FOLLOW_AUTO, /* where another thread would find no processor */
    CPU_FOLLOW_ALWAYS,
    CPU_FOLLOW_NEVER
};

/** The keys of [backend.cpu], parsed. */
struct cpu_settings {
    uint32_t threads;           /* workers of a launch that names no number; at least 1 */
    bool spread;                /* pin = spread: `pins` is filled when the device is opened */
    uint32_t pin_count;         /* 0: workers are not pinned */
    uint16_t pins[CPU_PIN_MAX]; /* worker i runs on pins[i % pin_count] */
    enum cpu_follow follow;
    uint64_t lane_stack_size; /* of each lane of a block kernel */
    char compiler[256];
    char compiler_options[1024];
    char sanitize[128];      /* "" or what follows -fsanitize= */
    bool checked;            /* kernels are compiled with checks of their indices */
    uint32_t checks;         /* CPU_CHECK_... of `check`; 0: none */
    char traffic_file[4096]; /* where the check `traffic` writes; "" without it */
    char turns_file[4096];   /* where the order of messages goes (cpu_turns.h); "": nowhere */
    char crash_file[4096];   /* where a process that ended says where (cpu_crash.h); "": none ends */
    uint64_t crash_message, crash_step;
    uint64_t seed;     /* the first seed of the check `schedule`; at least 1 */
    uint64_t seeds;    /* how many seeds each message is run with; at least 1 */
    uint64_t looks;    /* what found the same so often in turn, while all wait, waits for ever */
    uint64_t switches; /* how often a lane or a turn is left at an access at most; 0: any number of times */
};

/** Reads the parameters. CONFIG when one is wrong, with its origin and what was expected. */
gyre_status cpu_settings_read(const gyre_host *host, const gyre_parameter *parameters, size_t count,
                              struct cpu_settings *settings);

#endif
