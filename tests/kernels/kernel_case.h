/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case of tests/kernels: a kernel, its requests, and what must come back. Shared by the programs that run
 * cases on the CPU's own terms and through the public API.
 *
 * Types come from the kernel compiled as C into KERNEL.so, everything else from files beside each other:
 *
 *   cases/NAME.case.json        {"lanes": 32, "blocks": 1, "ulp": 0, "state": {...}, "buffers": {"x": [...]},
 *                                "after": {"state": {...}, "buffers": {"x": [...]}}}, all but lanes optional
 *                               "any_text": true: failures may say what they like
 *   cases/NAME.requests.jsonl   a message a line, as `gyre call` reads it
 *   cases/NAME.replies.jsonl    a line for each request, as `gyre call` prints it
 *
 * Errors end the program with a sentence: this is test code.
 */
#ifndef GYRE_KERNELS_KERNEL_CASE_H
#define GYRE_KERNELS_KERNEL_CASE_H

#include <jansson.h>

#include "core/types/types.h"
#include "gyre/dialect/cpu_module.h"

enum { CASE_NAME_SIZE = 64, CASE_BUFFERS_MAX = 8 };

/** A buffer's elements or the actor's state, before and after. */
struct case_memory {
    const char *name;
    gyre_layout *layout; /* of all elements together */
    void *bytes;
    void *expected; /* NULL: not looked at */
    uint64_t count; /* elements */
};

struct case_expected {
    uint32_t outcome; /* gyre_outcome */
    int32_t code;     /* of a failure */
    char text[44];
    void *reply; /* of a reply */
};

struct kernel_case {
    char name[CASE_NAME_SIZE];
    const gyre_cpu_kernel *kernel;
    gyre_layout *request, *reply;
    uint32_t lanes, blocks;
    uint64_t ulp; /* how far floats may be apart */
    int any_text; /* of failures only the code counts */
    size_t count;
    void **requests;
    struct case_expected *expected;
    struct case_memory state; /* bytes is NULL when the kernel has none */
    struct case_memory buffers[CASE_BUFFERS_MAX];
    uint32_t buffer_count;
};

/** Loads FOLDER/cases/NAME.* and the only kernel of `module_path`. Lives until the program ends. */
struct kernel_case *case_load(const char *module_path, const char *folder, const char *name);

/** Compares one completion with what is expected; prints the first difference. Returns 1 when equal. */
int case_check(const struct kernel_case *test, size_t index, uint32_t outcome, int32_t code, const char *text,
               const void *reply);

/** Compares state and buffers, in `bytes` now, with what is expected after the last request. */
int case_check_memory(const struct kernel_case *test);

/** Prints the sentence and exits with 1. */
void case_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
