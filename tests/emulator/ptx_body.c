/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function's body: declarations, labels and instructions, in scopes. Names and labels of a scope end with it;
 * a jump finds its label in the innermost scope that has it, also when it comes later.
 */
#include "ptx_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grow(struct ptx_reader *reader, void **array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return true;
    const uint32_t more = *room ? *room * 2 : 64;
    void *bigger = realloc(*array, (size_t)more * size);
    if (!bigger)
        return ptx_fail(reader, "no memory");
    *array = bigger;
    *room = more;
    return true;
}

static struct body_name *add_name(struct body *body, struct ptx_token token, enum name_kind kind)
{
    if (!grow(body->reader, (void **)&body->names, body->name_count, &body->name_room, sizeof *body->names))
        return NULL;
    struct body_name *name = &body->names[body->name_count++];
    *name = (struct body_name){.token = token, .kind = kind};
    return name;
}

/* "%r<12>" stands for %r0 to %r11. */
static bool same_register(const struct body_name *name, const struct ptx_token *token, uint32_t *number)
{
    const uint32_t prefix = name->token.length;
    if (token->length <= prefix || memcmp(name->token.text, token->text, prefix) != 0)
        return false;
    uint32_t value = 0;
    for (uint32_t i = prefix; i < token->length; i++) {
        if (token->text[i] < '0' || token->text[i] > '9')
            return false;
        value = value * 10 + (uint32_t)(token->text[i] - '0');
    }
    *number = name->first + value;
    return value < name->count;
}

const struct body_name *body_find(const struct body *body, const struct ptx_token *token, uint32_t *number)
{
    for (uint32_t i = body->name_count; i-- > 0;) {
        const struct body_name *name = &body->names[i];
        if (name->kind == NAME_REGISTERS) {
            if (same_register(name, token, number))
                return name;
        } else if (name->token.length == token->length &&
                   memcmp(name->token.text, token->text, token->length) == 0) {
            *number = name->first;
            return name;
        }
    }
    return NULL;
}

/* ---- declarations ---- */

static bool note_predicates(struct body *body, const struct body_name *name)
{
    const uint32_t end = name->first + name->count;
    bool *more = realloc(body->predicates, (size_t)end + 1);
    if (!more)
        return false;
    body->predicates = more;
    memset(more + name->first, name->bits == 1, name->count + 1);
    return true;
}

static bool read_registers(struct body *body)
{
    struct ptx_reader *reader = body->reader;
    char kind = 0;
    uint32_t bits = 0;
    char type[16];
    snprintf(type, sizeof type, "%.*s", (int)reader->now.length - 1, reader->now.text + 1);
    if (!ptx_type(type, &kind, &bits) || bits > 64)
        return ptx_fail(reader, "registers of type '.%s' are not modelled", type);
    ptx_next(reader);
    do {
        struct body_name *name = add_name(body, reader->now, NAME_REGISTER);
        if (!name || reader->now.kind != PTX_WORD)
            return ptx_fail(reader, "expected the name of a register");
        ptx_next(reader);
        name->bits = (uint8_t)(kind == 'p' ? 1 : bits);
        name->first = body->function->register_count;
        name->count = 1;
        if (ptx_take(reader, "<")) {
            name->kind = NAME_REGISTERS;
            name->count = (uint32_t)ptx_number(reader);
            ptx_expect(reader, ">");
        }
        body->function->register_count += name->count;
        if (!note_predicates(body, name))
            return ptx_fail(reader, "no memory");
    } while (ptx_take(reader, ","));
    return ptx_expect(reader, ";");
}

