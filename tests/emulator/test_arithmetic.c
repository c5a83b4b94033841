/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of single lanes, each against what C says. */
#include "test_run.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "random.h"

enum { VALUES = 256 };

/* Each thread has three words and gets one. */
struct row {
    uint64_t a, b, c, result;
};

/* An operation on values of `bits`, or of 64 bits where a letter of `wide` names the operand. */
struct operation_test {
    const char *opcode;
    uint32_t bits, result_bits;
    const char
        *operands; /* which of a, b, c it takes, as registers of its width; A, B, C: of 64 bits; x, y: 32 */
    uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c);
};

static const uint64_t edges[] = {
    0,      1,          2,          31,         32,         33,        63,
    64,     0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN,
    0x7fff, 0x8000,     0xffff,     255,        256};

static void fill(struct row *rows, uint32_t bits)
{
    uint64_t state = random_begin(7);
    const size_t count = sizeof edges / sizeof edges[0];
    for (int r = 0; r < VALUES; r++) {
        uint64_t *words[] = {&rows[r].a, &rows[r].b, &rows[r].c};
        for (int w = 0; w < 3; w++) {
            const uint64_t high = random_below(&state, UINT32_MAX), low = random_below(&state, UINT32_MAX);
            *words[w] = random_below(&state, 2) ? edges[random_below(&state, count)] : high << 32 | low;
            if (random_below(&state, 3) == 0)
                *words[w] &= 127;
            *words[w] &= UINT64_MAX >> (64 - bits);
        }
    }
}

static const char *register_for(char operand, uint32_t bits)
{
    static const char *const names[3][4] = {
        {"%h0", "%r0", "%d0", ""}, {"%h1", "%r1", "%d1", ""}, {"%h2", "%r2", "%d2", ""}};
    const int which = operand - (operand >= 'x' ? 'x' : operand >= 'a' ? 'a' : 'A');
    const uint32_t width = operand >= 'x' ? 32 : operand >= 'a' ? bits : 64;
    return names[which][width == 16 ? 0 : width == 32 ? 1 : 2];
}

static void write_text(char *text, size_t size, const struct operation_test *test)
{
    char operands[64] = "";
    for (const char *o = test->operands; *o; o++)
        snprintf(operands + strlen(operands), sizeof operands - strlen(operands), ", %s",
                 register_for(*o, test->bits));
    const char *result = test->result_bits == 16 ? "%h3" : test->result_bits == 32 ? "%r3" : "%d3";
    snprintf(text, size,
             ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%d<5>;\n.reg .b32 %%r<5>;\n.reg .b16 %%h<5>;\n"
             "ld.param.u64 %%d4, [p];\nmov.u32 %%r4, %%tid.x;\nmad.wide.u32 %%d4, %%r4, 32, %%d4;\n"
             "ld.global.v2.u64 {%%d0, %%d1}, [%%d4];\nld.global.u64 %%d2, [%%d4+16];\n"
             "cvt.u32.u64 %%r0, %%d0;\ncvt.u32.u64 %%r1, %%d1;\ncvt.u32.u64 %%r2, %%d2;\n"
             "cvt.u16.u64 %%h0, %%d0;\ncvt.u16.u64 %%h1, %%d1;\ncvt.u16.u64 %%h2, %%d2;\n"
             "%s %s%s;\n"
             "%s\nst.global.u64 [%%d4+24], %%d3;\nret;\n}\n",
             test->opcode, result, operands,
             test->result_bits == 16   ? "cvt.u64.u16 %d3, %h3;"
             : test->result_bits == 32 ? "cvt.u64.u32 %d3, %r3;"
                                       : "");
}

