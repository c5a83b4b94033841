/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of a module: declarations, bodies, what bodies need. Private to this folder. */
#ifndef GYRE_TESTS_EMULATOR_PTX_MODULE_H
#define GYRE_TESTS_EMULATOR_PTX_MODULE_H

#include "ptx_operation.h"

/** A declaration: alignment, type and name of a variable. */
struct declaration {
    char *name; /* to be freed */
    uint64_t align, element_size, size;
    bool unsized; /* "[]" */
};

/** From behind the space to behind the brackets. */
bool ptx_declaration(struct ptx_reader *reader, struct declaration *declaration);

/** The place of the address of dynamic shared memory. */
uint32_t ptx_constant_dynamic(struct machine_module *module);
struct variable *ptx_variable(struct machine_module *module, const struct ptx_token *name);
struct machine_function *ptx_function(struct machine_module *module, const struct ptx_token *name);

/** The body of a function, from '{' to '}'. */
bool ptx_body(struct ptx_reader *reader, struct machine_module *module, struct machine_function *function,
              const struct ptx_token *parameter_names, const struct ptx_token *result_names);

/** Gives registers that never live at once the same place; `predicates` says which registers are predicates. */
bool ptx_registers_pack(struct machine_function *function, const bool *predicates);

static inline uint64_t round_up(uint64_t value, uint64_t align)
{
    return align ? (value + align - 1) / align * align : value;
}

#endif
