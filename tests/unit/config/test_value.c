/* SPDX-License-Identifier: Apache-2.0 */
/* Values by type, and the table that says which type. */
#include "core/base/error.h"
#include "core/config/value.h"
#include "unit/unit.h"

#include <string.h>

static struct gyre_pool pool;
static const struct gyre_value_place place = {.folder = "/etc/gyre", .home = "/home/u"};
static struct gyre_value value;

static gyre_status read_as(struct gyre_config_row row, const char *text)
{
    row.preset = row.preset ? row.preset : "x";
    gyre_pool_finish(&pool);
    return gyre_value_read(&row, text, &place, &pool, &value);
}

static void refused(struct gyre_config_row row, const char *text, const char *sentence)
{
    ck_assert_int_eq(read_as(row, text), GYRE_CONFIG);
    ck_assert_str_eq(gyre_error_text(), sentence);
}

static int64_t number_of(struct gyre_config_row row, const char *text)
{
    ck_assert_msg(read_as(row, text) == GYRE_OK, "%s: %s", text, gyre_error_text());
    ck_assert(row.type == GYRE_VALUE_PATH || strcmp(value.text, text) == 0);
    return value.number;
}

static const char *path_of(enum gyre_value_type type, const char *text)
{
    ck_assert_int_eq(read_as((struct gyre_config_row){.type = type}, text), GYRE_OK);
    return value.text;
}

