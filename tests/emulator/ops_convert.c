/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mov, cvt, cvta. Conversions between integers are one function for each pair of types; those with floating-point
 * numbers go through a double or a wide integer, which hold every narrower value as it is.
 */
#include "floats.h"
#include "ops.h"

#include <fenv.h>

/* ---- mov ---- */

UNARY(mov_16, uint16_t, uint16_t, x)
UNARY(mov_32, uint32_t, uint32_t, x)
UNARY(mov_64, uint64_t, uint64_t, x)

RUN(mov_pred)
{
    set_predicate(warp, i->o[0], mask, predicate_at(warp, i->o[1]));
}

/* The address, in local memory, of what lies in the frame. */
RUN(mov_frame)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]);
    MAP(d[l] = a[l] + warp->frame)
}

RUN(mov_time)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    uint64_t now = machine_now_ns();
    if (i->access.form == DYNAMIC_CLOCK)
        now &= UINT32_MAX;
    else if (i->access.form == DYNAMIC_CLOCK_HI)
        now >>= 32;
    MAP(d[l] = now)
}

/* Elements of `access.size` bytes, the first lowest. */
RUN(mov_pack)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint32_t bits = i->access.size * 8u;
    FOR_LANES(l, mask)
    {
        uint64_t value = 0;
        for (uint32_t e = 0; e < i->access.count; e++)
            value |= (lanes_at(warp, i->o[1 + e])[l] & (UINT64_MAX >> (64 - bits))) << (e * bits);
        d[l] = value;
    }
}

RUN(mov_unpack)
{
    const uint32_t bits = i->access.size * 8u, count = i->access.count;
    const uint64_t *a = lanes_at(warp, i->o[count]);
    FOR_LANES(l, mask)
    {
        const uint64_t value = a[l]; /* a result may stand where it stood */
        for (uint32_t e = 0; e < count; e++)
            lanes_at(warp, i->o[e])[l] = value >> (e * bits) & (UINT64_MAX >> (64 - bits));
    }
}

static bool build_vector_move(const struct statement *s, struct instruction *i, uint32_t bits)
{
    const bool pack = s->operands[1].kind == OPERAND_VECTOR;
    const struct operand *vector = &s->operands[pack ? 1 : 0];
    if (vector->count == 0 || bits % vector->count || (pack && s->operands[0].kind == OPERAND_VECTOR))
        return false;
    i->access.count = (uint8_t)vector->count;
    i->access.size = (uint8_t)(bits / vector->count / 8);
    for (uint32_t e = 0; e < vector->count; e++)
        i->o[pack ? 1 + e : e] = vector->elements[e];
    i->o[pack ? 0 : vector->count] = s->operands[pack ? 0 : 1].place;
    i->access.results = (uint8_t)(pack ? 1 : (1u << vector->count) - 1);
    i->run = pack ? mov_pack : mov_unpack;
    return true;
}

bool build_move(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    char kind;
    uint32_t bits;
    if (s->operand_count != 2 || s->part_count != 2 || !ptx_type(s->parts[1], &kind, &bits))
        return false;
    if (s->operands[0].kind == OPERAND_VECTOR || s->operands[1].kind == OPERAND_VECTOR)
        return build_vector_move(s, i, bits);
    const struct operand *from = &s->operands[1];
    i->o[0] = s->operands[0].place;
    i->o[1] = from->place;
    i->access.results = 1;
    i->access.form = (uint8_t)from->dynamic;
    if (kind == 'p' && from->number)
        i->o[1] = ptx_constant(s->module, from->literal ? UINT64_MAX : 0);
    i->run = kind == 'p'     ? mov_pred
             : from->dynamic ? mov_time
             : from->frame   ? mov_frame
             : bits == 16    ? mov_16
             : bits == 32    ? mov_32
                             : mov_64;
    return from->kind == OPERAND_PLACE;
}

/* ---- cvta ---- */

static uint64_t shared_base(const struct warp *warp)
{
    return (uintptr_t)warp->block->shared - SHARED_BEGIN;
}

RUN(cvta_same)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]);
    MAP(d[l] = a[l])
}

RUN(cvta_shared)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]);
    const uint64_t base = shared_base(warp);
    MAP(d[l] = a[l] + base)
}

