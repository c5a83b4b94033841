/* SPDX-License-Identifier: Apache-2.0 */
/* The setting `header`: words, sizes, and what is told of those that are wrong. */
#include <string.h>

#include "core/base/error.h"
#include "core/queue/header_words.h"
#include "gyre/checksum.h"
#include "unit/unit.h"

static void expect_plan(const char *text, uint32_t size, bool times)
{
    struct gyre_header_plan plan = {.size = 99, .times = !times};
    ck_assert_msg(gyre_header_plan_read(text, &plan) == GYRE_OK, "'%s': %s", text, gyre_error_text());
    ck_assert_msg(plan.size == size && plan.times == times, "'%s' gives %u bytes", text, plan.size);
}

START_TEST(words_and_sizes_give_the_smallest_header_that_holds_them)
{
    expect_plan("none", 0, false);
    expect_plan("", 0, false);
    expect_plan(" , ", 0, false);
    expect_plan("16", 16, false);
    expect_plan("64", 64, false);
    expect_plan("type", 16, false);
    expect_plan("id,type,priority", 16, false);
    expect_plan("type, deadline", 32, false);
    expect_plan("\tcorrelation", 32, false);
    expect_plan("sent", 48, false);
    expect_plan("sender receiver", 48, false);
    expect_plan("trace", 64, false);
    expect_plan("16 trace", 64, false);
    expect_plan("started", 16, true);
    expect_plan("sent started finished", 48, true);
}
END_TEST

START_TEST(a_wrong_word_is_named)
{
    static const struct {
        const char *text, *said;
    } wrong[] = {{"typ", "did you mean 'type'"},
                 {"17", "'17' is no field"},
                 {"type 0", "'0' is no field"},
                 {"type none", "'none' is no field"},
                 {"a-word-that-does-not-end-so-soon", "'a-word-that-does' is no field"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct gyre_header_plan plan = {.size = 64, .times = true};
        ck_assert_int_eq(gyre_header_plan_read(wrong[i].text, &plan), GYRE_CONFIG);
        ck_assert_msg(strstr(gyre_error_text(), wrong[i].said) != NULL, "%s", gyre_error_text());
        ck_assert(plan.size == 0 && !plan.times);
    }
}
END_TEST

START_TEST(a_field_beyond_the_header_is_named)
{
    const gyre_header all = {1, 1, 0, 1, 1, 1, 1, 1, 1, {0, 1}};
    static const char *const first_beyond[] = {"type", "correlation", "sent", "trace", NULL};
    for (uint32_t quarter = 0; quarter <= 4; quarter++) {
        const char *misfit = gyre_header_misfit(&all, quarter * 16);
        if (!first_beyond[quarter])
            ck_assert_ptr_null(misfit);
        else
            ck_assert_str_eq(misfit, first_beyond[quarter]);
    }
    ck_assert_uint_eq(gyre_header_needed("trace"), 64);
    ck_assert_uint_eq(gyre_header_needed("deadline"), 32);
    ck_assert_uint_eq(gyre_header_needed("nothing"), 0);
}
END_TEST

START_TEST(checksums_are_those_of_crc_32c_with_and_without_the_instruction)
{
    unsigned char bytes[257];
    ck_assert_uint_eq(gyre_seal_of(NULL, 0, "123456789", 9), 0xe3069283u);
    ck_assert_uint_eq(gyre_seal_of("1234", 4, "56789", 5), 0xe3069283u);
    ck_assert_uint_eq(gyre_seal_of(NULL, 0, NULL, 0), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 131 + 7);
    for (size_t size = 0; size <= sizeof bytes; size++)
        ck_assert_uint_eq(~gyre_crc32c_by_table_(0xffffffffu, bytes, size),
                          gyre_seal_of(NULL, 0, bytes, size));
}
END_TEST

static Suite *suite(void)
{
    Suite *all = suite_create("headers");
    TCase *cases = tcase_create("plan");
    tcase_add_test(cases, words_and_sizes_give_the_smallest_header_that_holds_them);
    tcase_add_test(cases, a_wrong_word_is_named);
    tcase_add_test(cases, a_field_beyond_the_header_is_named);
    tcase_add_test(cases, checksums_are_those_of_crc_32c_with_and_without_the_instruction);
    suite_add_tcase(all, cases);
    return all;
}

int main(void)
{
    return unit_run(suite());
}
