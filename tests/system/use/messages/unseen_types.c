/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rolls types: scalars, ids, texts, spans and optional values of these and of records, which have such fields
 * themselves, in arrays too; sizes are reckoned as a compiler does, so that no message is larger than 64 KiB.
 * Handlers copy by all of the dialect's calls. No state of its own.
 */
#include "unseen_types.h"

#include <stdlib.h>
#include <string.h>

#include "random_message.h"

enum {
    BUILT_IN = 36, /* 10 scalars, id128, utf8, and spans and optional values of these */
    RECORDS_MAX = 6,
    TYPES_MAX = BUILT_IN + 3 * RECORDS_MAX + UNSEEN_MESSAGES,
    FIELDS_MAX = 24,
    NAME_MAX = 40,
    RECORD_MAX = 700, /* bytes of one that others hold */
    WORK_MAX = 60     /* statements that copy one that others hold */
};

enum kind { SCALAR, ID, TEXT, SPAN, OPTIONAL, RECORD, MESSAGE };

struct type;

struct field {
    const struct type *type;
    char name[NAME_MAX];
    unsigned dimensions, lengths[2]; /* of an array */
};

struct type {
    enum kind kind;
    bool has_parts;
    uint32_t size, alignment, tail;
    unsigned work; /* statements of a handler that copies it */
    char name[NAME_MAX];
    const struct type *element;
    unsigned field_count;
    struct field fields[FIELDS_MAX];
    char wire[400];
};

struct unseen {
    uint64_t random;
    unsigned count, variables; /* types; numbers that handlers used for variables */
    struct type types[TYPES_MAX];
    const struct type *messages[UNSEEN_MESSAGES];
};

static unsigned roll(struct unseen *unseen, unsigned below)
{
    return (unsigned)((random_next(&unseen->random) >> 16) % below);
}

/* ---- names ---- */

/* Words that a program would choose, and that the code around its handlers might have chosen as well. */
static const char *const words[] = {
    "at",      "bytes", "count", "data",    "e",         "field",  "from",   "gap",    "handle", "head",
    "i",       "id",    "in",    "index",   "item",      "key",    "kind",   "lane",   "left",   "length",
    "limit",   "line",  "list",  "message", "most",      "n",      "next",   "number", "offset", "one",
    "order",   "out",   "part",  "place",   "point",     "queue",  "result", "room",   "row",    "run",
    "scratch", "size",  "slot",  "state",   "tail",      "text",   "to",     "type",   "used",   "value",
    "wrong",   "x",     "wire",  "bounds",  "alignment", "before", "all",    "least",  "name",   "problem"};
enum { WORDS = sizeof words / sizeof words[0] };

/* `index` is a function of the C library and `all` one of CUDA, and no types beside these. */
static bool is_taken(const struct unseen *unseen, const struct type *type, const char *name)
{
    if (!type && (strcmp(name, "index") == 0 || strcmp(name, "all") == 0))
        return true;
    for (unsigned i = 0; type && i < type->field_count; i++)
        if (strcmp(type->fields[i].name, name) == 0)
            return true;
    for (unsigned i = 0; !type && i < unseen->count; i++)
        if (strcmp(unseen->types[i].name, name) == 0)
            return true;
    return false;
}

/* Of a field of `type`, or, where that is NULL, of a type. */
static void roll_name(struct unseen *unseen, const struct type *type, char out[NAME_MAX])
{
    char name[NAME_MAX];
    do {
        const char *word = words[roll(unseen, WORDS)];
        switch (roll(unseen, 4)) {
        case 0:
            snprintf(name, NAME_MAX, "%s_%s", word, words[roll(unseen, WORDS)]);
            break;
        case 1:
            snprintf(name, NAME_MAX, "%s%u", word, roll(unseen, 100));
            break;
        default:
            snprintf(name, NAME_MAX, "%s", word);
        }
    } while (is_taken(unseen, type, name));
    memcpy(out, name, sizeof name);
}

/* ---- types ---- */

static struct type *add(struct unseen *unseen, enum kind kind, uint32_t size, uint32_t alignment)
{
    struct type *type = &unseen->types[unseen->count++];
    *type = (struct type){.kind = kind, .size = size, .alignment = alignment, .work = 1};
    return type;
}

