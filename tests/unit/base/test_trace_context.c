/* SPDX-License-Identifier: Apache-2.0 */
/* A traceparent of W3C, read and written. */
#include "gyre/trace_context.h"
#include "unit/unit.h"

static const char good[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

START_TEST(a_traceparent_is_read_and_written)
{
    gyre_trace_context context;
    char text[GYRE_TRACEPARENT_SIZE];
    ck_assert_int_eq(gyre_trace_read(good, &context), 0);
    ck_assert_uint_eq(context.trace[0], UINT64_C(0x4bf92f3577b34da6));
    ck_assert_uint_eq(context.trace[1], UINT64_C(0xa3ce929d0e0e4736));
    ck_assert_uint_eq(context.parent, UINT64_C(0x00f067aa0ba902b7));
    ck_assert_uint_eq(context.flags, 1);
    gyre_trace_text(&context, text);
    ck_assert_str_eq(text, good);
    /* a later version may have more behind what is known */
    ck_assert_int_eq(
        gyre_trace_read("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what", &context), 0);
    ck_assert_uint_eq(context.trace[1], UINT64_C(0xa3ce929d0e0e4736));
}
END_TEST

START_TEST(what_is_none_is_told_whatever_byte_is_wrong)
{
    static const char *const wrong[] = {"",
                                        "00",
                                        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                                        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                                        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01",
                                        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
                                        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more"};
    gyre_trace_context context;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_msg(gyre_trace_read(wrong[i], &context) == -1, "%s", wrong[i]);
        ck_assert(!context.trace[0] && !context.trace[1] && !context.parent && !context.flags);
    }
    for (size_t i = 0; i < sizeof good - 1; i++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        text[i] = 'x';
        ck_assert_msg(gyre_trace_read(text, &context) == -1, "%s", text);
        text[i] = '\0';
        ck_assert_msg(gyre_trace_read(text, &context) == -1, "%s", text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace_context");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_traceparent_is_read_and_written);
    tcase_add_test(all, what_is_none_is_told_whatever_byte_is_wrong);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
