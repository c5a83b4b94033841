/* SPDX-License-Identifier: Apache-2.0 */
/* What gyre report hides, and the archive that it writes. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/report_parts.h"
#include "cli/doctor/tar.h"
#include "unit/unit.h"

START_TEST(secrets_are_hidden_and_their_files_are_named)
{
    ck_assert(report_hides("password"));
    ck_assert(report_hides("Api_Token"));
    ck_assert(report_hides("client_secret"));
    ck_assert(!report_hides("password_file"));
    ck_assert(!report_hides("capacity"));
}
END_TEST

START_TEST(an_address_loses_its_user)
{
    char text[128];
    report_without_user("nats://me:pass@word@host:4222/a@b", text, sizeof text);
    ck_assert_str_eq(text, "nats://(hidden)@host:4222/a@b");
    report_without_user("nats://host:4222/a@b", text, sizeof text);
    ck_assert_str_eq(text, "nats://host:4222/a@b");
    report_without_user("a@b", text, sizeof text);
    ck_assert_str_eq(text, "a@b");
}
END_TEST

START_TEST(every_address_of_a_list_loses_its_user)
{
    char text[128];
    report_without_user("nats://a:first@one,nats://b:second@two nats://c:third@three", text, sizeof text);
    ck_assert_ptr_null(strstr(text, "first"));
    ck_assert_ptr_null(strstr(text, "second"));
    ck_assert_ptr_null(strstr(text, "third"));
    ck_assert_ptr_nonnull(strstr(text, "three"));
}
END_TEST

START_TEST(an_archive_has_whole_blocks)
{
    cli_tar tar = {.seconds = 1};
    char name[101];
    memset(name, 'a', 100);
    name[100] = '\0';
    ck_assert(!cli_tar_add(&tar, name, "x", 1));
    ck_assert_uint_eq(tar.size, 0);
    ck_assert(cli_tar_add(&tar, "empty", NULL, 0));
    ck_assert_uint_eq(tar.size, 512);
    ck_assert(cli_tar_add(&tar, "full", name, 100));
    ck_assert_uint_eq(tar.size, 3 * 512);
    ck_assert_mem_eq(tar.bytes + 2 * 512, name, 100);
    ck_assert(cli_tar_end(&tar));
    ck_assert_uint_eq(tar.size, 5 * 512);
    cli_tar_finish(&tar);
    ck_assert_ptr_null(tar.bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *all = tcase_create("all");
    tcase_add_test(all, secrets_are_hidden_and_their_files_are_named);
    tcase_add_test(all, an_address_loses_its_user);
    tcase_add_test(all, every_address_of_a_list_loses_its_user);
    tcase_add_test(all, an_archive_has_whole_blocks);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
