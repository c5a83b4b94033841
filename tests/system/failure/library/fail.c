/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be preloaded: functions of the C library that fail once, when they are called from one place in Gyre. A place is
 * the address that the call returns to, relative to its file.
 *
 *     FAIL_IN=NAME       in the processes of that name alone (as they were started)
 *     FAIL_CALLS=FILE    writes a line for each call, `FUNCTION FILE+ADDRESS`, and lets none fail
 *     FAIL=FUNCTION FILE+ADDRESS NUMBER      the call with that number, from 1 on, fails
 *     FAIL_ONCE=FILE     in the first process only that makes this file
 *
 * Functions that cannot fail where they are used are left out: an eventfd takes a write, and what glibc calls
 * `init` needs no memory.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))
enum { LINE_SIZE = 512, HIGH_DESCRIPTOR = 700 };

static struct {
    bool looks; /* this process is one of those */
    int calls;  /* -1: nobody counts */
    char call[LINE_SIZE];
    long number;
    const char *once;
} plan = {.calls = -1};
static long hits;          /* atomic */
static __thread bool busy; /* what is called here does not count */

__attribute__((constructor)) static void read_plan(void)
{
    const char *name = getenv("FAIL_IN"), *calls = getenv("FAIL_CALLS"), *call = getenv("FAIL");
    const char *number = call ? strrchr(call, ' ') : NULL;
    busy = true;
    if (calls) {
        int file = open(calls, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        plan.calls = fcntl(file, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
        close(file);
    } else if (number) {
        snprintf(plan.call, sizeof plan.call, "%.*s", (int)(number - call), call);
        plan.number = strtol(number, NULL, 10);
    }
    plan.once = getenv("FAIL_ONCE");
    plan.looks = !name || strcmp(name, program_invocation_short_name) == 0;
    busy = false;
}

static bool is_first_process(void)
{
    if (!plan.once || __atomic_load_n(&hits, __ATOMIC_RELAXED) != plan.number)
        return false;
    long file = syscall(SYS_openat, AT_FDCWD, plan.once, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0)
        syscall(SYS_close, file);
    return file >= 0;
}

static void tell(int file, const char *line)
{
    syscall(SYS_write, file, line, strlen(line));
}

/* Whether this call, which returns to `place`, is the one that fails. */
static bool is_to_fail(const char *function, const void *place)
{
    Dl_info info;
    char call[LINE_SIZE], line[LINE_SIZE + 16];
    if (!dladdr(place, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/'), *file = slash ? slash + 1 : info.dli_fname;
    if (strncmp(file, "libgyre.", 8) != 0 && strncmp(file, "gyre-", 5) != 0)
        return false;
    snprintf(call, sizeof call, "%s %s+%zx", function, file,
             (size_t)((const char *)place - (const char *)info.dli_fbase));
    snprintf(line, sizeof line, "%s\n", call);
    if (plan.calls >= 0)
        tell(plan.calls, line);
    if (strcmp(call, plan.call) != 0 || __atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED) != plan.number ||
        !is_first_process())
        return false;
    snprintf(line, sizeof line, "fails: %s\n", call);
    tell(STDERR_FILENO, line);
    return true;
}

static bool fails(const char *function, const void *place, int code)
{
    const int before = errno;
    if (!plan.looks || busy)
        return false;
    busy = true;
    const bool failed = is_to_fail(function, place);
    busy = false;
    errno = failed ? code : before;
    return failed;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's names are its own */

/* ---- memory ---- */

/* The C library's own functions, by the names that it offers for this. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

SHOWN void *malloc(size_t size)
{
    return fails("malloc", __builtin_return_address(0), ENOMEM) ? NULL : __libc_malloc(size);
}

SHOWN void *calloc(size_t nmemb, size_t size)
{
    return fails("calloc", __builtin_return_address(0), ENOMEM) ? NULL : __libc_calloc(nmemb, size);
}

SHOWN void *realloc(void *ptr, size_t size)
{
    return fails("realloc", __builtin_return_address(0), ENOMEM) ? NULL : __libc_realloc(ptr, size);
}

SHOWN void *aligned_alloc(size_t alignment, size_t size)
{
    return fails("aligned_alloc", __builtin_return_address(0), ENOMEM) ? NULL
                                                                       : __libc_memalign(alignment, size);
}

/* ---- the rest ---- */

/* Defines `name`, which returns `failure` with the errno `code` when it is to fail. */
#define STAND_BEFORE(result, name, parameters, arguments, failure, code)                                     \
    SHOWN result name parameters                                                                             \
    {                                                                                                        \
        static result(*real) parameters;                                                                     \
        if (!real)                                                                                           \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                                       \
        return fails(#name, __builtin_return_address(0), code) ? (failure) : real arguments;                 \
    }

STAND_BEFORE(char *, strdup, (const char *text), (text), NULL, ENOMEM)
STAND_BEFORE(FILE *, open_memstream, (char **text, size_t *size), (text, size), NULL, ENOMEM)
STAND_BEFORE(void *, mmap, (void *at, size_t size, int access, int flags, int file, off_t offset),
             (at, size, access, flags, file, offset), MAP_FAILED, ENOMEM)
STAND_BEFORE(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
STAND_BEFORE(int, ftruncate, (int file, off_t size), (file, size), -1, ENOSPC)
STAND_BEFORE(int, fallocate, (int file, int mode, off_t offset, off_t size), (file, mode, offset, size), -1,
             ENOSPC)
STAND_BEFORE(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t offset),
             (file, bytes, size, offset), -1, ENOSPC)
STAND_BEFORE(ssize_t, read, (int file, void *bytes, size_t size), (file, bytes, size), -1, EIO)
STAND_BEFORE(ssize_t, pread, (int file, void *bytes, size_t size, off_t offset), (file, bytes, size, offset),
             -1, EIO)
STAND_BEFORE(int, fsync, (int file), (file), -1, EIO)
STAND_BEFORE(int, fdatasync, (int file), (file), -1, EIO)
STAND_BEFORE(int, fstat, (int file, struct stat *out), (file, out), -1, EIO)
STAND_BEFORE(int, stat, (const char *path, struct stat *out), (path, out), -1, EIO)
STAND_BEFORE(int, rename, (const char *from, const char *to), (from, to), -1, ENOSPC)
STAND_BEFORE(int, unlink, (const char *path), (path), -1, EPERM)
STAND_BEFORE(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, ENOSPC)
STAND_BEFORE(int, fchmod, (int file, mode_t mode), (file, mode), -1, EPERM)
STAND_BEFORE(int, flock, (int file, int how), (file, how), -1, ENOLCK)
STAND_BEFORE(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, EMFILE)
STAND_BEFORE(int, socketpair, (int domain, int type, int protocol, int ends[2]),
             (domain, type, protocol, ends), -1, EMFILE)
STAND_BEFORE(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags),
             -1, ENOBUFS)
STAND_BEFORE(ssize_t, recvmsg, (int file, struct msghdr *message, int flags), (file, message, flags), -1,
             ENOMEM)
STAND_BEFORE(int, poll, (struct pollfd * files, nfds_t count, int ms), (files, count, ms), -1, ENOMEM)
STAND_BEFORE(int, pipe2, (int ends[2], int flags), (ends, flags), -1, EMFILE)
STAND_BEFORE(int, eventfd, (unsigned count, int flags), (count, flags), -1, EMFILE)
STAND_BEFORE(DIR *, opendir, (const char *path), (path), NULL, EMFILE)
STAND_BEFORE(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EMFILE)
STAND_BEFORE(int, accept4, (int file, __SOCKADDR_ARG from, socklen_t *size, int flags),
             (file, from, size, flags), -1, EMFILE)
STAND_BEFORE(int, pthread_create,
             (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
             (thread, attributes, run, argument), EAGAIN, EAGAIN)
STAND_BEFORE(int, posix_spawn,
             (pid_t * process, const char *path, const posix_spawn_file_actions_t *actions,
              const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment),
             (process, path, actions, attributes, arguments, environment), EAGAIN, EAGAIN)

SHOWN int open(const char *path, int flags, ...)
{
    static int (*real)(const char *path, int flags, ...);
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "open");
    return fails("open", __builtin_return_address(0), EMFILE) ? -1 : real(path, flags, mode);
}

SHOWN int fcntl(int file, int command, ...)
{
    static int (*real)(int file, int command, ...);
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fcntl");
    return fails("fcntl", __builtin_return_address(0), EMFILE) ? -1 : real(file, command, argument);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
