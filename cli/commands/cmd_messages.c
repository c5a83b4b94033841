/* SPDX-License-Identifier: Apache-2.0 */
/* gyre messages: prints the message types that a file declares, field by field. */
#include "cli/cli.h"
#include "cli/json/json.h"
#include "cli/base/table.h"
#include "cli/wire/type_list.h"

#include <inttypes.h>

#include "core/ring/slot.h"
#include "core/types/compare.h"

/* the slots of a queue if neither the configuration nor the device sets their number */
enum { SLOTS_SHOWN = 1024 };

static const char HELP[] =
    "usage: gyre messages [--backend B] [--json] FILE\n"
    "\n"
    "Prints the message types of a kernel file (those that its kernels use) or of a header (all that it\n"
    "declares): each field with its type, offset and size, the largest tail, the size of a slot, and the hash\n"
    "that is compared when a kernel is launched. FILE is compiled for that; nothing is launched.\n"
    "\n"
    "Exit codes: 1 the file is wrong, 3 no compiler or no backend, 4 configuration.\n";

/* "span of f32", "optional utf8", "utf8[2][3]" */
static const char *type_text(const gyre_field *field, char *text, size_t size)
{
    const gyre_layout *type = field->type;
    size_t used = 0;
    if (!type->element || type->shape == GYRE_SHAPE_UTF8)
        return gyre_field_type_text(field, text, size);
    used = (size_t)snprintf(text, size, "%s %s", type->shape == GYRE_SHAPE_SPAN ? "span of" : "optional",
                            type->element->name);
    for (uint32_t d = 0; d < field->dimension_count && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, "[%" PRIu64 "]", field->dimensions[d]);
    return text;
}

/* Prints the size of a slot and of SLOTS_SHOWN slots, for one direction (requests or replies). */
static void print_slot(uint32_t stride)
{
    printf(", a slot of %" PRIu32 " (%d of them %.1f KiB)", stride, SLOTS_SHOWN,
           stride * (double)SLOTS_SHOWN / 1024);
}

/* "desk_request: one of deposit, memo, ..." */
static int print_choices(const gyre_layout *layout)
{
    printf("%s: one of ", layout->name);
    for (uint32_t i = 0; i < layout->choice_count; i++)
        printf("%s%s", i ? ", " : "", layout->choices[i]->name);
    printf("; %" PRIu64 " to %" PRIu64 " bytes", layout->least, layout->size);
    print_slot(gyre_slot_stride((uint32_t)layout->size));
    printf(", hash %016" PRIx64 "\n\n", layout->hash);
    return CLI_OK;
}

static int print_type(const gyre_layout *layout)
{
    static const char *const headers[] = {"  FIELD", "TYPE", ">OFFSET", ">COUNT", ">SIZE", NULL};
    if (layout->choice_count)
        return print_choices(layout);
    if (layout->tail)
        printf("%s: %" PRIu64 " to %" PRIu64 " bytes, a tail of %" PRIu64, layout->name, layout->least,
               layout->size, layout->tail);
    else
        printf("%s: %" PRIu64 " bytes%s", layout->name, layout->size,
               layout->has_parts ? ", with parts in the tail of the message around it" : "");
    if (layout->size <= GYRE_PAYLOAD_MAX && (layout->tail || !layout->has_parts))
        print_slot(gyre_slot_stride((uint32_t)layout->size));
    printf(", hash %016" PRIx64 "\n", layout->hash);
    cli_table *table = cli_table_create(headers);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const gyre_field *field = &layout->fields[i];
        char name[200], type[200], offset[32], count[32], size[32];
        snprintf(name, sizeof name, "  %s", field->name);
        snprintf(offset, sizeof offset, "%" PRIu64, field->offset);
        snprintf(count, sizeof count, "%" PRIu64, field->count);
        snprintf(size, sizeof size, "%" PRIu64, field->count * field->type->size);
        const char *const cells[] = {name, type_text(field, type, sizeof type), offset, count, size};
        cli_table_add(table, cells);
    }
    int code = cli_table_print(table);
    printf("\n");
    return code;
}

static json_t *field_json(const gyre_field *field)
{
    static const char *const shapes[] = {
        [GYRE_SHAPE_PLAIN] = "plain",  [GYRE_SHAPE_ID128] = "id128",       [GYRE_SHAPE_SPAN] = "span",
        [GYRE_SHAPE_UTF8] = "utf8",    [GYRE_SHAPE_OPTIONAL] = "optional", [GYRE_SHAPE_CHOICE] = "choice",
        [GYRE_SHAPE_PACKET] = "packet"};
    char type[200];
    json_t *row =
        cli_json_object("sssIII", "field", field->name, "type", type_text(field, type, sizeof type), "shape",
                        shapes[field->type->shape], "offset", (json_int_t)field->offset, "count",
                        (json_int_t)field->count, "size", (json_int_t)(field->count * field->type->size));
    if (row && field->type->element)
        json_object_set_new(row, "element", cli_json_text(field->type->element->name));
    return row;
}

static json_t *type_json(const gyre_layout *layout)
{
    char hash[17];
    json_t *fields = json_array();
    for (uint32_t i = 0; i < layout->field_count; i++)
        json_array_append_new(fields, field_json(&layout->fields[i]));
    snprintf(hash, sizeof hash, "%016" PRIx64, layout->hash);
    json_t *choices = json_array();
    for (uint32_t i = 0; i < layout->choice_count; i++)
        json_array_append_new(choices, cli_json_text(layout->choices[i]->name));
    return cli_json_object(
        "sIIIIbsoIo", "type", layout->name, "size", (json_int_t)layout->size, "least",
        (json_int_t)layout->least, "tail", (json_int_t)layout->tail, "alignment",
        (json_int_t)layout->alignment, "has_parts", layout->has_parts, "hash", hash, "fields", fields, "slot",
        (json_int_t)(layout->size <= GYRE_PAYLOAD_MAX ? gyre_slot_stride((uint32_t)layout->size) : 0),
        "choices", choices);
}

static int print_all(const cli_context *cli, const type_list *list)
{
    int code = CLI_OK;
    if (cli->json) {
        json_t *rows = json_array();
        for (size_t i = 0; i < list->count; i++)
            json_array_append_new(rows, type_json(list->layouts[i]));
        return cli_print_json(cli_json_object("so", "file", cli->operands.items[0], "types", rows));
    }
    for (size_t i = 0; code == CLI_OK && i < list->count; i++)
        code = print_type(list->layouts[i]);
    return code;
}

static int run(cli_context *cli)
{
    const cli_option options[] = {{0}};
    type_list list;
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count != 1)
        return cli_usage_error(cli, "expected one file, found %zu", cli->operands.count);
    int code = type_list_load(cli, cli->operands.items[0], &list);
    if (code == CLI_OK)
        code = print_all(cli, &list);
    type_list_finish(&list);
    return code;
}

const cli_command cli_command_messages = {"messages", "the message types of a file, field by field", HELP,
                                          run};