static void check(const struct operation_test *test)
{
    struct row rows[VALUES] = {{0}};
    char text[2048];
    fill(rows, test->bits);
    write_text(text, sizeof text, test);
    const struct run run = {.ptx = text, .threads = VALUES, .memory = rows, .size = sizeof rows};
    const struct machine_fault fault = run_whole(&run);
    ck_assert_msg(fault.kind == MACHINE_NO_FAULT, "%s: %s", test->opcode, fault.where);
    for (int r = 0; r < VALUES; r++) {
        const uint64_t ones = UINT64_MAX >> (64 - test->result_bits);
        const uint64_t expected = test->expected(rows[r].a, rows[r].b, rows[r].c) & ones;
        ck_assert_msg(rows[r].result == expected, "%s of %llx, %llx, %llx: %llx, expected %llx", test->opcode,
                      (unsigned long long)rows[r].a, (unsigned long long)rows[r].b,
                      (unsigned long long)rows[r].c, (unsigned long long)rows[r].result,
                      (unsigned long long)expected);
    }
}

/* ---- integers ---- */

#define EXPECT(name_, value_)                                                                                \
    static uint64_t name_(uint64_t a, uint64_t b, uint64_t c)                                                \
    {                                                                                                        \
        (void)a, (void)b, (void)c;                                                                           \
        return (uint64_t)(value_);                                                                           \
    }
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

EXPECT(sum, a + b)
EXPECT(difference, a - b)
EXPECT(product, a *b)
EXPECT(product_and, a *b + c)
EXPECT(wide_u32, (uint64_t)(uint32_t)a *(uint32_t)b)
EXPECT(wide_s32, (int64_t)(int32_t)a *(int32_t)b)
EXPECT(wide_u32_and, (uint64_t)(uint32_t)a *(uint32_t)b + c)
EXPECT(high_u32, (uint64_t)(uint32_t)a *(uint32_t)b >> 32)
EXPECT(high_s32, (uint64_t)((int64_t)(int32_t)a *(int32_t)b) >> 32)
EXPECT(high_u64, (uint64_t)((unsigned_wide)a *b >> 64))
EXPECT(high_s64, (uint64_t)((unsigned_wide)((wide)(int64_t)a *(int64_t)b) >> 64))
EXPECT(quotient_u32, (uint32_t)b ? (uint32_t)a / (uint32_t)b : UINT32_MAX)
EXPECT(remainder_u32, (uint32_t)b ? (uint32_t)a % (uint32_t)b : (uint32_t)a)
EXPECT(quotient_s32, (int32_t)b == 0 ? -1 : (int64_t)(int32_t)a / (int32_t)b)
EXPECT(remainder_s64, (int64_t)b == 0 ? (int64_t)a : (int64_t)b == -1 ? 0 : (int64_t)a % (int64_t)b)
EXPECT(least_s32, (int32_t)a < (int32_t)b ? a : b)
EXPECT(most_u64, a > b ? a : b)
EXPECT(left_32, (uint32_t)b < 32 ? (uint32_t)a << b : 0)
EXPECT(right_u64, (uint32_t)b < 64 ? a >> (uint32_t)b : 0)
EXPECT(right_s32, (int64_t)floor(ldexp((double)(int32_t)a, (uint32_t)b < 32 ? -(int)b : -32)))
EXPECT(right_s16, (int64_t)floor(ldexp((double)(int16_t)a, (uint32_t)b < 16 ? -(int)b : -16)))
EXPECT(bits_32, __builtin_popcount((uint32_t)a))
EXPECT(zeros_64, a ? __builtin_clzll(a) : 64)
EXPECT(zeros_32, (uint32_t)a ? __builtin_clz((uint32_t)a) : 32)
EXPECT(highest_u32, (uint32_t)a ? 31 - __builtin_clz((uint32_t)a) : -1)
EXPECT(shift_to_highest, (uint32_t)a ? __builtin_clz((uint32_t)a) : -1)
EXPECT(funnel_left, ((b << 32 | (uint32_t)a) << (c & 31)) >> 32)
EXPECT(funnel_right, (b << 32 | (uint32_t)a) >> (c & 31))
EXPECT(sign_8, (int64_t)(int8_t)a)
EXPECT(sign_32, (int64_t)(int32_t)a)
EXPECT(complement, ~a)
EXPECT(negative, 0 - a)
EXPECT(size_s64, (int64_t)a < 0 ? 0 - a : a)
EXPECT(mixed, (a & b) | (~a & c))

