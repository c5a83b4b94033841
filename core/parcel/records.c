/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes kernel records and types as bytes, and reads them (records.h). A type is sent with the types of its fields
 * inside it, to a limited depth; a type that two fields have is sent twice. Takes no lock. Must not trust a
 * received count or depth.
 */
#include "core/parcel/records.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "gyre/link_layout.h"

enum { DEPTH_MAX = 32, FIELDS_MAX = 4096 };

/* A block of the chain that holds a record. It is a chain so that earlier blocks stay where they are. */
struct gyre_kept_block {
    struct gyre_kept_block *next;
    max_align_t bytes[];
};

struct reader {
    struct gyre_parcel *parcel;
    struct gyre_kept_block *blocks;
};

/* ---- writing ---- */

static uint32_t count_types(const gyre_type *const *types)
{
    uint32_t count = 0;
    while (types && types[count])
        count++;
    return count;
}

static void put_type(struct gyre_parcel *parcel, const gyre_type *type, int depth)
{
    uint32_t count = count_types(type->field_types);
    if (depth == DEPTH_MAX || parcel->broken) {
        parcel->broken = true;
        return;
    }
    gyre_parcel_put_text(parcel, type->name);
    gyre_parcel_put_text(parcel, type->fields);
    gyre_parcel_put_u64(parcel, type->size);
    gyre_parcel_put_u64(parcel, type->alignment);
    gyre_parcel_put_u64(parcel, count);
    for (uint32_t i = 0; i < count; i++)
        put_type(parcel, type->field_types[i], depth + 1);
}

void gyre_type_put(struct gyre_parcel *parcel, const gyre_type *type)
{
    put_type(parcel, type, 0);
}

/* `answer`: the type of the answers to its messages; NULL: it does not ask. */
static void put_port(struct gyre_parcel *parcel, const gyre_port_record *port, const gyre_type *answer)
{
    gyre_parcel_put_text(parcel, port->name);
    put_type(parcel, port->type, 0);
    gyre_parcel_put_u64(parcel, port->most);
    gyre_parcel_put_u64(parcel, answer != NULL);
    if (answer)
        put_type(parcel, answer, 0);
}

void gyre_record_put(struct gyre_parcel *parcel, const gyre_kernel_record *record)
{
    uint32_t count = record->buffers[0] ? count_types(record->buffer_types) : 0;
    gyre_parcel_put_text(parcel, record->name);
    gyre_parcel_put_u64(parcel, (uint64_t)record->form);
    put_type(parcel, record->request, 0);
    put_type(parcel, record->reply, 0);
    put_type(parcel, record->state, 0);
    gyre_parcel_put_u64(parcel, record->scratch_size);
    gyre_parcel_put_text(parcel, record->buffers);
    gyre_parcel_put_u64(parcel, count);
    for (uint32_t i = 0; i < count; i++)
        put_type(parcel, record->buffer_types[i], 0);
    gyre_parcel_put_u64(parcel, record->registers);
    gyre_parcel_put_u64(parcel, record->spill_bytes);
    gyre_parcel_put_u64(parcel, record->shared_bytes);
    gyre_parcel_put_u64(parcel, record->blocks_per_unit);
    gyre_parcel_put_text(parcel, record->queries ? record->queries : "");
    gyre_parcel_put_u64(parcel, record->port_count);
    for (uint32_t i = 0; i < record->port_count; i++)
        put_port(parcel, &record->ports[i], record->asks ? record->asks[i] : NULL);
    gyre_parcel_put_u64(parcel, record->is_island);
    gyre_parcel_put_text(parcel, record->key ? record->key : "");
    gyre_parcel_put_u64(parcel, record->flow_size);
    gyre_parcel_put_u64(parcel, record->reminds);
    gyre_parcel_put_u64(parcel, record->is_unlimited);
    gyre_parcel_put_u64(parcel, record->is_unasked);
    gyre_parcel_put_u64(parcel, record->is_poolless);
    gyre_parcel_put_u64(parcel, record->grid_blocks_most);
    gyre_parcel_put_u64(parcel, record->is_roundless);
    gyre_parcel_put_u64(parcel, record->is_flat);
    gyre_parcel_put_u64(parcel, record->is_choiceless);
}

/* ---- reading ---- */

/* Allocates zeroed memory that lives as long as the record. NULL without memory: the message is broken then. */
static void *keep(struct reader *reader, size_t size)
{
    struct gyre_kept_block *block = calloc(1, sizeof *block + size);
    if (!block) {
        reader->parcel->broken = reader->parcel->starved = true;
        return NULL;
    }
    block->next = reader->blocks;
    reader->blocks = block;
    return block->bytes;
}

static const char *get_text(struct reader *reader)
{
    const char *text = gyre_parcel_get_text(reader->parcel);
    if (!text) {
        reader->parcel->broken = true;
        return "";
    }
    size_t size = strlen(text) + 1;
    char *copy = keep(reader, size);
    if (!copy)
        return "";
    memcpy(copy, text, size);
    return copy;
}

static const gyre_type *get_type(struct reader *reader, int depth);

