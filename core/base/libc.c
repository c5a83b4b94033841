/* SPDX-License-Identifier: Apache-2.0 */
/* Does what the GNU C library does, also where Gyre is built with another C library (libc.h). No locks, no state. */
#include "core/base/libc.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>

#ifdef __GLIBC__

#include <malloc.h>
#include <string.h>

void gyre_libc_give_back(int size)
{
    mallopt(M_MMAP_THRESHOLD, size);
}

int gyre_libc_close_from(posix_spawn_file_actions_t *actions, int from)
{
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

const char *gyre_libc_object_of(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map ? map->l_name : NULL;
}

const char *gyre_libc_signal_name(int signal)
{
    return sigabbrev_np(signal);
}

#else

#include <dirent.h>
#include <stdlib.h>
#include <sys/auxv.h>

void gyre_libc_give_back(int size)
{
    (void)size; /* musl maps large blocks, and gives them back, by itself */
}

enum { WITHOUT_PROC = 1024 }; /* descriptors that are closed where nothing tells which are open */

/* Closing one that is not open does no harm to the child. */
static int close_all(posix_spawn_file_actions_t *actions, int from, int end)
{
    int rc = 0;
    for (int descriptor = from; rc == 0 && descriptor < end; descriptor++)
        rc = posix_spawn_file_actions_addclose(actions, descriptor);
    return rc;
}

int gyre_libc_close_from(posix_spawn_file_actions_t *actions, int from)
{
    int rc = 0;
    DIR *open_ones = opendir("/proc/self/fd");
    if (!open_ones)
        return close_all(actions, from, WITHOUT_PROC);
    for (const struct dirent *entry; rc == 0 && (entry = readdir(open_ones));) {
        const int descriptor = atoi(entry->d_name);
        if (descriptor >= from)
            rc = posix_spawn_file_actions_addclose(actions, descriptor);
    }
    closedir(open_ones);
    return rc;
}

/* The program is where the kernel put the headers of its segments. */
const char *gyre_libc_object_of(const void *address)
{
    Dl_info info, program;
    if (!dladdr((void *)(size_t)address, &info))
        return NULL;
    const int own = dladdr((void *)getauxval(AT_PHDR), &program) && program.dli_fbase == info.dli_fbase;
    return own ? "" : info.dli_fname;
}

const char *gyre_libc_signal_name(int signal)
{
    static const struct {
        int signal;
        const char *name;
    } known[] = {{SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGQUIT, "QUIT"}, {SIGILL, "ILL"},
                 {SIGTRAP, "TRAP"}, {SIGABRT, "ABRT"}, {SIGBUS, "BUS"},   {SIGFPE, "FPE"},
                 {SIGKILL, "KILL"}, {SIGUSR1, "USR1"}, {SIGSEGV, "SEGV"}, {SIGUSR2, "USR2"},
                 {SIGPIPE, "PIPE"}, {SIGALRM, "ALRM"}, {SIGTERM, "TERM"}, {SIGXCPU, "XCPU"},
                 {SIGXFSZ, "XFSZ"}, {SIGSYS, "SYS"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].signal == signal)
            return known[i].name;
    return NULL;
}

#endif