static uint64_t reversed(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t result = 0;
    (void)b, (void)c;
    for (int bit = 0; bit < 32; bit++)
        result |= (a >> bit & 1) << (31 - bit);
    return result;
}

static uint64_t field_u32(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t result = 0;
    for (uint32_t bit = 0; bit < (c & 255) && bit < 32; bit++)
        if ((b & 255) + bit < 32)
            result |= (a >> ((b & 255) + bit) & 1) << bit;
    return result;
}

static uint64_t field_s64(uint64_t a, uint64_t b, uint64_t c)
{
    const uint32_t from = b & 255, length = c & 255;
    uint64_t result = 0;
    const uint32_t top = from + length - 1 < 63 ? from + length - 1 : 63;
    const uint64_t sign = length ? a >> top & 1 : 0;
    for (uint32_t bit = 0; bit < 64; bit++)
        result |= (bit < length && from + bit < 64 ? a >> (from + bit) & 1 : sign) << bit;
    return result;
}

static uint64_t permuted(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t both = b << 32 | (uint32_t)a;
    uint64_t result = 0;
    for (int byte = 0; byte < 4; byte++) {
        const uint32_t which = c >> (4 * byte) & 15;
        uint64_t value = both >> (8 * (which & 7)) & 255;
        if (which & 8)
            value = value & 128 ? 255 : 0;
        result |= value << (8 * byte);
    }
    return result;
}

/* c and the products of `count` pieces of a, as wide as a register has room for so many, with bytes of b. */
static uint64_t dot(uint64_t a, bool a_signed, uint64_t b, bool b_signed, uint64_t c, uint32_t count)
{
    const uint32_t width = 32 / count;
    uint64_t result = c;
    for (uint32_t piece = 0; piece < count; piece++) {
        int64_t left = (int64_t)(a >> (piece * width) & ((1u << width) - 1)), right = b >> (piece * 8) & 255;
        if (a_signed && left >> (width - 1))
            left -= (int64_t)1 << width;
        if (b_signed && right >= 128)
            right -= 256;
        result += (uint64_t)(left * right);
    }
    return result;
}

EXPECT(dot4_uu, dot(a, false, b, false, c, 4))
EXPECT(dot4_us, dot(a, false, b, true, c, 4))
EXPECT(dot4_su, dot(a, true, b, false, c, 4))
EXPECT(dot4_ss, dot(a, true, b, true, c, 4))
EXPECT(dot2_low_uu, dot(a, false, b, false, c, 2))
EXPECT(dot2_high_us, dot(a, false, b >> 16, true, c, 2))
EXPECT(dot2_low_su, dot(a, true, b, false, c, 2))
EXPECT(dot2_high_ss, dot(a, true, b >> 16, true, c, 2))

