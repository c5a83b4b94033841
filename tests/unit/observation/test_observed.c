/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of observation files believes nothing: files that are cut, damaged, of other versions, or of nobody. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/observation/observed.h"
#include "random.h"
#include "unit/observation/folder.h"
#include "unit/observation/walk.h"

enum { BLOCKS = 3, FOUND = 40 + 40 + 1 + BLOCKS + 1 };

static unsigned char *whole; /* the bytes of a good file */
static size_t whole_size;

static void read_whole(const char *path)
{
    struct stat about;
    const int file = open(path, O_RDONLY);
    ck_assert(file >= 0 && fstat(file, &about) == 0);
    whole_size = (size_t)about.st_size;
    whole = malloc(whole_size);
    ck_assert_int_eq(read(file, whole, whole_size), (ssize_t)whole_size);
    close(file);
}

static void make_whole(void)
{
    folder_make();
    const gyre_observe_block blocks[BLOCKS] = {{.known = 1, .share = 5}, {.known = 1, .share = UINT32_MAX}};
    struct gyre_observation *observation = folder_open(8);
    for (int i = 0; i < 40; i++) {
        const gyre_observe_record about =
            folder_record((enum gyre_observe_kind)(GYRE_OBSERVE_KERNEL + i % 2), 1, "object");
        const uint64_t words[2] = {0, (uint64_t)i};
        gyre_observation_values(observation, gyre_observation_enter(observation, &about), words, 2);
        gyre_observation_event(observation, GYRE_OBSERVE_SAID, 1, "event %d", i);
    }
    gyre_observation_trouble(observation, 2, "something is wrong");
    gyre_observation_blocks(observation, 1, blocks, BLOCKS);
    read_whole(gyre_observation_path(observation));
    gyre_observation_close(observation);
}

static void free_whole(void)
{
    free(whole);
    folder_remove();
}

static gyre_status parse(const unsigned char *bytes, size_t size, struct gyre_observed *out)
{
    unsigned char *copy = malloc(size + !size); /* exactly its size, so that a sanitizer sees the next byte */
    memcpy(copy, bytes, size);
    return gyre_observed_parse("a file", copy, size, out);
}

START_TEST(a_whole_file_is_read)
{
    struct gyre_observed seen;
    ck_assert_int_eq(parse(whole, whole_size, &seen), GYRE_OK);
    ck_assert_uint_eq(walk_observed(&seen), FOUND);
    gyre_observed_finish(&seen);
}
END_TEST

START_TEST(a_cut_file_has_what_is_left)
{
    struct gyre_observed seen;
    size_t before = 0;
    for (size_t size = 0; size <= whole_size; size += size < 1024 ? 1 : 20479) {
        const gyre_status status = parse(whole, size, &seen);
        ck_assert(status == GYRE_OK || status == GYRE_INVALID);
        const size_t found = status == GYRE_OK ? walk_observed(&seen) : 0;
        ck_assert_uint_ge(found, before > 0 ? 1 : 0);
        before = found;
        gyre_observed_finish(&seen);
    }
    ck_assert_uint_gt(before, 40);
}
END_TEST

/* Writes the good file with nothing where it is zero, as its writer leaves it. */
static void write_sparse(const char *path)
{
    static const unsigned char zero[4096];
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert(file >= 0 && ftruncate(file, (off_t)whole_size) == 0);
    for (size_t at = 0, size; at < whole_size; at += size) {
        size = whole_size - at < sizeof zero ? whole_size - at : sizeof zero;
        if (memcmp(whole + at, zero, size) != 0)
            ck_assert_int_eq(pwrite(file, whole + at, size, (off_t)at), (ssize_t)size);
    }
    close(file);
}

START_TEST(a_file_with_holes_is_read_as_it_is)
{
    struct gyre_observed seen;
    char path[96];
    snprintf(path, sizeof path, "%s/sparse", folder_path);
    write_sparse(path);
    ck_assert_int_eq(gyre_observed_read(path, &seen, NULL), GYRE_OK);
    ck_assert_uint_eq(seen.size, whole_size);
    ck_assert_int_eq(memcmp(seen.bytes, whole, whole_size), 0);
    ck_assert(!seen.is_cut);
    gyre_observed_finish(&seen);
    ck_assert_int_eq(truncate(path, 4097), 0);
    ck_assert_int_eq(gyre_observed_read(path, &seen, NULL), GYRE_OK);
    ck_assert_uint_eq(seen.size, 4097);
    ck_assert(seen.is_cut);
    gyre_observed_finish(&seen);
}
END_TEST

