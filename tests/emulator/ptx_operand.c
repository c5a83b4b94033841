/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of a body: guards, operands, calls. What an opcode makes of them is ptx_decode.c's. */
#include "ptx_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum special row;
} specials[] = {{"%tid.x", SPECIAL_TID_X},
                {"%tid.y", SPECIAL_TID_Y},
                {"%tid.z", SPECIAL_TID_Z},
                {"%ntid.x", SPECIAL_NTID_X},
                {"%ntid.y", SPECIAL_NTID_Y},
                {"%ntid.z", SPECIAL_NTID_Z},
                {"%ctaid.x", SPECIAL_CTAID_X},
                {"%ctaid.y", SPECIAL_CTAID_Y},
                {"%ctaid.z", SPECIAL_CTAID_Z},
                {"%nctaid.x", SPECIAL_NCTAID_X},
                {"%nctaid.y", SPECIAL_NCTAID_Y},
                {"%nctaid.z", SPECIAL_NCTAID_Z},
                {"%laneid", SPECIAL_LANE},
                {"%warpid", SPECIAL_WARP},
                {"%nwarpid", SPECIAL_WARPS},
                {"%smid", SPECIAL_UNIT},
                {"%nsmid", SPECIAL_UNITS},
                {"%lanemask_eq", SPECIAL_MASK_EQ},
                {"%lanemask_le", SPECIAL_MASK_LE},
                {"%lanemask_lt", SPECIAL_MASK_LT},
                {"%lanemask_ge", SPECIAL_MASK_GE},
                {"%lanemask_gt", SPECIAL_MASK_GT},
                {"%dynamic_smem_size", SPECIAL_DYNAMIC_SHARED},
                {"%total_smem_size", SPECIAL_TOTAL_SHARED}};

static const struct {
    const char *name;
    enum dynamic_register dynamic;
} dynamics[] = {{"%clock", DYNAMIC_CLOCK},
                {"%clock_hi", DYNAMIC_CLOCK_HI},
                {"%clock64", DYNAMIC_CLOCK64},
                {"%globaltimer", DYNAMIC_TIMER}};

static bool special_register(struct operand *operand, const struct ptx_token *token)
{
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++)
        if (ptx_token_is(token, specials[i].name)) {
            operand->place = (uint32_t)BASE_SPECIALS << BASE_SHIFT | (uint32_t)specials[i].row * LANES;
            operand->bits = 32;
            return true;
        }
    for (size_t i = 0; i < sizeof dynamics / sizeof dynamics[0]; i++)
        if (ptx_token_is(token, dynamics[i].name)) {
            operand->dynamic = dynamics[i].dynamic;
            operand->bits = 64;
            return true;
        }
    if (ptx_token_is(token, "WARP_SZ"))
        operand->literal = LANES;
    operand->number = operand->literal != 0;
    return operand->number;
}

static bool name_operand(struct body *body, struct operand *operand, const struct ptx_token *token)
{
    uint32_t number = 0;
    const struct body_name *name = body_find(body, token, &number);
    const struct variable *variable = name ? NULL : ptx_variable(body->module, token);
    operand->name = *token;
    if (ptx_token_is(token, "_")) {
        operand->place = (uint32_t)BASE_SPECIALS << BASE_SHIFT | SPECIAL_SCRATCH * LANES;
    } else if (name && (name->kind == NAME_REGISTER || name->kind == NAME_REGISTERS)) {
        operand->place = (uint32_t)BASE_REGISTERS << BASE_SHIFT | number * LANES;
        operand->bits = name->bits;
    } else if (name) {
        operand->place = ptx_constant(body->module, name->address);
        operand->frame = name->kind == NAME_LOCAL;
        operand->kernel_param = name->kind == NAME_KERNEL_PARAM;
    } else if (variable && variable->dynamic) {
        operand->place = ptx_constant_dynamic(body->module);
    } else if (variable) {
        operand->place = ptx_constant(body->module, variable->address);
    } else if (special_register(operand, token)) {
        if (operand->number)
            operand->place = ptx_constant(body->module, operand->literal);
    } else {
        operand->kind = OPERAND_NAME;
    }
    return operand->place != NO_PLACE || ptx_fail(body->reader, "no memory");
}

static bool simple_operand(struct body *body, struct operand *operand)
{
    struct ptx_reader *reader = body->reader;
    if (reader->now.kind == PTX_WORD) {
        const struct ptx_token token = reader->now;
        ptx_next(reader);
        return name_operand(body, operand, &token);
    }
    operand->literal = ptx_number(reader);
    operand->number = true;
    operand->place = ptx_constant(body->module, operand->literal);
    return !reader->failed;
}

static bool need_value(struct body *body, const struct operand *operand)
{
    return operand->kind != OPERAND_NAME ||
           ptx_fail(body->reader, "'%.*s' is not known", (int)operand->name.length, operand->name.text);
}

static bool address_operand(struct body *body, struct operand *operand)
{
    if (!simple_operand(body, operand) || !need_value(body, operand))
        return false;
    operand->narrow = operand->bits == 32;
    operand->kind = OPERAND_ADDRESS;
    if (ptx_take(body->reader, "+"))
        operand->offset = (int64_t)ptx_number(body->reader);
    else if (ptx_is(body->reader, "-"))
        operand->offset = (int64_t)ptx_number(body->reader);
    return ptx_expect(body->reader, "]");
}

static bool vector_operand(struct body *body, struct operand *operand)
{
    operand->kind = OPERAND_VECTOR;
    do {
        struct operand element = {0};
        if (operand->count == 4)
            return ptx_fail(body->reader, "a vector has at most 4 elements");
        if (!simple_operand(body, &element) || !need_value(body, &element))
            return false;
        operand->element_bits[operand->count] = element.bits;
        operand->elements[operand->count++] = element.place;
    } while (ptx_take(body->reader, ","));
    return ptx_expect(body->reader, "}");
}