static const struct operation_test integers[] = {
    {"add.s32", 32, 32, "ab", sum},
    {"add.s16", 16, 16, "ab", sum},
    {"add.u64", 64, 64, "ab", sum},
    {"sub.s64", 64, 64, "ab", difference},
    {"mul.lo.s32", 32, 32, "ab", product},
    {"mad.lo.s32", 32, 32, "abc", product_and},
    {"mad.lo.s64", 64, 64, "abc", product_and},
    {"mul.wide.u32", 32, 64, "ab", wide_u32},
    {"mul.wide.s32", 32, 64, "ab", wide_s32},
    {"mad.wide.u32", 64, 64, "xyC", wide_u32_and},
    {"mul.hi.u32", 32, 32, "ab", high_u32},
    {"mul.hi.s32", 32, 32, "ab", high_s32},
    {"mul.hi.u64", 64, 64, "ab", high_u64},
    {"mul.hi.s64", 64, 64, "ab", high_s64},
    {"div.u32", 32, 32, "ab", quotient_u32},
    {"rem.u32", 32, 32, "ab", remainder_u32},
    {"div.s32", 32, 32, "ab", quotient_s32},
    {"rem.s64", 64, 64, "ab", remainder_s64},
    {"min.s32", 32, 32, "ab", least_s32},
    {"max.u64", 64, 64, "ab", most_u64},
    {"shl.b32", 32, 32, "ab", left_32},
    {"shr.u64", 64, 64, "ay", right_u64},
    {"shr.s32", 32, 32, "ab", right_s32},
    {"shr.s16", 16, 16, "ay", right_s16},
    {"popc.b32", 32, 32, "a", bits_32},
    {"clz.b64", 64, 32, "a", zeros_64},
    {"clz.b32", 32, 32, "a", zeros_32},
    {"brev.b32", 32, 32, "a", reversed},
    {"bfind.u32", 32, 32, "a", highest_u32},
    {"bfind.shiftamt.u32", 32, 32, "a", shift_to_highest},
    {"bfe.u32", 32, 32, "abc", field_u32},
    {"bfe.s64", 64, 64, "ayz", field_s64},
    {"prmt.b32", 32, 32, "abc", permuted},
    {"shf.l.wrap.b32", 32, 32, "abc", funnel_left},
    {"shf.r.wrap.b32", 32, 32, "abc", funnel_right},
    {"cvt.s64.s8", 64, 64, "A", sign_8},
    {"cvt.s64.s32", 32, 64, "x", sign_32},
    {"not.b64", 64, 64, "a", complement},
    {"neg.s64", 64, 64, "a", negative},
    {"abs.s64", 64, 64, "a", size_s64},
    {"dp4a.u32.u32", 32, 32, "abc", dot4_uu},
    {"dp4a.u32.s32", 32, 32, "abc", dot4_us},
    {"dp4a.s32.u32", 32, 32, "abc", dot4_su},
    {"dp4a.s32.s32", 32, 32, "abc", dot4_ss},
    {"dp2a.lo.u32.u32", 32, 32, "abc", dot2_low_uu},
    {"dp2a.hi.u32.s32", 32, 32, "abc", dot2_high_us},
    {"dp2a.lo.s32.u32", 32, 32, "abc", dot2_low_su},
    {"dp2a.hi.s32.s32", 32, 32, "abc", dot2_high_ss},
};

START_TEST(integers_are_those_of_c)
{
    check(&integers[_i]);
}
END_TEST

/* The three-input operation with the table of "a ? b : c" takes a number as its last operand. */
START_TEST(tables_of_three_bits_choose)
{
    const struct operation_test test = {"lop3.b32", 32, 32, "abc", mixed};
    struct row rows[VALUES] = {{0}};
    char text[2048], with_table[2200];
    static const char operation[] = "lop3.b32 %r3, %r0, %r1, %r2";
    fill(rows, 32);
    write_text(text, sizeof text, &test);
    ck_assert_ptr_nonnull(strstr(text, operation));
    const char *end = strstr(text, operation) + strlen(operation);
    snprintf(with_table, sizeof with_table, "%.*s, 0xca%s", (int)(end - text), text, end);
    const struct run run = {.ptx = with_table, .threads = VALUES, .memory = rows, .size = sizeof rows};
    ck_assert_int_eq(run_whole(&run).kind, MACHINE_NO_FAULT);
    for (int r = 0; r < VALUES; r++)
        ck_assert_uint_eq(rows[r].result, (uint32_t)mixed(rows[r].a, rows[r].b, rows[r].c));
}
END_TEST

/* ---- floating-point numbers ---- */

static float f32(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static uint64_t b32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7fffffff : bits;
}

static double f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t b64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? UINT64_C(0xfff8000000000000) : bits;
}