START_TEST(integers_are_decimal_and_in_range)
{
    struct gyre_config_row row = {.type = GYRE_VALUE_INT, .min = -5, .max = 1000};
    ck_assert_int_eq(number_of(row, "0"), 0);
    ck_assert_int_eq(number_of(row, "-5"), -5);
    ck_assert_int_eq(number_of(row, "007"), 7);
    refused(row, "1001", "is out of range; expected a whole number from -5 to 1000");
    refused(row, "-6", "is out of range; expected a whole number from -5 to 1000");
    const char *words[] = {"", "-", "+1", "1.5", "0x10", "12abc", "1 2", "eight"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        refused(row, words[i], "is not a whole number; expected a whole number from -5 to 1000");
}
END_TEST

START_TEST(integers_of_64_bits_are_exact_and_more_overflow)
{
    struct gyre_config_row row = {.type = GYRE_VALUE_INT, .min = INT64_MIN, .max = INT64_MAX};
    ck_assert(number_of(row, "9223372036854775807") == INT64_MAX);
    ck_assert(number_of(row, "-9223372036854775808") == INT64_MIN);
    const char *sentence = "does not fit into 64 bits; expected a whole number "
                           "from -9223372036854775808 to 9223372036854775807";
    refused(row, "9223372036854775808", sentence);
    refused(row, "-9223372036854775809", sentence);
    refused(row, "99999999999999999999999999999999", sentence);
}
END_TEST

START_TEST(powers_are_powers_of_two)
{
    struct gyre_config_row row = {.type = GYRE_VALUE_POWER, .min = 1, .max = 1 << 30};
    ck_assert_int_eq(number_of(row, "1"), 1);
    ck_assert_int_eq(number_of(row, "1073741824"), 1 << 30);
    refused(row, "1000", "is not a power of two; expected a power of two from 1 to 1073741824");
    refused(row, "0", "is out of range; expected a power of two from 1 to 1073741824");
    row.min = 0;
    ck_assert_int_eq(number_of(row, "0"), 0);
    refused(row, "3", "is not a power of two; expected 0 or a power of two from 1 to 1073741824");
}
END_TEST

START_TEST(a_target_is_a_name_or_two)
{
    struct gyre_config_row row = {.type = GYRE_VALUE_TARGET, .preset = ""};
    const char *right[] = {"", "a", "a-b.c:d_e"}, *wrong[] = {":", "a:", ":a", "a:b:c", "a :b", "a/b:c"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        ck_assert_int_eq(read_as(row, right[i]), GYRE_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refused(
            row, wrong[i],
            "is not two names; expected a name of letters, digits, '_', '-' and '.', or two of them with ':' in "
            "between");
}
END_TEST

START_TEST(lists_of_names_are_separated_by_commas)
{
    struct gyre_config_row row = {.type = GYRE_VALUE_NAMES, .preset = ""};
    const char *lists[][2] = {{"", ""}, {"a", "a"}, {"a,b", "a, b"}, {"a ,  b-1.c,\td_e", "a, b-1.c, d_e"}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        ck_assert_int_eq(read_as(row, lists[i][0]), GYRE_OK);
        ck_assert_str_eq(value.text, lists[i][1]);
    }
    const char *expected = "expected names of letters, digits, '_', '-' and '.', separated by commas",
               *words[] = {"a b", "a:b", "a/b"};
    char sentence[256];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        snprintf(sentence, sizeof sentence, "is not a list of names; %s", expected);
        refused(row, words[i], sentence);
    }
    const char *holes[] = {",", "a,", ",a", "a,,b", "a, ,b", " "};
    for (size_t i = 0; i < sizeof holes / sizeof holes[0]; i++) {
        snprintf(sentence, sizeof sentence, "has an empty name; %s", expected);
        refused(row, holes[i], sentence);
    }
}
END_TEST

START_TEST(sizes_take_binary_units)
{
    struct gyre_config_row row = {.type = GYRE_VALUE_SIZE, .min = 0, .max = INT64_MAX};
    ck_assert_int_eq(number_of(row, "64"), 64);
    ck_assert_int_eq(number_of(row, "64 B"), 64);
    ck_assert_int_eq(number_of(row, "3K"), 3072);
    ck_assert_int_eq(number_of(row, "256 MiB"), 256 << 20);
    ck_assert_int_eq(number_of(row, "2GiB"), INT64_C(2) << 30);
    ck_assert_int_eq(number_of(row, "1 T"), INT64_C(1) << 40);
    const char *expected = "expected a size such as 65536, 64 KiB or 1 GiB, from 0 to 9223372036854775807";
    char sentence[256];
    snprintf(sentence, sizeof sentence, "is not a size; %s", expected);
    refused(row, "64 MB", sentence);
    refused(row, "big", sentence);
    refused(row, "", sentence);
    refused(row, "1.5 GiB", sentence);
    snprintf(sentence, sizeof sentence, "does not fit into 64 bits; %s", expected);
    refused(row, "8388608 TiB", sentence);
    row.max = 65536;
    refused(row, "65 KiB",
            "is out of range; expected a size such as 65536, 64 KiB or 1 GiB, from 0 to 65536");
}
END_TEST

START_TEST(bools_have_four_spellings_each)
{
    struct gyre_config_row row = {.type = GYRE_VALUE_BOOL};
    const char *yes[] = {"true", "yes", "on", "1"}, *no[] = {"false", "no", "off", "0"};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(number_of(row, yes[i]), 1);
        ck_assert_int_eq(number_of(row, no[i]), 0);
    }
    refused(row, "True", "is neither true nor false; expected true, yes, on, 1, false, no, off or 0");
}
END_TEST

START_TEST(a_choice_is_its_index)
{
    struct gyre_config_row row = {.type = GYRE_VALUE_CHOICE, .choices = {"auto", "on", "off"}};
    ck_assert_int_eq(number_of(row, "auto"), 0);
    ck_assert_int_eq(number_of(row, "off"), 2);
    refused(row, "of", "is no choice; expected one of auto, on, off");
}
END_TEST

START_TEST(names_and_cpus_have_their_characters)
{
    struct gyre_config_row name = {.type = GYRE_VALUE_NAME}, cpus = {.type = GYRE_VALUE_CPUS};
    number_of(name, "cpu-2.x_y");
    refused(name, "", "is empty; expected a name of letters, digits, '_', '-' and '.'");
    refused(name, "cpu # mine", "is not a name; expected a name of letters, digits, '_', '-' and '.'");
    name.preset = "";
    number_of(name, "");
    number_of(cpus, "none");
    number_of(cpus, "spread");
    number_of(cpus, "0");
    number_of(cpus, "0,2-5,7");
    const char *bad[] = {"", ",", "1,", "5-2", "1-", "-1", "a", "0, 1", "99999", "0-99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused(cpus, bad[i],
                "is not a list of CPUs; expected none, spread, or CPU numbers and ranges such as 0,2-5");
}
END_TEST

START_TEST(paths_become_absolute)
{
    ck_assert_str_eq(path_of(GYRE_VALUE_PATH, "/a/b"), "/a/b");
    ck_assert_str_eq(path_of(GYRE_VALUE_PATH, "a/b"), "/etc/gyre/a/b");
    ck_assert_str_eq(path_of(GYRE_VALUE_PATH, "./a"), "/etc/gyre/a");
    ck_assert_str_eq(path_of(GYRE_VALUE_PATH, "../a"), "/etc/gyre/../a");
    ck_assert_str_eq(path_of(GYRE_VALUE_PATH, "~/a"), "/home/u/a");
    ck_assert_str_eq(path_of(GYRE_VALUE_PATH, "~"), "/home/u");
    ck_assert_str_eq(path_of(GYRE_VALUE_PATH, "./~a"), "/etc/gyre/~a");
    ck_assert_str_eq(path_of(GYRE_VALUE_PATH, ""), "");
    ck_assert_str_eq(path_of(GYRE_VALUE_PATHS, "/a:b::~/c:"), "/a:/etc/gyre/b:/home/u/c");
    ck_assert_str_eq(path_of(GYRE_VALUE_PATHS, ":"), "");
}
END_TEST

START_TEST(a_tilde_without_home_is_refused)
{
    const struct gyre_value_place homeless = {.folder = "/etc"};
    struct gyre_config_row path = {.type = GYRE_VALUE_PATH}, paths = {.type = GYRE_VALUE_PATHS};
    const char *sentence = "begins with '~', but HOME does not name an absolute home folder; expected ";
    ck_assert_int_eq(gyre_value_read(&path, "~/a", &homeless, &pool, &value), GYRE_CONFIG);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), sentence));
    ck_assert_int_eq(gyre_value_read(&paths, "/a:~:/b", &homeless, &pool, &value), GYRE_CONFIG);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), sentence));
    ck_assert_int_eq(gyre_value_read(&paths, "/a/~:b~", &homeless, &pool, &value), GYRE_OK);
    ck_assert_str_eq(value.text, "/a/~:/etc/b~");
    gyre_pool_finish(&pool);
}
END_TEST