RUN(cvta_to_shared)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]);
    const uint64_t base = shared_base(warp);
    MAP(d[l] = a[l] - base)
}

RUN(cvta_local)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]);
    const uint64_t base = (uintptr_t)warp->local + (i->access.frame ? warp->frame : 0);
    FOR_LANES(l, mask)
    d[l] = a[l] + base + (uint64_t)l * warp->local_size;
}

RUN(cvta_to_local)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]);
    FOR_LANES(l, mask)
    d[l] = a[l] - (uintptr_t)warp->local - (uint64_t)l * warp->local_size;
}

RUN(cvta_param)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]);
    MAP(d[l] = a[l] + (uintptr_t)warp->block->grid->parameters)
}

bool build_cvta(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    const bool to = statement_has(s, "to");
    if (s->operand_count != 2)
        return false;
    i->o[0] = s->operands[0].place;
    i->o[1] = s->operands[1].place;
    i->access.results = 1;
    i->access.frame = s->operands[1].frame;
    if (statement_has(s, "global") || statement_has(s, "const"))
        i->run = cvta_same;
    else if (statement_has(s, "shared") || statement_has(s, "shared::cta"))
        i->run = to ? cvta_to_shared : cvta_shared;
    else if (statement_has(s, "local"))
        i->run = to ? cvta_to_local : cvta_local;
    else if (statement_has(s, "param") && s->entry && !to)
        i->run = cvta_param;
    return i->run != NULL;
}

/* Which space a generic address lies in. */
RUN(is_space)
{
    const struct block *block = warp->block;
    const uint64_t *a = lanes_at(warp, i->o[1]);
    uint32_t bits = 0;
    FOR_LANES(l, mask)
    {
        const bool shared = a[l] - (uintptr_t)block->shared < block->shared_size;
        const bool local = a[l] - (uintptr_t)warp->local < (uint64_t)warp->local_size * LANES;
        const bool is = i->access.space == SPACE_SHARED  ? shared
                        : i->access.space == SPACE_LOCAL ? local
                                                         : !shared && !local;
        bits |= (uint32_t)is << l;
    }
    set_predicate(warp, i->o[0], mask, bits);
}

bool build_space(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    i->access.space = statement_has(s, "shared") || statement_has(s, "shared::cta") ? SPACE_SHARED
                      : statement_has(s, "local")                                   ? SPACE_LOCAL
                                                                                    : SPACE_GLOBAL;
    i->o[0] = s->operands[0].place;
    i->o[1] = s->operands[1].place;
    i->access.results = 1;
    i->run = is_space;
    return s->operand_count == 2 && s->part_count == 2 &&
           (i->access.space != SPACE_GLOBAL || statement_has(s, "global"));
}

/* ---- cvt between integers ---- */

