/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre compile: runs the pipeline on one kernel file and shows its stages, kernels and layouts. Shows the stages also when a
 * stage fails; the reason is then on stderr.
 */
#include "cli/cli.h"
#include "cli/base/hush.h"
#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/base/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/pipeline/build.h"
#include "core/pipeline/pipeline.h"
#include "core/plan/build_options.h"
#include "core/device/devices.h"
#include "core/api/tools.h"
#include "core/types/buffers.h"
#include "core/types/compare.h"
#include "core/types/types.h"

static const char HELP[] =
    "usage: gyre compile [--backend B [--arch A]] [--device N] [-o OUT] [-W] [--json] FILE.gyre.c[:KERNEL]\n"
    "\n"
    "Checks and compiles a kernel file and prints every stage "
    "with its time, whether the result came from the cache,\n"
    "the kernels, and the layout of their messages. Nothing is launched. FILE may also be a file that -o wrote.\n"
    "\n"
    "It is compiled as a launch would, with the settings of [kernel.NAME] and of the queues. Kernels that need different\n"
    "ones share no compiled file: name the one it is for.\n"
    "\n"
    "Options:\n"
    "  -o, --output OUT  also write the result to OUT: a file that runs on machines without a compiler, wherever a\n"
    "                    kernel file is expected; standard output has the report, so that -o - is refused\n"
    "  --device N        the device to compile for (0)\n"
    "  -W, --warnings    compile it anew where the result is in the cache, so that the compiler's warnings are shown\n"
    "  --arch A          compile for another architecture than that of a device here, as in --arch sm_90; no device\n"
    "                    is needed then\n"
    "\n"
    "What the compiler and the checker say goes to stderr. Exit codes: 1 the file is wrong, 3 no compiler or no\n"
    "backend, 4 configuration, 5 the compiler did not end in time.\n";

/* ---- layouts ---- */

typedef void show_field(void *target, const char *name, const gyre_field *field, uint64_t offset);

/* Shows all fields in order. A field of an inner message is named "outer.inner"; of an array only the first
 * element is shown. */
static void each_field(const gyre_layout *layout, const char *prefix, uint64_t offset, show_field *show,
                       void *target)
{
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const gyre_field *field = &layout->fields[i];
        char name[512];
        snprintf(name, sizeof name, "%s%s", prefix, field->name);
        show(target, name, field, offset + field->offset);
        snprintf(name, sizeof name, "%s%s%s.", prefix, field->name, field->count > 1 ? "[0]" : "");
        each_field(field->type, name, offset + field->offset, show, target);
    }
}

static void show_row(void *target, const char *name, const gyre_field *field, uint64_t offset)
{
    char type[128], at[32], size[32];
    snprintf(at, sizeof at, "%" PRIu64, offset);
    snprintf(size, sizeof size, "%" PRIu64, field->count * field->type->size);
    const char *const cells[] = {name, gyre_field_type_text(field, type, sizeof type), at, size};
    cli_table_add(target, cells);
}

static void show_json(void *target, const char *name, const gyre_field *field, uint64_t offset)
{
    char type[128];
    json_array_append_new(target, cli_json_object("ssII", "field", name, "type",
                                                  gyre_field_type_text(field, type, sizeof type), "offset",
                                                  (json_int_t)offset, "size",
                                                  (json_int_t)(field->count * field->type->size)));
}

static void print_layout(const char *role, const gyre_type *type)
{
    static const char *const headers[] = {"  FIELD", "TYPE", ">OFFSET", ">SIZE", NULL};
    gyre_layout *layout;
    if (gyre_layout_create(type, GYRE_STATE_MAX, &layout) != GYRE_OK)
        return; /* the layout was verified before, so only memory can be lacking */
    if (layout->scalar == GYRE_SCALAR_NOTHING)
        printf("\n  %s: none\n", role);
    else
        printf("\n  %s: %s, %" PRIu64 " bytes aligned to %" PRIu64 ", hash %016" PRIx64 "\n", role,
               layout->name, layout->size, layout->alignment, layout->hash);
    if (layout->field_count > 0) {
        cli_table *table = cli_table_create(headers);
        each_field(layout, "  ", 0, show_row, table);
        cli_table_print(table);
    }
    gyre_layout_destroy(layout);
}