static bool read_variable(struct body *body, enum name_kind kind)
{
    struct ptx_reader *reader = body->reader;
    struct machine_function *function = body->function;
    struct declaration declaration;
    const char *text = reader->now.text;
    if (!ptx_declaration(reader, &declaration)) {
        free(declaration.name);
        return false;
    }
    const struct ptx_token token = {.kind = PTX_WORD,
                                    .text = strstr(text, declaration.name),
                                    .length = (uint32_t)strlen(declaration.name)};
    free(declaration.name);
    struct body_name *name = add_name(body, token, kind);
    if (!name)
        return false;
    uint32_t *end = kind == NAME_SHARED ? &function->shared_size : &function->frame_size;
    *end = (uint32_t)round_up(*end, declaration.align);
    name->address = *end + (kind == NAME_SHARED ? SHARED_BEGIN : 0u);
    name->size = declaration.size;
    *end += (uint32_t)declaration.size;
    return ptx_expect(reader, ";");
}

static bool read_declaration(struct body *body)
{
    struct ptx_reader *reader = body->reader;
    if (ptx_take(reader, ".reg"))
        return read_registers(body);
    if (ptx_take(reader, ".local") || ptx_take(reader, ".param"))
        return read_variable(body, NAME_LOCAL);
    if (ptx_take(reader, ".shared"))
        return read_variable(body, NAME_SHARED);
    if (ptx_is(reader, ".loc"))
        ptx_skip_line(reader);
    else if (ptx_is(reader, ".pragma"))
        ptx_skip_statement(reader);
    else
        return ptx_fail(reader, "'%.*s' is not modelled", (int)reader->now.length, reader->now.text);
    return true;
}

static bool name_parameters(struct body *body, const struct ptx_token *names,
                            const struct parameter *parameters, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct body_name *name =
            add_name(body, names[i], body->function->entry ? NAME_KERNEL_PARAM : NAME_LOCAL);
        if (!name)
            return false;
        name->address = parameters[i].offset;
        name->size = parameters[i].size;
    }
    return true;
}

/* ---- labels ---- */

static bool add_label(struct body *body, struct ptx_token token)
{
    if (!grow(body->reader, (void **)&body->labels, body->label_count, &body->label_room,
              sizeof *body->labels))
        return false;
    body->labels[body->label_count++] = (struct body_label){token, body->function->code_count};
    return true;
}

static bool add_jump(struct body *body, struct ptx_token token)
{
    if (!grow(body->reader, (void **)&body->jumps, body->jump_count, &body->jump_room, sizeof *body->jumps))
        return false;
    body->jumps[body->jump_count++] = (struct body_label){token, body->function->code_count};
    return true;
}

static int compare_labels(const void *one, const void *other)
{
    const struct body_label *a = one, *b = other;
    if (a->token.length != b->token.length)
        return a->token.length < b->token.length ? -1 : 1;
    return memcmp(a->token.text, b->token.text, a->token.length);
}

/* The labels of a scope that ends: jumps of it find theirs, the others stay for the scope around. */
static void settle_jumps(struct body *body, uint32_t first_label, uint32_t first_jump)
{
    uint32_t left = first_jump;
    struct body_label *labels = body->labels ? body->labels + first_label : NULL;
    const uint32_t count = labels ? body->label_count - first_label : 0;
    if (count)
        qsort(labels, count, sizeof *labels, compare_labels);
    for (uint32_t j = first_jump; j < body->jump_count; j++) {
        const struct body_label jump = body->jumps[j];
        const struct body_label *label =
            count ? bsearch(&jump, labels, count, sizeof *labels, compare_labels) : NULL;
        if (label) /* the code may move: a number until all is there */
            body->function->code[jump.code].offset = label->code;
        else
            body->jumps[left++] = jump;
    }
    body->jump_count = left;
    body->label_count = first_label;
}

/* ---- statements ---- */

static struct instruction *add_instruction(struct body *body)
{
    struct machine_function *function = body->function;
    if (!grow(body->reader, (void **)&function->code, function->code_count, &body->code_room,
              sizeof *function->code))
        return NULL;
    struct instruction *i = &function->code[function->code_count];
    *i = (struct instruction){.line = body->reader->begun,
                              .guard = ptx_constant(body->module, UINT64_MAX),
                              .address_mask = UINT64_MAX,
                              .access.falls_through = true};
    for (int o = 0; o < OPERANDS_MAX; o++)
        i->o[o] = (uint32_t)BASE_SPECIALS << BASE_SHIFT | SPECIAL_SCRATCH * LANES;
    return i;
}

