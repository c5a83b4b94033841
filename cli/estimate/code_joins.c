/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions a GPU does together (code_joins.h). Registers of 32 bits alone: of 64 bits each takes two there. */
#include "cli/estimate/code_joins.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The number of the value of a register; `count` of `joins` where it has none. `at`: its '%'. */
static uint32_t find(const code_joins *joins, const char *at)
{
    uint32_t i = 0;
    while (i < joins->count && strncmp(joins->values[i].name, at, strcspn(at, ",")) != 0)
        i++;
    return i;
}

static int made_by(const code_joins *joins, const char *at)
{
    const uint32_t i = find(joins, at);
    return *at == '%' && i < joins->count ? joins->values[i].made : 0;
}

/* 0: its value joins nothing. */
static void set(code_joins *joins, const char *at, int made)
{
    const uint32_t i = find(joins, at);
    if (i == CODE_JOINS_MAX || (i == joins->count && !made))
        return;
    if (!made) {
        joins->values[i] = joins->values[--joins->count];
        return;
    }
    joins->count += i == joins->count;
    snprintf(joins->values[i].name, sizeof joins->values[i].name, "%.7s", at);
    joins->values[i].made = made;
}

/* A register of 32 bits: %eax, %r8d. */
static bool is_word(const char *at)
{
    return at[0] == '%' &&
           (at[1] == 'e' || (at[1] == 'r' && isdigit((unsigned char)at[2]) && strchr(at, 'd')));
}

static bool is_sum(const char *name, const char *operands)
{
    const bool scaled =
        name[0] == 'l' && (strstr(operands, ",2)") || strstr(operands, ",4)") || strstr(operands, ",8)"));
    return (strcmp(name, "add") == 0 || strcmp(name, "sub") == 0 || strcmp(name, "lea") == 0) && !scaled;
}

static bool is_bits(const char *name)
{
    return strcmp(name, "xor") == 0 || strcmp(name, "and") == 0 || strcmp(name, "or") == 0;
}

bool code_joins_take(code_joins *joins, const char *name, const char *operands)
{
    const char *const comma = strrchr(operands, ','), *const target = comma ? comma + 1 : operands;
    if (strncmp(name, "call", 4) == 0)
        joins->count = 0;
    if (!is_word(target) || strncmp(name, "cmp", 3) == 0 || strncmp(name, "test", 4) == 0)
        return false;
    if (strcmp(name, "not") == 0) {
        set(joins, target, 0);
        return true; /* a part of what reads it */
    }
    const int first = made_by(joins, operands), second = made_by(joins, target);
    if (strcmp(name, "mov") == 0) {
        set(joins, target, first);
        return false;
    }
    if (is_bits(name)) {
        const bool joined = first == CODE_MADE_BY_BITS || second == CODE_MADE_BY_BITS;
        set(joins, target, joined ? 0 : CODE_MADE_BY_BITS);
        return joined;
    }
    if (is_sum(name, operands)) {
        const bool joined = first > CODE_MADE_BY_BITS || second > CODE_MADE_BY_BITS;
        set(joins, target, joined ? 0 : CODE_MADE_BY_SUM);
        return joined;
    }
    set(joins, target, strcmp(name, "imul") == 0 || strcmp(name, "shl") == 0 ? CODE_MADE_BY_PRODUCT : 0);
    return false;
}
