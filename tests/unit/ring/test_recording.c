/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of failures that cannot be kept or written: it ends with one sentence, and the last one that could be written stays. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../patience.h"
#include "core/stages/recording.h"
#include "ring_device.h"
#include "unit/unit.h"

static bool no_memory, no_rename;
static char folder[64], path[96], told[1024];
static int times_told;

FILE *__real_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size);
FILE *__wrap_open_memstream(char **text, size_t *size)
{
    errno = ENOMEM;
    return no_memory ? NULL : __real_open_memstream(text, size);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    errno = ENOSPC;
    return no_rename ? -1 : __real_rename(from, to);
}

static void tell(const void *context, const char *sentence)
{
    (void)context;
    snprintf(told, sizeof told, "%s", sentence);
    times_told++;
}

static void begin(struct ring_device *device)
{
    const struct gyre_recording_desc desc = {
        .path = path, .header = "{\"gyre_case\":1}\n", .failures = 4, .failed = tell};
    no_memory = no_rename = false;
    times_told = 0;
    snprintf(folder, sizeof folder, "/tmp/gyre-recording-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/kept.gyre-case", folder);
    ring_device_start(device, ring_options(), 1);
    ck_assert_msg(gyre_recording_create(device->queue, &desc) == GYRE_OK, "%s", gyre_error_text());
}

static void pass(struct ring_device *device, uint64_t word)
{
    gyre_completion completion;
    uint64_t reply;
    ring_device_send(device, word);
    ck_assert_int_eq(
        gyre_receive(device->queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(20000))),
        GYRE_OK);
    ck_assert_int_eq(completion.outcome, word == FAIL_WORD ? GYRE_HANDLER_FAILED : GYRE_REPLIED);
}

/* How many messages are in the file, whose first line is whole. */
static int count_kept(void)
{
    char line[512];
    int lines = 0;
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file))
        lines++;
    fclose(file);
    ck_assert_int_ge(lines, 1);
    return lines - 1;
}

static void finish(struct ring_device *device)
{
    ring_device_finish(device);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing is left beside it */
}

START_TEST(the_file_is_replaced_and_stays_its_queues_own)
{
    struct ring_device device, other;
    char first[sizeof path];
    begin(&device);
    pass(&device, 1);
    ck_assert_int_eq(count_kept(), 0);
    pass(&device, FAIL_WORD);
    pass(&device, 2);
    pass(&device, FAIL_WORD);
    ck_assert_int_eq(count_kept(), 4);
    memcpy(first, path, sizeof path);
    ring_device_start(&other, ring_options(), 1);
    const struct gyre_recording_desc again = {.path = first, .header = "", .failures = 4, .failed = tell};
    ck_assert_int_eq(gyre_recording_create(other.queue, &again), GYRE_INVALID);
    ring_device_finish(&other);
    ck_assert_int_eq(times_told, 0);
    finish(&device);
}
END_TEST

static void ck_ends(bool *fault, const char *why)
{
    struct ring_device device;
    begin(&device);
    pass(&device, FAIL_WORD);
    ck_assert_int_eq(count_kept(), 1);
    *fault = true;
    pass(&device, 1);
    pass(&device, FAIL_WORD);
    pass(&device, FAIL_WORD);
    *fault = false;
    pass(&device, FAIL_WORD);
    ck_assert_int_eq(times_told, 1);
    ck_assert_msg(strstr(told, why) && strstr(told, path), "%s", told);
    ck_assert_int_eq(count_kept(), 1);
    finish(&device);
}

START_TEST(a_recording_without_memory_ends)
{
    ck_ends(&no_memory, "Cannot allocate memory");
}
END_TEST

START_TEST(a_recording_that_cannot_be_written_ends)
{
    ck_ends(&no_rename, "No space left on device");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recording");
    TCase *tcase = tcase_create("recording");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, the_file_is_replaced_and_stays_its_queues_own);
    tcase_add_test(tcase, a_recording_without_memory_ends);
    tcase_add_test(tcase, a_recording_that_cannot_be_written_ends);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
