/* SPDX-License-Identifier: Apache-2.0 */
/* gyre_append_f64 as a handler on the CPU calls it, against printf and strtod of the C library. */
#include <gyre/kernel.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

#define TOLD(FIELD) FIELD(utf8, line)
GYRE_MESSAGE_TAIL(told, TOLD, 1500)

enum { TEXT_SIZE = 1500, RANDOM_SHORT = 1000000, RANDOM_FIXED = 100000 };

static uint64_t next_random(void)
{
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* The text that a handler makes; it follows a letter that the reply has already. */
static const char *written(double number, uint32_t decimals)
{
    static told reply;
    static char text[TEXT_SIZE];
    gyre_context context = {0};
    told *const at = &reply;
    memset(at, 0, sizeof *at);
    *(uint32_t *)at = (uint32_t)offsetof(told, gyre_tail);
    gyre_append_text(&context, at, at->line, ">");
    gyre_append_f64(&context, at, at->line, number, decimals);
    memcpy(text, (const char *)at + at->line.offset, at->line.count);
    text[at->line.count] = '\0';
    ck_assert_int_eq(text[0], '>');
    return text + 1;
}

static void ck_written(double number, uint32_t decimals, const char *expected)
{
    const char *text = written(number, decimals);
    if (strcmp(text, expected) != 0)
        ck_abort_msg("%a with %u decimals: found %s, expected %s", number, decimals, text, expected);
}

/* The significant digits of a text, without zeros at either end. Returns how many. */
static int significant(const char *text, char *digits)
{
    int count = 0, end = 0;
    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && (count || *text != '0')) {
            digits[count++] = *text;
            end = *text != '0' ? count : end;
        }
    digits[end] = '\0';
    return end;
}

/* The text reads back as the number; one digit less would not; and its digits are those of printf. */
static void ck_shortest(double number)
{
    const char *text = written(number, GYRE_SHORTEST);
    const double read = strtod(text, NULL);
    char digits[64], rounded[64], expected[64];
    const int count = significant(text, digits);
    if (memcmp(&read, &number, sizeof read) != 0)
        ck_abort_msg("%a reads back as %a from %s", number, read, text);
    if (count == 0)
        return;
    snprintf(rounded, sizeof rounded, "%.*e", count - 1, number);
    significant(rounded, expected);
    if (strcmp(digits, expected) != 0)
        ck_abort_msg("%a: found %s, expected the digits %s", number, text, expected);
    if (count > 1) {
        snprintf(rounded, sizeof rounded, "%.*e", count - 2, number);
        ck_assert(strtod(rounded, NULL) != number);
    }
}

static void ck_fixed(double number, uint32_t decimals)
{
    char expected[TEXT_SIZE];
    snprintf(expected, sizeof expected, "%.*f", (int)decimals, number);
    ck_written(number, decimals, expected);
}

START_TEST(numbers_of_every_day_look_as_people_write_them)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {{0, "0"},
                {-0.0, "-0"},
                {0.1, "0.1"},
                {-2.5, "-2.5"},
                {100, "100"},
                {0.0001, "0.0001"},
                {1e-5, "1e-05"},
                {1e16, "10000000000000000"},
                {1e17, "1e+17"},
                {1e21, "1e+21"},
                {1e22, "1e+22"},
                {1e23, "1e+23"},
                {5e-324, "5e-324"},
                {9.5, "9.5"},
                {3e100, "3e+100"},
                {1.7976931348623157e308, "1.7976931348623157e+308"},
                {1.0 / 3, "0.3333333333333333"},
                {2.2250738585072014e-308, "2.2250738585072014e-308"},
                {123456789.125, "123456789.125"},
                {9007199254740992, "9007199254740992"},
                {INFINITY, "inf"},
                {-INFINITY, "-inf"},
                {0x1p-44, "5.6843418860808015e-14"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_written(rows[i].number, GYRE_SHORTEST, rows[i].text);
    for (int sign = 0; sign < 2; sign++) {
        ck_written(copysign(NAN, sign ? -1 : 1), GYRE_SHORTEST, "nan");
        ck_written(copysign(NAN, sign ? -1 : 1), 2, "nan");
    }
}
END_TEST

START_TEST(decimals_are_rounded_as_printf_rounds_them)
{
    static const double numbers[] = {0,
                                     -0.0,
                                     0.125,
                                     0.375,
                                     2.5,
                                     3.5,
                                     9.995,
                                     99.5,
                                     999.9995,
                                     9.9999999,
                                     -0.4,
                                     0.1,
                                     1e21,
                                     1e22,
                                     1e23,
                                     5e-324,
                                     1.7976931348623157e308,
                                     4503599627370495.5,
                                     18446744073709551616.0,
                                     -9223372036854775808.0,
                                     999999999.5};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (uint32_t decimals = 0; decimals < 40; decimals++)
            ck_fixed(numbers[i], decimals);
    ck_fixed(5e-324, 1074);
    ck_fixed(0.1, 1074);
    ck_written(0.5, 5000, written(0.5, 1074));
}
END_TEST

static void ck_with_neighbours(double number)
{
    ck_shortest(number);
    ck_shortest(nextafter(number, 0));
    ck_shortest(nextafter(number, INFINITY));
    ck_fixed(number, (uint32_t)(next_random() % 30));
}

START_TEST(powers_of_two_and_ten_and_their_neighbours_read_back)
{
    for (int power = -1074; power < 1023; power++)
        ck_with_neighbours(ldexp(1, power));
    for (int power = -323; power < 308; power++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", power);
        ck_with_neighbours(strtod(text, NULL));
    }
}
END_TEST

/*
 * A number of random bits; 0 in place of an infinity or of no number. Asks the compiler: a C library may define isfinite
 * with names that kernel.h takes away.
 */
static double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return __builtin_isfinite(number) ? number : 0;
}

START_TEST(random_bits_read_back)
{
    for (uint32_t i = 0; i < RANDOM_SHORT; i++)
        ck_shortest(number_of(next_random()));
}
END_TEST

START_TEST(random_prices_and_bits_are_rounded_as_printf_rounds_them)
{
    for (uint32_t i = 0; i < RANDOM_FIXED; i++) {
        const uint64_t bits = next_random();
        ck_fixed(number_of(bits), (uint32_t)(next_random() % 60));
        ck_fixed((double)(bits % 2000000) / (double)(1 << bits % 13), (uint32_t)(next_random() % 10));
        ck_fixed((double)(bits % 1000000) / 1000, (uint32_t)(next_random() % 4));
        ck_shortest((double)(bits % 1000000) / 1000);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decimal");
    TCase *tcase = tcase_create("texts");
    tcase_set_timeout(tcase, 0); /* ctest has one */
    tcase_add_test(tcase, numbers_of_every_day_look_as_people_write_them);
    tcase_add_test(tcase, decimals_are_rounded_as_printf_rounds_them);
    tcase_add_test(tcase, powers_of_two_and_ten_and_their_neighbours_read_back);
    tcase_add_test(tcase, random_bits_read_back);
    tcase_add_test(tcase, random_prices_and_bits_are_rounded_as_printf_rounds_them);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
