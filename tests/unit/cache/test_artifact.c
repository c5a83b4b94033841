/* SPDX-License-Identifier: Apache-2.0 */
/* Artifact files: what is written is read, and nothing else is. */
#include "core/base/error.h"
#include "core/cache/artifact.h"
#include "suites.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char image[] = "\177ELF and then code";
static const char note[] = "backend cpu\nsource /a b/c.gyre.c\nfile one\nfile two\n";

static const char *written_artifact(void)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/a.kernel", fresh_folder());
    ck_assert_int_eq(gyre_artifact_write(path, image, sizeof image, note), GYRE_OK);
    return path;
}

static size_t read_file(const char *path, unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t length = fread(bytes, 1, size, file);
    fclose(file);
    return length;
}

START_TEST(what_is_written_is_read)
{
    struct gyre_artifact artifact;
    char value[32];
    ck_assert_int_eq(gyre_artifact_open(written_artifact(), &artifact), GYRE_OK);
    ck_assert_uint_eq(artifact.image_size, sizeof image);
    ck_assert_mem_eq(artifact.map, image, sizeof image);
    ck_assert(gyre_artifact_note(&artifact, "source", value, sizeof value));
    ck_assert_str_eq(value, "/a b/c.gyre.c");
    ck_assert(!gyre_artifact_note(&artifact, "sour", value, sizeof value));
    ck_assert_str_eq(value, "");
    gyre_artifact_close(&artifact);
}
END_TEST

START_TEST(a_note_gives_all_lines_of_a_key_in_order)
{
    struct gyre_artifact artifact;
    const char *value;
    size_t at = 0, length;
    ck_assert_int_eq(gyre_artifact_open(written_artifact(), &artifact), GYRE_OK);
    ck_assert(gyre_artifact_note_next(&artifact, "file", &at, &value, &length));
    ck_assert_mem_eq(value, "one", length);
    ck_assert(gyre_artifact_note_next(&artifact, "file", &at, &value, &length));
    ck_assert_mem_eq(value, "two", length);
    ck_assert(!gyre_artifact_note_next(&artifact, "file", &at, &value, &length));
    gyre_artifact_close(&artifact);
}
END_TEST

START_TEST(a_value_longer_than_its_room_is_cut)
{
    struct gyre_artifact artifact;
    char value[4];
    ck_assert_int_eq(gyre_artifact_open(written_artifact(), &artifact), GYRE_OK);
    ck_assert(gyre_artifact_note(&artifact, "source", value, sizeof value));
    ck_assert_str_eq(value, "/a ");
    gyre_artifact_close(&artifact);
}
END_TEST

START_TEST(cut_anywhere_it_is_refused_with_a_sentence)
{
    unsigned char bytes[512];
    struct gyre_artifact artifact;
    size_t length = read_file(written_artifact(), bytes, sizeof bytes);
    for (size_t cut = 0; cut < length; cut++) {
        unsigned char *exact = malloc(cut ? cut : 1); /* so that a read past the end is seen */
        memcpy(exact, bytes, cut);
        ck_assert_int_ne(gyre_artifact_parse("x", exact, cut, &artifact), GYRE_OK);
        ck_assert_ptr_nonnull(strstr(gyre_error_text(), "'x'"));
        free(exact);
    }
}
END_TEST

START_TEST(a_changed_byte_is_noticed_wherever_it_is)
{
    unsigned char bytes[512];
    struct gyre_artifact artifact;
    size_t length = read_file(written_artifact(), bytes, sizeof bytes);
    const size_t reserved = 24; /* the last bytes of the footer mean nothing yet */
    for (size_t i = 0; i < length - reserved; i++) {
        bytes[i] ^= 0x40;
        ck_assert_int_ne(gyre_artifact_parse("x", bytes, length, &artifact), GYRE_OK);
        bytes[i] ^= 0x40;
    }
    ck_assert_int_eq(gyre_artifact_parse("x", bytes, length, &artifact), GYRE_OK);
}
END_TEST

START_TEST(a_damaged_file_says_compile_again)
{
    unsigned char bytes[512];
    struct gyre_artifact artifact;
    size_t length = read_file(written_artifact(), bytes, sizeof bytes);
    bytes[3] ^= 1;
    ck_assert_int_eq(gyre_artifact_parse("x", bytes, length, &artifact), GYRE_FAILED);
    ck_assert_str_eq(gyre_error_text(), "'x' is damaged: its checksum does not match: compile again");
}
END_TEST

START_TEST(a_foreign_shared_object_is_told_from_a_text)
{
    struct gyre_artifact artifact;
    ck_assert_int_eq(gyre_artifact_parse("x", image, sizeof image, &artifact), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "compiled file without Gyre's end mark"));
    ck_assert_int_eq(gyre_artifact_parse("x", "int x;", 6, &artifact), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "no compiled kernel"));
}
END_TEST

START_TEST(a_full_disk_leaves_no_half_file)
{
    struct rlimit before, none = {0, RLIM_INFINITY};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/a.kernel", fresh_folder());
    getrlimit(RLIMIT_FSIZE, &before);
    none.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &none);
    gyre_status status = gyre_artifact_write(path, image, sizeof image, note);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(status, GYRE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "cannot be written: File too large; raise"));
    ck_assert_ptr_null(fopen(path, "r"));
}
END_TEST

START_TEST(a_missing_folder_is_named)
{
    ck_assert_int_eq(gyre_artifact_write("/nowhere/at/all", image, sizeof image, note), GYRE_FAILED);
    ck_assert_str_eq(gyre_error_text(), "'/nowhere/at/all' cannot be written: No such file or directory");
}
END_TEST

TCase *artifact_cases(void)
{
    TCase *tcase = tcase_create("artifact");
    tcase_add_test(tcase, what_is_written_is_read);
    tcase_add_test(tcase, a_note_gives_all_lines_of_a_key_in_order);
    tcase_add_test(tcase, a_value_longer_than_its_room_is_cut);
    tcase_add_test(tcase, cut_anywhere_it_is_refused_with_a_sentence);
    tcase_add_test(tcase, a_changed_byte_is_noticed_wherever_it_is);
    tcase_add_test(tcase, a_damaged_file_says_compile_again);
    tcase_add_test(tcase, a_foreign_shared_object_is_told_from_a_text);
    tcase_add_test(tcase, a_full_disk_leaves_no_half_file);
    tcase_add_test(tcase, a_missing_folder_is_named);
    return tcase;
}