START_TEST(a_tilde_of_somebody_is_refused)
{
    struct gyre_config_row path = {.type = GYRE_VALUE_PATH}, paths = {.type = GYRE_VALUE_PATHS};
    const char *sentence = "begins with '~' and a name; '~/' is the home folder, './~' a file of that name";
    ck_assert_int_eq(gyre_value_read(&path, "~a/b", &place, &pool, &value), GYRE_CONFIG);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), sentence));
    ck_assert_int_eq(gyre_value_read(&paths, "~/x:~a", &place, &pool, &value), GYRE_CONFIG);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), sentence));
    gyre_pool_finish(&pool);
}
END_TEST

START_TEST(every_row_is_complete_and_its_preset_is_valid)
{
    size_t count;
    const struct gyre_config_row *rows = gyre_config_rows(&count);
    ck_assert_uint_gt(count, 30);
    for (size_t i = 0; i < count; i++) {
        ck_assert(gyre_value_is_name(rows[i].key));
        ck_assert_ptr_nonnull(rows[i].preset);
        ck_assert(rows[i].doc && rows[i].doc[strlen(rows[i].doc) - 1] == '.');
        ck_assert(i == 0 || rows[i].kind >= rows[i - 1].kind);
        ck_assert(gyre_config_row_find(rows[i].kind, rows[i].backend ? rows[i].backend : "x", rows[i].key) ==
                  &rows[i]);
        gyre_status status = gyre_value_read(&rows[i], rows[i].preset, &place, &pool, &value);
        ck_assert_msg(status == GYRE_OK, "%s: %s", rows[i].key, gyre_error_text());
    }
    gyre_pool_finish(&pool);
}
END_TEST

START_TEST(a_backends_own_rows_are_only_its_own)
{
    ck_assert_ptr_nonnull(gyre_config_row_find(GYRE_SECTION_BACKEND, "cpu", "threads"));
    ck_assert_ptr_null(gyre_config_row_find(GYRE_SECTION_BACKEND, "default", "threads"));
    ck_assert_ptr_null(gyre_config_row_find(GYRE_SECTION_BACKEND, "other", "threads"));
    ck_assert_ptr_nonnull(gyre_config_row_find(GYRE_SECTION_BACKEND, "other", "priority"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config_value");
    TCase *tcase = tcase_create("values");
    tcase_add_test(tcase, integers_are_decimal_and_in_range);
    tcase_add_test(tcase, integers_of_64_bits_are_exact_and_more_overflow);
    tcase_add_test(tcase, powers_are_powers_of_two);
    tcase_add_test(tcase, a_target_is_a_name_or_two);
    tcase_add_test(tcase, lists_of_names_are_separated_by_commas);
    tcase_add_test(tcase, sizes_take_binary_units);
    tcase_add_test(tcase, bools_have_four_spellings_each);
    tcase_add_test(tcase, a_choice_is_its_index);
    tcase_add_test(tcase, names_and_cpus_have_their_characters);
    tcase_add_test(tcase, paths_become_absolute);
    tcase_add_test(tcase, a_tilde_without_home_is_refused);
    tcase_add_test(tcase, a_tilde_of_somebody_is_refused);
    tcase_add_test(tcase, every_row_is_complete_and_its_preset_is_valid);
    tcase_add_test(tcase, a_backends_own_rows_are_only_its_own);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
