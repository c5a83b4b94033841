/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the vendor's two libraries and fills the tables of their functions. One lock is held while a table is
 * made; afterwards tables are constant. A failure is not kept: a library that is missing now may be installed
 * later.
 */
#include "backends/cuda/driver/cuda_driver.h"
#include "backends/cuda/cuda_failure.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbol {
    const char *name;
    size_t offset; /* of the table's member */
    bool needed;
};

#define TEXT_(text) #text
/* expands the name first, because the vendor's header renames it: "cuMemAlloc_v2" */
#define TEXT(text) TEXT_(text)

#define DRIVER_NEEDED_(function)   {TEXT(function), offsetof(struct cuda_driver, function), true},
#define DRIVER_OPTIONAL_(function) {TEXT(function), offsetof(struct cuda_driver, function), false},
#define NVRTC_NEEDED_(function)    {TEXT(function), offsetof(struct cuda_nvrtc, function), true},

static const struct symbol driver_symbols[] = {CUDA_DRIVER_FUNCTIONS(DRIVER_NEEDED_, DRIVER_OPTIONAL_)};
static const struct symbol nvrtc_symbols[] = {CUDA_NVRTC_FUNCTIONS(NVRTC_NEEDED_)};

/*
 * The driver's library. The toolkit's stubs/libcuda.so is never used: it opens and then answers every call
 * with a failure.
 */
static const char driver_name[] = "libcuda.so.1";
static const char *const nvrtc_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                          "libnvrtc.so"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_driver driver;
static struct cuda_nvrtc nvrtc;
static bool driver_ready, nvrtc_ready;
static char driver_asked[PATH_MAX], nvrtc_asked[PATH_MAX]; /* the paths that the two were opened by */

/* Fills the table. Returns the name of the first required symbol that the library lacks, or NULL. */
static const char *fill_symbols(const gyre_host *host, void *library, const struct symbol *symbols,
                                size_t count, void *table)
{
    for (size_t i = 0; i < count; i++) {
        void *address = NULL;
        gyre_status status = host->library_symbol(library, symbols[i].name, &address);
        if (status != GYRE_OK && symbols[i].needed)
            return symbols[i].name;
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
    }
    return NULL;
}

/* Writes the path of the file that the symbol's library was loaded from. */
static void tell_path(void *library, const char *symbol, char *path, size_t size)
{
    Dl_info info;
    void *address = dlsym(library, symbol);
    snprintf(path, size, "%s", address && dladdr(address, &info) ? info.dli_fname : "");
}

/* ---- the driver ---- */

static gyre_status start_driver(const gyre_host *host)
{
    CUresult result;
    const char *call = "cuInit";
    CUDA_PATIENTLY(result, driver.cuInit(0)) /* the driver of a machine that boots is not ready at once */
    if (result == CUDA_SUCCESS) {
        call = "cuDriverGetVersion";
        result = driver.cuDriverGetVersion(&driver.version);
    }
    if (result == CUDA_SUCCESS)
        return GYRE_OK;
    const char *name = NULL, *text = NULL, *visible = getenv("CUDA_VISIBLE_DEVICES");
    driver.cuGetErrorName(result, &name);
    driver.cuGetErrorString(result, &text);
    return host->error(
        GYRE_UNAVAILABLE,
        "the NVIDIA driver '%s' does not start: %s failed with %d (%s: %s)%s%.200s; see whether "
        "`nvidia-smi` lists %s, and whether this process may open /dev/nvidia*",
        driver.path, call, (int)result, name ? name : "unknown", text ? text : "no text",
        visible ? " where CUDA_VISIBLE_DEVICES is " : "", visible ? visible : "",
        visible ? "it" : "a device");
}

static gyre_status load_driver(const gyre_host *host, const char *path)
{
    void *library;
    const gyre_status status = host->library_open(path[0] ? path : driver_name, &library);
    if (status == GYRE_EXHAUSTED || (status != GYRE_OK && path[0]))
        return status;
    if (status != GYRE_OK)
        return host->error(GYRE_UNAVAILABLE,
                           "there is no NVIDIA driver: '%s' was not found in the loader's folders; install "
                           "the driver (Debian: apt install nvidia-driver; Ubuntu: ubuntu-drivers install), "
                           "or start the container with access to the GPU",
                           driver_name);
    tell_path(library, "cuInit", driver.path, sizeof driver.path);
    const char *missing = fill_symbols(host, library, driver_symbols,
                                       sizeof driver_symbols / sizeof driver_symbols[0], &driver);
    if (missing)
        return host->error(GYRE_UNAVAILABLE,
                           "the NVIDIA driver '%s' is too old: "
                           "it has no %s; install one for CUDA 11.4 or newer",
                           driver.path, missing);
    snprintf(driver_asked, sizeof driver_asked, "%s", path);
    return start_driver(host);
}

/* A filled table stays, because devices use it. So another path is refused from then on. */
gyre_status cuda_driver_open(const gyre_host *host, const char *path, const struct cuda_driver **out)
{
    gyre_status status = GYRE_OK;
    *out = NULL;
    pthread_mutex_lock(&lock);
    if (!driver_ready)
        status = load_driver(host, path);
    else if (strcmp(path, driver_asked) != 0)
        status = host->error(GYRE_UNAVAILABLE,
                             "this process uses the driver '%s' already and cannot also use '%s' "
                             "(backend.cuda.driver): name the same one for all runtimes of a program",
                             driver.path, path[0] ? path : driver_name);
    driver_ready = driver_ready || status == GYRE_OK;
    pthread_mutex_unlock(&lock);
    if (status == GYRE_OK)
        *out = &driver;
    return status;
}

