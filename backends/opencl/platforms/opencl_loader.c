/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the ICD loader and names its error codes. One lock is held while the table of functions is made;
 * afterwards the table is constant. A failure is not kept: a loader that is missing now may be installed
 * later.
 */
#include "backends/opencl/platforms/opencl_loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char library_name[] = "libOpenCL.so.1";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opencl_loader loader;
static bool ready;
static pid_t owner; /* the process that made the table */

static const struct {
    const char *name;
    size_t offset;
    bool needed;
} functions[] = {
#define OPENCL_NEEDED_(name)   {#name, offsetof(struct opencl_loader, name), true},
#define OPENCL_OPTIONAL_(name) {#name, offsetof(struct opencl_loader, name), false},
    OPENCL_FUNCTIONS(OPENCL_NEEDED_) OPENCL_OPTIONAL_FUNCTIONS(OPENCL_OPTIONAL_)
#undef OPENCL_NEEDED_
#undef OPENCL_OPTIONAL_
};

static gyre_status fill_table(const gyre_host *host, void *library)
{
    Dl_info file;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = NULL;
        if (host->library_symbol(library, functions[i].name, &address) != GYRE_OK && functions[i].needed)
            return host->error(
                GYRE_UNAVAILABLE,
                "the OpenCL loader '%s' is too old: it has no %s; install one for OpenCL 1.2 or "
                "newer (Debian, Ubuntu: apt install ocl-icd-libopencl1)",
                library_name, functions[i].name);
        memcpy((char *)&loader + functions[i].offset, &address, sizeof address);
        if (i == 0 && dladdr(address, &file) && file.dli_fname)
            snprintf(loader.path, sizeof loader.path, "%s", file.dli_fname);
    }
    return GYRE_OK;
}

static gyre_status load_library(const gyre_host *host)
{
    void *library = NULL;
    const gyre_status status = host->library_open(library_name, &library);
    if (status == GYRE_EXHAUSTED)
        return status;
    if (status != GYRE_OK)
        return host->error(
            GYRE_UNAVAILABLE,
            "there is no OpenCL loader: '%s' was not found in the loader's folders, or what is there does not "
            "load; install one (Debian, Ubuntu: apt install ocl-icd-libopencl1) and a platform, as "
            "pocl-opencl-icd for the processor",
            library_name);
    return fill_table(host, library);
}

/*
 * Refuses a process that was forked from the process that opened the loader: there the platform's threads do
 * not exist, and PoCL would wait for them without end.
 */
static gyre_status check_process(const gyre_host *host)
{
    if (owner == getpid())
        return GYRE_OK;
    return host->error(
        GYRE_UNAVAILABLE,
        "OpenCL was in use when this process was forked, and its threads are the parent's: use it in "
        "one of the two, begin a program anew in the child (exec), or set isolation = process");
}

gyre_status opencl_loader_open(const gyre_host *host, const struct opencl_loader **out)
{
    *out = NULL;
    pthread_mutex_lock(&lock);
    gyre_status status = ready ? check_process(host) : load_library(host);
    if (status == GYRE_OK && !ready) {
        ready = true;
        owner = getpid();
    }
    pthread_mutex_unlock(&lock);
    if (status == GYRE_OK)
        *out = &loader;
    return status;
}

const char *opencl_code_name(cl_int code)
{
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {
#define NAME(code) {code, #code}
        NAME(CL_DEVICE_NOT_FOUND),
        NAME(CL_DEVICE_NOT_AVAILABLE),
        NAME(CL_COMPILER_NOT_AVAILABLE),
        NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        NAME(CL_OUT_OF_RESOURCES),
        NAME(CL_OUT_OF_HOST_MEMORY),
        NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
        NAME(CL_BUILD_PROGRAM_FAILURE),
        NAME(CL_MAP_FAILURE),
        NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
        NAME(CL_COMPILE_PROGRAM_FAILURE),
        NAME(CL_INVALID_VALUE),
        NAME(CL_INVALID_PLATFORM),
        NAME(CL_INVALID_DEVICE),
        NAME(CL_INVALID_CONTEXT),
        NAME(CL_INVALID_QUEUE_PROPERTIES),
        NAME(CL_INVALID_COMMAND_QUEUE),
        NAME(CL_INVALID_HOST_PTR),
        NAME(CL_INVALID_MEM_OBJECT),
        NAME(CL_INVALID_BINARY),
        NAME(CL_INVALID_BUILD_OPTIONS),
        NAME(CL_INVALID_PROGRAM),
        NAME(CL_INVALID_PROGRAM_EXECUTABLE),
        NAME(CL_INVALID_KERNEL_NAME),
        NAME(CL_INVALID_KERNEL),
        NAME(CL_INVALID_ARG_INDEX),
        NAME(CL_INVALID_ARG_VALUE),
        NAME(CL_INVALID_ARG_SIZE),
        NAME(CL_INVALID_KERNEL_ARGS),
        NAME(CL_INVALID_WORK_DIMENSION),
        NAME(CL_INVALID_WORK_GROUP_SIZE),
        NAME(CL_INVALID_WORK_ITEM_SIZE),
        NAME(CL_INVALID_EVENT_WAIT_LIST),
        NAME(CL_INVALID_EVENT),
        NAME(CL_INVALID_OPERATION),
        NAME(CL_INVALID_BUFFER_SIZE),
        {-1001, "CL_PLATFORM_NOT_FOUND_KHR"}
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].code == code)
            return names[i].name;
    return "an error of the vendor's own";
}
