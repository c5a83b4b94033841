/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts, bit fields, choices, predicates. Shifts by more than the width give what shifting one by one would. */
#include "ops.h"

#define SHIFTS(bits_)                                                                                        \
    RUN(shl_##bits_)                                                                                         \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]);                           \
        MAP(const uint32_t by = (uint32_t)b[l];                                                              \
            d[l] = by < bits_ ? (uint##bits_##_t)((uint64_t)a[l] << (by & 63)) : 0)                          \
    }                                                                                                        \
    RUN(shr_u##bits_)                                                                                        \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]);                           \
        MAP(const uint32_t by = (uint32_t)b[l];                                                              \
            d[l] = by < bits_ ? (uint64_t)(uint##bits_##_t)a[l] >> (by & 63) : 0)                            \
    }                                                                                                        \
    RUN(shr_s##bits_)                                                                                        \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]);                           \
        MAP(uint32_t by = (uint32_t)b[l]; by = by < bits_ ? by : bits_ - 1;                                  \
            const int64_t x = (int##bits_##_t)a[l]; const uint64_t sign = x < 0 ? ~(UINT64_MAX >> by) : 0;   \
            d[l] = (uint##bits_##_t)((uint64_t)x >> by | sign))                                              \
    }                                                                                                        \
    RUN(selp_##bits_)                                                                                        \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]);                           \
        const uint32_t which = predicate_at(warp, i->o[3]);                                                  \
        MAP(d[l] = (uint##bits_##_t)(which >> l & 1 ? a[l] : b[l]))                                          \
    }
SHIFTS(16)
SHIFTS(32)
SHIFTS(64)

static uint64_t funnel(uint64_t low, uint64_t high, uint32_t by, bool left)
{
    const uint64_t both = high << 32 | (uint32_t)low;
    return (uint32_t)(left ? both << by >> 32 : both >> by);
}
#define FUNNEL(name_, left_, by_) TERNARY(name_, uint64_t, uint32_t, funnel(x, y, (uint32_t)(by_), left_))
FUNNEL(shf_l_wrap, true, z & 31)
FUNNEL(shf_r_wrap, false, z & 31)
FUNNEL(shf_l_clamp, true, (uint32_t)z < 32 ? (uint32_t)z : 32)
FUNNEL(shf_r_clamp, false, (uint32_t)z < 32 ? (uint32_t)z : 32)

static uint64_t reverse(uint64_t x, int bits)
{
    uint64_t result = 0;
    for (int bit = 0; bit < bits; bit++)
        result |= (x >> bit & 1) << (bits - 1 - bit);
    return result;
}

static uint32_t reverse_32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

/* The place of the highest bit that differs from the sign; all ones when there is none. */
static uint32_t find_high(uint64_t x, bool as_shift, uint32_t bits)
{
    if (x == 0)
        return UINT32_MAX;
    const uint32_t place = 63 - (uint32_t)__builtin_clzll(x);
    return as_shift ? bits - 1 - place : place;
}

static uint64_t extract(uint64_t x, uint32_t from, uint32_t length, uint32_t bits, bool is_signed)
{
    from &= 255;
    length &= 255;
    const uint64_t sign_at = from + length - 1 < bits - 1 ? from + length - 1 : bits - 1;
    const uint64_t sign = is_signed && length && (x >> (sign_at & 63) & 1) ? UINT64_MAX : 0;
    if (length == 0)
        return 0;
    const uint64_t field = from < bits ? x >> from : sign;
    const uint32_t have = from >= bits ? 0 : length < bits - from ? length : bits - from;
    if (have >= 64)
        return field;
    return (field & ((UINT64_C(1) << have) - 1)) | (sign << have);
}

static uint64_t insert(uint64_t field, uint64_t into, uint32_t from, uint32_t length, uint32_t bits)
{
    from &= 255;
    length &= 255;
    if (from >= bits || length == 0)
        return into;
    const uint32_t have = length < bits - from ? length : bits - from;
    const uint64_t ones = (have >= 64 ? UINT64_MAX : (UINT64_C(1) << have) - 1) << from;
    return (into & ~ones) | (field << from & ones);
}

#define FIELDS(bits_)                                                                                        \
    UNARY(popc_##bits_, uint##bits_##_t, uint32_t, __builtin_popcountll(x))                                  \
    UNARY(clz_##bits_, uint##bits_##_t, uint32_t, x ? __builtin_clzll(x) - (64 - bits_) : bits_)             \
    UNARY(bfind_u##bits_, uint##bits_##_t, uint32_t, find_high(x, false, bits_))                             \
    UNARY(bfind_s##bits_, int##bits_##_t, uint32_t,                                                          \
          find_high((uint##bits_##_t)(x < 0 ? ~x : x), false, bits_))                                        \
    UNARY(bfind_shift_u##bits_, uint##bits_##_t, uint32_t, find_high(x, true, bits_))                        \
    UNARY(bfind_shift_s##bits_, int##bits_##_t, uint32_t,                                                    \
          find_high((uint##bits_##_t)(x < 0 ? ~x : x), true, bits_))                                         \
    TERNARY(bfe_u##bits_, uint64_t, uint##bits_##_t,                                                         \
            extract((uint##bits_##_t)x, (uint32_t)y, (uint32_t)z, bits_, false))                             \
    TERNARY(bfe_s##bits_, uint64_t, uint##bits_##_t,                                                         \
            extract((uint##bits_##_t)x, (uint32_t)y, (uint32_t)z, bits_, true))                              \
    RUN(bfi_##bits_)                                                                                         \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]),                           \
                       *c = lanes_at(warp, i->o[3]), *e = lanes_at(warp, i->o[4]);                           \
        FOR_LANES(l, mask)                                                                                   \
        d[l] = (uint##bits_##_t)insert(a[l], (uint##bits_##_t)b[l], (uint32_t)c[l], (uint32_t)e[l], bits_);  \
    }
FIELDS(32)
FIELDS(64)
UNARY(brev_32, uint32_t, uint32_t, reverse_32(x))
UNARY(brev_64, uint64_t, uint64_t, reverse(x, 64))

/* A selector takes a byte, or the sign of a byte in all bits. */
static uint32_t permute(uint64_t both, uint32_t selectors)
{
    uint32_t result = 0;
    for (int at = 0; at < 4; at++) {
        const uint32_t selector = selectors >> (4 * at) & 15;
        uint32_t byte = both >> (8 * (selector & 7)) & 255;
        if (selector & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * at);
    }
    return result;
}
TERNARY(prmt_32, uint32_t, uint32_t, permute((uint64_t)y << 32 | x, z))

RUN(lop3)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]), *c = lanes_at(warp, i->o[3]);
    const uint32_t table = (uint32_t)*lanes_at(warp, i->o[4]);
    FOR_LANES(l, mask)
    {
        uint64_t result = 0;
        for (uint32_t row = 0; row < 8; row++)
            if (table >> row & 1)
                result |= (row & 4 ? a[l] : ~a[l]) & (row & 2 ? b[l] : ~b[l]) & (row & 1 ? c[l] : ~c[l]);
        d[l] = (uint32_t)result;
    }
}

/* ---- predicates: all lanes at once ---- */

#define PREDICATES(name_, value_)                                                                            \
    RUN(name_)                                                                                               \
    {                                                                                                        \
        const uint32_t x = predicate_at(warp, i->o[1]), y = predicate_at(warp, i->o[2]);                     \
        (void)y;                                                                                             \
        set_predicate(warp, i->o[0], mask, value_);                                                          \
    }
PREDICATES(and_pred, x &y)
PREDICATES(or_pred, x | y)
PREDICATES(xor_pred, x ^ y)
PREDICATES(not_pred, ~x)

#define NAMED_SHIFTS(bits_)                                                                                  \
    {"shl.b" #bits_, shl_##bits_}, {"shr.u" #bits_, shr_u##bits_}, {"shr.b" #bits_, shr_u##bits_},           \
        {"shr.s" #bits_, shr_s##bits_}, {"selp.b" #bits_, selp_##bits_}, {"selp.u" #bits_, selp_##bits_},    \
    {                                                                                                        \
        "selp.s" #bits_, selp_##bits_                                                                        \
    }
#define NAMED_FIELDS(bits_)                                                                                  \
    {"popc.b" #bits_, popc_##bits_}, {"clz.b" #bits_, clz_##bits_}, {"bfind.u" #bits_, bfind_u##bits_},      \
        {"bfind.s" #bits_, bfind_s##bits_}, {"bfind.shiftamt.u" #bits_, bfind_shift_u##bits_},               \
        {"bfind.shiftamt.s" #bits_, bfind_shift_s##bits_}, {"bfe.u" #bits_, bfe_u##bits_},                   \
        {"bfe.s" #bits_, bfe_s##bits_}, {"bfi.b" #bits_, bfi_##bits_},                                       \
    {                                                                                                        \
        "brev.b" #bits_, brev_##bits_                                                                        \
    }

const struct operation bit_operations[] = {NAMED_SHIFTS(16),
                                           NAMED_SHIFTS(32),
                                           NAMED_SHIFTS(64),
                                           NAMED_FIELDS(32),
                                           NAMED_FIELDS(64),
                                           {"selp.f32", selp_32},
                                           {"selp.f64", selp_64},
                                           {"shf.l.wrap.b32", shf_l_wrap},
                                           {"shf.r.wrap.b32", shf_r_wrap},
                                           {"shf.l.clamp.b32", shf_l_clamp},
                                           {"shf.r.clamp.b32", shf_r_clamp},
                                           {"prmt.b32", prmt_32},
                                           {"lop3.b32", lop3},
                                           {"and.pred", and_pred},
                                           {"or.pred", or_pred},
                                           {"xor.pred", xor_pred},
                                           {"not.pred", not_pred},
                                           {NULL, NULL}};
