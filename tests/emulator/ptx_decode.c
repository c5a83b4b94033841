/* SPDX-License-Identifier: Apache-2.0 */
/* Opcodes to functions: most are rows of the tables in ops_*.c, the others have builders. */
#include "ptx_operation.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_MAX = 1024 };

static struct operation table[TABLE_MAX];
static size_t table_count;

static int compare_operations_by_name(const void *one, const void *other)
{
    return strcmp(((const struct operation *)one)->opcode, ((const struct operation *)other)->opcode);
}

static void make_table(void)
{
    static const struct operation *const tables[] = {integer_operations, bit_operations, compare_operations,
                                                     float_operations, convert_operations};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct operation *row = tables[t]; row->opcode && table_count < TABLE_MAX; row++)
            table[table_count++] = *row;
    qsort(table, table_count, sizeof *table, compare_operations_by_name);
}

static run_function *find_operation(const char *opcode)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_table);
    const struct operation wanted = {opcode, NULL};
    const struct operation *row =
        bsearch(&wanted, table, table_count, sizeof *table, compare_operations_by_name);
    return row ? row->run : NULL;
}

bool statement_has(const struct statement *statement, const char *part)
{
    for (uint32_t i = 1; i < statement->part_count; i++)
        if (strcmp(statement->parts[i], part) == 0)
            return true;
    return false;
}

bool ptx_type(const char *part, char *kind, uint32_t *bits)
{
    if (strcmp(part, "pred") == 0) {
        *kind = 'p';
        *bits = 1;
        return true;
    }
    *kind = part[0];
    if (!part[0] || !strchr("subf", part[0]))
        return false;
    char *end;
    *bits = (uint32_t)strtoul(part + 1, &end, 10);
    return *end == '\0' && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64 || *bits == 128);
}

/* "setp.lt.and.s32 p|q, a, b, !c": the comparison is the row without the combination. */
static bool build_compare(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    static const char *const combinations[] = {"and", "or", "xor"};
    char opcode[96] = "setp";
    (void)reader;
    for (uint32_t p = 1; p < s->part_count; p++) {
        bool combines = false;
        for (int c = 0; c < 3; c++)
            if (strcmp(s->parts[p], combinations[c]) == 0)
                i->access.form = (uint8_t)combinations[c][0], combines = true;
        if (!combines && strcmp(s->parts[p], "ftz") != 0)
            snprintf(opcode + strlen(opcode), sizeof opcode - strlen(opcode), ".%s", s->parts[p]);
    }
    const bool second = s->operand_count && s->operands[0].second != NO_PLACE;
    if (s->operand_count != (i->access.form ? 4u : 3u))
        return false;
    for (uint32_t o = 0; o < s->operand_count; o++)
        i->o[o] = s->operands[o].place;
    i->access.count = s->operand_count == 4 && s->operands[3].negated;
    i->access.results = 1;
    if (second) {
        i->o[4] = s->operands[0].second;
        i->access.results |= 1 << 4;
        i->access.form = i->access.form ? i->access.form : '2';
    }
    i->run = find_operation(opcode);
    return i->run != NULL;
}

static const struct {
    const char *first;
    build_function *build;
} builders[] = {{"ld", build_memory},
                {"st", build_memory},
                {"ldu", build_memory},
                {"atom", build_atomic},
                {"red", build_atomic},
                {"mov", build_move},
                {"cvta", build_cvta},
                {"isspacep", build_space},
                {"setp", build_compare},
                {"vote", build_vote},
                {"activemask", build_vote},
                {"match", build_shuffle},
                {"shfl", build_shuffle},
                {"bar", build_barrier},
                {"barrier", build_barrier},
                {"mbarrier", build_mbarrier},
                {"cp", build_copy},
                {"fence", build_fence},
                {"membar", build_fence},
                {"bra", build_control},
                {"ret", build_control},
                {"exit", build_control},
                {"trap", build_control},
                {"brkpt", build_control},
                {"nanosleep", build_control},
                {"prefetch", build_control},
                {"prefetchu", build_control},
                {"discard", build_control},
                {"applypriority", build_control}};

static bool plain(const struct statement *s, struct instruction *i)
{
    if (s->operand_count == 0 || s->operand_count > OPERANDS_MAX)
        return false;
    for (uint32_t o = 0; o < s->operand_count; o++) {
        if (s->operands[o].kind != OPERAND_PLACE || s->operands[o].negated ||
            s->operands[o].second != NO_PLACE || s->operands[o].dynamic || s->operands[o].frame)
            return false;
        i->o[o] = s->operands[o].place;
        if (strcmp(s->parts[s->part_count - 1], "pred") == 0 && s->operands[o].number)
            i->o[o] = ptx_constant(s->module, s->operands[o].literal ? UINT64_MAX : 0);
    }
    i->access.results = 1;
    return true;
}

bool ptx_decode(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    bool fine = false;
    i->run = find_operation(s->opcode);
    if (i->run && strcmp(s->parts[0], "setp") != 0) {
        fine = plain(s, i);
    } else if (strcmp(s->parts[0], "cvt") == 0) {
        fine = build_convert(reader, s, i);
    } else {
        i->run = NULL;
        for (size_t b = 0; b < sizeof builders / sizeof builders[0] && !fine; b++)
            if (strcmp(s->parts[0], builders[b].first) == 0)
                fine = builders[b].build(reader, s, i) && i->run;
    }
    return fine || ptx_fail(reader, "the instruction '%s' is not modelled in this form", s->opcode);
}