START_TEST(any_bytes_are_survived)
{
    struct gyre_observed seen;
    uint64_t random = random_begin(4711);
    unsigned char *bytes = malloc(whole_size);
    for (int turn = 0; turn < 60; turn++) { /* many more in fuzz/observed */
        memcpy(bytes, whole, whole_size);
        for (int i = 0; i < 24; i++) { /* mostly in the head, which says where all else lies */
            const size_t room = i % 3 ? sizeof(gyre_observe_head) : whole_size;
            bytes[8 + random_below(&random, room - 8)] = (unsigned char)random_below(&random, 256);
        }
        memcpy(bytes + offsetof(gyre_observe_head, version), whole + offsetof(gyre_observe_head, version), 4);
        if (parse(bytes, whole_size, &seen) == GYRE_OK)
            ck_assert_uint_gt(walk_observed(&seen), 0);
        gyre_observed_finish(&seen);
    }
    free(bytes);
}
END_TEST

START_TEST(extreme_parts_are_cut)
{
    /* a small file: what is walked grows with its square */
    enum { SIZE = 3072, FAR = SIZE / 2 };
    static const uint64_t extremes[] = {0, 1, 8, FAR, UINT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX - 7};
    const size_t count = sizeof extremes / sizeof extremes[0];
    struct gyre_observed seen;
    for (size_t i = 0; i < count * count * count; i++) {
        gyre_observe_head *head = (gyre_observe_head *)whole;
        for (uint32_t part = 0; part < 5; part++)
            head->parts[part] = (gyre_observe_part){.kind = part < 4 ? part + 1 : GYRE_OBSERVE_BLOCKS,
                                                    .stride = (uint32_t)extremes[i % count],
                                                    .offset = extremes[i / count % count],
                                                    .count = extremes[i / count / count]};
        head->part_count = UINT32_MAX;
        head->events = extremes[i % count];
        ck_assert_int_eq(parse(whole, SIZE, &seen), GYRE_OK);
        ck_assert_uint_gt(walk_observed(&seen), 0);
        gyre_observed_finish(&seen);
    }
}
END_TEST

/* Lays the parts of a good file out anew with entries that are longer, as a later writer would. */
START_TEST(a_later_writer_is_read)
{
    enum { LONGER = 64 };
    struct gyre_observed seen;
    gyre_observe_head head;
    memcpy(&head, whole, sizeof head);
    const gyre_observe_part records = head.parts[0];
    const size_t stride = records.stride + LONGER, at = (whole_size + 7) / 8 * 8;
    unsigned char *bytes = calloc(1, at + 64 * stride);
    memcpy(bytes, whole, whole_size);
    for (size_t i = 0; i < 64; i++) {
        memcpy(bytes + at + i * stride, whole + records.offset + i * records.stride, records.stride);
        memset(bytes + at + i * stride + records.stride, 0xff, LONGER);
    }
    head.parts[0] = (gyre_observe_part){GYRE_OBSERVE_RECORDS, (uint32_t)stride, at, 64};
    head.parts[head.part_count++] = (gyre_observe_part){999, 8, 4096, 10}; /* a part that nobody knows here */
    head.head_size += 8;
    memcpy(bytes, &head, sizeof head);
    ck_assert_int_eq(parse(bytes, at + 64 * stride, &seen), GYRE_OK);
    ck_assert_uint_eq(walk_observed(&seen), FOUND);
    gyre_observed_finish(&seen);
    free(bytes);
}
END_TEST

