/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many instructions a GPU needs for what one instruction of an x86-64 does (code_lines.h). The figures are those of the
 * instructions that NVRTC 13 makes for sm_90: a division of integers takes as long as some 55 instructions (primes asks for more, divide, whose
 * divisors are known before, for less), one of 64 bits as 80 (divide_64), and a f64 operation waits longer than others.
 */
#include "cli/estimate/code_lines.h"

#include <string.h>

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* A register of 64 bits, in place of one of 32. */
static bool is_wide(const char *operands)
{
    const char *at = strstr(operands, "%r");
    for (; at; at = strstr(at + 1, "%r")) {
        const size_t length = strcspn(at + 2, ",) ");
        if (at > operands &&
            (at[-1] == '(' || (at[-1] == ',' && strchr(at, ')') && strchr(operands, '(') < at)))
            continue; /* part of an address */
        if (at[2 + length - 1] != 'd' && at[2 + length - 1] != 'w' && at[2 + length - 1] != 'b')
            return true;
    }
    return false;
}

/*
 * A call of a function that is none of C's library's. A GPU's compiler has put the handler's own functions in their places, and a number of
 * the lane or of lanes is in a register.
 */
static double weight_of_own_call(const char *at)
{
    if (begins(at, "<gyre_lane") || begins(at, "<gyre_block>"))
        return 0;
    if (begins(at, "<gyre_rot"))
        return 1;
    return begins(at, "<gyre_") || strchr(at, '@') ? 2 : 0;
}

static double weight_of_call(const char *operands)
{
    static const struct {
        const char *name;
        double weight;
    } known[] = {{"<sinf", 36},  {"<cosf", 36},  {"<tanf", 48}, {"<expf", 20},  {"<exp2f", 10},
                 {"<logf", 24},  {"<log2f", 24}, {"<powf", 72}, {"<sqrtf", 22}, {"<fmodf", 32},
                 {"<tanhf", 16}, {"<sin", 96},   {"<cos", 96},  {"<exp", 48},   {"<log", 64},
                 {"<pow", 240},  {"<sqrt", 32},  {"<fmod", 64}};
    const char *const at = strchr(operands, '<');
    for (size_t i = 0; at && i < sizeof known / sizeof known[0]; i++) {
        const size_t length = strlen(known[i].name);
        if (begins(at, known[i].name) && strchr("@>", at[length]))
            return known[i].weight;
    }
    return at ? weight_of_own_call(at) : 2;
}

static double weight_of_move(const char *operands)
{
    const char *const open = strchr(operands, '(');
    if (!open)
        return 0; /* of registers and constants: a GPU's instructions name them */
    if (strstr(operands, "(%rbp)") || strstr(operands, "(%rsp)"))
        return 0; /* a value for which an x86-64 has no register */
    return 1;
}

static double weight_of_float(const char *name)
{
    const size_t length = strlen(name);
    const bool wide = length > 2 && strcmp(name + length - 2, "sd") == 0;
    if (begins(name, "div") || begins(name, "vdiv"))
        return wide ? 50 : 24;
    if (begins(name, "sqrt") || begins(name, "vsqrt"))
        return wide ? 50 : 22;
    if (begins(name, "cvt") || begins(name, "vcvt"))
        return 2;
    return wide ? 1.4 : 1;
}

double code_weight(const char *name, const char *operands)
{
    static const char *const nothing[] = {"push", "pop",     "ret",  "leave", "nop",  "nopw",
                                          "nopl", "endbr64", "cltq", "cltd",  "cqto", "data16",
                                          "cs",   "xchg",    "hlt",  "repz",  "int3", NULL};
    static const char *const wide[] = {"add", "sub", "xor", "and", "or",  "shl",
                                       "shr", "sar", "rol", "ror", "cmp", NULL};
    const size_t length = strlen(name), most = strlen(operands);
    if (is_one_of(name, nothing) || (most > 4 && strcmp(operands + most - 5, ",%rsp") == 0))
        return 0; /* the stack of an x86-64 among them */
    if (begins(name, "call"))
        return weight_of_call(operands);
    if (strcmp(name, "div") == 0 || strcmp(name, "idiv") == 0 || begins(name, "divl") ||
        begins(name, "idivl"))
        return is_wide(operands) ? 80 : 55;
    if (strcmp(name, "mul") == 0 || begins(name, "imul") || begins(name, "mulx"))
        return is_wide(operands) ? 4 : 1;
    if (length > 2 && (strcmp(name + length - 2, "ss") == 0 || strcmp(name + length - 2, "sd") == 0) &&
        !begins(name, "mov") && !begins(name, "vmov"))
        return weight_of_float(name);
    if (begins(name, "cvt") || begins(name, "vcvt"))
        return 2;
    if (begins(name, "mov") || begins(name, "vmov"))
        return weight_of_move(operands);
    return is_one_of(name, wide) && is_wide(operands) ? 2 : 1;
}