static json_t *layout_json(const gyre_type *type)
{
    gyre_layout *layout;
    char hash[17];
    if (gyre_layout_create(type, GYRE_STATE_MAX, &layout) != GYRE_OK)
        return json_null();
    json_t *fields = json_array(), *row = NULL;
    each_field(layout, "", 0, show_json, fields);
    snprintf(hash, sizeof hash, "%016" PRIx64, layout->hash);
    row = cli_json_object("sIIso", "type", layout->name, "size", (json_int_t)layout->size, "alignment",
                          (json_int_t)layout->alignment, "hash", hash, "fields", fields);
    gyre_layout_destroy(layout);
    return row;
}

/* ---- kernels ---- */

static void print_buffers(const gyre_kernel_record *record)
{
    gyre_buffer_list list;
    if (gyre_buffer_list_init(&list, record->buffers, record->buffer_types) == GYRE_OK && list.count > 0) {
        printf("\n  buffers:\n");
        for (uint32_t i = 0; i < list.count; i++)
            printf("    %s: %s, %s\n", list.slots[i].name, list.slots[i].type->name,
                   list.slots[i].writable ? "read and written" : "read only");
    }
    gyre_buffer_list_finish(&list);
}

static json_t *buffers_json(const gyre_kernel_record *record)
{
    gyre_buffer_list list;
    json_t *rows = json_array();
    if (gyre_buffer_list_init(&list, record->buffers, record->buffer_types) == GYRE_OK)
        for (uint32_t i = 0; i < list.count; i++)
            json_array_append_new(rows, cli_json_object("ssb", "name", list.slots[i].name, "type",
                                                        list.slots[i].type->name, "writable",
                                                        list.slots[i].writable));
    gyre_buffer_list_finish(&list);
    return rows;
}

/* The type of the answers to what a port asks; NULL: it does not ask. */
static const gyre_type *answer_of(const gyre_kernel_record *record, uint32_t port)
{
    return record->asks ? record->asks[port] : NULL;
}

static void print_ports(const gyre_kernel_record *record)
{
    for (uint32_t i = 0; i < record->port_count; i++) {
        const gyre_port_record *port = &record->ports[i];
        gyre_layout *layout;
        if (gyre_layout_create(port->type, GYRE_STATE_MAX, &layout) != GYRE_OK)
            return; /* the layout was verified before, so only memory can be lacking */
        printf("%s    %s: %s, hash %016" PRIx64 ", at most %u a call", i ? "" : "\n  ports:\n", port->name,
               layout->name, layout->hash, port->most);
        if (answer_of(record, i))
            printf(", asks for %s", answer_of(record, i)->name);
        putchar('\n');
        gyre_layout_destroy(layout);
    }
}