START_TEST(an_earlier_writer_is_read)
{
    struct gyre_observed seen;
    gyre_observe_head *head = (gyre_observe_head *)whole;
    head->head_size = offsetof(gyre_observe_head, program); /* it knew no more, and no parts */
    ck_assert_int_eq(parse(whole, whole_size, &seen), GYRE_OK);
    ck_assert_str_eq(seen.head.program, "");
    ck_assert_uint_eq(gyre_observed_records(&seen), 0);
    ck_assert_uint_eq(seen.head.pid, (unsigned)getpid());
    gyre_observed_finish(&seen);
}
END_TEST

static void refused(gyre_status status, const char *word)
{
    struct gyre_observed seen;
    ck_assert_int_eq(parse(whole, whole_size, &seen), status);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), word));
    gyre_observed_finish(&seen);
}

START_TEST(other_files_are_refused_with_a_sentence)
{
    gyre_observe_head *head = (gyre_observe_head *)whole;
    head->version = 0;
    refused(GYRE_AGAIN, "being made");
    head->version = GYRE_OBSERVE_VERSION + 1;
    refused(GYRE_INCOMPATIBLE, "expected version 1 of observation files, found 2");
    head->version = GYRE_OBSERVE_VERSION;
    head->magic ^= 1;
    refused(GYRE_INVALID, "no observation file");
    struct gyre_observed seen;
    ck_assert_int_eq(gyre_observed_read("/no/such/file", &seen, NULL), GYRE_NOT_FOUND);
    ck_assert_int_eq(gyre_observed_read("/dev/zero", &seen, NULL), GYRE_UNAVAILABLE);
    ck_assert_int_eq(gyre_observed_read("/tmp", &seen, NULL), GYRE_UNAVAILABLE);
}
END_TEST

START_TEST(texts_are_made_printable)
{
    struct gyre_observed seen;
    gyre_observe_head head;
    gyre_observe_record record;
    memcpy(&head, whole, sizeof head);
    static const char bad[] = "a\x1b[31m\n\xff\xc3\xa9\xc2\x9b\xe2\x82";
    memset(whole + head.parts[0].offset + head.parts[0].stride + offsetof(gyre_observe_record, name), 'x',
           sizeof record.name + sizeof record.detail);
    memcpy(whole + head.parts[0].offset + head.parts[0].stride + offsetof(gyre_observe_record, name), bad,
           sizeof bad);
    ck_assert_int_eq(parse(whole, whole_size, &seen), GYRE_OK);
    ck_assert(gyre_observed_record(&seen, 1, &record));
    ck_assert_str_eq(record.name, "a?[31m??\xc3\xa9????");
    ck_assert_uint_eq(strlen(record.detail), sizeof record.detail - 1);
    gyre_observed_finish(&seen);
}
END_TEST

/* The name of the first record, as a reader gets it where the file has `written`. */
static void name_becomes(const char *written, const char *read)
{
    struct gyre_observed seen;
    gyre_observe_head head;
    gyre_observe_record record;
    memcpy(&head, whole, sizeof head);
    memcpy(whole + head.parts[0].offset + head.parts[0].stride + offsetof(gyre_observe_record, name), written,
           strlen(written) + 1);
    ck_assert_int_eq(parse(whole, whole_size, &seen), GYRE_OK);
    ck_assert(gyre_observed_record(&seen, 1, &record));
    ck_assert_str_eq(record.name, read);
    gyre_observed_finish(&seen);
}

START_TEST(letters_that_show_nothing_or_turn_a_line_are_marked)
{
    name_becomes("pay\u202eorders\u202c", "pay???orders???"); /* it would be shown backwards */
    name_becomes("a\u2066b\u2069\u200f", "a???b??????");
    name_becomes("a\u200bb\ufeff\u061c", "a???b?????");
    name_becomes("a\u2028b\u00ad", "a???b??");
    name_becomes("a\U000e0041", "a????");
    name_becomes("\u65e5\u672c \u00e9 \u05d0 \U0001f600", "\u65e5\u672c \u00e9 \u05d0 \U0001f600");
}
END_TEST