static void add_part(struct unseen *unseen, enum kind kind, const struct type *element)
{
    struct type *type = add(unseen, kind, 8, 4);
    type->has_parts = true;
    type->element = element;
    type->work = element->has_parts ? 5 + element->work : 2;
}

static void add_built_in(struct unseen *unseen)
{
    static const struct {
        const char *name;
        uint32_t size;
    } scalars[] = {{"i8", 1},  {"i16", 2}, {"i32", 4}, {"i64", 8}, {"u8", 1},
                   {"u16", 2}, {"u32", 4}, {"u64", 8}, {"f32", 4}, {"f64", 8}};
    for (unsigned i = 0; i < 10; i++)
        snprintf(add(unseen, SCALAR, scalars[i].size, scalars[i].size)->name, NAME_MAX, "%s",
                 scalars[i].name);
    snprintf(add(unseen, ID, 16, 1)->name, NAME_MAX, "id128");
    add_part(unseen, TEXT, &unseen->types[4]);
    snprintf(unseen->types[11].name, NAME_MAX, "utf8");
    for (unsigned i = 0; i < 12; i++) {
        add_part(unseen, SPAN, &unseen->types[i]);
        snprintf(unseen->types[unseen->count - 1].name, NAME_MAX, "span_%s", unseen->types[i].name);
        add_part(unseen, OPTIONAL, &unseen->types[i]);
        snprintf(unseen->types[unseen->count - 1].name, NAME_MAX, "optional_%s", unseen->types[i].name);
    }
}

/* The memory that a struct's fields take after `offset`, as a compiler lays them out. */
static uint32_t lay_out(const struct type *type, uint32_t offset, uint32_t *alignment)
{
    for (unsigned i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        const uint32_t own = field->type->alignment;
        uint32_t size = field->type->size;
        for (unsigned k = 0; k < field->dimensions; k++)
            size *= field->lengths[k];
        offset = (offset + own - 1) / own * own + size;
        *alignment = own > *alignment ? own : *alignment;
    }
    return (offset + *alignment - 1) / *alignment * *alignment;
}

static bool can_be_held(const struct type *type)
{
    return type->kind != MESSAGE && type->size <= RECORD_MAX && type->work <= WORK_MAX;
}

/* For a field of `own`, which is being made. */
static const struct type *roll_type(struct unseen *unseen, const struct type *own)
{
    const struct type *type;
    do
        type = &unseen->types[roll(unseen, 3) == 0 && unseen->count > BUILT_IN
                                  ? BUILT_IN + roll(unseen, unseen->count - BUILT_IN)
                                  : roll(unseen, BUILT_IN)];
    while (type == own || !can_be_held(type));
    return type;
}

static void add_field(struct unseen *unseen, struct type *type)
{
    struct field *field = &type->fields[type->field_count];
    field->type = roll_type(unseen, type);
    roll_name(unseen, type, field->name);
    field->dimensions = roll(unseen, 6) == 0 ? 1 + roll(unseen, 2) : 0;
    for (unsigned i = 0; i < field->dimensions; i++)
        field->lengths[i] = 1 + roll(unseen, 4);
    type->field_count++;
    type->has_parts |= field->type->has_parts;
    type->work += field->type->work + field->dimensions;
}

static void add_fields(struct unseen *unseen, struct type *type)
{
    const unsigned most = roll(unseen, 8) == 0 ? FIELDS_MAX : 7;
    for (unsigned count = 1 + roll(unseen, most); count > 0; count--)
        add_field(unseen, type);
}

static void roll_wire(struct unseen *unseen, struct type *type)
{
    static const char *const forms[] = {"object", "packed", "struct"};
    const bool may_be_null = type->kind == RECORD && type->has_parts; /* and as long as it likes */
    int length = snprintf(type->wire, sizeof type->wire, "form=%s nullable=%s string=%s guid=%s",
                          forms[roll(unseen, may_be_null       ? 1
                                             : type->has_parts ? 2
                                                               : 3)],
                          roll(unseen, 2) ? "padded" : "packed", roll(unseen, 2) ? "utf8" : "utf16",
                          roll(unseen, 2) ? "dotnet" : "plain");
    if (type->field_count > 6 || strstr(type->wire, "struct") || roll(unseen, 2))
        return;
    const unsigned first = roll(unseen, type->field_count); /* from there on, and then the ones before */
    for (unsigned i = 0; i < type->field_count; i++)
        length += snprintf(type->wire + length, sizeof type->wire - (size_t)length, "%s%s",
                           i ? "," : " order=", type->fields[(first + i) % type->field_count].name);
}

