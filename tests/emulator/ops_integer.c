/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic. Signed numbers wrap: they are added and multiplied as unsigned ones. */
#include "ops.h"

/* ---- one function for each operation and type ---- */

#define WRAPPING(bits_)                                                                                      \
    BINARY(add_##bits_, uint##bits_##_t, uint##bits_##_t, x + y)                                             \
    BINARY(sub_##bits_, uint##bits_##_t, uint##bits_##_t, x - y)                                             \
    UNARY(neg_##bits_, uint##bits_##_t, uint##bits_##_t, 0 - x)                                              \
    UNARY(abs_##bits_, int##bits_##_t, uint##bits_##_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)               \
    BINARY(mul_##bits_, uint64_t, uint##bits_##_t, x *y)                                                     \
    TERNARY(mad_##bits_, uint64_t, uint##bits_##_t, x *y + z)                                                \
    UNARY(not_##bits_, uint##bits_##_t, uint##bits_##_t, ~x)                                                 \
    BINARY(and_##bits_, uint##bits_##_t, uint##bits_##_t, x &y)                                              \
    BINARY(or_##bits_, uint##bits_##_t, uint##bits_##_t, x | y)                                              \
    BINARY(xor_##bits_, uint##bits_##_t, uint##bits_##_t, x ^ y)
WRAPPING(16)
WRAPPING(32)
WRAPPING(64)

/* A device's division by zero gives all ones, its remainder the dividend; the least number over -1 wraps. */
#define DIVIDING(name_, type_, to_, wraps_)                                                                  \
    BINARY(div_##name_, type_, to_, y == 0 ? (to_)-1 : wraps_ ? (to_)(0 - (uint64_t)x) : (to_)(x / y))       \
    BINARY(rem_##name_, type_, to_, y == 0 ? (to_)x : wraps_ ? (to_)0 : (to_)(x % y))                        \
    BINARY(min_##name_, type_, to_, x < y ? x : y)                                                           \
    BINARY(max_##name_, type_, to_, x > y ? x : y)
DIVIDING(u16, uint16_t, uint16_t, false)
DIVIDING(s16, int16_t, uint16_t, y == -1)
DIVIDING(u32, uint32_t, uint32_t, false)
DIVIDING(s32, int32_t, uint32_t, y == -1)
DIVIDING(u64, uint64_t, uint64_t, false)
DIVIDING(s64, int64_t, uint64_t, y == -1)

#define HIGH(name_, type_, to_, wide_, bits_)                                                                \
    BINARY(hi_##name_, type_, to_, (wide_)x *(wide_)y >> bits_)                                              \
    TERNARY(madhi_##name_, type_, to_, (to_)((wide_)x * (wide_)y >> bits_) + (to_)z)
HIGH(u16, uint16_t, uint16_t, uint32_t, 16)
HIGH(s16, int16_t, uint16_t, int32_t, 16)
HIGH(u32, uint32_t, uint32_t, uint64_t, 32)
HIGH(s32, int32_t, uint32_t, int64_t, 32)
HIGH(u64, uint64_t, uint64_t, wide_unsigned, 64)
HIGH(s64, int64_t, uint64_t, wide_signed, 64)

/* The third operand of a wide one is as wide as the result. */
#define WIDE(name_, type_, product_, to_)                                                                    \
    BINARY(wide_##name_, type_, to_, (product_)x *(product_)y)                                               \
    RUN(madwide_##name_)                                                                                     \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]),                           \
                       *c = lanes_at(warp, i->o[3]);                                                         \
        MAP(d[l] = (to_)((to_)((product_)(type_)a[l] * (product_)(type_)b[l]) + (to_)c[l]))                  \
    }
WIDE(u16, uint16_t, uint32_t, uint32_t)
WIDE(s16, int16_t, int32_t, uint32_t)
WIDE(u32, uint32_t, uint64_t, uint64_t)
WIDE(s32, int32_t, int64_t, uint64_t)

/* Sums of products of the operands' pieces: four bytes with four, or two halves with the low or high bytes.
 * NVRTC finds them by itself, in sums of bytes times small numbers. */
#define PIECE(type_, from_, place_) ((uint32_t)(type_)((from_) >> (place_)))
#define DOT4(name_, left_, right_)                                                                           \
    TERNARY(dot4_##name_, uint32_t, uint32_t,                                                                \
            PIECE(left_, x, 0) * PIECE(right_, y, 0) + PIECE(left_, x, 8) * PIECE(right_, y, 8) +            \
                PIECE(left_, x, 16) * PIECE(right_, y, 16) + PIECE(left_, x, 24) * PIECE(right_, y, 24) + z)
#define DOT2(name_, left_, right_, from_)                                                                    \
    TERNARY(dot2_##name_, uint32_t, uint32_t,                                                                \
            PIECE(left_, x, 0) * PIECE(right_, y, from_) +                                                   \
                PIECE(left_, x, 16) * PIECE(right_, y, from_ + 8) + z)
#define DOTS(types_, byte_, half_, right_)                                                                   \
    DOT4(types_, byte_, right_)                                                                              \
    DOT2(lo_##types_, half_, right_, 0)                                                                      \
    DOT2(hi_##types_, half_, right_, 16)
DOTS(u32_u32, uint8_t, uint16_t, uint8_t)
DOTS(u32_s32, uint8_t, uint16_t, int8_t)
DOTS(s32_u32, int8_t, int16_t, uint8_t)
DOTS(s32_s32, int8_t, int16_t, int8_t)

/* ---- with carry ---- */

static inline void set_carry(struct warp *warp, uint32_t lane, bool carry)
{
    warp->carry = (warp->carry & ~(1u << lane)) | (uint32_t)carry << lane;
}

/* Sums of three: the lanes' carries come in with `in_`, and out with `out_`. */
#define CARRYING(name_, type_, wide_, sum_, in_, out_)                                                       \
    RUN(name_)                                                                                               \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]),                           \
                       *c = lanes_at(warp, i->o[3]);                                                         \
        FOR_LANES(l, mask)                                                                                   \
        {                                                                                                    \
            const wide_ x = (type_)a[l], y = (type_)b[l], z = (type_)c[l];                                   \
            const wide_ carry = in_ ? warp->carry >> l & 1 : 0;                                              \
            (void)z, (void)carry;                                                                            \
            const wide_ sum = sum_;                                                                          \
            d[l] = (type_)sum;                                                                               \
            if (out_)                                                                                        \
                set_carry(warp, l, (sum >> (8 * sizeof(type_)) & 1) != 0);                                   \
        }                                                                                                    \
    }
#define CARRYINGS(bits_, wide_)                                                                              \
    CARRYING(add_cc_##bits_, uint##bits_##_t, wide_, x + y, 0, 1)                                            \
    CARRYING(addc_##bits_, uint##bits_##_t, wide_, x + y + carry, 1, 0)                                      \
    CARRYING(addc_cc_##bits_, uint##bits_##_t, wide_, x + y + carry, 1, 1)                                   \
    CARRYING(sub_cc_##bits_, uint##bits_##_t, wide_, x - y, 0, 1)                                            \
    CARRYING(subc_##bits_, uint##bits_##_t, wide_, x - y - carry, 1, 0)                                      \
    CARRYING(subc_cc_##bits_, uint##bits_##_t, wide_, x - y - carry, 1, 1)                                   \
    CARRYING(mad_lo_cc_##bits_, uint##bits_##_t, wide_, (wide_)(uint##bits_##_t)(x * y) + z, 0, 1)           \
    CARRYING(madc_lo_##bits_, uint##bits_##_t, wide_, (wide_)(uint##bits_##_t)(x * y) + z + carry, 1, 0)     \
    CARRYING(madc_lo_cc_##bits_, uint##bits_##_t, wide_, (wide_)(uint##bits_##_t)(x * y) + z + carry, 1, 1)  \
    CARRYING(mad_hi_cc_##bits_, uint##bits_##_t, wide_, (x * y >> bits_) + z, 0, 1)                          \
    CARRYING(madc_hi_##bits_, uint##bits_##_t, wide_, (x * y >> bits_) + z + carry, 1, 0)                    \
    CARRYING(madc_hi_cc_##bits_, uint##bits_##_t, wide_, (x * y >> bits_) + z + carry, 1, 1)
CARRYINGS(32, uint64_t)
CARRYINGS(64, wide_unsigned)

/* ---- their names ---- */

#define NAMED(type_, bits_)                                                                                  \
    {"add." #type_, add_##bits_}, {"sub." #type_, sub_##bits_}, {"neg." #type_, neg_##bits_},                \
        {"abs." #type_, abs_##bits_}, {"mul.lo." #type_, mul_##bits_}, {"mad.lo." #type_, mad_##bits_},      \
        {"div." #type_, div_##type_}, {"rem." #type_, rem_##type_}, {"min." #type_, min_##type_},            \
        {"max." #type_, max_##type_}, {"mul.hi." #type_, hi_##type_},                                        \
    {                                                                                                        \
        "mad.hi." #type_, madhi_##type_                                                                      \
    }
#define NAMED_WIDE(type_)                                                                                    \
    {"mul.wide." #type_, wide_##type_},                                                                      \
    {                                                                                                        \
        "mad.wide." #type_, madwide_##type_                                                                  \
    }
#define NAMED_BITS(bits_)                                                                                    \
    {"and.b" #bits_, and_##bits_}, {"or.b" #bits_, or_##bits_}, {"xor.b" #bits_, xor_##bits_},               \
    {                                                                                                        \
        "not.b" #bits_, not_##bits_                                                                          \
    }
#define NAMED_CARRY(type_, bits_)                                                                            \
    {"add.cc." #type_, add_cc_##bits_}, {"addc." #type_, addc_##bits_},                                      \
        {"addc.cc." #type_, addc_cc_##bits_}, {"sub.cc." #type_, sub_cc_##bits_},                            \
        {"subc." #type_, subc_##bits_}, {"subc.cc." #type_, subc_cc_##bits_},                                \
        {"mad.lo.cc." #type_, mad_lo_cc_##bits_}, {"madc.lo." #type_, madc_lo_##bits_},                      \
        {"madc.lo.cc." #type_, madc_lo_cc_##bits_}, {"mad.hi.cc." #type_, mad_hi_cc_##bits_},                \
        {"madc.hi." #type_, madc_hi_##bits_},                                                                \
    {                                                                                                        \
        "madc.hi.cc." #type_, madc_hi_cc_##bits_                                                             \
    }

#define NAMED_DOT(left_, right_)                                                                             \
    {"dp4a." #left_ "." #right_, dot4_##left_##_##right_},                                                   \
        {"dp2a.lo." #left_ "." #right_, dot2_lo_##left_##_##right_},                                         \
    {                                                                                                        \
        "dp2a.hi." #left_ "." #right_, dot2_hi_##left_##_##right_                                            \
    }

const struct operation integer_operations[] = {
    NAMED(u16, 16),      NAMED(s16, 16),      NAMED(u32, 32),      NAMED(s32, 32),       NAMED(u64, 64),
    NAMED(s64, 64),      NAMED_WIDE(u16),     NAMED_WIDE(s16),     NAMED_WIDE(u32),      NAMED_WIDE(s32),
    NAMED_BITS(16),      NAMED_BITS(32),      NAMED_BITS(64),      NAMED_CARRY(u32, 32), NAMED_CARRY(u64, 64),
    NAMED_DOT(u32, u32), NAMED_DOT(u32, s32), NAMED_DOT(s32, u32), NAMED_DOT(s32, s32),  {NULL, NULL}};