static bool read_instruction(struct body *body)
{
    struct statement statement;
    struct instruction *i = add_instruction(body);
    if (!i || !body_guard(body, i))
        return false;
    if (ptx_is(body->reader, "call") || ptx_is(body->reader, "call.uni")) {
        ptx_next(body->reader);
        if (!body_call(body, i))
            return false;
    } else {
        if (!body_statement(body, &statement) || !ptx_decode(body->reader, &statement, i))
            return false;
        if (statement.part_count && strcmp(statement.parts[0], "bra") == 0 &&
            !add_jump(body, statement.operands[0].name))
            return false;
    }
    body->function->code_count++;
    return true;
}

static bool read_item(struct body *body);

static bool read_scope(struct body *body)
{
    const uint32_t names = body->name_count, labels = body->label_count, jumps = body->jump_count;
    if (++body->depth > 64)
        return ptx_fail(body->reader, "scopes are nested deeper than 64");
    while (!body->reader->failed && !ptx_take(body->reader, "}"))
        if (!read_item(body))
            return false;
    settle_jumps(body, labels, jumps);
    body->name_count = names;
    body->depth--;
    return !body->reader->failed;
}

static bool read_item(struct body *body)
{
    struct ptx_reader *reader = body->reader;
    const struct ptx_token token = reader->now;
    reader->begun = token.line;
    if (token.kind == PTX_END)
        return ptx_fail(reader, "the text ends in a function");
    if (ptx_take(reader, "{"))
        return read_scope(body);
    if (ptx_take(reader, ";"))
        return true;
    if (token.kind == PTX_WORD && token.text[0] == '.')
        return read_declaration(body);
    if (token.kind == PTX_WORD && token.text[token.length] == ':') {
        ptx_next(reader);
        ptx_next(reader);
        return add_label(body, token);
    }
    return read_instruction(body);
}

/* A body may end without a "ret". */
static bool add_end(struct body *body)
{
    struct statement statement = {.opcode = "ret", .text = "ret", .part_count = 1};
    statement.parts[0] = statement.text;
    statement.entry = body->function->entry;
    statement.module = body->module;
    struct instruction *i = add_instruction(body);
    if (!i || !ptx_decode(body->reader, &statement, i))
        return false;
    body->function->code_count++;
    return true;
}

static bool finish(struct body *body)
{
    struct machine_function *function = body->function;
    if (body->jump_count)
        return ptx_fail(body->reader, "no label '%.*s' in '%s'", (int)body->jumps[0].token.length,
                        body->jumps[0].token.text, function->name);
    if (!body->predicates || !ptx_registers_pack(function, body->predicates))
        return ptx_fail(body->reader, "no memory");
    for (uint32_t c = 0; c < function->code_count; c++) {
        struct instruction *i = &function->code[c];
        if (i->access.type == 'j')
            i->target = &function->code[i->offset];
        if (i->access.type == 'c')
            i->call = &function->calls[i->offset];
    }
    return true;
}

bool ptx_body(struct ptx_reader *reader, struct machine_module *module, struct machine_function *function,
              const struct ptx_token *parameter_names, const struct ptx_token *result_names)
{
    struct body body = {.reader = reader, .module = module, .function = function, .predicates = calloc(1, 1)};
    function->shared_size = module->shared_size;
    bool fine = ptx_expect(reader, "{") &&
                name_parameters(&body, parameter_names, function->parameters, function->parameter_count) &&
                name_parameters(&body, result_names, function->results, function->result_count) &&
                read_scope(&body) && add_end(&body) && finish(&body);
    free(body.names);
    free(body.predicates);
    free(body.labels);
    free(body.jumps);
    return fine;
}
