/* SPDX-License-Identifier: Apache-2.0 */
/* From an opcode to the function that runs it. Private to this folder. */
#ifndef GYRE_TESTS_EMULATOR_PTX_OPERATION_H
#define GYRE_TESTS_EMULATOR_PTX_OPERATION_H

#include "machine_core.h"
#include "ptx_text.h"

enum operand_kind { OPERAND_PLACE, OPERAND_ADDRESS, OPERAND_VECTOR, OPERAND_NAME };

/* Registers that tell something else at each look. */
enum dynamic_register { DYNAMIC_NONE, DYNAMIC_CLOCK, DYNAMIC_CLOCK_HI, DYNAMIC_CLOCK64, DYNAMIC_TIMER };

struct operand {
    enum operand_kind kind;
    uint32_t place;  /* of a register or constant, of an address: its base */
    uint32_t second; /* of "d|p": NO_PLACE when there is none */
    uint32_t elements[4];
    uint8_t element_bits[4];
    uint32_t count;
    int64_t offset;   /* of an address */
    uint64_t literal; /* when it is a number */
    bool number, negated;
    bool narrow;       /* an address in a 32-bit register */
    bool frame;        /* an address, or the value, counts from the frame */
    bool kernel_param; /* names a parameter of a kernel */
    enum dynamic_register dynamic;
    uint8_t bits; /* of a register */
    struct ptx_token name;
};

/* One statement, read but not understood. */
struct statement {
    char opcode[96];
    char *parts[16]; /* of the opcode, between its dots */
    char text[96];   /* that `parts` point into */
    uint32_t part_count;
    struct operand operands[8];
    uint32_t operand_count;
    bool entry; /* in a kernel, not in a function */
    struct machine_module *module;
};

/** An opcode that takes its operands as they stand. */
struct operation {
    const char *opcode;
    run_function *run;
};

extern const struct operation integer_operations[], bit_operations[], compare_operations[],
    float_operations[], convert_operations[];

/**
 * Fills the instruction from what follows the opcode's first part; false when that is not modelled. The reader is
 * there for a sentence of its own.
 */
typedef bool build_function(struct ptx_reader *reader, const struct statement *statement,
                            struct instruction *i);

build_function build_memory, build_atomic, build_convert, build_move, build_vote, build_shuffle,
    build_barrier, build_mbarrier, build_copy, build_fence, build_control, build_cvta, build_space;

void build_call(struct instruction *i);
bool build_assert(struct instruction *i);

/** Whether the opcode has this part. */
bool statement_has(const struct statement *statement, const char *part);
/** Its last part, most often a type: bits, and what kind ('s', 'u', 'b', 'f', 'p'). False when it is none. */
bool ptx_type(const char *part, char *kind, uint32_t *bits);

/** The place of a constant that all lanes see alike. */
uint32_t ptx_constant(struct machine_module *module, uint64_t value);

/** Decodes what was read. */
bool ptx_decode(struct ptx_reader *reader, const struct statement *statement, struct instruction *i);

#endif
