/* SPDX-License-Identifier: Apache-2.0 */
/* The ini reader: what it takes, and the sentence for everything that it refuses. */
#include "core/base/error.h"
#include "core/config/ini_file.h"
#include "core/config/ini_text.h"
#include "unit/unit.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct gyre_pool pool;
static struct gyre_ini_file file;

static gyre_status parse_bytes(const char *bytes, size_t size)
{
    gyre_pool_finish(&pool);
    return gyre_ini_file_parse("a.ini", bytes, size, &pool, &file);
}

static gyre_status parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static void refused(const char *text, const char *sentence)
{
    ck_assert_int_eq(parse(text), GYRE_CONFIG);
    ck_assert_str_eq(gyre_error_text(), sentence);
}

/* The only setting of the text. */
static const char *value_of(const char *text)
{
    ck_assert_msg(parse(text) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(file.count, 2);
    return file.entries[1].value;
}

START_TEST(entries_come_in_order_with_their_lines)
{
    ck_assert_int_eq(parse("; first\n\n[gyre]\nbackend = cpu\n# more\n[queue.a]\ncapacity=8"), GYRE_OK);
    ck_assert_uint_eq(file.count, 4);
    ck_assert_str_eq(file.entries[0].section, "gyre");
    ck_assert_ptr_null(file.entries[0].key);
    ck_assert_int_eq(file.entries[0].line, 3);
    ck_assert_str_eq(file.entries[1].key, "backend");
    ck_assert_str_eq(file.entries[1].value, "cpu");
    ck_assert_int_eq(file.entries[1].line, 4);
    ck_assert_str_eq(file.entries[3].section, "queue.a");
    ck_assert_str_eq(file.entries[3].value, "8");
    ck_assert_int_eq(file.entries[3].line, 7);
}
END_TEST

START_TEST(an_empty_file_has_no_entries)
{
    ck_assert_int_eq(parse(""), GYRE_OK);
    ck_assert_uint_eq(file.count, 0);
    ck_assert_int_eq(parse("\n\n  \n; only this"), GYRE_OK);
    ck_assert_uint_eq(file.count, 0);
}
END_TEST

START_TEST(crlf_and_byte_order_mark_are_taken)
{
    ck_assert_str_eq(value_of("\xEF\xBB\xBF[gyre]\r\nbackend = cpu\r\n"), "cpu");
}
END_TEST

START_TEST(a_second_byte_order_mark_is_refused)
{
    refused("\xEF\xBB\xBF\xEF\xBB\xBF[gyre]\n", "a.ini:1: has two byte order marks; remove one");
}
END_TEST

START_TEST(a_comment_may_follow_a_value_and_a_section)
{
    ck_assert_str_eq(value_of("[gyre] ; the whole\nbackend = cpu ; for now\n"), "cpu");
    ck_assert_str_eq(value_of("[gyre]\nbackend = a;b\n"), "a;b");
    ck_assert_str_eq(value_of("[gyre]\noptions = \"a\" ; it's quoted\n"), "\"a\"");
}
END_TEST

START_TEST(a_comment_sign_between_quotes_is_refused)
{
    refused("[gyre]\noptions = -DX=\"a ;b\"\n",
            "a.ini:2: ' ;' between quotes would cut the value, because it "
            "starts a comment; remove the blank before ';'");
}
END_TEST

START_TEST(a_line_of_the_longest_length_is_whole)
{
    char text[512] = "[gyre]\noptions = ";
    size_t start = strlen(text);
    memset(text + start, 'x', GYRE_INI_LINE_MAX - strlen("options = "));
    const char *value = value_of(text);
    ck_assert_uint_eq(strlen(value), GYRE_INI_LINE_MAX - strlen("options = "));
}
END_TEST

START_TEST(an_over_long_line_is_refused_not_cut)
{
    char text[512] = "[gyre]\noptions = ";
    size_t start = strlen(text);
    memset(text + start, 'x', GYRE_INI_LINE_MAX - strlen("options = ") + 1);
    refused(text, "a.ini:2: the line has 191 bytes; at most 190 are possible");
}
END_TEST

START_TEST(a_comment_may_have_any_length)
{
    char comment[3001] = "", text[4096];
    memset(comment, '[', sizeof comment - 1);
    snprintf(text, sizeof text, "; %s\n[gyre]\nbackend = cpu\n", comment);
    ck_assert_str_eq(value_of(text), "cpu");
}
END_TEST

START_TEST(an_over_long_section_name_is_refused_not_cut)
{
    char name[GYRE_INI_SECTION_MAX + 2] = "kernel.", text[128];
    memset(name + 7, 'k', GYRE_INI_SECTION_MAX - 7);
    snprintf(text, sizeof text, "[%s]\n", name);
    ck_assert_int_eq(parse(text), GYRE_OK);
    ck_assert_str_eq(file.entries[0].section, name);
    snprintf(text, sizeof text, "[%sk]\n", name);
    refused(text, "a.ini:1: the section name has 50 characters; at most 49 are possible");
}
END_TEST

START_TEST(an_indented_line_is_refused)
{
    const char *sentence = "a.ini:3: the line is indented; start it in the first "
                           "column (a value cannot continue on a second line)";
    refused("[gyre]\nbackend = cpu\n  strict = true\n", sentence);
    refused("[gyre]\n\n\t[queue.a]\n", sentence);
    ck_assert_int_eq(parse("[gyre]\n  ; an indented comment\n"), GYRE_OK);
}
END_TEST

START_TEST(a_duplicate_key_is_refused)
{
    refused("[gyre]\nbackend = cpu\n[queue.a]\n[gyre]\nbackend = auto\n",
            "a.ini:5: duplicate key 'backend' in [gyre]; it was set on line 2 already: remove one");
    ck_assert_int_eq(parse("[queue.a]\ncapacity = 1\n[queue.b]\ncapacity = 1\n"), GYRE_OK);
}
END_TEST

START_TEST(a_line_that_is_neither_section_nor_setting_is_refused)
{
    refused("[gyre]\nbackend\n", "a.ini:2: 'backend' is neither [section] nor 'key = value'");
    refused("[gyre]\nbackend: cpu\n", "a.ini:2: 'backend: cpu' is neither [section] nor 'key = value'");
    refused("[gyre]\nbackend ; = cpu\n", "a.ini:2: 'backend ; = cpu' is neither [section] nor 'key = value'");
    refused("[gyre]\n= cpu\n", "a.ini:2: '' is no key; expected letters, digits and '_' before the '='");
    refused("[gyre]\nmy key = cpu\n",
            "a.ini:2: 'my key' is no key; expected letters, digits and '_' before the '='");
}
END_TEST

START_TEST(a_section_line_holds_nothing_else)
{
    refused("[gyre\n", "a.ini:1: '[gyre' has no closing ']'; expected [section]");
    refused("[gyre] backend = cpu\n", "a.ini:1: 'backend = cpu' follows [gyre] on its line and would be "
                                      "ignored; put it on a line of its own");
    refused("[ gyre ]\n", "a.ini:1: ' gyre ' is no section name; expected letters, "
                          "digits, '_', '-' and '.', without blanks");
    refused("[]\n",
            "a.ini:1: '' is no section name; expected letters, digits, '_', '-' and '.', without blanks");
}
END_TEST

START_TEST(a_setting_before_the_first_section_is_refused)
{
    refused("backend = cpu\n",
            "a.ini:1: 'backend' stands before the first section; put [gyre] or another section above it");
}
END_TEST

START_TEST(the_first_of_several_errors_is_reported)
{
    refused("[gyre]\nbackend\n [x]\n[\n", "a.ini:2: 'backend' is neither [section] nor 'key = value'");
}
END_TEST

START_TEST(a_nul_byte_is_refused)
{
    static const char text[] = "[gyre]\nback\0end = cpu\n";
    ck_assert_int_eq(parse_bytes(text, sizeof text - 1), GYRE_CONFIG);
    ck_assert_str_eq(gyre_error_text(), "a.ini:2: byte 0x00 in column 5 is a NUL byte: is this a text file?");
}
END_TEST

START_TEST(what_is_not_utf8_is_refused)
{
    static const char *const bad[] = {"\xE9",     "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80",
                                      "\xE2\x82", "\x80"};
    char text[64], sentence[128];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "[gyre]\n; %s\n", bad[i]);
        snprintf(sentence, sizeof sentence,
                 "a.ini:2: byte 0x%02X in column 3 is not UTF-8; save the file as UTF-8",
                 (unsigned char)bad[i][0]);
        refused(text, sentence);
    }
    refused("\xFF\xFE[", "a.ini:1: byte 0xFF in column 1 is not UTF-8; save the file as UTF-8");
    ck_assert_str_eq(value_of("[gyre]\noptions = \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n"),
                     "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
}
END_TEST

