/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instructions of an x86-64 a GPU does together with the one before: three operands of bits or of an addition are one instruction
 * there, and so are a multiplication or a shift and the addition behind it. Looks at code without branches. No state.
 */
#ifndef GYRE_CLI_ESTIMATE_CODE_JOINS_H
#define GYRE_CLI_ESTIMATE_CODE_JOINS_H

#include <stdbool.h>
#include <stdint.h>

enum { CODE_JOINS_MAX = 16, CODE_MADE_BY_BITS = 1, CODE_MADE_BY_SUM, CODE_MADE_BY_PRODUCT };

/** Registers whose value may become a part of the next instruction, and what made it. */
typedef struct code_joins {
    struct {
        char name[8];
        int made; /* CODE_MADE_BY_BITS, ... */
    } values[CODE_JOINS_MAX];
    uint32_t count; /* 0: the begin of code without branches */
} code_joins;

/** Takes the next instruction, as objdump prints it. True when a GPU does it together with an earlier one. */
bool code_joins_take(code_joins *joins, const char *name, const char *operands);

#endif
