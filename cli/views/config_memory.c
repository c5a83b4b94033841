/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the memory that queues take, from the types of a compiled file and from the configuration. One thread. */
#include "cli/views/config_memory.h"
#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/base/table.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/pipeline/build.h"
#include "core/pipeline/pipeline.h"
#include "core/plan/build_options.h"
#include "core/plan/queue_plan.h"
#include "core/device/devices.h"
#include "core/api/tools.h"

struct memory_list {
    gyre_runtime *runtime;
    const struct gyre_config *config;
    const char *backend; /* NULL: as configured */
    struct gyre_dispatch *device;
    const struct gyre_build *build;
    const char *source;
    char name[GYRE_KERNEL_NAME_MAX]; /* the kernel with whose device and options the file was built */
    bool named;                      /* only the kernel that is configured under `name` is wanted */
    cli_table *table;
    json_t *json;
};

static void add_json(const struct memory_list *list, const char *queue, const char *kernel, uint64_t rings,
                     const struct gyre_queue_cost *cost)
{
    json_array_append_new(
        list->json,
        cli_json_object("ssIIIIIIIIIII", "queue", queue, "kernel", kernel, "capacity",
                        (json_int_t)cost->capacity, "request_size", (json_int_t)cost->request_size,
                        "request_stride", (json_int_t)cost->request_stride, "reply_size",
                        (json_int_t)cost->reply_size, "reply_stride", (json_int_t)cost->reply_stride, "slots",
                        (json_int_t)cost->slots, "headers", (json_int_t)cost->headers, "bridged",
                        (json_int_t)cost->bridged, "spans", (json_int_t)cost->spans, "rings",
                        (json_int_t)rings, "memory", (json_int_t)(cost->memory * rings)));
}

static void add_row(const struct memory_list *list, const char *queue, const char *kernel, uint64_t rings,
                    const struct gyre_queue_cost *cost)
{
    const uint64_t numbers[] = {cost->capacity,      cost->request_stride, cost->reply_stride, cost->slots,
                                cost->headers,       cost->bridged,        cost->spans,        rings,
                                cost->memory * rings};
    char texts[sizeof numbers / sizeof numbers[0]][24];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        snprintf(texts[i], sizeof texts[i], "%" PRIu64, numbers[i]);
    const char *const cells[] = {queue,    kernel,   texts[0], texts[1], texts[2], texts[3],
                                 texts[4], texts[5], texts[6], texts[7], texts[8]};
    cli_table_add(list->table, cells);
}

static gyre_status add_queue(const struct memory_list *list, const gyre_kernel_record *record,
                             const char *section)
{
    const uint64_t rings = (uint64_t)gyre_config_int(list->config, GYRE_SECTION_QUEUE, section, "rings");
    struct gyre_queue_cost cost;
    gyre_status status = gyre_queue_cost_get(list->config, list->device, record, section, &cost);
    if (status == GYRE_OK)
        (list->json ? add_json : add_row)(list, section, record->name, rings, &cost);
    return status;
}

static bool is_kernel(const struct memory_list *list, const char *name)
{
    if (list->named)
        return gyre_config_text(list->config, GYRE_SECTION_KERNEL, name, "source")[0] != '\0';
    for (size_t i = 0; i < gyre_build_count(list->build); i++)
        if (!strcmp(gyre_build_at(list->build, i)->name, name))
            return true;
    return false;
}

/* Adds a row for a queue that the kernel may have. The configuration does not tell whether it has it, so a queue that the
 * kernel cannot have is only a warning. */
static gyre_status add_other(const struct memory_list *list, const gyre_kernel_record *record,
                             const char *section)
{
    const gyre_status status = add_queue(list, record, section);
    if (status != GYRE_OK)
        cli_error(CLI_OK, "warning: '%s' can have no queue '%s': %s", record->name, section,
                  gyre_error_text());
    gyre_error_clear();
    return GYRE_OK;
}

/* Adds rows for a kernel: its main queue, then each configured queue whose section does not bear the name of another kernel. */
static gyre_status add_kernel(const struct memory_list *list, const gyre_kernel_record *record)
{
    size_t count;
    const char *const *names = gyre_config_names(list->config, GYRE_SECTION_QUEUE, &count);
    gyre_status status = add_queue(list, record, record->name);
    for (size_t i = 0; status == GYRE_OK && i < count; i++)
        if (!is_kernel(list, names[i]))
            status = add_other(list, record, names[i]);
    return status;
}