static bool read_operand(struct body *body, struct operand *operand)
{
    struct ptx_reader *reader = body->reader;
    *operand = (struct operand){.second = NO_PLACE};
    if (ptx_take(reader, "["))
        return address_operand(body, operand);
    if (ptx_take(reader, "{"))
        return vector_operand(body, operand);
    operand->negated = ptx_take(reader, "!");
    if (!simple_operand(body, operand))
        return false;
    if (ptx_take(reader, "|")) {
        struct operand second = {0};
        if (!simple_operand(body, &second) || !need_value(body, &second))
            return false;
        operand->second = second.place;
    }
    return true;
}

bool body_guard(struct body *body, struct instruction *i)
{
    struct ptx_reader *reader = body->reader;
    struct operand guard;
    if (!ptx_take(reader, "@"))
        return true;
    if (!read_operand(body, &guard) || !need_value(body, &guard))
        return false;
    if (guard.bits != 1)
        return ptx_fail(reader, "the guard is no predicate");
    i->guard = guard.place;
    i->flip = guard.negated ? UINT32_MAX : 0;
    return true;
}

static void split_opcode(struct statement *statement)
{
    snprintf(statement->text, sizeof statement->text, "%s", statement->opcode);
    statement->part_count = 0;
    for (char *at = statement->text; at && statement->part_count < 16;) {
        statement->parts[statement->part_count++] = at;
        at = strchr(at, '.');
        if (at)
            *at++ = '\0';
    }
}

bool body_statement(struct body *body, struct statement *statement)
{
    struct ptx_reader *reader = body->reader;
    if (reader->now.kind != PTX_WORD || reader->now.length >= sizeof statement->opcode)
        return ptx_fail(reader, "expected an instruction, found '%.*s'", (int)reader->now.length,
                        reader->now.text);
    snprintf(statement->opcode, sizeof statement->opcode, "%.*s", (int)reader->now.length, reader->now.text);
    split_opcode(statement);
    statement->operand_count = 0;
    statement->entry = body->function->entry;
    statement->module = body->module;
    ptx_next(reader);
    while (!reader->failed && !ptx_take(reader, ";")) {
        if (statement->operand_count && !ptx_expect(reader, ","))
            return false;
        if (statement->operand_count == 8)
            return ptx_fail(reader, "more than 8 operands");
        struct operand *operand = &statement->operands[statement->operand_count++];
        if (!read_operand(body, operand))
            return false;
        if (operand->kind == OPERAND_NAME && strcmp(statement->parts[0], "bra") != 0)
            return need_value(body, operand);
    }
    return !reader->failed;
}

/* ---- calls ---- */

static bool read_names(struct body *body, struct body_name *names, uint32_t *count)
{
    *count = 0;
    if (!ptx_take(body->reader, "("))
        return true;
    while (!body->reader->failed && !ptx_take(body->reader, ")")) {
        uint32_t number;
        const struct body_name *name = body_find(body, &body->reader->now, &number);
        if (!name || name->kind != NAME_LOCAL || *count == 16)
            return ptx_fail(body->reader, "arguments of a call are parameters: '%.*s' is none",
                            (int)body->reader->now.length, body->reader->now.text);
        names[(*count)++] = *name;
        ptx_next(body->reader);
        if (!ptx_is(body->reader, ")"))
            ptx_expect(body->reader, ",");
    }
    return !body->reader->failed;
}

static struct passed *pass(const struct body_name *names, const struct parameter *parameters, uint32_t count,
                           bool back)
{
    struct passed *passed = calloc(count + 1, sizeof *passed);
    for (uint32_t i = 0; passed && i < count; i++) {
        const uint32_t here = (uint32_t)names[i].address, there = parameters[i].offset;
        passed[i] = (struct passed){back ? there : here, back ? here : there, parameters[i].size};
    }
    return passed;
}

static bool add_call(struct body *body, struct instruction *i, const struct call *call)
{
    struct machine_function *function = body->function;
    struct call *calls = realloc(function->calls, (function->call_count + 1) * sizeof *calls);
    if (calls)
        function->calls = calls;
    if (!calls || !call->arguments || !call->results) {
        free(call->arguments);
        free(call->results);
        return ptx_fail(body->reader, "no memory");
    }
    i->offset = function->call_count;
    i->access.type = 'c';
    calls[function->call_count++] = *call;
    return true;
}

bool body_call(struct body *body, struct instruction *i)
{
    struct ptx_reader *reader = body->reader;
    struct body_name results[16] = {0}, arguments[16] = {0};
    struct call call = {0};
    if (!read_names(body, results, &call.result_count) || (call.result_count && !ptx_expect(reader, ",")))
        return false;
    const struct ptx_token name = reader->now;
    struct machine_function *callee = ptx_function(body->module, &name);
    ptx_next(reader);
    if (ptx_take(reader, ",") && !read_names(body, arguments, &call.argument_count))
        return false;
    if (!ptx_expect(reader, ";"))
        return false;
    if (!callee)
        return ptx_fail(reader, "a call of '%.*s' is not modelled", (int)name.length, name.text);
    if (strcmp(callee->name, "__assertfail") == 0)
        return build_assert(i);
    if (callee->parameter_count != call.argument_count || callee->result_count != call.result_count)
        return ptx_fail(reader, "'%s' has other parameters than this call", callee->name);
    call.callee = callee;
    call.arguments = pass(arguments, callee->parameters, call.argument_count, false);
    call.results = pass(results, callee->results, call.result_count, true);
    build_call(i);
    return add_call(body, i, &call);
}