START_TEST(control_characters_are_refused)
{
    refused("[gyre]\nbackend = \x1B[1m\n",
            "a.ini:2: byte 0x1B in column 11 is a control character; remove it");
    refused("[gyre]\rbackend = cpu\r", "a.ini:1: byte 0x0D in column 7 is a carriage return "
                                       "without a line feed; end lines with LF or CRLF");
}
END_TEST

START_TEST(more_entries_than_anybody_writes_are_refused)
{
    static char text[(GYRE_INI_ENTRIES_MAX + 1) * 4 + 1];
    for (size_t i = 0; i <= GYRE_INI_ENTRIES_MAX; i++)
        memcpy(text + 4 * i, "[a]\n", 4);
    refused(text, "a.ini:4097: more than 4096 sections and keys; is this the right file?");
}
END_TEST

/* ---- files ---- */

static char folder[] = "/tmp/gyre-ini-XXXXXX";
static char path[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/gyre-ini-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/gyre.ini", folder);
}

static void remove_folder(void)
{
    gyre_pool_finish(&pool);
    unlink(path);
    rmdir(path);
    rmdir(folder);
}

static void file_refused(const char *what)
{
    char sentence[256];
    ck_assert_int_eq(gyre_ini_file_read(path, &pool, &file), GYRE_CONFIG);
    snprintf(sentence, sizeof sentence, "%s: %s", path, what);
    ck_assert_str_eq(gyre_error_text(), sentence);
}

