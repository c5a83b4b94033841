/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a cubin's symbols into descriptions of kernels. The texts stay in a copy of the cubin, which the
 * records own. Takes no lock: one thread reads a module, and afterwards it is constant.
 */
#include "backends/cuda/compile/cuda_records.h"
#include "backends/cuda/compile/cuda_elf.h"

#include "backends/device/device_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYSTEM_SHARED = 1024, FLOW_FRONT = 16 /* cuda_words.h */ };

struct cuda_records {
    struct cuda_elf elf; /* the symbols of `copy` */
    void *copy;
    struct device_types *types;
};

/*
 * Returns the text in the variable `PREFIX NAME`; NULL when there is no such variable or its text does not
 * end.
 */
static const char *find_text(const void *self, const char *prefix, const char *name)
{
    const struct cuda_records *records = self;
    char symbol_name[192];
    struct cuda_elf_symbol symbol;
    snprintf(symbol_name, sizeof symbol_name, "%s%s", prefix, name);
    if (!cuda_elf_find(&records->elf, symbol_name, &symbol) || !symbol.value ||
        !memchr(symbol.value, 0, symbol.size))
        return NULL;
    return symbol.value;
}

static bool find_layout(const void *self, const char *name, gyre_u64 layout[2])
{
    const struct cuda_records *records = self;
    char symbol_name[192];
    struct cuda_elf_symbol symbol;
    snprintf(symbol_name, sizeof symbol_name, "gyre_layout_%s", name);
    if (!cuda_elf_find(&records->elf, symbol_name, &symbol) || !symbol.value ||
        symbol.size != 2 * sizeof(gyre_u64))
        return false;
    memcpy(layout, symbol.value, symbol.size);
    return true;
}

static bool find_most(const void *self, const char *name, gyre_u32 *most, uint32_t count)
{
    const struct cuda_records *records = self;
    char symbol_name[192];
    struct cuda_elf_symbol symbol;
    snprintf(symbol_name, sizeof symbol_name, "gyre_ports_most_%s", name);
    if (!cuda_elf_find(&records->elf, symbol_name, &symbol) || !symbol.value ||
        symbol.size != count * sizeof *most)
        return false;
    memcpy(most, symbol.value, symbol.size);
    return true;
}

/* Reads what the kernel has as a stage: memory of each flow, and what it was compiled for. */
static gyre_status read_flows(const struct device_file *file, gyre_module *module, struct cuda_kernel *kernel)
{
    char name[160];
    struct cuda_elf_symbol symbol;
    gyre_u32 size;
    kernel->record.is_unlimited = !find_text(module->records, "gyre_limited_", kernel->seen.name);
    kernel->record.is_unasked = !find_text(module->records, "gyre_asks_", kernel->seen.name);
    kernel->record.is_poolless = !find_text(module->records, "gyre_pools_", kernel->seen.name);
    kernel->record.is_roundless = !find_text(module->records, "gyre_rounds_", kernel->seen.name);
    kernel->record.is_flat = !find_text(module->records, "gyre_levels_", kernel->seen.name);
    kernel->record.is_choiceless = !find_text(module->records, "gyre_choices_", kernel->seen.name);
    snprintf(name, sizeof name, "gyre_flow_bytes_%s", kernel->seen.name);
    if (!cuda_elf_find(&module->records->elf, name, &symbol))
        return GYRE_OK;
    if (!symbol.value || symbol.size != sizeof size)
        return device_file_damaged(file, "does not describe", name);
    memcpy(&size, symbol.value, sizeof size);
    if (size > GYRE_FLOW_SIZE_MAX + FLOW_FRONT)
        return device_file_damaged(file, "does not describe", name);
    kernel->record.flow_size = size;
    return GYRE_OK;
}

/*
 * Fills in what the assembler noted. Since capability 8.0 a file counts the bytes that the system reserves as
 * shared memory. They are subtracted, because they do not count against a block's limit.
 */
static gyre_status read_function(const struct device_file *file, const gyre_module *module,
                                 struct cuda_kernel *kernel)
{
    char entry[160];
    struct cuda_elf_function function;
    snprintf(entry, sizeof entry, "gyre_resident_%s", kernel->seen.name);
    if (!cuda_elf_function(&module->records->elf, entry, &function))
        return device_file_damaged(file, "has no entry", entry);
    kernel->record.registers = function.registers;
    kernel->record.spill_bytes = function.frame_size;
    kernel->stack_size = function.stack_size;
    kernel->shared_size = function.shared_size;
    if (module->device->major >= 8 && kernel->shared_size >= SYSTEM_SHARED)
        kernel->shared_size -= SYSTEM_SHARED;
    return GYRE_OK;
}

static gyre_status read_kernel(const struct device_file *file, gyre_module *module,
                               const struct cuda_elf_symbol *symbol)
{
    struct cuda_kernel *kernel = &module->kernels[module->kernel_count++];
    const struct device_bytes bytes = {symbol->name, symbol->value, symbol->size};
    gyre_status status =
        device_record_read(file, module->records->types, &bytes, &kernel->seen, &kernel->record);
    if (status == GYRE_OK)
        status = read_flows(file, module, kernel);
    return status == GYRE_OK ? read_function(file, module, kernel) : status;
}

static bool is_kernel(const struct cuda_elf *elf, size_t index, struct cuda_elf_symbol *symbol)
{
    return cuda_elf_symbol(elf, index, symbol) && !symbol->is_function && device_record_named(symbol->name);
}

static int compare_lines(const void *a, const void *b)
{
    const struct cuda_kernel *left = a, *right = b;
    return (left->seen.line > right->seen.line) - (left->seen.line < right->seen.line);
}

static gyre_status read_kernels(const struct device_file *file, gyre_module *module)
{
    const struct cuda_elf *elf = &module->records->elf;
    struct cuda_elf_symbol symbol;
    size_t count = 0;
    for (size_t i = 0; i < elf->symbol_count; i++)
        count += is_kernel(elf, i, &symbol);
    module->kernels = calloc(count + 1, sizeof *module->kernels);
    if (!module->kernels)
        return device_file_no_memory(file);
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < elf->symbol_count && status == GYRE_OK; i++)
        if (is_kernel(elf, i, &symbol))
            status = read_kernel(file, module, &symbol);
    qsort(module->kernels, module->kernel_count, sizeof *module->kernels, compare_lines);
    /* the kernels were sorted, so the names that the records point to have moved */
    for (uint32_t i = 0; i < module->kernel_count; i++)
        module->kernels[i].record.name = module->kernels[i].seen.name;
    return status;
}

gyre_status cuda_records_read(gyre_module *module, const char *path, const void *cubin, size_t size)
{
    struct cuda_records *records = calloc(1, sizeof *records);
    const struct device_file file = {module->device->host, path, records, find_text, find_layout, find_most};
    module->records = records;
    if (records) {
        records->copy = malloc(size ? size : 1);
        records->types = device_types_create();
    }
    if (!records || !records->copy || !records->types)
        return device_file_no_memory(&file);
    memcpy(records->copy, cubin, size);
    if (!cuda_elf_open(&records->elf, records->copy, size))
        return file.host->error(
            GYRE_INCOMPATIBLE, "'%s' is no compiled CUDA kernel file, or is damaged: compile it again", path);
    return read_kernels(&file, module);
}

void cuda_records_release(struct cuda_records *records)
{
    if (!records)
        return;
    device_types_release(records->types);
    free(records->copy);
    free(records);
}
