/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module from its text: variables with their first values, functions with their parameters. Bodies are read in
 * ptx_body.c. No locks: a module belongs to who loads it until it is given back.
 */
#include "ptx_module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MAX = 64 };

/* ---- names ---- */

struct variable *ptx_variable(struct machine_module *module, const struct ptx_token *name)
{
    for (uint32_t i = module->variable_count; i-- > 0;)
        if (ptx_token_is(name, module->variables[i].name))
            return &module->variables[i];
    return NULL;
}

struct machine_function *ptx_function(struct machine_module *module, const struct ptx_token *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (ptx_token_is(name, module->functions[i]->name))
            return module->functions[i];
    return NULL;
}

static struct machine_function *function_make(struct ptx_reader *reader, struct machine_module *module,
                                              bool entry)
{
    const struct ptx_token name = reader->now;
    struct machine_function *function = ptx_function(module, &name);
    if (function) {
        ptx_next(reader);
        return function;
    }
    void *more = realloc(module->functions, (module->function_count + 1) * sizeof(void *));
    function = more ? calloc(1, sizeof *function) : NULL;
    if (more)
        module->functions = more;
    if (!function) {
        ptx_fail(reader, "no memory");
        return NULL;
    }
    module->functions[module->function_count++] = function;
    function->name = ptx_name(reader);
    function->module = module;
    function->entry = entry;
    function->threads_max = 1024;
    return function;
}

/* ---- declarations ---- */