START_TEST(a_missing_file_is_not_found)
{
    char sentence[256];
    ck_assert_int_eq(gyre_ini_file_read(path, &pool, &file), GYRE_NOT_FOUND);
    snprintf(sentence, sizeof sentence, "%s: there is no such file", path);
    ck_assert_str_eq(gyre_error_text(), sentence);
}
END_TEST

START_TEST(a_directory_is_refused)
{
    ck_assert_int_eq(mkdir(path, 0700), 0);
    file_refused("is a directory; expected a configuration file");
}
END_TEST

START_TEST(a_fifo_is_refused_without_waiting)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    file_refused("is neither a regular file nor the null device");
}
END_TEST

START_TEST(a_huge_file_is_refused)
{
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(ftruncate(fileno(stream), GYRE_INI_SIZE_MAX + 1), 0);
    fclose(stream);
    file_refused("is longer than 1048576 bytes, which are the limit of a configuration file");
}
END_TEST

START_TEST(a_file_that_tells_no_size_is_read)
{
    ck_assert_int_eq(gyre_ini_file_read("/proc/version", &pool, &file), GYRE_CONFIG);
    ck_assert_msg(strstr(gyre_error_text(), "/proc/version:1: 'Linux version") != NULL, "%s",
                  gyre_error_text());
}
END_TEST

