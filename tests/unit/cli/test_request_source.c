/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from arguments and from lines that come whole, in pieces, late, or never end. */
#include "cli/calls/request_source.h"
#include "core/base/error.h"
#include "unit/unit.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void put(int descriptor, const char *text)
{
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (int)strlen(text));
}

static void expect(request_source *source, bool wait, const char *expected)
{
    const char *text;
    size_t length;
    ck_assert_int_eq(request_source_next(source, wait, &text, &length), REQUEST_READY);
    ck_assert_uint_eq(length, strlen(expected));
    ck_assert_mem_eq(text, expected, length);
}

static void expect_state(request_source *source, request_state state)
{
    const char *text;
    size_t length;
    ck_assert_int_eq(request_source_next(source, false, &text, &length), state);
}

START_TEST(arguments_are_requests_even_when_blank)
{
    const char *const texts[] = {"{}", " "};
    char place[64];
    request_source source;
    request_source_init_texts(&source, texts, 2);
    expect(&source, true, "{}");
    expect(&source, true, " ");
    ck_assert_str_eq(request_source_place(&source, place, sizeof place), "request 2");
    expect_state(&source, REQUEST_END);
    request_source_finish(&source);
}
END_TEST

START_TEST(lines_come_as_they_are_written_and_blank_ones_count_only_for_the_number)
{
    int ends[2];
    char place[64];
    request_source source;
    ck_assert_int_eq(pipe(ends), 0);
    request_source_init_lines(&source, ends[0]);
    expect_state(&source, REQUEST_NOT_YET);
    put(ends[1], "one\n\n \t\r\ntw");
    expect(&source, false, "one");
    expect_state(&source, REQUEST_NOT_YET);
    put(ends[1], "o\r\n");
    expect(&source, false, "two\r");
    ck_assert_str_eq(request_source_place(&source, place, sizeof place), "line 4 of standard input");
    put(ends[1], "no newline");
    expect_state(&source, REQUEST_NOT_YET);
    close(ends[1]);
    expect(&source, false, "no newline");
    expect_state(&source, REQUEST_END);
    expect_state(&source, REQUEST_END);
    request_source_finish(&source);
    close(ends[0]);
}
END_TEST

static void *write_much(void *argument)
{
    int descriptor = *(int *)argument;
    static char line[300000];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    for (size_t at = 0; at < sizeof line;) {
        ssize_t written = write(descriptor, line + at, sizeof line - at);
        if (written < 0)
            break;
        at += (size_t)written;
    }
    close(descriptor);
    return NULL;
}

START_TEST(a_long_line_is_put_together_from_many_reads)
{
    int ends[2];
    pthread_t writer;
    const char *text;
    size_t length;
    request_source source;
    ck_assert_int_eq(pipe(ends), 0);
    request_source_init_lines(&source, ends[0]);
    unit_start(&writer, write_much, &ends[1]);
    ck_assert_int_eq(request_source_next(&source, true, &text, &length), REQUEST_READY);
    ck_assert_uint_eq(length, 299999);
    ck_assert_uint_eq(strspn(text, "x"), length);
    pthread_join(writer, NULL);
    expect_state(&source, REQUEST_END);
    request_source_finish(&source);
    close(ends[0]);
}
END_TEST

START_TEST(a_descriptor_that_cannot_be_read_is_an_error_with_its_reason)
{
    const char *text;
    size_t length;
    request_source source;
    request_source_init_lines(&source, -1);
    ck_assert_int_eq(request_source_next(&source, true, &text, &length), REQUEST_ERROR);
    ck_assert_str_eq(gyre_error_text(), "cannot read standard input: Bad file descriptor");
    request_source_finish(&source);
}
END_TEST

START_TEST(a_line_without_end_is_refused)
{
    const char *text;
    size_t length;
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(ftruncate(fileno(file), REQUEST_LINE_MAX + (1 << 20)), 0);
    request_source source;
    request_source_init_lines(&source, fileno(file));
    ck_assert_int_eq(request_source_next(&source, true, &text, &length), REQUEST_REFUSED);
    ck_assert_str_eq(gyre_error_text(), "line 1 of standard input is longer than 16777216 bytes");
    expect_state(&source, REQUEST_END);
    request_source_finish(&source);
    fclose(file);
}
END_TEST

/* Lines of `sizes` bytes, each with a line "N" behind it. */
START_TEST(a_line_that_is_too_long_leaves_the_next_ones)
{
    static const size_t sizes[] = {REQUEST_LINE_MAX + (3 << 20), REQUEST_LINE_MAX + 1, REQUEST_LINE_MAX};
    const char *text;
    size_t length;
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(fseek(file, (long)sizes[i], SEEK_CUR), 0);
        ck_assert_int_gt(fprintf(file, "\n%zu\n", i), 0);
    }
    rewind(file);
    request_source source;
    request_source_init_lines(&source, fileno(file));
    for (size_t i = 0; i < 3; i++) {
        char number[32];
        snprintf(number, sizeof number, "%zu", i);
        const request_state state = request_source_next(&source, true, &text, &length);
        ck_assert_int_eq(state, i < 2 ? REQUEST_REFUSED : REQUEST_READY);
        ck_assert_uint_eq(source.number, 2 * i + 1);
        expect(&source, true, number);
        ck_assert_uint_eq(source.number, 2 * i + 2);
    }
    expect_state(&source, REQUEST_END);
    request_source_finish(&source);
    fclose(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_source");
    TCase *tcase = tcase_create("request_source");
    tcase_add_test(tcase, arguments_are_requests_even_when_blank);
    tcase_add_test(tcase, lines_come_as_they_are_written_and_blank_ones_count_only_for_the_number);
    tcase_add_test(tcase, a_long_line_is_put_together_from_many_reads);
    tcase_add_test(tcase, a_descriptor_that_cannot_be_read_is_an_error_with_its_reason);
    tcase_add_test(tcase, a_line_without_end_is_refused);
    tcase_add_test(tcase, a_line_that_is_too_long_leaves_the_next_ones);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
