/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks ranges for profilers: the client's half of NVTX 3, without the vendor's headers. A profiler names its
 * library in NVTX_INJECTION64_PATH, or is loaded into the process already. Its entry point gets access to our
 * table of function pointers and puts its own functions there. Takes no lock: all of this happens once,
 * before the first range.
 */
#include "backends/cuda/driver/cuda_ranges.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the NVTX protocol. */
enum {
    EXPORT_CALLBACKS = 1,
    EXPORT_VERSION = 3,
    MODULE_CORE = 1,
    RANGE_START = 5,
    RANGE_END = 7,
    RANGE_PUSH = 9,
    RANGE_POP = 11,
    CORE_SIZE = 16,
    NVTX_VERSION_HERE = 3
};

typedef void (*function)(void);
typedef const void *(*get_export)(uint32_t table);
typedef int (*tool_entry)(get_export exports);

static function slots[CORE_SIZE];
static function *table[CORE_SIZE + 1]; /* the table that the tool fills: places of its functions, then NULL */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local const gyre_host *once_host; /* the host of the thread that looks for the tool */
static bool attached;

static int module_functions(int module, function ***out, unsigned *size)
{
    if (module != MODULE_CORE || !out)
        return 0;
    *out = table;
    if (size)
        *size = CORE_SIZE; /* as the vendor's client counts: without the NULL at the end */
    return 1;
}

static void tool_version(uint32_t version)
{
    (void)version;
}

static const struct {
    size_t size;
    int (*module_functions)(int module, function ***out, unsigned *size);
} callbacks = {sizeof callbacks, module_functions};

static const struct {
    size_t size;
    uint32_t version, reserved;
    void (*tool_version)(uint32_t version);
} version = {sizeof version, NVTX_VERSION_HERE, 0, tool_version};

static const void *find_exports(uint32_t which)
{
    return which == EXPORT_CALLBACKS ? (const void *)&callbacks : which == EXPORT_VERSION ? &version : NULL;
}

/* Turns a symbol's address into a function pointer. ISO C has no cast for that. */
static tool_entry as_entry(void *address)
{
    tool_entry entry;
    memcpy(&entry, &address, sizeof entry);
    return entry;
}

static tool_entry find_tool(const gyre_host *host)
{
    void *library = NULL, *address = NULL;
    const char *path = getenv("NVTX_INJECTION64_PATH");
    if (path && path[0]) {
        if (host->library_open(path, &library) != GYRE_OK ||
            host->library_symbol(library, "InitializeInjectionNvtx2", &address) != GYRE_OK) {
            char text[256];
            snprintf(
                text, sizeof text,
                "NVTX_INJECTION64_PATH names '%.150s', which is no profiler's library: there are no ranges",
                path);
            host->log(host->context, GYRE_LOG_WARNING, text);
            return NULL;
        }
        return as_entry(address);
    }
    address = dlsym(RTLD_DEFAULT, "InitializeInjectionNvtx2Preinject");
    return address ? as_entry(address) : NULL;
}

static void attach_profiler(void)
{
    for (int i = 1; i < CORE_SIZE; i++)
        table[i] = &slots[i];
    tool_entry entry = find_tool(once_host);
    attached = entry && entry(find_exports) != 0;
}

static bool is_attached(const gyre_host *host)
{
    once_host = host;
    pthread_once(&once, attach_profiler);
    return attached;
}

void cuda_range_begin(const gyre_host *host, const char *text)
{
    if (is_attached(host) && slots[RANGE_PUSH])
        ((int (*)(const char *))slots[RANGE_PUSH])(text);
}

void cuda_range_end(void)
{
    if (attached && slots[RANGE_POP])
        ((int (*)(void))slots[RANGE_POP])();
}

uint64_t cuda_range_open(const gyre_host *host, const char *text)
{
    if (is_attached(host) && slots[RANGE_START])
        return ((uint64_t(*)(const char *))slots[RANGE_START])(text);
    return 0;
}

void cuda_range_close(uint64_t range)
{
    if (range && attached && slots[RANGE_END])
        ((void (*)(uint64_t))slots[RANGE_END])(range);
}