/* /proc/self/maps has a line of more than 240 bytes, most of them the name, for each of these pages. */
START_TEST(a_huge_file_that_tells_no_size_is_refused)
{
    enum { PAGES = 5000, PAGE = 4096, NAME = 240 };
    char name[NAME + 1] = "";
    memset(name, 'x', NAME);
    int memory = memfd_create(name, MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(memory, PAGE), 0);
    char *pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(pages != MAP_FAILED);
    for (size_t i = 0; i < PAGES; i++)
        ck_assert(mmap(pages + i * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, memory, 0) != MAP_FAILED);
    close(memory);
    ck_assert_int_eq(gyre_ini_file_read("/proc/self/maps", &pool, &file), GYRE_CONFIG);
    ck_assert_str_eq(
        gyre_error_text(),
        "/proc/self/maps: is longer than 1048576 bytes, which are the limit of a configuration file");
    munmap(pages, (size_t)PAGES * PAGE);
}
END_TEST

START_TEST(an_unreadable_file_is_refused)
{
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fclose(stream);
    ck_assert_int_eq(chmod(path, 0), 0);
    ck_assert_int_eq(chmod(folder, 0711), 0);
    if (geteuid() == 0) /* root reads anything: be somebody else in this test's own process */
        ck_assert_int_eq(seteuid(65534), 0);
    file_refused("cannot be read: Permission denied");
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

START_TEST(the_null_device_is_an_empty_file)
{
    ck_assert_int_eq(symlink("/dev/null", path), 0);
    ck_assert_int_eq(gyre_ini_file_read(path, &pool, &file), GYRE_OK);
    ck_assert_uint_eq(file.count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config_ini");
    TCase *text = tcase_create("text"), *files = tcase_create("files");
    tcase_add_test(text, entries_come_in_order_with_their_lines);
    tcase_add_test(text, an_empty_file_has_no_entries);
    tcase_add_test(text, crlf_and_byte_order_mark_are_taken);
    tcase_add_test(text, a_second_byte_order_mark_is_refused);
    tcase_add_test(text, a_comment_may_follow_a_value_and_a_section);
    tcase_add_test(text, a_comment_sign_between_quotes_is_refused);
    tcase_add_test(text, a_line_of_the_longest_length_is_whole);
    tcase_add_test(text, an_over_long_line_is_refused_not_cut);
    tcase_add_test(text, a_comment_may_have_any_length);
    tcase_add_test(text, an_over_long_section_name_is_refused_not_cut);
    tcase_add_test(text, an_indented_line_is_refused);
    tcase_add_test(text, a_duplicate_key_is_refused);
    tcase_add_test(text, a_line_that_is_neither_section_nor_setting_is_refused);
    tcase_add_test(text, a_section_line_holds_nothing_else);
    tcase_add_test(text, a_setting_before_the_first_section_is_refused);
    tcase_add_test(text, the_first_of_several_errors_is_reported);
    tcase_add_test(text, a_nul_byte_is_refused);
    tcase_add_test(text, what_is_not_utf8_is_refused);
    tcase_add_test(text, control_characters_are_refused);
    tcase_add_test(text, more_entries_than_anybody_writes_are_refused);
    suite_add_tcase(suite, text);
    tcase_add_checked_fixture(files, make_folder, remove_folder);
    tcase_add_test(files, a_missing_file_is_not_found);
    tcase_add_test(files, a_directory_is_refused);
    tcase_add_test(files, a_fifo_is_refused_without_waiting);
    tcase_add_test(files, a_huge_file_is_refused);
    tcase_add_test(files, a_file_that_tells_no_size_is_read);
    tcase_add_test(files, a_huge_file_that_tells_no_size_is_refused);
    tcase_add_test(files, an_unreadable_file_is_refused);
    tcase_add_test(files, the_null_device_is_an_empty_file);
    suite_add_tcase(suite, files);
    return unit_run(suite);
}
