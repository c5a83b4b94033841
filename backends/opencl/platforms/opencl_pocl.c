/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepares PoCL, a platform that runs on processors: chooses how it runs work-groups, and checks that it will
 * get its threads. PoCL starts one thread for each processor when it is first asked for its devices, and
 * aborts the process if it does not get them. (Threads that others start at the same moment are not taken
 * into account.) No state, except the environment.
 */
#include "backends/opencl/platforms/opencl_pocl.h"
#include "backends/opencl/platforms/opencl_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "gyre/lack.h"
#include "gyre/thread.h"

/* ---- work-groups ---- */

static const char method_name[] = "POCL_WORK_GROUP_METHOD", loops[] = "loops", continuations[] = "cbs";
/*
 * The versions of PoCL whose method `cbs` (continuations) is right; docs/backends/opencl.md lists the
 * attempts.
 */
enum { CONTINUATIONS_FROM = 4, CONTINUATIONS_BEFORE = 6 };

/* Returns PoCL's major version, or 0 for another platform. */
static unsigned version_of(const struct opencl_loader *cl, cl_platform_id platform)
{
    char text[128];
    unsigned major = 0;
    opencl_platform_text(cl, platform, CL_PLATFORM_VERSION, text, sizeof text);
    const char *found = strcasestr(text, "pocl ");
    return found && sscanf(found + strlen("pocl "), "%u", &major) == 1 && major > 0 ? major : found != NULL;
}

/*
 * Chooses the method by which PoCL runs work-groups, in the environment, which PoCL reads at every compile;
 * other platforms do not look. By default PoCL vectorizes over work-items. Then PoCL 3.1 with LLVM 15 loses
 * the wrap of an index such as `i * 5 % 16` into an array of the work-item's own and reads past the array's
 * end. PoCL 6 with LLVM 19 does so, too, even by continuations. The method of loops is right there, and is
 * wrong for barriers behind conditions. If the user chose a method, nothing is written.
 */
static void choose_work_groups(unsigned version)
{
    const bool continues = version >= CONTINUATIONS_FROM && version < CONTINUATIONS_BEFORE;
    setenv(method_name, continues ? continuations : loops, 0);
}

const char *opencl_pocl_method(void)
{
    const char *method = getenv(method_name);
    return method ? method : "";
}

bool opencl_is_pocl(const struct opencl_loader *cl, cl_platform_id platform)
{
    return version_of(cl, platform) > 0;
}

enum opencl_meeting opencl_pocl_meeting(const struct opencl_loader *cl, cl_platform_id platform)
{
    const unsigned version = version_of(cl, platform);
    const bool continues = strcmp(opencl_pocl_method(), continuations) == 0;
    if (version == 0 || (continues && version < CONTINUATIONS_BEFORE))
        return OPENCL_MEETS_OPTIMIZED;
    return continues || version < CONTINUATIONS_FROM ? OPENCL_MEETS_PLAIN : OPENCL_MEETS_BADLY;
}

/* ---- builds of the same text ---- */

enum { LOCKS = 16, LOCK_NAPS = 2000, LOCK_NAP_NS = 10000000 /* 20 seconds in all */ };

/* The lock lies in the folder of PoCL's cache. -1 when that cannot be written; then nothing is kept there either. */
static int open_lock(unsigned number)
{
    char path[PATH_MAX];
    const char *given = getenv("POCL_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (given)
        length = snprintf(path, sizeof path, "%s/gyre-%u.lock", given, number);
    else if (cache && cache[0])
        length = snprintf(path, sizeof path, "%s/pocl/kcache/gyre-%u.lock", cache, number);
    else
        length = snprintf(path, sizeof path, "%s/.cache/pocl/kcache/gyre-%u.lock", home ? home : "", number);
    return length > 0 && (size_t)length < sizeof path
               ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600)
               : -1;
}