#define CONVERT(to_, to_type_, from_, from_type_)                                                            \
    UNARY(cvt_##to_##_##from_, from_type_, uint64_t, (to_type_)x)
/* A signed number keeps its sign in all bits up to 32, and to 64 when it goes there. */
#define CONVERTS(from_, from_type_)                                                                          \
    CONVERT(u8, uint8_t, from_, from_type_)                                                                  \
    CONVERT(u16, uint16_t, from_, from_type_)                                                                \
    CONVERT(u32, uint32_t, from_, from_type_)                                                                \
    CONVERT(u64, uint64_t, from_, from_type_)                                                                \
    UNARY(cvt_s8_##from_, from_type_, uint64_t, (uint64_t)(int8_t)x &UINT32_MAX)                             \
    UNARY(cvt_s16_##from_, from_type_, uint64_t, (uint64_t)(int16_t)x &UINT32_MAX)
CONVERTS(u8, uint8_t)
CONVERTS(s8, int8_t)
CONVERTS(u16, uint16_t)
CONVERTS(s16, int16_t)
CONVERTS(u32, uint32_t)
CONVERTS(s32, int32_t)
CONVERTS(u64, uint64_t)
CONVERTS(s64, int64_t)

#define NAMED(from_)                                                                                         \
    {"cvt.u8." #from_, cvt_u8_##from_}, {"cvt.s8." #from_, cvt_s8_##from_},                                  \
        {"cvt.u16." #from_, cvt_u16_##from_}, {"cvt.s16." #from_, cvt_s16_##from_},                          \
        {"cvt.u32." #from_, cvt_u32_##from_}, {"cvt.s32." #from_, cvt_u32_##from_},                          \
        {"cvt.u64." #from_, cvt_u64_##from_},                                                                \
    {                                                                                                        \
        "cvt.s64." #from_, cvt_u64_##from_                                                                   \
    }
const struct operation convert_operations[] = {NAMED(u8),  NAMED(s8),  NAMED(u16), NAMED(s16),  NAMED(u32),
                                               NAMED(s32), NAMED(u64), NAMED(s64), {NULL, NULL}};

/* ---- cvt with floating-point numbers, and saturating ones ---- */

enum number { NUMBER_F16, NUMBER_F32, NUMBER_F64, NUMBER_SIGNED, NUMBER_UNSIGNED };

static float f32_of_f16(uint16_t bits)
{
    const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float sign = bits & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign *
           (exponent ? ldexpf((float)(fraction | 1024), (int)exponent - 25) : ldexpf((float)fraction, -24));
}

enum direction { TO_NEAREST, TO_ZERO, DOWNWARD, UPWARD };

/* Not by a direction that is switched on: compilers have their own functions for the usual one. */
static double whole(double value, enum direction direction)
{
    switch (direction) {
    case TO_ZERO:
        return trunc(value);
    case DOWNWARD:
        return floor(value);
    case UPWARD:
        return ceil(value);
    default:
        return copysign(nearbyint(value), value);
    }
}

/* Rounds at the last of 10 bits, or of what is left below the least exponent. */
static uint16_t f16_of(double value, enum direction direction)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    if (value != value)
        return 0x7fff;
    int exponent;
    frexp(size, &exponent);
    if (exponent - 11 < -24)
        exponent = -24 + 11;
    const double units = fabs(whole(ldexp(value, -(exponent - 11)), direction));
    const double rounded = ldexp(units, exponent - 11);
    if (rounded > 65504)
        return (uint16_t)(sign | 0x7c00);
    if (rounded < ldexp(1, -14))
        return sign | (uint16_t)ldexp(rounded, 24);
    frexp(rounded, &exponent);
    return (uint16_t)(sign | ((exponent + 14) << 10) | ((uint16_t)ldexp(rounded, 11 - exponent) & 1023));
}

static double read_double(enum number type, uint64_t bits)
{
    return type == NUMBER_F64   ? f64_of(bits)
           : type == NUMBER_F32 ? (double)f32_of(bits)
                                : (double)f32_of_f16((uint16_t)bits);
}

static wide_signed read_whole(enum number type, uint32_t size, uint64_t bits)
{
    const uint32_t unused = 64 - size * 8;
    if (type == NUMBER_SIGNED)
        return (int64_t)(bits << unused) >> unused;
    return (wide_signed)(bits << unused >> unused);
}

static uint64_t write_double(enum number type, double value, enum direction direction)
{
    return type == NUMBER_F64   ? result_f64(value)
           : type == NUMBER_F32 ? result_f32((float)value)
                                : f16_of(value, direction);
}

/* Integers to floating-point numbers directly: through a double they would be rounded twice. */
static uint64_t write_whole(enum number type, wide_signed value, enum direction direction)
{
    if (type == NUMBER_F64)
        return bits_of_f64(value < 0 ? (double)(int64_t)value : (double)(uint64_t)value);
    if (type == NUMBER_F32)
        return bits_of_f32(value < 0 ? (float)(int64_t)value : (float)(uint64_t)value);
    return f16_of((double)value, direction);
}

/* A number that does not fit becomes the nearest that does; a NaN becomes 0, or the least of 64 bits. */
static uint64_t whole_of_double(const struct access *access, double value, enum direction direction)
{
    const uint32_t bits = access->size * 8u;
    const bool is_signed = access->type == NUMBER_SIGNED;
    const double top = ldexp(1, (int)(bits - is_signed));
    if (value != value)
        return bits == 64 ? UINT64_C(0x8000000000000000) : 0;
    value = whole(value, direction);
    if (value >= top)
        return is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    if (value < (is_signed ? -top : 0))
        return is_signed ? UINT64_MAX << (bits - 1) & UINT64_MAX >> (64 - bits) : 0;
    return (is_signed ? (uint64_t)(int64_t)value : (uint64_t)value) & UINT64_MAX >> (64 - bits);
}

static uint64_t saturated_whole(const struct access *access, wide_signed value)
{
    const uint32_t bits = access->size * 8u;
    const bool is_signed = access->type == NUMBER_SIGNED;
    const wide_signed top = (((wide_signed)1) << (bits - is_signed)) - 1, bottom = is_signed ? -top - 1 : 0;
    value = value > top ? top : value < bottom ? bottom : value;
    return (uint64_t)value & UINT64_MAX >> (64 - bits);
}

enum { FROM_SHIFT = 4, ROUND_WHOLE = 1, SATURATES = 2, FLUSHES = 4 };

static uint64_t convert(const struct instruction *i, uint64_t bits)
{
    const enum number from = (enum number)(i->access.form >> FROM_SHIFT), to = (enum number)i->access.type;
    const enum direction direction = (enum direction)(i->access.form & 3);
    const uint32_t flags = i->access.extend;
    if (from >= NUMBER_SIGNED) {
        const wide_signed value = read_whole(from, i->access.count, bits);
        return to >= NUMBER_SIGNED ? saturated_whole(&i->access, value) : write_whole(to, value, direction);
    }
    double value = read_double(from, bits);
    if (flags & FLUSHES && from == NUMBER_F32)
        value = (double)flush((float)value);
    if (to >= NUMBER_SIGNED)
        return whole_of_double(&i->access, value, direction);
    if (flags & ROUND_WHOLE)
        value = whole(value, direction);
    if (flags & SATURATES)
        value = value > 1 ? 1 : value > 0 ? value : 0;
    uint64_t result = write_double(to, value, direction);
    if (flags & FLUSHES && to == NUMBER_F32)
        result = bits_of_f32(flush(f32_of(result)));
    return result;
}

/* The processor rounds to narrower numbers; to whole ones it is done here, in the usual direction. */
RUN(cvt_number)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint64_t *a = lanes_at(warp, i->o[1]);
    const bool narrows =
        (i->access.type == NUMBER_F32 || i->access.type == NUMBER_F64) && !(i->access.extend & ROUND_WHOLE);
    if (narrows)
        fesetround(modes[i->access.form & 3]);
    FOR_LANES(l, mask)
    d[l] = convert(i, a[l]);
    if (narrows)
        fesetround(FE_TONEAREST);
}

static enum number number_type(char kind, uint32_t bits)
{
    if (kind == 'f')
        return bits == 16 ? NUMBER_F16 : bits == 32 ? NUMBER_F32 : NUMBER_F64;
    return kind == 's' ? NUMBER_SIGNED : NUMBER_UNSIGNED;
}

/* "rni" and the like round to whole numbers, "rn" to what the result can hold. */
static bool read_rounding(const char *part, struct access *access)
{
    static const char letters[] = "nzmp";
    const char *at = part[0] == 'r' && part[1] ? strchr(letters, part[1]) : NULL;
    if (!at || (part[2] && strcmp(part + 2, "i") != 0))
        return false;
    access->form |= (uint8_t)(at - letters);
    access->extend |= part[2] ? ROUND_WHOLE : 0;
    return true;
}

bool build_convert(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    char to, from;
    uint32_t to_bits, from_bits, first = 1;
    if (s->operand_count != 2 || s->part_count < 3 || !ptx_type(s->parts[s->part_count - 2], &to, &to_bits) ||
        !ptx_type(s->parts[s->part_count - 1], &from, &from_bits))
        return false;
    for (; first + 2 < s->part_count; first++) {
        const char *part = s->parts[first];
        if (strcmp(part, "sat") == 0)
            i->access.extend |= SATURATES;
        else if (strcmp(part, "ftz") == 0)
            i->access.extend |= FLUSHES;
        else if (!read_rounding(part, &i->access))
            return false;
    }
    i->o[0] = s->operands[0].place;
    i->o[1] = s->operands[1].place;
    i->access.results = 1;
    i->access.type = (uint8_t)number_type(to, to_bits);
    i->access.size = (uint8_t)(to_bits / 8);
    i->access.count = (uint8_t)(from_bits / 8);
    i->access.form |= (uint8_t)(number_type(from, from_bits) << FROM_SHIFT);
    i->run = cvt_number;
    return true;
}
