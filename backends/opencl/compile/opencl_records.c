/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a file's items into descriptions of kernels. The texts stay in a copy of the items, which the records
 * own. Takes no lock: one thread reads a module, and afterwards it is constant.
 */
#include "backends/opencl/compile/opencl_records.h"

#include "backends/device/device_records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opencl_records {
    unsigned char *copy; /* of the items that follow the list's head */
    size_t size;
    struct device_types *types;
};

/* Returns the item at *at and moves *at to the next item; NULL behind the last item. */
static const gyre_item *next_item(const struct opencl_records *records, size_t *at)
{
    const size_t left = records->size - *at;
    if (left < sizeof(gyre_item))
        return NULL;
    const gyre_item *item = (const gyre_item *)(const void *)(records->copy + *at);
    const uint64_t whole = sizeof *item + ((uint64_t)item->size + 7) / 8 * 8;
    if (item->name_size == 0 || whole > left || !memchr(item->name, 0, sizeof item->name))
        return NULL;
    *at += whole;
    return item;
}

static const gyre_item *find_item(const struct opencl_records *records, const char *prefix, const char *name)
{
    char wanted[192];
    const gyre_item *item;
    size_t at = 0;
    snprintf(wanted, sizeof wanted, "%s%s", prefix, name);
    while ((item = next_item(records, &at)) && strcmp(item->name, wanted) != 0)
        ;
    return item;
}

/* Returns the text in the item `PREFIX NAME`; NULL when there is no such item or its text does not end. */
static const char *find_text(const void *self, const char *prefix, const char *name)
{
    const gyre_item *item = find_item(self, prefix, name);
    const char *text = item ? (const char *)(item + 1) : NULL;
    return text && memchr(text, 0, item->size) ? text : NULL;
}

static bool find_layout(const void *self, const char *name, gyre_u64 layout[2])
{
    const gyre_item *item = find_item(self, "gyre_layout_", name);
    if (item)
        memcpy(layout, item->layout, sizeof item->layout);
    return item != NULL;
}

/* Reads one number for each port of the ports NAME. False when the file does not have so many. */
static bool find_numbers(const struct opencl_records *records, const char *prefix, const char *name,
                         gyre_u32 *numbers, uint32_t count)
{
    const gyre_item *item = find_item(records, prefix, name);
    if (!item || item->size != count * sizeof *numbers)
        return false;
    memcpy(numbers, item + 1, item->size);
    return true;
}

static bool find_most(const void *self, const char *name, gyre_u32 *most, uint32_t count)
{
    return find_numbers(self, "gyre_ports_most_", name, most, count);
}

/* Reads the least sizes of what the kernel emits. */
static gyre_status read_least(const struct device_file *file, struct opencl_kernel *kernel)
{
    const uint32_t count = kernel->record.port_count;
    const char *ports = find_text(file->self, "gyre_leads_", kernel->record.name);
    if (count == 0 ||
        (ports && find_numbers(file->self, "gyre_ports_least_", ports, kernel->port_least, count)))
        return GYRE_OK;
    return device_file_damaged(file, "does not describe the ports of", kernel->record.name);
}

/* Reads how much memory a flow has at the kernel, and how much at any kernel of the file. */
static gyre_status read_flow(const struct device_file *file, struct opencl_kernel *kernel)
{
    static const char prefix[] = "gyre_flow_size_";
    const struct opencl_records *records = file->self;
    const gyre_item *item;
    size_t at = 0;
    while ((item = next_item(records, &at))) {
        gyre_u32 size;
        if (strncmp(item->name, prefix, sizeof prefix - 1) != 0)
            continue;
        if (item->size != sizeof size)
            return device_file_damaged(file, "does not describe the memory of", kernel->record.name);
        memcpy(&size, item + 1, sizeof size);
        if (size > GYRE_FLOW_SIZE_MAX)
            return device_file_damaged(file, "does not describe the memory of", kernel->record.name);
        if (strcmp(item->name + sizeof prefix - 1, kernel->record.name) == 0)
            kernel->record.flow_size = size;
        kernel->flow_most = size > kernel->flow_most ? size : kernel->flow_most;
    }
    return GYRE_OK;
}

static gyre_status read_kernel(const struct device_file *file, gyre_module *module, const gyre_item *item)
{
    struct opencl_kernel *kernel = &module->kernels[module->kernel_count++];
    const struct device_bytes bytes = {item->name, item + 1, item->size};
    gyre_status status =
        device_record_read(file, module->records->types, &bytes, &kernel->seen, &kernel->record);
    if (kernel->record.form ==
        GYRE_FORM_GRID) /* groups of an epoch do not wait for each other (docs/adr/grid.md) */
        kernel->record.grid_blocks_most = 1;
    if (status == GYRE_OK)
        status = read_flow(file, kernel);
    return status == GYRE_OK ? read_least(file, kernel) : status;
}

static int compare_lines(const void *a, const void *b)
{
    const struct opencl_kernel *left = a, *right = b;
    return (left->seen.line > right->seen.line) - (left->seen.line < right->seen.line);
}

static gyre_status read_kernels(const struct device_file *file, gyre_module *module)
{
    const gyre_item *item;
    size_t count = 0, at = 0;
    while ((item = next_item(module->records, &at)))
        count += device_record_named(item->name);
    module->kernels = calloc(count + 1, sizeof *module->kernels);
    if (!module->kernels)
        return device_file_no_memory(file);
    gyre_status status = GYRE_OK;
    at = 0;
    while (status == GYRE_OK && (item = next_item(module->records, &at)))
        if (device_record_named(item->name))
            status = read_kernel(file, module, item);
    qsort(module->kernels, module->kernel_count, sizeof *module->kernels, compare_lines);
    /* the kernels were sorted, so the names that the records point to have moved */
    for (uint32_t i = 0; i < module->kernel_count; i++)
        module->kernels[i].record.name = module->kernels[i].seen.name;
    return status;
}

gyre_status opencl_records_read(gyre_module *module, const char *path, const struct opencl_part *items)
{
    struct opencl_records *records = calloc(1, sizeof *records);
    const struct device_file file = {module->device->host, path, records, find_text, find_layout, find_most};
    module->records = records;
    if (!records)
        return device_file_no_memory(&file);
    if (items->size < sizeof(gyre_item_list))
        return device_file_damaged(&file, "does not describe", "its kernels");
    records->size = items->size - sizeof(gyre_item_list);
    records->copy = malloc(records->size + 1);
    records->types = device_types_create();
    if (!records->copy || !records->types)
        return device_file_no_memory(&file);
    memcpy(records->copy, (const char *)items->bytes + sizeof(gyre_item_list), records->size);
    return read_kernels(&file, module);
}

void opencl_records_release(struct opencl_records *records)
{
    if (!records)
        return;
    device_types_release(records->types);
    free(records->copy);
    free(records);
}