static void add_record(struct unseen *unseen)
{
    struct type *type = add(unseen, RECORD, 0, 1);
    add_fields(unseen, type);
    type->size = lay_out(type, 0, &type->alignment);
    roll_wire(unseen, type);
    roll_name(unseen, NULL, type->name);
    add_part(unseen, SPAN, type);
    roll_name(unseen, NULL, unseen->types[unseen->count - 1].name);
    add_part(unseen, OPTIONAL, type);
    roll_name(unseen, NULL, unseen->types[unseen->count - 1].name);
}

static void add_message(struct unseen *unseen, unsigned number)
{
    static const uint32_t tails[] = {64, 600, 4000, 65536};
    struct type *type = add(unseen, MESSAGE, 0, 8);
    add_fields(unseen, type);
    const uint32_t least = (lay_out(type, 4, &type->alignment) + 7) / 8 * 8;
    const uint32_t most = tails[roll(unseen, number < UNSEEN_WIRED ? 3 : 4)];
    const uint32_t tail = 8 + (most == 65536 ? most - 8 : roll(unseen, most));
    if (type->has_parts)
        type->tail = tail < 65536 - least ? tail : 65536 - least;
    roll_wire(unseen, type);
    roll_name(unseen, NULL, type->name);
    unseen->messages[number] = type;
}

struct unseen *unseen_create(uint64_t seed)
{
    struct unseen *unseen = calloc(1, sizeof *unseen);
    if (!unseen)
        return NULL;
    unseen->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252u;
    add_built_in(unseen);
    for (unsigned i = roll(unseen, RECORDS_MAX + 1); i > 0; i--)
        add_record(unseen);
    for (unsigned i = 0; i < UNSEEN_MESSAGES; i++)
        add_message(unseen, i);
    return unseen;
}

void unseen_destroy(struct unseen *unseen)
{
    free(unseen);
}

/* ---- declarations ---- */

static void write_fields(const struct type *type, unsigned number, FILE *out)
{
    fprintf(out, "#define UNSEEN_%u(FIELD)", number);
    for (unsigned i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        fprintf(out, " \\\n    FIELD(%s, %s", field->type->name, field->name);
        for (unsigned k = 0; k < field->dimensions; k++)
            fprintf(out, "[%u]", field->lengths[k]);
        fputs(")", out);
    }
    fputs("\n", out);
}

static void write_type(const struct type *type, unsigned number, FILE *out)
{
    if (type->kind == SPAN || type->kind == OPTIONAL) {
        fprintf(out, "%s(%s, %s)\n", type->kind == SPAN ? "GYRE_SPAN" : "GYRE_OPTIONAL", type->name,
                type->element->name);
        return;
    }
    write_fields(type, number, out);
    if (type->tail)
        fprintf(out, "GYRE_MESSAGE_TAIL(%s, UNSEEN_%u, %u)\n", type->name, number, type->tail);
    else
        fprintf(out, "GYRE_MESSAGE(%s, UNSEEN_%u)\n", type->name, number);
    fprintf(out, "GYRE_WIRE(%s, \"%s\")\n", type->name, type->wire);
}

void unseen_write_types(const struct unseen *unseen, FILE *out)
{
    fputs("#ifndef UNSEEN_H\n#define UNSEEN_H\n#include <gyre/message.h>\n", out);
    for (unsigned i = 0; i < unseen->count; i++)
        if (unseen->types[i].kind == RECORD || unseen->types[i].kind == MESSAGE ||
            (unseen->types[i].element && unseen->types[i].element->kind == RECORD))
            write_type(&unseen->types[i], i, out);
    fputs("#endif\n", out);
}

bool unseen_is_reordered(const struct unseen *unseen)
{
    for (unsigned i = 0; i < unseen->count; i++)
        if (strstr(unseen->types[i].wire, "order="))
            return true;
    return false;
}

/* ---- handlers ---- */

struct copying {
    struct unseen *unseen;
    FILE *out;
};

static void copy_value(const struct copying *to_do, const struct type *type, const char *to,
                       const char *from);