/* What rounding gives is asked of this processor, as the compiler must not know it beforehand. */
static uint64_t rounded_sum(uint64_t a, uint64_t b, int mode)
{
    volatile float x = f32(a), y = f32(b);
    fesetround(mode);
    volatile float result = x + y;
    fesetround(FE_TONEAREST);
    return b32(result);
}

static uint64_t whole_s32(uint64_t a, uint64_t b, uint64_t c)
{
    const float value = f32(a);
    (void)b, (void)c;
    return value != value     ? 0
           : value >= 0x1p31f ? INT32_MAX
           : value < -0x1p31f ? (uint64_t)INT32_MIN
                              : (uint64_t)(int32_t)value;
}

EXPECT(f32_sum, b32(f32(a) + f32(b)))
EXPECT(f32_sum_down, rounded_sum(a, b, FE_DOWNWARD))
EXPECT(f32_sum_zero, rounded_sum(a, b, FE_TOWARDZERO))
EXPECT(f32_product, b32(f32(a) * f32(b)))
EXPECT(f32_fused, b32(fmaf(f32(a), f32(b), f32(c))))
EXPECT(f32_quotient, b32(f32(a) / f32(b)))
EXPECT(f32_root, b32(sqrtf(f32(a))))
EXPECT(f64_difference, b64(f64(a) - f64(b)))
EXPECT(f64_fused, b64(fma(f64(a), f64(b), f64(c))))
EXPECT(f64_quotient, b64(f64(a) / f64(b)))
EXPECT(f32_negative, a ^ 0x80000000)
EXPECT(f64_of_f32, b64((double)f32(a)))
EXPECT(f32_of_f64, b32((float)f64(a)))
EXPECT(f32_of_s32, b32((float)(int32_t)a))
EXPECT(f32_of_u64, b32((float)a))
EXPECT(f64_of_s64, b64((double)(int64_t)a))
EXPECT(f32_floor, b32(floorf(f32(a))))
EXPECT(f32_nearest, b32(rintf(f32(a))))

static const struct operation_test floats[] = {
    {"add.rn.f32", 32, 32, "ab", f32_sum},       {"add.rm.f32", 32, 32, "ab", f32_sum_down},
    {"add.rz.f32", 32, 32, "ab", f32_sum_zero},  {"mul.rn.f32", 32, 32, "ab", f32_product},
    {"fma.rn.f32", 32, 32, "abc", f32_fused},    {"div.rn.f32", 32, 32, "ab", f32_quotient},
    {"sqrt.rn.f32", 32, 32, "a", f32_root},      {"sub.rn.f64", 64, 64, "ab", f64_difference},
    {"fma.rn.f64", 64, 64, "abc", f64_fused},    {"div.rn.f64", 64, 64, "ab", f64_quotient},
    {"neg.f32", 32, 32, "a", f32_negative},      {"cvt.f64.f32", 32, 64, "a", f64_of_f32},
    {"cvt.rn.f32.f64", 64, 32, "a", f32_of_f64}, {"cvt.rn.f32.s32", 32, 32, "a", f32_of_s32},
    {"cvt.rn.f32.u64", 64, 32, "a", f32_of_u64}, {"cvt.rn.f64.s64", 64, 64, "a", f64_of_s64},
    {"cvt.rmi.f32.f32", 32, 32, "a", f32_floor}, {"cvt.rni.f32.f32", 32, 32, "a", f32_nearest},
    {"cvt.rzi.s32.f32", 32, 32, "a", whole_s32},
};

START_TEST(floats_are_those_of_c)
{
    check(&floats[_i]);
}
END_TEST

TCase *arithmetic_cases(void)
{
    TCase *cases = tcase_create("arithmetic");
    tcase_add_loop_test(cases, integers_are_those_of_c, 0, sizeof integers / sizeof integers[0]);
    tcase_add_test(cases, tables_of_three_bits_choose);
    tcase_add_loop_test(cases, floats_are_those_of_c, 0, sizeof floats / sizeof floats[0]);
    return cases;
}
