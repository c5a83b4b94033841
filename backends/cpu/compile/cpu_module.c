/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads compiled kernel files and describes their kernels. Takes no lock: a loaded module never changes.
 * Loading runs the file's constructors, so the core has checked before where the file comes from.
 */
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/check/cpu_check.h"
#include "backends/cpu/compile/cpu_module.h"
#include "gyre/dialect/cpu_watch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Refuses a file that needs a sanitizer's runtime which this process lacks: such a runtime, loaded late, ends
 * the process. The file shows its need by an undefined symbol, before it is loaded.
 */
static gyre_status check_runtime(const gyre_device *device, const gyre_module_desc *desc)
{
    static const char *const runtimes[][3] = {{"__asan_init", "address", "libasan.so"},
                                              {"__tsan_init", "thread", "libtsan.so"},
                                              {"__lsan_init", "leak", "liblsan.so"}};
    /* a file that was compiled for checks has the functions itself */
    if (desc->artifact &&
        memmem(desc->artifact, desc->artifact_size, GYRE_CPU_WATCH_SYMBOL, sizeof GYRE_CPU_WATCH_SYMBOL - 1))
        return GYRE_OK;
    for (size_t i = 0; desc->artifact && i < sizeof runtimes / sizeof runtimes[0]; i++) {
        const char *symbol = runtimes[i][0];
        if (!memmem(desc->artifact, desc->artifact_size, symbol, strlen(symbol)) ||
            dlsym(RTLD_DEFAULT, symbol))
            continue;
        return device->host->error(
            GYRE_UNAVAILABLE,
            "'%s' was compiled with sanitize = %s and needs its runtime in the program "
            "from the start: run it with LD_PRELOAD=$(%s -print-file-name=%s)",
            desc->artifact_path, runtimes[i][1], device->settings.compiler, runtimes[i][2]);
    }
    return GYRE_OK;
}

static int compare_lines(const void *a, const void *b)
{
    uint32_t left = (*(const gyre_cpu_kernel *const *)a)->line;
    uint32_t right = (*(const gyre_cpu_kernel *const *)b)->line;
    return (left > right) - (left < right);
}

/*
 * Takes the kernels of the file's section and sorts them, because compilers order the section as they like.
 */
static gyre_status take_kernels(gyre_module *module, const gyre_cpu_module *table)
{
    size_t count = (size_t)(table->end - table->first);
    module->kernels = calloc(count ? count : 1, sizeof(gyre_cpu_kernel *));
    if (!module->kernels)
        return module->device->host->error(GYRE_EXHAUSTED, "no memory for the table of %zu kernels", count);
    for (size_t i = 0; i < count; i++)
        module->kernels[i] = table->first[i];
    qsort(module->kernels, count, sizeof(gyre_cpu_kernel *), compare_lines);
    module->kernel_count = (uint32_t)count;
    return GYRE_OK;
}

static gyre_status take_queries(gyre_module *module, const gyre_cpu_module *table)
{
    size_t size = 1;
    for (const char *const *at = table->first_query; at != table->end_query; at++)
        size += strlen(*at) + 1;
    if (size == 1)
        return GYRE_OK;
    char *end = module->queries = malloc(size);
    if (!end)
        return module->device->host->error(GYRE_EXHAUSTED, "no memory for the names of %zu bytes of queries",
                                           size);
    for (const char *const *at = table->first_query; at != table->end_query; at++)
        end += sprintf(end, "%s;", *at);
    return GYRE_OK;
}

static gyre_status take_ports(gyre_module *module)
{
    size_t count = 0;
    for (uint32_t i = 0; i < module->kernel_count; i++)
        count += module->kernels[i]->port_count;
    gyre_port_record *port = module->ports = count ? calloc(count, sizeof *port) : NULL;
    if (count && !port)
        return module->device->host->error(GYRE_EXHAUSTED, "no memory for the table of %zu ports", count);
    const gyre_type **ask = module->asks = count ? calloc(count, sizeof *ask) : NULL;
    if (count && !ask)
        return module->device->host->error(GYRE_EXHAUSTED, "no memory for the table of %zu ports", count);
    for (uint32_t i = 0; i < module->kernel_count; i++)
        for (uint32_t j = 0; j < module->kernels[i]->port_count; j++) {
            const gyre_cpu_port_type *type = &module->kernels[i]->ports[j];
            *port++ = (gyre_port_record){.name = type->name, .type = type->type, .most = type->most};
            *ask++ = type->reply;
        }
    return GYRE_OK;
}

