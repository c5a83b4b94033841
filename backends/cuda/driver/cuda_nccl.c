/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens NCCL (cuda_nccl.h). One lock is held meanwhile; afterwards the table is constant. A failure is not kept: a library that is missing now
 * may be installed later.
 */
#include "backends/cuda/driver/cuda_nccl.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { VERSION_MIN = 21400, VERSION_END = 30000 };

static const char default_name[] = "libnccl.so.2";

#define MEMBER_(function)                                                                                    \
    {                                                                                                        \
#function, offsetof(struct cuda_nccl, function)                                                      \
    }
static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    MEMBER_(ncclGetVersion),  MEMBER_(ncclGetErrorString), MEMBER_(ncclGetLastError),
    MEMBER_(ncclCommInitAll), MEMBER_(ncclCommDestroy),    MEMBER_(ncclCommAbort),
    MEMBER_(ncclGroupStart),  MEMBER_(ncclGroupEnd),       MEMBER_(ncclCommGetAsyncError),
    MEMBER_(ncclAllReduce),   MEMBER_(ncclReduce),         MEMBER_(ncclBroadcast),
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_nccl table;
static bool is_ready;

static bool check_version(struct cuda_nccl *nccl, const char *name, char *why, size_t size)
{
    const int result = nccl->ncclGetVersion(&nccl->version);
    if (result == CUDA_NCCL_SUCCESS && nccl->version >= VERSION_MIN && nccl->version < VERSION_END)
        return true;
    if (result != CUDA_NCCL_SUCCESS)
        cuda_nccl_describe(nccl, "ncclGetVersion", result, why, size);
    else
        snprintf(why, size,
                 "NCCL '%.400s' says that its version is %d: expected one from %d (2.14) to %d; name another "
                 "library in backend.cuda.nccl",
                 name, nccl->version, VERSION_MIN, VERSION_END - 1);
    return false;
}

static bool load(const gyre_host *host, struct cuda_nccl *nccl, const char *name, char *why, size_t size)
{
    void *library;
    if (host->library_open(name, &library) != GYRE_OK) {
        snprintf(
            why, size,
            "NCCL '%.400s' is not there, or does not load (`ldd` says what it lacks); install it (Debian "
            "and Ubuntu: apt install libnccl2), or name its library in backend.cuda.nccl",
            name);
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address;
        if (host->library_symbol(library, functions[i].name, &address) != GYRE_OK) {
            snprintf(
                why, size,
                "NCCL '%.400s' has no function %s: expected version 2.14 or newer; name another library in "
                "backend.cuda.nccl",
                name, functions[i].name);
            host->library_close(library);
            return false;
        }
        memcpy((char *)nccl + functions[i].offset, &address, sizeof address);
    }
    if (check_version(nccl, name, why, size))
        return true;
    host->library_close(library);
    return false;
}

const struct cuda_nccl *cuda_nccl_open(const gyre_host *host, const char *path, char *why, size_t size)
{
    const char *name = path[0] ? path : default_name;
    const struct cuda_nccl *found = NULL;
    pthread_mutex_lock(&lock);
    if (!is_ready && load(host, &table, name, why, size)) {
        snprintf(table.path, sizeof table.path, "%s", name);
        is_ready = true;
    }
    if (is_ready && strcmp(table.path, name) == 0)
        found = &table;
    else if (is_ready)
        snprintf(
            why, size,
            "this process uses the NCCL '%.400s' already and cannot also use '%.400s' (backend.cuda.nccl): "
            "name the same one for all runtimes of a program",
            table.path, name);
    pthread_mutex_unlock(&lock);
    return found;
}

void cuda_nccl_describe(const struct cuda_nccl *nccl, const char *call, int result, char *text, size_t size)
{
    const char *words = nccl->ncclGetErrorString(result), *last = nccl->ncclGetLastError(NULL);
    snprintf(text, size,
             "%s of NCCL failed with %d (%.100s)%s%.300s; NCCL_DEBUG=WARN in the environment has it say more",
             call, result, words ? words : "no text", last && last[0] ? ": " : "", last ? last : "");
}