/* ---- the compiler ---- */

static void *open_in_folder(const gyre_host *host, const char *folder)
{
    void *library = NULL;
    for (size_t i = 0; folder && i < sizeof nvrtc_names / sizeof nvrtc_names[0]; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", nvrtc_names[i]);
        if (length > 0 && (size_t)length < sizeof path && host->library_open(path, &library) == GYRE_OK)
            return library;
    }
    return NULL;
}

static void *open_in_toolkit(const gyre_host *host, const char *variable)
{
    char folder[PATH_MAX];
    const char *root = getenv(variable);
    if (!root || !root[0] || snprintf(folder, sizeof folder, "%s/lib64", root) >= PATH_MAX)
        return NULL;
    return open_in_folder(host, folder);
}

/*
 * Writes the path of a folder of Python's packages, in which this plugin lies when it came in the wheel of Gyre, and beside it the wheels
 * of NVIDIA. False elsewhere: nobody says who can write to the folders there.
 */
static bool beside_wheel(const char *folder, char *path, size_t size)
{
    static const char place[] = "/gyre_kernels/_gyre/lib/gyre/plugins/";
    Dl_info info;
    const char *name = dladdr(nvrtc_names, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    const ptrdiff_t length = name ? name + 1 - info.dli_fname - (ptrdiff_t)strlen(place) : 0;
    if (length <= 0 || strncmp(info.dli_fname + length, place, strlen(place)) != 0)
        return false;
    const int written = snprintf(path, size, "%.*s/%s", (int)length, info.dli_fname, folder);
    return written > 0 && (size_t)written < size;
}

static void *open_in_wheel(const gyre_host *host)
{
    static const char *const folders[] = {"nvidia/cuda_nvrtc/lib", "nvidia/cu13/lib"};
    char path[PATH_MAX];
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof folders / sizeof folders[0]; i++)
        if (beside_wheel(folders[i], path, sizeof path))
            library = open_in_folder(host, path);
    return library;
}

static gyre_status find_nvrtc(const gyre_host *host, const char *path, void **library)
{
    if (path[0])
        return host->library_open(path, library);
    *library = open_in_folder(host, "");
    if (!*library)
        *library = open_in_toolkit(host, "CUDA_HOME");
    if (!*library)
        *library = open_in_toolkit(host, "CUDA_PATH");
    if (!*library)
        *library = open_in_folder(host, "/usr/local/cuda/lib64");
    if (!*library)
        *library = open_in_wheel(host);
    if (*library)
        return GYRE_OK;
    return host->error(
        GYRE_UNAVAILABLE,
        "there is no NVRTC, the compiler of CUDA kernels: libnvrtc.so.13, .12, .11.2 and "
        "libnvrtc.so were looked for in the loader's folders, $CUDA_HOME/lib64, "
        "$CUDA_PATH/lib64 and /usr/local/cuda/lib64; install it (package cuda-nvrtc, "
        "libnvrtc of the distribution, or pip install \"gyre-kernels[cuda]\"), set backend.cuda.nvrtc, or give a file that `gyre "
        "compile -o` wrote on another machine");
}

static gyre_status load_nvrtc(const gyre_host *host, const char *path)
{
    void *library = NULL;
    gyre_status status = find_nvrtc(host, path, &library);
    if (status != GYRE_OK)
        return status;
    tell_path(library, "nvrtcVersion", nvrtc.path, sizeof nvrtc.path);
    const char *missing =
        fill_symbols(host, library, nvrtc_symbols, sizeof nvrtc_symbols / sizeof nvrtc_symbols[0], &nvrtc);
    if (missing || nvrtc.nvrtcVersion(&nvrtc.major, &nvrtc.minor) != NVRTC_SUCCESS)
        return host->error(GYRE_UNAVAILABLE,
                           "'%s' is no usable NVRTC: it has no working %s; install version 11.2 or newer",
                           nvrtc.path, missing ? missing : "nvrtcVersion");
    snprintf(nvrtc_asked, sizeof nvrtc_asked, "%s", path);
    return GYRE_OK;
}

/* A filled table stays, because other compiles may be using it. So another path is refused from then on. */
gyre_status cuda_nvrtc_open(const gyre_host *host, const char *path, const struct cuda_nvrtc **out)
{
    gyre_status status = GYRE_OK;
    *out = NULL;
    pthread_mutex_lock(&lock);
    if (!nvrtc_ready)
        status = load_nvrtc(host, path);
    else if (path[0] && strcmp(path, nvrtc_asked) != 0)
        status = host->error(GYRE_UNAVAILABLE,
                             "this process uses the NVRTC '%s' already and cannot also use '%s' "
                             "(backend.cuda.nvrtc): name the same one for all runtimes of a program",
                             nvrtc.path, path);
    nvrtc_ready = nvrtc_ready || status == GYRE_OK;
    pthread_mutex_unlock(&lock);
    if (status == GYRE_OK)
        *out = &nvrtc;
    return status;
}

void cuda_libraries_watch(char *watch, size_t size)
{
    char wheels[256];
    snprintf(watch, size, "%s%s%s",
             "/proc/driver/nvidia/version:/dev/nvidiactl:/dev/nvidia-uvm:/etc/ld.so.cache:"
             "/usr/local/cuda/lib64:$LD_LIBRARY_PATH:$CUDA_HOME:$CUDA_PATH:$CUDA_VISIBLE_DEVICES:"
             "$NVIDIA_VISIBLE_DEVICES",
             beside_wheel("nvidia", wheels, sizeof wheels) ? ":" : "",
             beside_wheel("nvidia", wheels, sizeof wheels) ? wheels : "");
}
