/* SPDX-License-Identifier: Apache-2.0 */
/* Journals in files, where the disk does not do what it is asked for: pread, pwrite and mkdir are wrapped. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/journal/file.h"
#include "unit/unit.h"

ssize_t __real_pread(int descriptor, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t offset);
ssize_t __wrap___pread_chk(int descriptor, void *bytes, size_t size, off_t offset, size_t room);
ssize_t __real_pwrite(int descriptor, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t size, off_t offset);

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);

static bool is_plain; /* pread and pwrite do what they are asked for */
static int read_error, write_error, make_error, interrupted;
static off_t full_from; /* where a disk has no more room: what lies before that can be written over */

int __wrap_mkdir(const char *path, mode_t mode)
{
    errno = make_error;
    return make_error ? -1 : __real_mkdir(path, mode);
}

/* A byte at a time, broken off now and then, and behind the third one the error. */
ssize_t __wrap_pread(int descriptor, void *bytes, size_t size, off_t offset)
{
    if (is_plain)
        return __real_pread(descriptor, bytes, size, offset);
    if (interrupted++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (read_error && offset >= 3) {
        errno = read_error;
        return -1;
    }
    return __real_pread(descriptor, bytes, size ? 1 : 0, offset);
}

/* What pread is called where the compiler fortifies by default (Ubuntu's). */
ssize_t __wrap___pread_chk(int descriptor, void *bytes, size_t size, off_t offset, size_t room)
{
    (void)room;
    return __wrap_pread(descriptor, bytes, size, offset);
}

/* Half of it, and then the error. */
ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    if (write_error && size <= 4 && offset >= full_from) {
        errno = write_error;
        return -1;
    }
    return __real_pwrite(descriptor, bytes, !is_plain && size > 4 ? size / 2 : size, offset);
}

static char folder[64];
static struct gyre_journal_file file;
static const struct gyre_journal_disk *const disk = &gyre_journal_file_disk;

static void open_file(void)
{
    ck_assert_int_eq(gyre_journal_file_open(folder, "one", true, &file), GYRE_OK);
}

/* With "abcdefgh" in it. */
static void begin(void)
{
    is_plain = false;
    read_error = write_error = 0;
    snprintf(folder, sizeof folder, "/tmp/gyre-file-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    open_file();
    ck_assert_int_eq(disk->begin_anew(&file), GYRE_OK);
    ck_assert_int_eq(disk->append(&file, "abcdefgh", 8, 0), GYRE_OK);
    ck_assert_int_eq(disk->end_anew(&file, true), GYRE_OK);
}

static void end(void)
{
    char path[96];
    gyre_journal_file_close(&file);
    snprintf(path, sizeof path, "%s/one.journal", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/one.lock", folder);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* and nothing else is left */
}

static void holds(const char *expected)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    ck_assert_int_eq(gyre_journal_file_read(&file, &bytes, &size), GYRE_OK);
    ck_assert(size == strlen(expected) && memcmp(bytes, expected, size) == 0);
    free(bytes);
}

START_TEST(short_reads_and_writes_are_gone_on_with)
{
    holds("abcdefgh");
    ck_assert_int_eq(disk->append(&file, "0123456789", 10, 0), GYRE_OK);
    ck_assert_int_eq(disk->sync(&file), GYRE_OK);
    holds("abcdefgh0123456789");
}
END_TEST

/* What cannot be read now is not lost, and is not what it holds. */
START_TEST(what_cannot_be_read_to_its_end_is_an_error)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    read_error = EIO;
    ck_assert_int_eq(gyre_journal_file_read(&file, &bytes, &size), GYRE_FAILED);
    ck_assert(bytes == NULL && size == 0);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "read says: "));
    read_error = 0;
    holds("abcdefgh");
}
END_TEST

static const struct {
    int error;
    gyre_status status;
} refusals[] = {
    {ENOSPC, GYRE_EXHAUSTED}, {EDQUOT, GYRE_EXHAUSTED}, {EFBIG, GYRE_EXHAUSTED}, {EIO, GYRE_FAILED}};