/* Reads `count` types into an array that ends with NULL. NULL when the message is broken. */
static const gyre_type *const *get_types(struct reader *reader, uint32_t count, int depth)
{
    if (reader->parcel->broken)
        return NULL;
    const gyre_type **types = keep(reader, (count + 1) * sizeof(gyre_type *));
    for (uint32_t i = 0; types && i < count && !reader->parcel->broken; i++)
        types[i] = get_type(reader, depth);
    return types;
}

static const gyre_type *get_type(struct reader *reader, int depth)
{
    gyre_type *type = depth < DEPTH_MAX ? keep(reader, sizeof *type) : NULL;
    if (!type) {
        reader->parcel->broken = true;
        return NULL;
    }
    type->name = get_text(reader);
    type->fields = get_text(reader);
    type->size = gyre_parcel_get_u64(reader->parcel);
    type->alignment = gyre_parcel_get_u64(reader->parcel);
    uint32_t count = gyre_parcel_get_u32(reader->parcel, FIELDS_MAX);
    type->field_types = get_types(reader, count, depth + 1);
    return type;
}

const gyre_type *gyre_type_get(struct gyre_parcel *parcel, struct gyre_kept_block **blocks)
{
    struct reader reader = {parcel, *blocks};
    const gyre_type *type = get_type(&reader, 0);
    *blocks = reader.blocks;
    return parcel->broken ? NULL : type;
}

/* Reads `count` ports, and what each of them asks for. NULL when there are none, or the message is broken. */
static const gyre_port_record *get_ports(struct reader *reader, uint32_t count, const gyre_type *const **asks)
{
    gyre_port_record *ports = count && !reader->parcel->broken ? keep(reader, count * sizeof *ports) : NULL;
    const gyre_type **answers = ports ? keep(reader, count * sizeof *answers) : NULL;
    *asks = answers;
    for (uint32_t i = 0; answers && i < count && !reader->parcel->broken; i++) {
        ports[i].name = get_text(reader);
        ports[i].type = get_type(reader, 0);
        ports[i].most = gyre_parcel_get_u32(reader->parcel, UINT32_MAX);
        if (gyre_parcel_get_u32(reader->parcel, 1))
            answers[i] = get_type(reader, 0);
    }
    return ports;
}

gyre_status gyre_record_get(struct gyre_parcel *parcel, struct gyre_kept_record *out)
{
    struct reader reader = {.parcel = parcel};
    gyre_kernel_record *record = &out->record;
    memset(out, 0, sizeof *out);
    record->size = sizeof *record;
    record->name = get_text(&reader);
    record->form = (gyre_form)gyre_parcel_get_u32(parcel, INT32_MAX);
    record->request = get_type(&reader, 0);
    record->reply = get_type(&reader, 0);
    record->state = get_type(&reader, 0);
    record->scratch_size = gyre_parcel_get_u64(parcel);
    record->buffers = get_text(&reader);
    record->buffer_types = get_types(&reader, gyre_parcel_get_u32(parcel, FIELDS_MAX), 0);
    record->registers = gyre_parcel_get_u32(parcel, UINT32_MAX);
    record->spill_bytes = gyre_parcel_get_u32(parcel, UINT32_MAX);
    record->shared_bytes = gyre_parcel_get_u32(parcel, UINT32_MAX);
    record->blocks_per_unit = gyre_parcel_get_u32(parcel, UINT32_MAX);
    record->queries = get_text(&reader);
    record->port_count = gyre_parcel_get_u32(parcel, GYRE_PORTS_MAX);
    record->ports = get_ports(&reader, record->port_count, &record->asks);
    record->is_island = gyre_parcel_get_u32(parcel, 1);
    record->key = get_text(&reader);
    if (!record->key[0])
        record->key = NULL;
    record->flow_size = gyre_parcel_get_u32(parcel, GYRE_FLOW_SIZE_MAX);
    record->reminds = gyre_parcel_get_u32(parcel, 1);
    record->is_unlimited = gyre_parcel_get_u32(parcel, 1);
    record->is_unasked = gyre_parcel_get_u32(parcel, 1);
    record->is_poolless = gyre_parcel_get_u32(parcel, 1);
    record->grid_blocks_most = gyre_parcel_get_u32(parcel, UINT32_MAX);
    record->is_roundless = gyre_parcel_get_u32(parcel, 1);
    record->is_flat = gyre_parcel_get_u32(parcel, 1);
    record->is_choiceless = gyre_parcel_get_u32(parcel, 1);
    out->blocks = reader.blocks;
    if (gyre_parcel_whole(parcel))
        return GYRE_OK;
    gyre_record_release(out);
    return gyre_parcel_refuse(parcel, GYRE_INTERNAL,
                              "a worker process described a kernel in a way that makes no sense");
}

void gyre_kept_release(struct gyre_kept_block **blocks)
{
    while (*blocks) {
        struct gyre_kept_block *block = *blocks;
        *blocks = block->next;
        free(block);
    }
}

void gyre_record_release(struct gyre_kept_record *record)
{
    gyre_kept_release(&record->blocks);
}
