/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setp, on its own and combined with a predicate by and, or, xor. The second result of "p|q" is the opposite, that
 * of a combination is the opposite combined.
 */
#include "floats.h"
#include "ops.h"

static void combine(struct warp *warp, const struct instruction *i, uint32_t mask, uint32_t bits)
{
    uint32_t other = predicate_at(warp, i->o[3]);
    uint32_t opposite = ~bits;
    other = i->access.count ? ~other : other;
    switch (i->access.form) {
    case 'a':
        bits &= other;
        opposite &= other;
        break;
    case 'o':
        bits |= other;
        opposite |= other;
        break;
    case 'x':
        bits ^= other;
        opposite ^= other;
        break;
    default:
        break;
    }
    set_predicate(warp, i->o[0], mask, bits);
    set_predicate(warp, i->o[4], mask, opposite);
}

/* All lanes are compared, also those that are not asked: there is nothing that could go wrong. */
#define COMPARE(name_, type_, from_, is_)                                                                    \
    RUN(setp_##name_)                                                                                        \
    {                                                                                                        \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]);                           \
        uint32_t bits = 0;                                                                                   \
        if ((mask & (mask - 1)) == 0) {                                                                      \
            const uint32_t l = (uint32_t)__builtin_ctz(mask);                                                \
            const type_ x = from_(a[l]), y = from_(b[l]);                                                    \
            bits = (uint32_t)(is_) << l;                                                                     \
        } else {                                                                                             \
            for (uint32_t l = 0; l < LANES; l++) {                                                           \
                const type_ x = from_(a[l]), y = from_(b[l]);                                                \
                bits |= (uint32_t)(is_) << l;                                                                \
            }                                                                                                \
        }                                                                                                    \
        if (i->access.form)                                                                                  \
            combine(warp, i, mask, bits);                                                                    \
        else                                                                                                 \
            set_predicate(warp, i->o[0], mask, bits);                                                        \
    }
#define EQUALS(name_, type_)                                                                                 \
    COMPARE(eq_##name_, type_, (type_), x == y)                                                              \
    COMPARE(ne_##name_, type_, (type_), x != y)
#define ORDERS(name_, type_)                                                                                 \
    EQUALS(name_, type_)                                                                                     \
    COMPARE(lt_##name_, type_, (type_), x < y)                                                               \
    COMPARE(le_##name_, type_, (type_), x <= y)                                                              \
    COMPARE(gt_##name_, type_, (type_), x > y)                                                               \
    COMPARE(ge_##name_, type_, (type_), x >= y)
ORDERS(u16, uint16_t)
ORDERS(s16, int16_t)
ORDERS(u32, uint32_t)
ORDERS(s32, int32_t)
ORDERS(u64, uint64_t)
ORDERS(s64, int64_t)
EQUALS(b16, uint16_t)
EQUALS(b32, uint32_t)
EQUALS(b64, uint64_t)

#define FLOATS(name_, type_, from_)                                                                          \
    COMPARE(eq_##name_, type_, from_, x == y)                                                                \
    COMPARE(ne_##name_, type_, from_, x<y || x> y)                                                           \
    COMPARE(lt_##name_, type_, from_, x < y)                                                                 \
    COMPARE(le_##name_, type_, from_, x <= y)                                                                \
    COMPARE(gt_##name_, type_, from_, x > y)                                                                 \
    COMPARE(ge_##name_, type_, from_, x >= y)                                                                \
    COMPARE(equ_##name_, type_, from_, !(x < y || x > y))                                                    \
    COMPARE(neu_##name_, type_, from_, !(x == y))                                                            \
    COMPARE(ltu_##name_, type_, from_, !(x >= y))                                                            \
    COMPARE(leu_##name_, type_, from_, !(x > y))                                                             \
    COMPARE(gtu_##name_, type_, from_, !(x <= y))                                                            \
    COMPARE(geu_##name_, type_, from_, !(x < y))                                                             \
    COMPARE(num_##name_, type_, from_, x == x && y == y)                                                     \
    COMPARE(nan_##name_, type_, from_, x != x || y != y)
FLOATS(f32, float, f32_of)
FLOATS(f64, double, f64_of)

#define NAMED(test_, type_)                                                                                  \
    {                                                                                                        \
        "setp." #test_ "." #type_, setp_##test_##_##type_                                                    \
    }
#define NAMED_EQUALS(type_) NAMED(eq, type_), NAMED(ne, type_)
#define NAMED_ORDERS(type_)                                                                                  \
    NAMED_EQUALS(type_), NAMED(lt, type_), NAMED(le, type_), NAMED(gt, type_), NAMED(ge, type_)
#define NAMED_FLOATS(type_)                                                                                  \
    NAMED_ORDERS(type_), NAMED(equ, type_), NAMED(neu, type_), NAMED(ltu, type_), NAMED(leu, type_),         \
        NAMED(gtu, type_), NAMED(geu, type_), NAMED(num, type_), NAMED(nan, type_)

const struct operation compare_operations[] = {NAMED_ORDERS(u16),
                                               NAMED_ORDERS(s16),
                                               NAMED_ORDERS(u32),
                                               NAMED_ORDERS(s32),
                                               NAMED_ORDERS(u64),
                                               NAMED_ORDERS(s64),
                                               NAMED_EQUALS(b16),
                                               NAMED_EQUALS(b32),
                                               NAMED_EQUALS(b64),
                                               NAMED_FLOATS(f32),
                                               NAMED_FLOATS(f64),
                                               {"setp.lo.u32", setp_lt_u32},
                                               {"setp.ls.u32", setp_le_u32},
                                               {"setp.hi.u32", setp_gt_u32},
                                               {"setp.hs.u32", setp_ge_u32},
                                               {NULL, NULL}};
