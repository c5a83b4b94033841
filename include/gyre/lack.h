/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the system's error numbers that tell of a lack (memory, descriptors, disk, threads) into GYRE_EXHAUSTED and a
 * remedy. For the core and for backends; header-only, POSIX, C11 and C++17.
 *
 * Stability: like backend.h.
 */
#ifndef GYRE_LACK_H
#define GYRE_LACK_H

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "gyre/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The status of a failed call of the system: EXHAUSTED where its error number says that memory, descriptors, disk or
 * a limit of them ran out, which says nothing of the file or folder in question, else `otherwise`.
 */
static inline gyre_status gyre_lack_status(int error, gyre_status otherwise)
{
    static const int lacks[] = {EMFILE, ENFILE, ENOMEM, ENOBUFS, ENOSPC, EDQUOT, EFBIG};
    for (unsigned i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        if (error == lacks[i])
            return GYRE_EXHAUSTED;
    return otherwise;
}

/**
 * The error number of a lack that the words of a program or library tell of, such as those of a compiler that found no
 * descriptor; 0 when they tell of none.
 */
static inline int gyre_lack_in(const char *words)
{
    static const int lacks[] = {EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT};
    for (unsigned i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        if (strstr(words, strerror(lacks[i])))
            return lacks[i];
    return strstr(words, "out of file descriptors") ? EMFILE : 0; /* GNU ld */
}

/** Whether this process may have only so many bytes of addresses, which stacks and libraries take, too. */
static inline int gyre_lack_addresses_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/**
 * The end of a sentence that says what people can do about a lack: "; raise ...", or "". EAGAIN is taken as the failure
 * to start a thread or a process.
 */
static inline const char *gyre_lack_remedy(int error)
{
    switch (error) {
    case EMFILE:
        return "; raise the limit of open files (ulimit -n)";
    case ENFILE:
        return "; the whole machine has no more open files (sysctl fs.file-max)";
    case ENOMEM:
        return gyre_lack_addresses_limited() ? "; raise the limit of memory (ulimit -v)" : "";
    case EFBIG:
        return "; raise the limit of file sizes (ulimit -f)";
    case EAGAIN: /* pthread_create returns it also when a stack finds no place */
        return gyre_lack_addresses_limited()
                   ? "; raise the limit of memory (ulimit -v), or that of processes and threads (ulimit -u, "
                     "or the container's)"
                   : "; raise the limit of processes and threads (ulimit -u, or the container's)";
    default:
        return "";
    }
}

#ifdef __cplusplus
}
#endif
#endif