static uint64_t type_size(const struct ptx_token *type)
{
    static const struct {
        const char *name;
        uint64_t size;
    } types[] = {{".b8", 1},  {".u8", 1},  {".s8", 1},  {".b16", 2},  {".u16", 2}, {".s16", 2},
                 {".f16", 2}, {".b32", 4}, {".u32", 4}, {".s32", 4},  {".f32", 4}, {".b64", 8},
                 {".u64", 8}, {".s64", 8}, {".f64", 8}, {".b128", 16}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (ptx_token_is(type, types[i].name))
            return types[i].size;
    return 0;
}

bool ptx_declaration(struct ptx_reader *reader, struct declaration *declaration)
{
    uint64_t vector = 1;
    *declaration = (struct declaration){0};
    for (;;) {
        if (ptx_take(reader, ".align"))
            declaration->align = ptx_number(reader);
        else if (ptx_take(reader, ".v2"))
            vector = 2;
        else if (ptx_take(reader, ".v4"))
            vector = 4;
        else if (!ptx_take(reader, ".ptr") && !ptx_take(reader, ".global"))
            break;
    }
    declaration->element_size = type_size(&reader->now);
    if (!declaration->element_size)
        return ptx_fail(reader, "the type '%.*s' of a variable is not modelled", (int)reader->now.length,
                        reader->now.text);
    ptx_next(reader);
    while (ptx_take(reader, ".ptr") || ptx_take(reader, ".global") || ptx_take(reader, ".const"))
        ;
    if (ptx_take(reader, ".align"))
        ptx_number(reader); /* of what a pointer points to */
    declaration->name = ptx_name(reader);
    declaration->size = declaration->element_size * vector;
    if (!declaration->align)
        declaration->align = declaration->size;
    while (ptx_take(reader, "[")) {
        declaration->unsized = ptx_is(reader, "]");
        declaration->size *= declaration->unsized ? 0 : ptx_number(reader);
        ptx_expect(reader, "]");
    }
    return !reader->failed;
}

static struct variable *variable_add(struct ptx_reader *reader, struct machine_module *module,
                                     struct declaration *declaration, enum space space)
{
    void *more = realloc(module->variables, (module->variable_count + 1) * sizeof *module->variables);
    if (!more) {
        ptx_fail(reader, "no memory");
        return NULL;
    }
    module->variables = more;
    struct variable *variable = &module->variables[module->variable_count++];
    *variable = (struct variable){.name = declaration->name, .space = space, .size = declaration->size};
    declaration->name = NULL;
    return variable;
}

/* ---- first values ---- */

/* A value may be a number or the address of a variable, "name", "name+8" or "generic(name)". */
static bool read_value(struct ptx_reader *reader, struct machine_module *module, uint64_t *value)
{
    if (reader->now.kind != PTX_WORD) {
        *value = ptx_number(reader);
        return !reader->failed;
    }
    const bool generic = ptx_take(reader, "generic") && ptx_expect(reader, "(");
    const struct variable *variable = ptx_variable(module, &reader->now);
    if (!variable)
        return ptx_fail(reader, "no variable '%.*s' before this", (int)reader->now.length, reader->now.text);
    ptx_next(reader);
    if (generic)
        ptx_expect(reader, ")");
    *value = variable->address;
    if (ptx_take(reader, "+"))
        *value += ptx_number(reader);
    return !reader->failed;
}

static bool read_values(struct ptx_reader *reader, struct machine_module *module,
                        const struct variable *variable, uint64_t element_size, uint64_t *at)
{
    if (ptx_take(reader, "{")) {
        while (!ptx_take(reader, "}"))
            if (!read_values(reader, module, variable, element_size, at) ||
                (!ptx_is(reader, "}") && !ptx_expect(reader, ",")))
                return false;
        return true;
    }
    uint64_t value;
    if (!read_value(reader, module, &value))
        return false;
    if (*at + element_size > variable->size)
        return ptx_fail(reader, "more values than '%s' has room for", variable->name);
    memcpy((char *)variable->memory + *at, &value, element_size);
    *at += element_size;
    return true;
}

static bool read_global(struct ptx_reader *reader, struct machine_module *module)
{
    struct declaration declaration;
    uint64_t at = 0;
    if (!ptx_declaration(reader, &declaration)) {
        free(declaration.name);
        return false;
    }
    const uint64_t element_size = declaration.element_size;
    const uint64_t align = declaration.align > 128 ? declaration.align : 128;
    struct variable *variable = variable_add(reader, module, &declaration, SPACE_GLOBAL);
    free(declaration.name);
    if (!variable)
        return false;
    const size_t room = round_up(variable->size ? variable->size : 1, align);
    variable->memory = aligned_alloc(align, room);
    if (!variable->memory)
        return ptx_fail(reader, "no memory for '%s'", variable->name);
    memset(variable->memory, 0, room);
    variable->address = (uintptr_t)variable->memory;
    if (variable->size)
        machine_memory_add(variable->memory, variable->size);
    if (ptx_take(reader, "=") && !read_values(reader, module, variable, element_size, &at))
        return false;
    return ptx_expect(reader, ";");
}

static bool read_shared(struct ptx_reader *reader, struct machine_module *module)
{
    struct declaration declaration;
    struct variable *variable = ptx_declaration(reader, &declaration)
                                    ? variable_add(reader, module, &declaration, SPACE_SHARED)
                                    : NULL;
    free(declaration.name);
    if (!variable)
        return false;
    variable->dynamic = declaration.unsized;
    if (!declaration.unsized) {
        module->shared_size = (uint32_t)round_up(module->shared_size, declaration.align);
        variable->address = SHARED_BEGIN + module->shared_size;
        module->shared_size += (uint32_t)variable->size;
    }
    return ptx_expect(reader, ";");
}

/* ---- functions ---- */

static bool read_parameter(struct ptx_reader *reader, struct parameter *parameter, struct ptx_token *name,
                           uint32_t *end)
{
    struct declaration declaration;
    if (!ptx_expect(reader, ".param"))
        return false;
    const char *text = reader->now.text;
    const bool fine = ptx_declaration(reader, &declaration);
    *end = (uint32_t)round_up(*end, declaration.align);
    *parameter = (struct parameter){*end, (uint32_t)declaration.size};
    *end += parameter->size;
    if (fine) /* the name as a token: where it stands in the text */
        *name = (struct ptx_token){.kind = PTX_WORD, .text = strstr(text, declaration.name)};
    name->length = fine ? (uint32_t)strlen(declaration.name) : 0;
    free(declaration.name);
    return fine;
}

static uint32_t read_parameters(struct ptx_reader *reader, struct parameter *parameters,
                                struct ptx_token *names, uint32_t *end)
{
    uint32_t count = 0;
    if (!ptx_take(reader, "("))
        return 0;
    while (!reader->failed && !ptx_take(reader, ")")) {
        if (count == PARAMETERS_MAX)
            ptx_fail(reader, "more than %d parameters", PARAMETERS_MAX);
        else if (read_parameter(reader, &parameters[count], &names[count], end))
            count++;
        if (!ptx_is(reader, ")"))
            ptx_expect(reader, ",");
    }
    return count;
}

static struct parameter *keep(const struct parameter *parameters, uint32_t count)
{
    struct parameter *kept = calloc(count + 1, sizeof *kept);
    if (kept)
        memcpy(kept, parameters, count * sizeof *kept);
    return kept;
}

static void read_directives(struct ptx_reader *reader, struct machine_function *function)
{
    while (reader->now.kind == PTX_WORD && reader->now.text[0] == '.') {
        const bool threads = ptx_is(reader, ".maxntid") || ptx_is(reader, ".reqntid");
        if (ptx_take(reader, ".pragma")) {
            ptx_skip_statement(reader);
            continue;
        }
        ptx_next(reader);
        uint64_t product = 1;
        while (reader->now.kind == PTX_NUMBER) {
            product *= ptx_number(reader);
            if (!ptx_take(reader, ","))
                break;
        }
        if (threads)
            function->threads_max = (uint32_t)product;
    }
}

static bool read_function(struct ptx_reader *reader, struct machine_module *module, bool entry)
{
    struct parameter parameters[PARAMETERS_MAX], results[PARAMETERS_MAX];
    struct ptx_token parameter_names[PARAMETERS_MAX] = {0}, result_names[PARAMETERS_MAX] = {0};
    uint32_t end = 0;
    while (!entry && ptx_take(reader, ".attribute"))
        ptx_skip_line(reader);
    const uint32_t result_count = entry ? 0 : read_parameters(reader, results, result_names, &end);
    struct machine_function *function = function_make(reader, module, entry);
    if (!function)
        return false;
    const uint32_t parameter_count = read_parameters(reader, parameters, parameter_names, &end);
    read_directives(reader, function);
    free(function->parameters);
    free(function->results);
    free(function->parameter_sizes);
    function->parameters = keep(parameters, parameter_count);
    function->parameter_sizes = calloc(parameter_count + 1, sizeof *function->parameter_sizes);
    function->results = keep(results, result_count);
    function->parameter_count = parameter_count;
    function->result_count = result_count;
    function->parameters_size = end;
    if (!function->parameters || !function->results || !function->parameter_sizes)
        return ptx_fail(reader, "no memory");
    for (uint32_t p = 0; p < parameter_count; p++)
        function->parameter_sizes[p] = parameters[p].size;
    if (reader->failed || ptx_take(reader, ";"))
        return !reader->failed;
    function->defined = true;
    function->frame_size = entry ? 0 : (uint32_t)round_up(end, 16);
    return ptx_body(reader, module, function, parameter_names, result_names);
}

static bool read_item(struct ptx_reader *reader, struct machine_module *module)
{
    reader->begun = reader->now.line;
    if (ptx_take(reader, ".visible") || ptx_take(reader, ".extern") || ptx_take(reader, ".weak") ||
        ptx_take(reader, ".common") || ptx_take(reader, ";"))
        return true;
    if (ptx_is(reader, ".version") || ptx_is(reader, ".target") || ptx_is(reader, ".address_size") ||
        ptx_is(reader, ".file")) {
        ptx_skip_line(reader);
        return true;
    }
    if (ptx_take(reader, ".pragma")) {
        ptx_skip_statement(reader);
        return true;
    }
    if (ptx_take(reader, ".entry"))
        return read_function(reader, module, true);
    if (ptx_take(reader, ".func"))
        return read_function(reader, module, false);
    if (ptx_take(reader, ".global") || ptx_take(reader, ".const"))
        return read_global(reader, module);
    if (ptx_take(reader, ".shared"))
        return read_shared(reader, module);
    return ptx_fail(reader, "'%.*s' is not modelled", (int)reader->now.length, reader->now.text);
}

/* ---- what is known when all is read ---- */

static bool add_up(struct machine_function *function, uint32_t depth, char *error, size_t error_size)
{
    uint32_t registers = 0, frame = 0;
    if (depth >= DEPTH_MAX) {
        snprintf(error, error_size, "calls of '%s' are nested deeper than %d, which is not modelled",
                 function->name, DEPTH_MAX);
        return false;
    }
    for (uint32_t i = 0; i < function->call_count; i++) {
        struct machine_function *callee = (struct machine_function *)function->calls[i].callee;
        if (!add_up(callee, depth + 1, error, error_size))
            return false;
        registers = callee->registers_total > registers ? callee->registers_total : registers;
        frame = callee->frame_total > frame ? callee->frame_total : frame;
    }
    function->frame_size = (uint32_t)round_up(function->frame_size, 16);
    function->registers_total = function->register_count + registers;
    function->frame_total = function->frame_size + frame;
    return true;
}

static bool check_calls(const struct machine_function *function, char *error, size_t error_size)
{
    for (uint32_t i = 0; i < function->call_count; i++)
        if (!function->calls[i].callee->defined) {
            snprintf(error, error_size, "'%s' calls '%s', which has no body here", function->name,
                     function->calls[i].callee->name);
            return false;
        }
    return true;
}

/* Dynamic shared memory begins behind all that is static, at one place for all kernels of the module. */
static bool finish_module(struct machine_module *module, char *error, size_t error_size)
{
    uint32_t most = module->shared_size;
    for (uint32_t i = 0; i < module->function_count; i++) {
        struct machine_function *function = module->functions[i];
        most = function->shared_size > most ? function->shared_size : most;
        if (!check_calls(function, error, error_size) || !add_up(function, 0, error, error_size))
            return false;
    }
    module->dynamic_begin = SHARED_BEGIN + (uint32_t)round_up(most, 128);
    for (int lane = 0; module->dynamic_row && lane < LANES; lane++)
        module->constants[(size_t)module->dynamic_row * LANES + (size_t)lane] = module->dynamic_begin;
    return true;
}

struct machine_module *machine_module_load(const char *ptx, char *error, size_t error_size)
{
    struct machine_module *module = calloc(1, sizeof *module);
    struct ptx_reader reader;
    snprintf(error, error_size, "no memory for a module");
    if (!module || ptx_constant(module, UINT64_MAX) == NO_PLACE) { /* the guard of what has none */
        free(module);
        return NULL;
    }
    ptx_begin(&reader, ptx, error, error_size);
    bool fine = true;
    while (fine && reader.now.kind != PTX_END)
        fine = read_item(&reader, module) && !reader.failed;
    if (fine && !reader.failed && finish_module(module, error, error_size))
        return module;
    machine_module_unload(module);
    return NULL;
}

static void function_destroy(struct machine_function *function)
{
    for (uint32_t i = 0; i < function->call_count; i++) {
        free(function->calls[i].arguments);
        free(function->calls[i].results);
    }
    free(function->calls);
    free(function->parameters);
    free(function->results);
    free(function->parameter_sizes);
    free(function->code);
    free(function->name);
    free(function);
}

void machine_module_unload(struct machine_module *module)
{
    if (!module)
        return;
    for (uint32_t i = 0; i < module->variable_count; i++) {
        struct variable *variable = &module->variables[i];
        if (variable->memory && variable->size)
            machine_memory_remove(variable->memory);
        free(variable->memory);
        free(variable->name);
    }
    for (uint32_t i = 0; i < module->function_count; i++)
        function_destroy(module->functions[i]);
    free(module->functions);
    free(module->variables);
    free(module->constants);
    free(module->constant_index);
    free(module);
}

const struct machine_function *machine_function_find(const struct machine_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i]->entry && strcmp(module->functions[i]->name, name) == 0)
            return module->functions[i];
    return NULL;
}

struct machine_function_info machine_function_describe(const struct machine_function *function)
{
    return (struct machine_function_info){.registers = function->registers_total < 32 ? 32
                                                       : function->registers_total > 255
                                                           ? 255
                                                           : function->registers_total,
                                          .shared_bytes = function->shared_size,
                                          .local_bytes = function->frame_total,
                                          .threads_max = function->threads_max,
                                          .argument_count = function->parameter_count,
                                          .argument_sizes = function->parameter_sizes};
}