START_TEST(files_of_other_users_are_not_believed)
{
    struct gyre_observed seen = {.owner = geteuid()};
    struct gyre_observed_file file = {.folder_owner = 0};
    ck_assert(gyre_observed_is_believed(&file, &seen));
    seen.owner = geteuid() + 1;
    ck_assert(!gyre_observed_is_believed(&file, &seen));
    file.folder_owner = seen.owner; /* a service's own folder, which this user is allowed to read */
    ck_assert(gyre_observed_is_believed(&file, &seen));
    seen.owner = 0;
    ck_assert(gyre_observed_is_believed(&file, &seen));
}
END_TEST

START_TEST(a_folder_that_others_can_write_is_refused_with_a_sentence)
{
    char sentence[1200], folder[80];
    ck_assert(!gyre_observed_folder_refused(folder_path, sentence, sizeof sentence));
    setenv("XDG_RUNTIME_DIR", folder_path, 1);
    snprintf(folder, sizeof folder, "%s/gyre", folder_path);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert(!gyre_observed_folder_refused("", sentence, sizeof sentence));
    ck_assert_int_eq(chmod(folder, 0777), 0);
    ck_assert(gyre_observed_folder_refused("", sentence, sizeof sentence));
    ck_assert_ptr_nonnull(strstr(sentence, folder));
    ck_assert_ptr_nonnull(strstr(sentence, "belongs to another user, or others can write to it"));
}
END_TEST

START_TEST(a_writer_that_died_within_a_record_hides_it)
{
    struct gyre_observed seen;
    gyre_observe_head head;
    gyre_observe_record record;
    memcpy(&head, whole, sizeof head);
    unsigned char *first = whole + head.parts[0].offset + head.parts[0].stride;
    memcpy(&record, first, sizeof record);
    record.again--; /* as the writer marks it first */
    memcpy(first, &record, sizeof record);
    ck_assert_int_eq(parse(whole, whole_size, &seen), GYRE_OK);
    ck_assert(!gyre_observed_record(&seen, 1, &record));
    ck_assert(gyre_observed_record(&seen, 2, &record));
    gyre_observed_finish(&seen);
}
END_TEST

START_TEST(what_changed_between_two_copies_is_hidden)
{
    struct gyre_observed seen;
    gyre_observe_head head;
    gyre_observe_record record;
    gyre_observe_event event;
    memcpy(&head, whole, sizeof head);
    ck_assert_int_eq(parse(whole, whole_size, &seen), GYRE_OK);
    const gyre_observe_part *events = &seen.parts[GYRE_OBSERVE_EVENTS];
    whole[head.parts[0].offset + head.parts[0].stride + offsetof(gyre_observe_record, name)]++;
    whole[events->offset + 2 * events->stride + offsetof(gyre_observe_event, text)]++; /* of event 3 */
    gyre_observed_compare(&seen, whole, whole_size);
    ck_assert(!gyre_observed_record(&seen, 1, &record));
    ck_assert(gyre_observed_record(&seen, 2, &record));
    ck_assert(gyre_observed_event(&seen, 2, &event));
    ck_assert(!gyre_observed_event(&seen, 3, &event));
    gyre_observed_compare(&seen, NULL, 0); /* without a second copy nothing is believed */
    ck_assert(!gyre_observed_record(&seen, 2, &record));
    gyre_observed_finish(&seen);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("observed");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, make_whole, free_whole);
    tcase_set_timeout(all, 60);
    tcase_add_test(all, a_whole_file_is_read);
    tcase_add_test(all, a_cut_file_has_what_is_left);
    tcase_add_test(all, a_file_with_holes_is_read_as_it_is);
    tcase_add_test(all, any_bytes_are_survived);
    tcase_add_test(all, extreme_parts_are_cut);
    tcase_add_test(all, a_later_writer_is_read);
    tcase_add_test(all, an_earlier_writer_is_read);
    tcase_add_test(all, other_files_are_refused_with_a_sentence);
    tcase_add_test(all, texts_are_made_printable);
    tcase_add_test(all, letters_that_show_nothing_or_turn_a_line_are_marked);
    tcase_add_test(all, files_of_other_users_are_not_believed);
    tcase_add_test(all, a_folder_that_others_can_write_is_refused_with_a_sentence);
    tcase_add_test(all, a_writer_that_died_within_a_record_hides_it);
    tcase_add_test(all, what_changed_between_two_copies_is_hidden);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