int opencl_pocl_begin_build(const gyre_device *device, const char *text)
{
    uint32_t hash = 2166136261; /* FNV-1a: texts that differ should seldom wait for each other */
    if (!opencl_is_pocl(device->cl, device->platform))
        return -1;
    for (const char *at = text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619;
    const int lock = open_lock(hash % LOCKS);
    for (int naps = 0; lock >= 0 && naps < LOCK_NAPS && flock(lock, LOCK_EX | LOCK_NB) != 0 &&
                       (errno == EWOULDBLOCK || errno == EINTR);
         naps++)
        nanosleep(&(struct timespec){.tv_nsec = LOCK_NAP_NS}, NULL);
    return lock;
}

void opencl_pocl_end_build(int lock)
{
    if (lock < 0)
        return;
    flock(lock, LOCK_UN); /* a forked child may have the file open as well */
    close(lock);
}

/* ---- threads ---- */

/* how long Linux may take to forget a thread that ended: naps of that length, a second in all */
enum { FORGET_NAPS = 20000, FORGET_NAP_NS = 50000 };

static long count_wanted(void)
{
    const char *chosen = getenv("POCL_MAX_PTHREAD_COUNT");
    const long count = chosen ? strtol(chosen, NULL, 10) : 0;
    return count > 0 ? count : sysconf(_SC_NPROCESSORS_ONLN);
}

/* A thread that is started to see whether it can be. It waits at the gate. */
struct trial {
    pthread_mutex_t *gate;
    pthread_t thread;
    pid_t id; /* Linux's name of the thread; written before the thread ends */
};

static void *pass_gate(void *argument)
{
    struct trial *trial = argument;
    trial->id = gettid();
    pthread_mutex_lock(trial->gate);
    pthread_mutex_unlock(trial->gate);
    return NULL;
}

/*
 * Joins the thread, and waits until Linux has forgotten it: a thread that was joined may still count towards the limit
 * of threads for a moment, in which PoCL would not get its own. Waits for a bounded time.
 */
static void end_trial(const struct trial *trial)
{
    pthread_join(trial->thread, NULL);
    for (int naps = 0; naps < FORGET_NAPS && tgkill(getpid(), trial->id, 0) == 0; naps++)
        nanosleep(&(struct timespec){.tv_nsec = FORGET_NAP_NS}, NULL);
}

/* Returns how many threads, of `count`, can run at once, and the error for the next thread, or 0. */
static long try_threads(struct trial *trials, long count, int *error)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    long started = 0;
    *error = 0;
    pthread_mutex_lock(&gate);
    while (started < count && *error == 0) {
        struct trial *trial = &trials[started];
        trial->gate = &gate;
        *error = gyre_thread_start(&trial->thread, NULL, pass_gate, trial);
        started += *error == 0;
    }
    pthread_mutex_unlock(&gate);
    for (long i = 0; i < started; i++)
        end_trial(&trials[i]);
    pthread_mutex_destroy(&gate);
    return started;
}

static gyre_status foresee_threads(const gyre_host *host)
{
    const long wanted = count_wanted();
    struct trial *trials = wanted > 0 ? calloc((size_t)wanted, sizeof *trials) : NULL;
    int error;
    if (!trials)
        return GYRE_OK;
    const long started = try_threads(trials, wanted, &error);
    free(trials);
    if (error == 0)
        return GYRE_OK;
    return host->error(GYRE_UNAVAILABLE,
                       "PoCL starts %ld threads, without which it ends the process, and there are %ld: %s%s",
                       wanted, started, strerror(error), gyre_lack_remedy(error));
}

gyre_status opencl_pocl_prepare(const gyre_host *host, const struct opencl_loader *cl,
                                cl_platform_id platform, bool expendable)
{
    const unsigned version = version_of(cl, platform);
    if (version == 0)
        return GYRE_OK;
    choose_work_groups(version);
    return expendable ? GYRE_OK : foresee_threads(host);
}
