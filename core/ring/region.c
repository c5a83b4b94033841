/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and maps memfd regions (region.h). The pages of a large region are allocated at once (fallocate), because a page
 * fault that finds no memory would end the program in the middle of a send. Linux kills a process rather than refuse
 * memory, and sends SIGXFSZ beyond a limit of file sizes; so such sizes are refused here.
 *
 * A small region takes its pages when they are first used, as memory of malloc does: a thousand kernels that are idle
 * would otherwise hold the rings of a thousand that are busy.
 */
#include "core/ring/region.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/base/memory_left.h"

gyre_status gyre_region_check_room(const char *name, size_t size)
{
    static const char kind[] = "shared memory",
                      advice[] = "use a smaller capacity, or smaller messages, buffers or states";
    struct gyre_memory_left left = {.machine = gyre_memory_available(), .group = {.left = UINT64_MAX}};
    struct rlimit limit;
    if (size > left.machine)
        return gyre_memory_left_tell(&left, name, size, kind, advice);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur)
        return gyre_error_set(
            GYRE_EXHAUSTED,
            "%s needs %zu bytes of shared memory, which is a file, and this process may make files of at "
            "most %llu bytes (ulimit -f): raise that limit, or use a smaller capacity",
            name, size, (unsigned long long)limit.rlim_cur);
    return gyre_memory_left_check(name, size, kind, advice);
}

static gyre_status region_exhausted(const char *name, size_t size, const char *call)
{
    const bool files = errno == EMFILE || errno == ENFILE;
    return gyre_error_set(GYRE_EXHAUSTED, "%s needs %zu bytes of shared memory, %s says: %s; %s", name, size,
                          call, strerror(errno),
                          files ? "raise the limit of open files (ulimit -n)" : "use a smaller capacity");
}

/* Whether Linux hands out no more memory than it has (vm.overcommit_memory = 2). Then a page fault of shared memory may fail
 * with SIGBUS. */
static bool overcommit_is_strict(void)
{
    char mode = '0';
    FILE *file = fopen("/proc/sys/vm/overcommit_memory", "re");
    if (!file)
        return false;
    const bool known = fread(&mode, 1, 1, file) == 1;
    fclose(file);
    return known && mode == '2';
}

/* Whether all pages of a region of this size are allocated when it is made or mapped. */
static bool is_reserved(size_t size)
{
    static int strict = -1; /* read once; every reader finds the same */
    if (__atomic_load_n(&strict, __ATOMIC_RELAXED) < 0)
        __atomic_store_n(&strict, overcommit_is_strict(), __ATOMIC_RELAXED);
    return size > GYRE_REGION_SMALL || __atomic_load_n(&strict, __ATOMIC_RELAXED) == 1;
}

void *gyre_region_map(int descriptor, size_t size)
{
    const int flags = MAP_SHARED | (is_reserved(size) ? MAP_POPULATE : 0);
    void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    return address == MAP_FAILED ? NULL : address;
}

/*
 * Allocates all pages of a region with signals blocked. Older versions of Linux give up at a signal, and a fast timer would
 * interrupt every attempt.
 */
static int allocate_pages(const struct gyre_region *region)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = fallocate(region->descriptor, 0, 0, (off_t)region->size);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return failed;
}

gyre_status gyre_region_create(const char *name, size_t size, struct gyre_region *out)
{
    struct gyre_region region = GYRE_REGION_NONE;
    char label[128];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *out = region;
    region.size = (size + page - 1) / page * page;
    gyre_status status = gyre_region_check_room(name, region.size);
    if (status != GYRE_OK)
        return status;
    snprintf(label, sizeof label, "gyre %s", name); /* as /proc/PID/maps shows it */
    region.descriptor =
        GYRE_FAULT_POINT(RING_REGION) ? -1 : memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (region.descriptor < 0)
        return region_exhausted(name, size, "memfd_create");
    if (ftruncate(region.descriptor, (off_t)region.size) != 0 ||
        (is_reserved(region.size) && allocate_pages(&region) != 0)) {
        status = region_exhausted(name, size, "fallocate");
        goto done;
    }
    /* another program that gets the region can neither shrink it (a SIGBUS here) nor reopen it for writing */
    if (fcntl(region.descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
        fchmod(region.descriptor, S_IRUSR | S_IWUSR) != 0) {
        status = region_exhausted(name, size, "fcntl");
        goto done;
    }
    region.address = gyre_region_map(region.descriptor, region.size);
    if (!region.address) {
        status = region_exhausted(name, size, "mmap");
        goto done;
    }
    *out = region;
    region.descriptor = -1;
done:
    if (region.descriptor >= 0)
        close(region.descriptor);
    return status;
}

gyre_status gyre_region_check(const char *name, int descriptor, size_t size)
{
    /* read before the size, which can only grow once F_SEAL_SHRINK is set */
    const int seals = fcntl(descriptor, F_GET_SEALS);
    struct stat about = {0};
    if (fstat(descriptor, &about) != 0 || about.st_size < 0 || (size_t)about.st_size < size)
        return gyre_error_set(GYRE_INVALID, "%s: expected %zu bytes of shared memory, found %lld", name, size,
                              (long long)about.st_size);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return gyre_error_set(GYRE_INVALID,
                              "%s: expected shared memory that cannot shrink (F_SEAL_SHRINK), found %s", name,
                              seals < 0 ? "a file without seals" : "some without this seal");
    return GYRE_OK;
}

gyre_status gyre_region_open(const char *name, int descriptor, size_t size, struct gyre_region *out)
{
    struct gyre_region region = {.size = size};
    *out = GYRE_REGION_NONE;
    gyre_status status = gyre_region_check(name, descriptor, size);
    if (status != GYRE_OK)
        return status;
    region.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (region.descriptor < 0)
        return region_exhausted(name, size, "fcntl");
    region.address = gyre_region_map(region.descriptor, region.size);
    if (!region.address) {
        status = region_exhausted(name, size, "mmap");
        close(region.descriptor);
        return status;
    }
    *out = region;
    return GYRE_OK;
}

gyre_status gyre_region_reader(const struct gyre_region *region, int *descriptor)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", region->descriptor);
    *descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return *descriptor >= 0
               ? GYRE_OK
               : gyre_error_set(GYRE_EXHAUSTED, "cannot open %s for reading: %s", path, strerror(errno));
}

void gyre_region_destroy(struct gyre_region *region)
{
    if (region->address)
        munmap(region->address, region->size);
    if (region->descriptor >= 0)
        close(region->descriptor);
    *region = GYRE_REGION_NONE;
}
