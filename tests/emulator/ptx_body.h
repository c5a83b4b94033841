/* SPDX-License-Identifier: Apache-2.0 */
/* What is known while a body is read: names in their scopes, labels. Private to ptx_body.c and ptx_operand.c. */
#ifndef GYRE_TESTS_EMULATOR_PTX_BODY_H
#define GYRE_TESTS_EMULATOR_PTX_BODY_H

#include "ptx_module.h"
#include "ptx_operation.h"

enum name_kind { NAME_REGISTERS, NAME_REGISTER, NAME_LOCAL, NAME_SHARED, NAME_KERNEL_PARAM };

/** A name that is declared in a body. */
struct body_name {
    struct ptx_token token;
    enum name_kind kind;
    uint32_t first, count; /* registers */
    uint8_t bits;          /* of a register; 1 for predicates */
    uint64_t address, size;
};

struct body_label {
    struct ptx_token token;
    uint32_t code;
};

struct body {
    struct ptx_reader *reader;
    struct machine_module *module;
    struct machine_function *function;
    struct body_name *names;
    struct body_label *labels, *jumps; /* jumps: where a label is wanted, and by which instruction */
    uint32_t name_count, name_room, label_count, label_room, jump_count, jump_room;
    uint32_t code_room;
    bool *predicates; /* which registers are predicates */
    int depth;
};

/** The name that a scope around here declares, or NULL; of a register its number too. */
const struct body_name *body_find(const struct body *body, const struct ptx_token *token, uint32_t *number);
/** A guard before an opcode: "@!%p1". */
bool body_guard(struct body *body, struct instruction *i);
/** The opcode and its operands, up to ';'. */
bool body_statement(struct body *body, struct statement *statement);
/** "call (results), name, (arguments);" behind its opcode. */
bool body_call(struct body *body, struct instruction *i);

#endif
