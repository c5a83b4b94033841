/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the system's error numbers that report a lack (of memory, descriptors, disk, threads) into GYRE_EXHAUSTED and
 * a remedy. For the core and for backends; header-only, POSIX, C11 and C++17.
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
 * Returns the status of a failed call of the system: EXHAUSTED if its error number says that memory, descriptors,
 * disk, or a limit of one of them ran out; otherwise `otherwise`. A lack says nothing about the file or folder that
 * the call was for.
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
 * Finds a lack in the words of a program or library, for example of a compiler that got no descriptor. Returns the
 * lack's error number; 0 when the words report none.
 */
static inline int gyre_lack_in(const char *words)
{
    static const int lacks[] = {EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT};
    /* of the GNU C library, musl and GNU ld: that program may have another C library than this one */
    static const struct {
        int error;
        const char *words;
    } known[] = {{EMFILE, "Too many open files"},     {EMFILE, "No file descriptors available"},
                 {EMFILE, "out of file descriptors"}, {ENOMEM, "Cannot allocate memory"},
                 {ENOMEM, "Out of memory"},           {ENOSPC, "No space left on device"},
                 {EDQUOT, "Disk quota exceeded"},     {EDQUOT, "Quota exceeded"}};
    for (unsigned i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
        if (strstr(words, strerror(lacks[i])))
            return lacks[i];
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(words, known[i].words))
            return known[i].error;
    return 0;
}

/** Whether the address space of this process is limited (RLIMIT_AS). Stacks and libraries take addresses, too. */
static inline int gyre_lack_addresses_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/**
 * Returns the end of a sentence that says what people can do about a lack: "; raise ...", or "". EAGAIN counts as the
 * failure to start a thread or a process.
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
    case EAGAIN: /* pthread_create returns it even when only a stack finds no place */
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
