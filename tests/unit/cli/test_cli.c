/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the command: options, exit codes, tables. */
#include "cli/cli.h"
#include "cli/base/table.h"
#include "unit/unit.h"

#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 8 };

/* Parses the given arguments (NULL ends them) with one option of each kind. */
typedef struct parsed {
    cli_context cli;
    char *arguments[ARGUMENTS_MAX];
    bool flag, ok;
    const char *text;
    cli_list list;
    uint64_t number;
} parsed;

static parsed *parse(parsed *result, const char *const *arguments)
{
    *result = (parsed){.cli = {.command = &cli_command_help, .arguments = result->arguments}};
    const cli_option options[] = {{"--flag", .flag = &result->flag},
                                  {"--text", .alias = "-t", .text = &result->text},
                                  {"--list", .list = &result->list},
                                  {"--number", .number = &result->number, .min = 1, .max = 1024},
                                  {0}};
    for (; arguments[result->cli.argument_count]; result->cli.argument_count++)
        result->arguments[result->cli.argument_count] =
            (char *)(uintptr_t)arguments[result->cli.argument_count];
    result->ok = cli_parse(&result->cli, options);
    return result;
}

static void finish(parsed *result)
{
    cli_list_finish(&result->cli.operands);
    cli_list_finish(&result->cli.settings);
    cli_list_finish(&result->list);
}

START_TEST(options_of_every_kind_are_taken_in_any_place)
{
    parsed p;
    parse(&p,
          (const char *const[]){"one", "--flag", "-t", "x", "--number=7", "--list", "a", "--list=b", NULL});
    ck_assert(p.ok && p.flag);
    ck_assert_str_eq(p.text, "x");
    ck_assert_uint_eq(p.number, 7);
    ck_assert_uint_eq(p.list.count, 2);
    ck_assert_str_eq(p.list.items[1], "b");
    ck_assert_ptr_null(p.list.items[2]);
    ck_assert_uint_eq(p.cli.operands.count, 1);
    finish(&p);
}
END_TEST

START_TEST(global_options_work_behind_the_command)
{
    parsed p;
    parse(&p, (const char *const[]){"--json", "--set", "gyre.backend=cpu", "--backend=cpu", "--config", "f",
                                    NULL});
    ck_assert(p.ok && p.cli.json);
    ck_assert_str_eq(p.cli.settings.items[0], "gyre.backend=cpu");
    ck_assert_ptr_null(p.cli.settings.items[1]);
    ck_assert_str_eq(p.cli.backend, "cpu");
    ck_assert_str_eq(p.cli.config_path, "f");
    finish(&p);
}
END_TEST

START_TEST(a_dash_a_negative_number_and_what_follows_two_dashes_are_operands)
{
    parsed p;
    parse(&p, (const char *const[]){"-", "-5", "--", "--flag", "--", NULL});
    ck_assert(p.ok && !p.flag);
    ck_assert_uint_eq(p.cli.operands.count, 4);
    ck_assert_str_eq(p.cli.operands.items[2], "--flag");
    ck_assert_str_eq(p.cli.operands.items[3], "--");
    finish(&p);
}
END_TEST

START_TEST(numbers_that_are_none_or_out_of_range_are_usage_errors)
{
    static const char *const wrong[] = {"0",  "1025", "x", "", "7x", "-1", "+1", " 1", "99999999999999999999",
                                        "1e2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        parsed p;
        parse(&p, (const char *const[]){"--number", wrong[i], NULL});
        ck_assert_msg(!p.ok && p.cli.exit_code == CLI_USAGE, "'%s' was taken", wrong[i]);
        finish(&p);
    }
}
END_TEST

START_TEST(statuses_have_the_exit_codes_that_the_help_names)
{
    ck_assert_int_eq(cli_exit_code(GYRE_OK), 0);
    ck_assert_int_eq(cli_exit_code(GYRE_FAILED), 1);
    ck_assert_int_eq(cli_exit_code(GYRE_NOT_FOUND), 1);
    ck_assert_int_eq(cli_exit_code(GYRE_INTERNAL), 1);
    ck_assert_int_eq(cli_exit_code(GYRE_INVALID), 1);
    ck_assert_int_eq(cli_exit_code(GYRE_UNAVAILABLE), 3);
    ck_assert_int_eq(cli_exit_code(GYRE_LOST), 3);
    ck_assert_int_eq(cli_exit_code(GYRE_CONFIG), 4);
    ck_assert_int_eq(cli_exit_code(GYRE_TIMEOUT), 5);
    ck_assert_int_eq(cli_exit_code((gyre_status)1000), 1);
}
END_TEST

START_TEST(tables_align_letters_not_bytes)
{
    char printed[256] = "";
    FILE *file = tmpfile();
    fflush(stdout);
    const int terminal = dup(STDOUT_FILENO);
    ck_assert(file && terminal >= 0);
    cli_table *table = cli_table_create((const char *const[]){"name", ">size", "note", NULL});
    cli_table_add(table, (const char *const[]){"caf\u00e9", "12", "x"});
    cli_table_add(table, (const char *const[]){"a", "12345", NULL});
    ck_assert_int_eq(dup2(fileno(file), STDOUT_FILENO), STDOUT_FILENO);
    int code = cli_table_print(table);
    fflush(stdout);
    dup2(terminal, STDOUT_FILENO);
    close(terminal);
    rewind(file);
    size_t length = fread(printed, 1, sizeof printed - 1, file);
    fclose(file);
    printed[length] = '\0';
    ck_assert_int_eq(code, CLI_OK);
    ck_assert_str_eq(printed, "name   size  note\ncaf\u00e9     12  x\na     12345  -\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli");
    TCase *tcase = tcase_create("cli");
    tcase_add_test(tcase, options_of_every_kind_are_taken_in_any_place);
    tcase_add_test(tcase, global_options_work_behind_the_command);
    tcase_add_test(tcase, a_dash_a_negative_number_and_what_follows_two_dashes_are_operands);
    tcase_add_test(tcase, numbers_that_are_none_or_out_of_range_are_usage_errors);
    tcase_add_test(tcase, statuses_have_the_exit_codes_that_the_help_names);
    tcase_add_test(tcase, tables_align_letters_not_bytes);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
