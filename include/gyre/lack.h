/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the system's error numbers say of a process that lacks something: for the core and for backends; header-only,
 * POSIX, C11 and C++17.
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
 * The error number of that kind that a program's or a library's words tell of, as a compiler's or the loader's that
 * found no descriptor; 0 when they tell of none.
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

/** What people can do about it, to end a sentence with: "; raise ...", or "". EAGAIN: of a thread or a process. */
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
    case EAGAIN: /* of a stack that finds no place pthread_create says so, too */
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