/* Nothing of what was written in part stays, and the next one stands where it would have stood. */
START_TEST(a_write_that_fails_in_its_midst_leaves_nothing)
{
    struct stat now;
    write_error = refusals[_i].error;
    ck_assert_int_eq(disk->append(&file, "0123456789", 10, 0), refusals[_i].status);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), strerror(write_error)));
    ck_assert(fstat(file.file, &now) == 0 && now.st_size == 8);
    write_error = 0;
    ck_assert_int_eq(disk->append(&file, "XY", 2, 0), GYRE_OK);
    holds("abcdefghXY");
}
END_TEST

/* What stands behind the end is gone over by the next write, and is back when that fails or another file does. */
START_TEST(a_mark_stands_behind_what_was_written_last)
{
    ck_assert_int_eq(disk->append(&file, "0123[mark]", 10, 6), GYRE_OK);
    holds("abcdefgh0123[mark]");
    write_error = ENOSPC;
    full_from = 18;
    ck_assert_int_eq(disk->append(&file, "456789abcdefgh[next]", 20, 6), GYRE_EXHAUSTED);
    write_error = 0;
    full_from = 0;
    holds("abcdefgh0123[mark]");
    ck_assert_int_eq(disk->begin_anew(&file), GYRE_OK);
    ck_assert_int_eq(disk->append(&file, "new[m]", 6, 3), GYRE_OK);
    ck_assert_int_eq(disk->end_anew(&file, false), GYRE_OK);
    ck_assert_int_eq(disk->append(&file, "45[last]", 8, 6), GYRE_OK);
    holds("abcdefgh012345[last]");
    ck_assert_int_eq(disk->append(&file, "[done]", 6, 6), GYRE_OK);
    holds("abcdefgh012345[done]");
}
END_TEST

/* Whether the new file is thrown away, or could not take the old one's place. */
START_TEST(a_new_file_that_came_to_nothing_leaves_the_old_one_as_it_was)
{
    char path[96];
    ck_assert_int_eq(disk->begin_anew(&file), GYRE_OK);
    ck_assert_int_eq(disk->append(&file, "new", 3, 0), GYRE_OK);
    if (_i == 1) { /* a folder in the way of the name */
        snprintf(path, sizeof path, "%s/one.journal", folder);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(mkdir(path, 0700), 0);
        ck_assert_int_eq(disk->end_anew(&file, true), GYRE_FAILED);
        ck_assert_int_eq(rmdir(path), 0);
    } else {
        ck_assert_int_eq(disk->end_anew(&file, false), GYRE_OK);
    }
    ck_assert_int_eq(disk->append(&file, "XY", 2, 0), GYRE_OK);
    holds("abcdefghXY");
}
END_TEST

/* As a backup makes them, or somebody who knows nothing of journals. */
START_TEST(what_lies_where_the_new_file_is_written_is_removed_and_not_written_to)
{
    char path[96], new_path[96];
    snprintf(path, sizeof path, "%s/one.journal", folder);
    snprintf(new_path, sizeof new_path, "%s/one.journal.new", folder);
    ck_assert_int_eq(_i == 0   ? symlink(path, new_path)
                     : _i == 1 ? link(path, new_path)
                               : mkfifo(new_path, 0600),
                     0);
    ck_assert_int_eq(disk->begin_anew(&file), GYRE_OK);
    ck_assert_int_eq(disk->append(&file, "new", 3, 0), GYRE_OK);
    ck_assert_int_eq(disk->end_anew(&file, false), GYRE_OK);
    holds("abcdefgh");
}
END_TEST

START_TEST(a_folder_where_the_new_file_is_written_is_told)
{
    char new_path[96];
    snprintf(new_path, sizeof new_path, "%s/one.journal.new", folder);
    ck_assert_int_eq(mkdir(new_path, 0700), 0);
    ck_assert_int_eq(disk->begin_anew(&file), GYRE_FAILED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "one.journal.new', cannot take its place"));
    ck_assert_int_eq(rmdir(new_path), 0);
    holds("abcdefgh");
}
END_TEST

