/* SPDX-License-Identifier: Apache-2.0 */
/* A profiler's library: takes the ranges over and writes down what it is told. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    CALLBACKS = 1,
    VERSION = 3,
    CORE = 1,
    RANGE_START = 5,
    RANGE_END = 7,
    PUSH = 9,
    POP = 11,
    FUNCTIONS = 16
};

typedef void (*function)(void);
typedef const void *(*get_export)(uint32_t table);

struct callbacks {
    size_t size;
    int (*module_functions)(int module, function ***out, unsigned *size);
};

__attribute__((visibility("default"))) char tool_notes[8192];
__attribute__((visibility("default"))) int tool_depth, tool_open;
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(get_export exports);

static void note(const char *text)
{
    size_t used = strlen(tool_notes);
    snprintf(tool_notes + used, sizeof tool_notes - used, "%s\n", text);
}

static int push(const char *text)
{
    note(text);
    return __atomic_fetch_add(&tool_depth, 1, __ATOMIC_RELAXED);
}

static int pop(void)
{
    return __atomic_sub_fetch(&tool_depth, 1, __ATOMIC_RELAXED);
}

static uint64_t start(const char *text)
{
    note(text);
    __atomic_fetch_add(&tool_open, 1, __ATOMIC_RELAXED);
    return 77;
}

static void end(uint64_t range)
{
    if (range == 77)
        __atomic_fetch_sub(&tool_open, 1, __ATOMIC_RELAXED);
}

int InitializeInjectionNvtx2(get_export exports)
{
    const struct callbacks *callbacks = exports(CALLBACKS);
    function **table = NULL;
    unsigned size = 0;
    if (!callbacks || callbacks->size < sizeof *callbacks || !exports(VERSION) || exports(2) ||
        !callbacks->module_functions(CORE, &table, &size) || size != FUNCTIONS ||
        callbacks->module_functions(2, &table, &size))
        return 0;
    *table[PUSH] = (function)push;
    *table[POP] = (function)pop;
    *table[RANGE_START] = (function)start;
    *table[RANGE_END] = (function)end;
    return 1;
}