/* Builds the file as a launch of kernel `name` does, because that kernel's options, or a wire form, may change its messages. */
static gyre_status build_for(const struct memory_list *list, const char *name, struct gyre_build **out)
{
    char options[GYRE_KERNEL_OPTIONS_SIZE];
    gyre_kernel_options(list->config, name, options, sizeof options);
    const struct gyre_build_desc desc = {.config = list->config,
                                         .device = list->device,
                                         .source = list->source,
                                         .options = options,
                                         .configured = name};
    return gyre_build_run(&desc, out);
}

static gyre_status add_as_launched(const struct memory_list *list, const gyre_kernel_record *record)
{
    struct gyre_build *build = NULL;
    struct memory_list own = *list;
    gyre_kernel_record configured = *record;
    configured.name = list->name;
    if (list->named)
        return add_kernel(list, &configured);
    if (strcmp(gyre_kernel_backend(list->config, list->name, list->backend),
               gyre_kernel_backend(list->config, record->name, list->backend)) == 0 &&
        gyre_kernel_same_options(list->config, list->name, record->name))
        return add_kernel(list, record);
    gyre_status status = gyre_kernel_device(list->runtime, record->name, list->backend, 0, &own.device);
    if (status == GYRE_OK)
        status = build_for(&own, record->name, &build);
    if (status == GYRE_OK)
        status = gyre_build_kernel(build, record->name, &record);
    if (status == GYRE_OK)
        status = add_kernel(&own, record);
    gyre_build_release(build);
    return status;
}

/* Adds rows for the kernel that the operand names, or for all kernels of the file. */
static gyre_status add_kernels(const struct memory_list *list)
{
    const gyre_kernel_record *named;
    gyre_status status = gyre_build_kernel(list->build, NULL, &named);
    if (status == GYRE_OK)
        return add_as_launched(list, named);
    if (list->named)
        return status;
    gyre_error_clear();
    status = GYRE_OK;
    for (size_t i = 0; status == GYRE_OK && i < gyre_build_count(list->build); i++)
        status = add_as_launched(list, gyre_build_at(list->build, i));
    return status;
}

static int print_rows(const cli_context *cli, struct memory_list *list)
{
    static const char *const headers[] = {"QUEUE",  "KERNEL", ">CAPACITY", ">REQUEST",
                                          ">REPLY", ">SLOTS", ">HEADERS",  ">BRIDGED",
                                          ">SPANS", ">RINGS", ">MEMORY",   NULL};
    if (cli->json)
        list->json = json_array();
    else
        list->table = cli_table_create(headers);
    const gyre_status status = add_kernels(list);
    const int code =
        cli->json ? cli_print_json(cli_json_object("o", "queues", list->json)) : cli_table_print(list->table);
    return status == GYRE_OK ? code : cli_fail(status);
}

int config_memory_print(const cli_context *cli, const char *operand)
{
    gyre_runtime *runtime = NULL;
    struct gyre_build *build = NULL;
    const gyre_launch_desc launched = cli_launch(cli, operand);
    struct memory_list list = {
        .source = launched.source, .backend = cli->backend, .named = launched.name != NULL};
    if (list.named)
        snprintf(list.name, sizeof list.name, "%s", operand);
    else
        gyre_kernel_guess_name(operand, list.name, sizeof list.name);
    int code = cli_fail_unless_ok(cli_open(cli, &runtime));
    if (code == CLI_OK) {
        list.runtime = runtime;
        list.config = gyre_runtime_config(runtime);
        code = cli_fail_unless_ok(gyre_queue_sections_check(list.config));
    }
    if (code == CLI_OK && list.named)
        code = cli_fail_unless_ok(gyre_kernel_source(list.config, operand, &list.source));
    if (code == CLI_OK)
        code = cli_fail_unless_device(runtime,
                                      gyre_kernel_device(runtime, list.name, cli->backend, 0, &list.device));
    if (code == CLI_OK)
        code = cli_fail_unless_ok(build_for(&list, list.name, &build));
    list.build = build;
    if (code == CLI_OK)
        code = print_rows(cli, &list);
    gyre_build_release(build);
    gyre_close(runtime);
    return code;
}