static gyre_status read_table(gyre_module *module, const char *path)
{
    const gyre_host *host = module->device->host;
    void *symbol = NULL;
    gyre_status status = host->library_symbol(module->library, GYRE_CPU_MODULE_SYMBOL, &symbol);
    if (status != GYRE_OK)
        return host->error(GYRE_INCOMPATIBLE, "'%s' is no compiled kernel file: it has no symbol %s", path,
                           GYRE_CPU_MODULE_SYMBOL);
    const gyre_cpu_module *(*function)(void);
    memcpy(&function, &symbol, sizeof function); /* ISO C has no cast from an object to a function */
    const gyre_cpu_module *table = function();
    if (!table || table->version != GYRE_CPU_MODULE_VERSION)
        return host->error(GYRE_INCOMPATIBLE,
                           "'%s' was compiled with the kernel headers of another Gyre (module version %u, "
                           "this one needs %u): compile it again",
                           path, table ? table->version : 0, GYRE_CPU_MODULE_VERSION);
    status = take_kernels(module, table);
    if (status == GYRE_OK)
        status = take_ports(module);
    return status == GYRE_OK ? take_queries(module, table) : status;
}

gyre_status cpu_module_load(gyre_device *device, const gyre_module_desc *desc, gyre_module **out)
{
    *out = NULL;
    gyre_status status = check_runtime(device, desc);
    if (status != GYRE_OK)
        return status;
    gyre_module *module = calloc(1, sizeof *module);
    if (!module)
        return device->host->error(GYRE_EXHAUSTED, "no memory for a kernel module");
    module->device = device;
    status = device->host->library_open(desc->artifact_path, &module->library);
    if (status == GYRE_OK)
        status = read_table(module, desc->artifact_path);
    if (status == GYRE_OK)
        status = cpu_check_adopt(module, desc->artifact_path);
    if (status != GYRE_OK) {
        cpu_module_release(module);
        return status;
    }
    *out = module;
    return GYRE_OK;
}

/* The number of the kernel's first port among those of all kernels. */
static size_t first_port(const gyre_module *module, uint32_t index)
{
    size_t first = 0;
    for (uint32_t i = 0; i < index; i++)
        first += module->kernels[i]->port_count;
    return first;
}

/* The ports of a kernel; NULL: it has none. */
static const gyre_port_record *ports_of(const gyre_module *module, uint32_t index)
{
    return module->kernels[index]->port_count ? &module->ports[first_port(module, index)] : NULL;
}

/* The types of the answers to what a kernel asks; NULL: it asks nothing. */
static const gyre_type *const *asks_of(const gyre_module *module, uint32_t index)
{
    const gyre_type *const *asks = module->asks ? &module->asks[first_port(module, index)] : NULL;
    for (uint32_t i = 0; i < module->kernels[index]->port_count; i++)
        if (asks[i])
            return asks;
    return NULL;
}

enum { CPU_TOGETHER_MAX = 8 };

/* With checks all blocks are the work of one thread, which has 1,024 lanes at most. */
static uint32_t grid_blocks_most(const gyre_device *device, const gyre_cpu_kernel *kernel)
{
    return kernel->form == GYRE_FORM_GRID && device->checks ? CPU_TOGETHER_MAX : 0;
}

gyre_status cpu_module_kernel(gyre_module *module, uint32_t index, gyre_kernel_record *record)
{
    if (index >= module->kernel_count)
        return module->device->host->error(GYRE_NOT_FOUND,
                                           "the file has %u kernels, there is none with index %u",
                                           module->kernel_count, index);
    const gyre_cpu_kernel *kernel = module->kernels[index];
    gyre_kernel_record now = {.size = record->size,
                              .name = kernel->name,
                              .form = (gyre_form)kernel->form,
                              .request = kernel->request,
                              .reply = kernel->reply,
                              .state = kernel->state,
                              .scratch_size = gyre_form_shares(kernel->form) ? kernel->scratch_size : 0,
                              .buffers = kernel->buffers,
                              .buffer_types = kernel->buffer_types,
                              .queries = module->queries,
                              .ports = ports_of(module, index),
                              .port_count = kernel->port_count,
                              .key = kernel->key,
                              .flow_size = kernel->flow_size ? *kernel->flow_size : 0,
                              .asks = asks_of(module, index),
                              .reminds = kernel->remind != NULL,
                              .grid_blocks_most = grid_blocks_most(module->device, kernel)};
    memcpy(record, &now, record->size < sizeof now ? record->size : sizeof now);
    return GYRE_OK;
}

const gyre_cpu_kernel *cpu_module_find(const gyre_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i]->name, name) == 0)
            return module->kernels[i];
    return NULL;
}

void cpu_module_release(gyre_module *module)
{
    if (!module)
        return;
    if (module->library)
        module->device->host->library_close(module->library);
    free(module->kernels);
    free(module->ports);
    free(module->asks);
    free(module->queries);
    free(module);
}
