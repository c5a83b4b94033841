/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red: the processor's own atomics, on global memory as on that of the block. They pass the cache by. */
#include "floats.h"
#include "ops_memory.h"

enum form {
    FORM_ADD,
    FORM_MIN,
    FORM_MAX,
    FORM_AND,
    FORM_OR,
    FORM_XOR,
    FORM_EXCHANGE,
    FORM_CAS,
    FORM_INC,
    FORM_DEC
};

static const char *const form_names[] = {"add", "min",  "max", "and", "or",
                                         "xor", "exch", "cas", "inc", "dec"};

static uint64_t add(const struct access *access, uint64_t old, uint64_t value)
{
    if (access->type != 'f')
        return old + value;
    return access->size == 4 ? result_f32(f32_of(old) + f32_of(value))
                             : result_f64(f64_of(old) + f64_of(value));
}

static bool less(const struct access *access, uint64_t one, uint64_t other)
{
    if (access->size == 4)
        return access->type == 's' ? (int32_t)one < (int32_t)other : (uint32_t)one < (uint32_t)other;
    return access->type == 's' ? (int64_t)one < (int64_t)other : one < other;
}

static uint64_t changed(const struct access *access, uint64_t old, uint64_t value, uint64_t desired)
{
    switch ((enum form)access->form) {
    case FORM_ADD:
        return add(access, old, value);
    case FORM_MIN:
        return less(access, value, old) ? value : old;
    case FORM_MAX:
        return less(access, old, value) ? value : old;
    case FORM_AND:
        return old & value;
    case FORM_OR:
        return old | value;
    case FORM_XOR:
        return old ^ value;
    case FORM_EXCHANGE:
        return value;
    case FORM_CAS:
        return old == value ? desired : old;
    case FORM_INC:
        return old >= value ? 0 : old + 1;
    case FORM_DEC:
        return old == 0 || old > value ? value : old - 1;
    }
    return old;
}

/* Whether the word changed; `old` gets what was there. */
static bool update_32(void *at, const struct access *access, uint32_t value, uint32_t desired, uint64_t *old)
{
    uint32_t seen = __atomic_load_n((uint32_t *)at, __ATOMIC_RELAXED), next;
    do
        next = (uint32_t)changed(access, seen, value, desired);
    while (
        !__atomic_compare_exchange_n((uint32_t *)at, &seen, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    *old = seen;
    return next != seen;
}

static bool update_64(void *at, const struct access *access, uint64_t value, uint64_t desired, uint64_t *old)
{
    uint64_t seen = __atomic_load_n((uint64_t *)at, __ATOMIC_RELAXED), next;
    do
        next = changed(access, seen, value, desired);
    while (
        !__atomic_compare_exchange_n((uint64_t *)at, &seen, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    *old = seen;
    return next != seen;
}

RUN(atomic)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]), *c = lanes_at(warp, i->o[3]);
    if (i->access.release)
        machine_stores_let_all_go(&warp->block->stores);
    FOR_LANES(l, mask)
    {
        uint64_t old;
        const struct where where =
            memory_at(warp, i, l, address_of(warp, i, a, l), i->access.size, (enum space)i->access.space);
        if (!where.at)
            return;
        if (where.global) {
            machine_cache_drop(&warp->block->cache, (uintptr_t)where.at);
            machine_stores_let_go(&warp->block->stores, (uintptr_t)where.at);
        }
        if (i->access.size == 4 ? update_32(where.at, &i->access, (uint32_t)b[l], (uint32_t)c[l], &old)
                                : update_64(where.at, &i->access, b[l], c[l], &old))
            warp->block->stored = true;
        d[l] = old;
    }
    if (i->access.acquire)
        machine_cache_drop_all(&warp->block->cache);
}

static bool read_modifier(const char *part, struct access *access)
{
    static const char *const spaces[] = {"generic", "global", "shared", "shared::cta"};
    static const char *const without_meaning[] = {"relaxed", "gpu", "sys", "cta", "cluster"};
    for (size_t f = 0; f < sizeof form_names / sizeof form_names[0]; f++)
        if (strcmp(part, form_names[f]) == 0) {
            access->form = (uint8_t)f;
            return true;
        }
    for (size_t n = 1; n < sizeof spaces / sizeof spaces[0]; n++)
        if (strcmp(part, spaces[n]) == 0) {
            access->space = n == 1 ? SPACE_GLOBAL : SPACE_SHARED;
            return true;
        }
    for (size_t n = 0; n < sizeof without_meaning / sizeof without_meaning[0]; n++)
        if (strcmp(part, without_meaning[n]) == 0)
            return true;
    access->acquire |= strcmp(part, "acquire") == 0 || strcmp(part, "acq_rel") == 0;
    access->release |= strcmp(part, "release") == 0 || strcmp(part, "acq_rel") == 0;
    return access->acquire || access->release;
}

bool build_atomic(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    const uint32_t first = s->parts[0][0] == 'a' ? 0 : 1; /* red has no result */
    char kind;
    uint32_t bits;
    i->access.form = UINT8_MAX;
    if (s->part_count < 3 || !ptx_type(s->parts[s->part_count - 1], &kind, &bits) ||
        (bits != 32 && bits != 64))
        return false;
    for (uint32_t p = 1; p + 1 < s->part_count; p++)
        if (!read_modifier(s->parts[p], &i->access))
            return false;
    const uint32_t wanted = (i->access.form == FORM_CAS ? 4u : 3u) - first;
    if (i->access.form == UINT8_MAX || s->operand_count != wanted ||
        s->operands[1 - first].kind != OPERAND_ADDRESS || (kind == 'f' && i->access.form != FORM_ADD))
        return false;
    for (uint32_t o = 0; o < s->operand_count; o++)
        i->o[o + first] = s->operands[o].place;
    if (statement_has(s, "cta"))
        i->access.acquire = i->access.release = false; /* within the block the cache is everybody's */
    i->access.size = (uint8_t)(bits / 8);
    i->access.type = (uint8_t)kind;
    i->access.results = first ? 0 : 1;
    i->access.frame = s->operands[1 - first].frame;
    i->offset = s->operands[1 - first].offset;
    i->address_mask = s->operands[1 - first].narrow ? UINT32_MAX : UINT64_MAX;
    i->run = atomic;
    return true;
}