static json_t *ports_json(const gyre_kernel_record *record)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < record->port_count; i++) {
        json_t *row =
            cli_json_object("soI", "name", record->ports[i].name, "type", layout_json(record->ports[i].type),
                            "most", (json_int_t)record->ports[i].most);
        if (answer_of(record, i))
            json_object_set_new(row, "asks_for", layout_json(answer_of(record, i)));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* The names of the kernel's request types that are queries (types whose handler is read-only). */
static json_t *queries_json(const gyre_kernel_record *record)
{
    json_t *names = json_array();
    for (size_t i = 0; record->request->field_types && record->request->field_types[i]; i++) {
        const char *name = record->request->field_types[i]->name, *at = record->queries;
        const size_t length = strlen(name);
        while (at && *at && (strncmp(at, name, length) != 0 || at[length] != ';'))
            at = strchr(at, ';') ? strchr(at, ';') + 1 : "";
        if (at && *at)
            json_array_append_new(names, json_string(name));
    }
    return names;
}

static void print_queries(const gyre_kernel_record *record)
{
    json_t *names = queries_json(record);
    for (size_t i = 0; i < json_array_size(names); i++)
        printf("%s%s", i ? ", " : "\n  queries: ", json_string_value(json_array_get(names, i)));
    if (json_array_size(names))
        printf("\n");
    json_decref(names);
}

static void print_kernel(const gyre_kernel_record *record)
{
    printf("\nkernel %s, %s form", record->name, gyre_form_word(record->form));
    if (record->key)
        printf(" by %s", record->key);
    if (record->scratch_size > 0)
        printf(", %" PRIu64 " bytes of block scratch", record->scratch_size);
    if (record->registers > 0)
        printf(", %u registers, %u bytes spilled", record->registers, record->spill_bytes);
    if (record->shared_bytes > 0)
        printf(", %u bytes of block memory", record->shared_bytes);
    if (record->blocks_per_unit > 0)
        printf(", %u block%s on a unit", record->blocks_per_unit, record->blocks_per_unit == 1 ? "" : "s");
    printf("\n");
    print_layout("request", record->request);
    print_layout("reply", record->reply);
    print_layout("state", record->state);
    print_buffers(record);
    print_ports(record);
    print_queries(record);
}

static json_t *kernel_json(const gyre_kernel_record *record)
{
    return cli_json_object(
        "sssIIIIIoooooo", "name", record->name, "form", gyre_form_word(record->form), "key",
        record->key ? record->key : "", "scratch_size", (json_int_t)record->scratch_size, "registers",
        (json_int_t)record->registers, "spill_bytes", (json_int_t)record->spill_bytes, "shared_bytes",
        (json_int_t)record->shared_bytes, "blocks_per_unit", (json_int_t)record->blocks_per_unit, "request",
        layout_json(record->request), "reply", layout_json(record->reply), "state",
        layout_json(record->state), "buffers", buffers_json(record), "ports", ports_json(record), "queries",
        queries_json(record));
}

/* ---- the report ---- */

static int print_stages(const struct gyre_build_report *report)
{
    static const char *const headers[] = {"STAGE", "RESULT", ">MS", "ABOUT", NULL};
    cli_table *table = cli_table_create(headers);
    for (int i = 0; i < GYRE_STAGE_COUNT; i++) {
        const struct gyre_stage_report *stage = &report->stages[i];
        char time[32];
        snprintf(time, sizeof time, "%.3f", (double)stage->duration_ns / 1e6);
        const char *const cells[] = {gyre_stage_word((enum gyre_stage)i), gyre_stage_state_word(stage->state),
                                     stage->duration_ns ? time : "-", stage->text};
        cli_table_add(table, cells);
    }
    return cli_table_print(table);
}

static void print_text(struct gyre_dispatch *device, const struct gyre_build_report *report,
                       const struct gyre_build *build)
{
    const gyre_device_info *info = gyre_dispatch_device_info(device);
    if (report->file[0])
        printf("%s\n", report->file);
    printf("for backend %s, %s (%s)\n\n", gyre_dispatch_backend(device), info->name, info->architecture);
    print_stages(report);
    printf("\ncache: %s\n", report->cache_hit ? "hit" : "miss");
    if (report->artifact[0])
        printf("compiled file: %s\n", report->artifact);
    for (size_t i = 0; build && i < gyre_build_count(build); i++)
        print_kernel(gyre_build_at(build, i));
}

static json_t *stages_json(const struct gyre_build_report *report)
{
    json_t *rows = json_array();
    for (int i = 0; i < GYRE_STAGE_COUNT; i++) {
        const struct gyre_stage_report *stage = &report->stages[i];
        json_array_append_new(rows, cli_json_object("ssIs", "stage", gyre_stage_word((enum gyre_stage)i),
                                                    "result", gyre_stage_state_word(stage->state), "ns",
                                                    (json_int_t)stage->duration_ns, "text", stage->text));
    }
    return rows;
}

static int print_json(struct gyre_dispatch *device, const struct gyre_build_report *report,
                      const struct gyre_build *build)
{
    const gyre_device_info *info = gyre_dispatch_device_info(device);
    json_t *kernels = json_array();
    for (size_t i = 0; build && i < gyre_build_count(build); i++)
        json_array_append_new(kernels, kernel_json(gyre_build_at(build, i)));
    return cli_print_json(cli_json_object(
        "ssssbbsoo", "file", report->file, "backend", gyre_dispatch_backend(device), "device", info->name,
        "architecture", info->architecture, "ok", build != NULL, "cache_hit", report->cache_hit,
        "compiled_file", report->artifact, "stages", stages_json(report), "kernels", kernels));
}

/* ---- the settings of the kernels ---- */

/* One run of the pipeline as a launch of the kernel `name` would make it. */
static gyre_status build_for(const struct gyre_build_desc *desc, const char *name, struct gyre_build **out)
{
    char options[GYRE_KERNEL_OPTIONS_SIZE];
    struct gyre_build_desc own = *desc;
    gyre_kernel_options(desc->config, name, options, sizeof options);
    own.options = options;
    own.configured = name;
    return gyre_build_run(&own, out);
}

/* True when the compiled file is for this kernel: for the kernel that the operand names, or for every kernel when it names
 * none. */
static bool is_meant(const struct gyre_build *build, const gyre_kernel_record *record)
{
    const gyre_kernel_record *named;
    bool one = gyre_build_kernel(build, NULL, &named) == GYRE_OK;
    gyre_error_clear();
    return !one || named == record;
}

/* The kernel with whose settings the file is compiled; CONFIG when the file's kernels need different settings. */
static gyre_status choose_kernel(const struct gyre_build_desc *desc, const struct gyre_build *build,
                                 char name[GYRE_KERNEL_NAME_MAX])
{
    char first[GYRE_KERNEL_OPTIONS_SIZE] = "", other[GYRE_KERNEL_OPTIONS_SIZE] = "";
    name[0] = '\0';
    for (size_t i = 0; i < gyre_build_count(build); i++) {
        const gyre_kernel_record *record = gyre_build_at(build, i);
        if (!is_meant(build, record))
            continue;
        gyre_kernel_options(desc->config, record->name, name[0] ? other : first, sizeof first);
        if (!name[0])
            snprintf(name, GYRE_KERNEL_NAME_MAX, "%s", record->name);
        else if (strcmp(first, other) != 0)
            return gyre_error_set(
                GYRE_CONFIG,
                "the kernels '%s' and '%s' of '%s' are configured with different compiler "
                "options ('%s' and '%s'), and one compiled file has one set: name the one it "
                "is for, as in %s:%s",
                name, record->name, desc->source, first, other, desc->source, name);
    }
    return GYRE_OK;
}

/* The kernel that a file seems to be for (a guess from its text), and whether the build for it confirmed the guess. */
struct guess {
    const struct gyre_build_desc *desc;
    char name[GYRE_KERNEL_NAME_MAX], meant[GYRE_KERNEL_NAME_MAX];
    gyre_status status;
    bool right; /* the kernel that is meant needs no other options */
};

static bool judge_guess(void *context, const struct gyre_build *build)
{
    struct guess *guess = context;
    guess->status = choose_kernel(guess->desc, build, guess->meant);
    guess->right =
        guess->status == GYRE_OK && gyre_kernel_same_options(guess->desc->config, guess->name, guess->meant);
    return guess->right;
}

/*
 * Builds the file with the options with which a launch would build it. The options depend on the kernel's name, and only a
 * build tells the name for sure. So the file is built with the options for the guessed name, and is built a second time only
 * when the kernel that is meant needs other options.
 */
static gyre_status build_as_launched(const struct gyre_build_desc *desc, struct gyre_build **out)
{
    struct guess guess = {.desc = desc};
    struct gyre_build_desc look = *desc;
    look.output_fits = judge_guess;
    look.context = &guess;
    gyre_kernel_guess_name(desc->source, guess.name, sizeof guess.name);
    gyre_status status = build_for(&look, guess.name, out);
    if (status != GYRE_OK || (desc->output ? guess.right : judge_guess(&guess, *out)))
        return status;
    gyre_build_release(*out);
    *out = NULL;
    return guess.status == GYRE_OK ? build_for(desc, guess.meant, out) : guess.status;
}

/* ---- the command ---- */

static int compile_source(const cli_context *cli, gyre_runtime *runtime, struct gyre_dispatch *device,
                          const char *output)
{
    struct gyre_build_report *report = calloc(1, sizeof *report);
    struct gyre_build *build = NULL;
    if (!report)
        return cli_error(CLI_FAILED, "out of memory");
    const struct gyre_build_desc desc = {.config = gyre_runtime_config(runtime),
                                         .device = device,
                                         .source = cli->operands.items[0],
                                         .output = output,
                                         .report = report};
    struct cli_hush hush;
    cli_hush_begin(&hush);
    const gyre_status status = build_as_launched(&desc, &build);
    cli_hush_end(&hush);
    int code = cli_fail_unless_ok(status);
    if (report->warning[0])
        cli_error(CLI_OK, "warning: %s", report->warning);
    fputs(report->messages, stderr);
    if (cli->json) {
        const int printed = print_json(device, report, build);
        code = code == CLI_OK ? printed : code;
    } else if (report->file[0]) {
        print_text(device, report, build);
    }
    gyre_build_release(build);
    free(report);
    return code;
}

/* A backend that compiles for devices that are not here has the setting compile_for. */
static bool can_be_asked(const cli_context *cli)
{
    struct gyre_config *config;
    if (cli_load(cli, &config) != GYRE_OK) /* the function that opens the runtime reports the error */
        return false;
    const bool can = gyre_config_find(config, GYRE_SECTION_BACKEND, cli->backend, "compile_for") != NULL;
    gyre_config_destroy(config);
    return can;
}

static char *ask_for(cli_context *cli, const char *architecture)
{
    char *setting = NULL;
    if (asprintf(&setting, "backend.%s.compile_for=%s", cli->backend, architecture) < 0)
        return NULL;
    if (cli_list_add(&cli->settings, setting))
        return setting;
    free(setting);
    return NULL;
}

static int check_architecture(struct gyre_dispatch *device, const char *architecture)
{
    const gyre_device_info *info = gyre_dispatch_device_info(device);
    if (!architecture || strcmp(info->architecture, architecture) == 0)
        return CLI_OK;
    return cli_error(CLI_UNAVAILABLE, "backend '%s' compiles for its own device only, '%s', and not for '%s'",
                     gyre_dispatch_backend(device), info->architecture, architecture);
}

static int open_and_compile(const cli_context *cli, uint32_t ordinal, const char *architecture,
                            const char *output)
{
    gyre_runtime *runtime = NULL;
    struct gyre_dispatch *device;
    char name[GYRE_KERNEL_NAME_MAX];
    gyre_kernel_guess_name(cli->operands.items[0], name, sizeof name);
    int code = cli_fail_unless_ok(cli_open(cli, &runtime));
    if (code == CLI_OK)
        code = cli_fail_unless_device(runtime,
                                      gyre_kernel_device(runtime, name, cli->backend, ordinal, &device));
    if (code == CLI_OK)
        code = check_architecture(device, architecture);
    if (code == CLI_OK)
        code = compile_source(cli, runtime, device, output);
    gyre_close(runtime);
    return code;
}

static int run(cli_context *cli)
{
    const char *output = NULL, *architecture = NULL;
    char *setting = NULL;
    uint64_t ordinal = 0;
    bool warnings = false;
    const cli_option options[] = {{"--output", .alias = "-o", .text = &output},
                                  {"--device", .number = &ordinal, .max = UINT32_MAX},
                                  {"--warnings", .alias = "-W", .flag = &warnings},
                                  {"--arch", .text = &architecture},
                                  {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count != 1)
        return cli_usage_error(cli, "expected one kernel file, found %zu", cli->operands.count);
    if (output && strcmp(output, "-") == 0)
        return cli_usage_error(
            cli, "-o - is no file, and standard output has the report: name a file (./- for one "
                 "that is called so)");
    if (architecture && !cli->backend)
        return cli_usage_error(cli, "--arch needs --backend: architectures are a backend's own");
    if (architecture && can_be_asked(cli) && !(setting = ask_for(cli, architecture)))
        return cli_error(CLI_FAILED, "out of memory");
    if (warnings && !cli_list_add(&cli->settings, "gyre.cache_dir="))
        return cli_error(CLI_FAILED, "out of memory");
    int code = open_and_compile(cli, (uint32_t)ordinal, architecture, output);
    free(setting);
    return code;
}

const cli_command cli_command_compile = {"compile", "compile a kernel file and show how", HELP, run};