/* Why it could not be made, not that it is not there. */
START_TEST(a_folder_that_cannot_be_made_is_told_with_the_reason)
{
    struct gyre_journal_file other;
    make_error = EROFS;
    ck_assert_int_eq(gyre_journal_file_open("/tmp/gyre-no-such-folder/journals", "one", true, &other),
                     GYRE_UNAVAILABLE);
    make_error = 0;
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), strerror(EROFS)));
}
END_TEST

static void tick(int signal)
{
    (void)signal;
}

/* The lock of a program that just ended may be held by its children for a moment, which signals do not make shorter. */
START_TEST(signals_make_the_wait_for_the_lock_no_shorter)
{
    const struct itimerval each_ms = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
    const struct sigaction action = {.sa_handler = tick};
    const pid_t child = fork(); /* has the lock with us */
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        usleep(250000);
        _exit(0);
    }
    gyre_journal_file_close(&file);
    ck_assert(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &each_ms, NULL) == 0);
    const gyre_status status = gyre_journal_file_open(folder, "one", true, &file);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &none, NULL), 0);
    ck_assert_int_eq(status, GYRE_OK);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

/* Has the lock with this process, from when a child of it that is named in the lock file has died, for longer than a living
 * holder is waited for. */
static void leave_lock_to_grandchild(void)
{
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        gyre_journal_lock_note(file.lock);
        const pid_t grandchild = fork();
        if (grandchild == 0)
            usleep(1000000);
        _exit(grandchild < 0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

START_TEST(a_lock_that_a_dead_program_left_to_its_children_is_waited_for)
{
    char holder[48];
    is_plain = true;
    leave_lock_to_grandchild();
    ck_assert_str_eq(gyre_journal_lock_holder(file.lock, holder, sizeof holder), "a program");
    gyre_journal_file_close(&file);
    open_file();
    gyre_journal_lock_holder(file.lock, holder, sizeof holder);
    ck_assert_str_eq(holder, "another kernel of this program");
}
END_TEST

/* A link that leads nowhere, as to a disk that is not there today, is no journal that was never there. */
START_TEST(a_name_that_leads_nowhere_is_refused)
{
    char path[96];
    gyre_journal_file_close(&file);
    snprintf(path, sizeof path, "%s/one.journal", folder);
    ck_assert(unlink(path) == 0 && symlink("/no/such/disk", path) == 0);
    ck_assert_int_eq(gyre_journal_file_open(folder, "one", true, &file), GYRE_FAILED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "open says"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("journal_file");
    TCase *tcase = tcase_create("journal_file");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_add_test(tcase, short_reads_and_writes_are_gone_on_with);
    tcase_add_test(tcase, what_cannot_be_read_to_its_end_is_an_error);
    tcase_add_loop_test(tcase, a_write_that_fails_in_its_midst_leaves_nothing, 0,
                        (int)(sizeof refusals / sizeof refusals[0]));
    tcase_add_test(tcase, a_mark_stands_behind_what_was_written_last);
    tcase_add_loop_test(tcase, a_new_file_that_came_to_nothing_leaves_the_old_one_as_it_was, 0, 2);
    tcase_add_loop_test(tcase, what_lies_where_the_new_file_is_written_is_removed_and_not_written_to, 0, 3);
    tcase_add_test(tcase, a_folder_where_the_new_file_is_written_is_told);
    tcase_add_test(tcase, a_folder_that_cannot_be_made_is_told_with_the_reason);
    tcase_add_test(tcase, signals_make_the_wait_for_the_lock_no_shorter);
    tcase_add_test(tcase, a_lock_that_a_dead_program_left_to_its_children_is_waited_for);
    tcase_add_test(tcase, a_name_that_leads_nowhere_is_refused);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