/* Items without parts, by one of the dialect's ways. */
static void copy_items(const struct copying *to_do, const struct type *element, const char *to,
                       const char *from)
{
    const unsigned way = roll(to_do->unseen, element->kind == SCALAR ? 3 : 2), v = to_do->unseen->variables++;
    FILE *out = to_do->out;
    if (way == 0) {
        fprintf(out, "%s = gyre_copy(gyre, %s, reply, request, %s);\n", to, element->name, from);
        return;
    }
    fprintf(out, "%s = gyre_new(gyre, %s, reply, %s.count);\n", to, element->name, from);
    fprintf(out, "for (u32 v%u = 0; v%u < %s.count; v%u++)\n", v, v, to, v);
    if (way == 1)
        fprintf(out, "gyre_writable(%s, reply, %s)[v%u] = gyre_items(%s, request, %s)[v%u];\n", element->name,
                to, v, element->name, from, v);
    else
        fprintf(out, "gyre_set(gyre, %s, reply, %s, v%u, gyre_get(gyre, %s, request, %s, v%u));\n",
                element->name, to, v, element->name, from, v);
}

static void copy_items_with_parts(const struct copying *to_do, const struct type *element, const char *to,
                                  const char *from)
{
    const unsigned v = to_do->unseen->variables++;
    char item_to[NAME_MAX], item_from[NAME_MAX];
    snprintf(item_to, sizeof item_to, "reply%u[0]", v);
    snprintf(item_from, sizeof item_from, "request%u[0]", v);
    /* with their padding, which gyre_new leaves as it is; their parts follow */
    fprintf(to_do->out, "%s = gyre_copy(gyre, %s, reply, request, %s);\n", to, element->name, from);
    fprintf(to_do->out, "for (u32 v%u = 0; v%u < %s.count; v%u++) {\n", v, v, to, v);
    fprintf(to_do->out, "GYRE_GLOBAL %s *reply%u = gyre_writable(%s, reply, %s) + v%u;\n", element->name, v,
            element->name, to, v);
    fprintf(to_do->out, "const GYRE_GLOBAL %s *request%u = gyre_items(%s, request, %s) + v%u;\n",
            element->name, v, element->name, from, v);
    copy_value(to_do, element, item_to, item_from);
    fputs("}\n", to_do->out);
}

static void copy_field(const struct copying *to_do, const struct field *field, const char *to,
                       const char *from)
{
    char path[2][400], index[60] = "";
    for (unsigned i = 0; i < field->dimensions; i++) {
        const unsigned v = to_do->unseen->variables++;
        const size_t length = strlen(index);
        fprintf(to_do->out, "for (u32 v%u = 0; v%u < %u; v%u++)\n", v, v, field->lengths[i], v);
        snprintf(index + length, sizeof index - length, "[v%u]", v);
    }
    if (snprintf(path[0], sizeof path[0], "%s.%s%s", to, field->name, index) >= (int)sizeof path[0] ||
        snprintf(path[1], sizeof path[1], "%s.%s%s", from, field->name, index) >= (int)sizeof path[1])
        abort(); /* a record is held by a record by a record..., WORK_MAX deep */
    fputs("{\n", to_do->out);
    copy_value(to_do, field->type, path[0], path[1]);
    fputs("}\n", to_do->out);
}

/* The order is that of random_message: so equal contents are equal bytes. */
static void copy_value(const struct copying *to_do, const struct type *type, const char *to, const char *from)
{
    if (!type->has_parts)
        fprintf(to_do->out, "%s = %s;\n", to, from);
    else if (type->element && type->element->has_parts)
        copy_items_with_parts(to_do, type->element, to, from);
    else if (type->element)
        copy_items(to_do, type->element, to, from);
    else
        for (unsigned i = 0; i < type->field_count; i++)
            copy_field(to_do, &type->fields[i], to, from);
}

void unseen_write_kernels(struct unseen *unseen, unsigned count, FILE *out)
{
    const struct copying to_do = {unseen, out};
    for (unsigned i = 0; i < count; i++) {
        const struct type *type = unseen->messages[i];
        fprintf(out, "GYRE_KERNEL(unseen_%u, %s, %s)\n{\n", i, type->name, type->name);
        copy_value(&to_do, type, "reply[0]", "request[0]");
        fputs("return GYRE_REPLY;\n}\n", out);
    }
}
