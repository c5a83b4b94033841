/* SPDX-License-Identifier: Apache-2.0 */
/* Fault points: what a plan may say, when a point fires, and that all of them are in the docs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/journal/file.h"
#include "unit/unit.h"

static struct gyre_fault_board board;

static gyre_status plan(const char *text)
{
    board = (struct gyre_fault_board){0};
    gyre_error_clear();
    return gyre_fault_plan(text, &board);
}

START_TEST(a_plan_says_what_happens_where_and_when)
{
    ck_assert_int_eq(plan("journal.write=fail:ENOSPC@5,worker.start=die@2+,ring.park=delay:20@0.5%,"
                          "journal.wrote=short"),
                     GYRE_OK);
    const struct gyre_fault_cell *cell = &board.cells[GYRE_FAULT_JOURNAL_WRITE];
    ck_assert(cell->action == GYRE_FAULT_FAIL && cell->value == ENOSPC);
    ck_assert(cell->first == 5 && cell->last == 5 && cell->chance == 0);
    cell = &board.cells[GYRE_FAULT_WORKER_START];
    ck_assert(cell->action == GYRE_FAULT_DIE && cell->first == 2 && cell->last == UINT64_MAX);
    cell = &board.cells[GYRE_FAULT_RING_PARK];
    ck_assert(cell->action == GYRE_FAULT_DELAY && cell->value == 20 && cell->last == 0);
    ck_assert_uint_eq(cell->chance, 4294967296u / 200);
    cell = &board.cells[GYRE_FAULT_JOURNAL_WROTE];
    ck_assert(cell->action == GYRE_FAULT_SHORT && cell->first == 1 && cell->last == 1);
}
END_TEST

START_TEST(a_wrong_plan_gets_a_sentence)
{
    static const char *const wrong[][2] = {{"journal.wrte=die", "there is no such fault point"},
                                           {"journal.write", "expected an action"},
                                           {"journal.write=", "expected an action"},
                                           {"journal.write=explode", "expected an action"},
                                           {"journal.write=fail:EWHAT", "expected an action"},
                                           {"ring.park=delay:", "expected an action"},
                                           {"journal.write=die@", "expected a time"},
                                           {"journal.write=die@0", "expected a time"},
                                           {"journal.write=die@-3", "expected a time"},
                                           {"journal.write=die@5x", "expected a time"},
                                           {"ring.park=die,=die", "there is no such fault point"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(plan(wrong[i][0]), GYRE_CONFIG);
        ck_assert_msg(strstr(gyre_error_text(), wrong[i][1]) != NULL, "%s: %s", wrong[i][0],
                      gyre_error_text());
    }
}
END_TEST

/* Runs `body` with this environment in a process of its own, since it is read once. */
static int in_child(const char *faults, const char *file, int (*body)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("GYRE_FAULTS", faults, 1);
        if (file)
            setenv("GYRE_FAULT_FILE", file, 1);
        _exit(body());
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int count_ten(void)
{
    int fired = 0;
    for (int i = 0; i < 10; i++)
        fired += gyre_fault_hit(GYRE_FAULT_JOURNAL_SYNC) == EIO;
    return fired;
}

static int fails_the_third_time(void)
{
    for (int i = 1; i < 10; i++)
        if ((GYRE_FAULT_POINT(JOURNAL_WRITE) == ENOSPC) != (i == 3) || GYRE_FAULT_POINT(JOURNAL_SYNC))
            return 1;
    return 0;
}

static int is_delayed(void)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    int result = GYRE_FAULT_POINT(RING_PARK);
    clock_gettime(CLOCK_MONOTONIC, &after);
    int64_t ns = (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
    return result != 0 || ns < 30000000;
}

static int does_half(void)
{
    return GYRE_FAULT_POINT(JOURNAL_WRITE) != GYRE_FAULT_DO_HALF;
}

static int three_in_ten_thousand(void)
{
    int fired = 0;
    for (int i = 0; i < 10000; i++)
        fired += GYRE_FAULT_POINT(JOURNAL_SYNC) != 0;
    return fired > 100 ? 100 : fired;
}

static int opens_journal(void)
{
    struct gyre_journal_file file;
    char folder[] = "/tmp/gyre-test-journal-XXXXXX", lock[64];
    if (!mkdtemp(folder))
        return -1;
    int status = (int)gyre_journal_file_open(folder, "full", false, &file);
    gyre_journal_file_close(&file);
    snprintf(lock, sizeof lock, "%s/full.lock", folder);
    unlink(lock);
    rmdir(folder);
    return status;
}

START_TEST(a_full_disk_exhausts_a_journal)
{
    ck_assert_int_eq(in_child("journal.open=fail:ENOSPC", NULL, opens_journal), GYRE_EXHAUSTED);
    ck_assert_int_eq(in_child("journal.open=fail:EIO", NULL, opens_journal), GYRE_FAILED);
}
END_TEST

START_TEST(a_point_does_what_the_environment_says)
{
    ck_assert_int_eq(in_child("journal.write=fail:ENOSPC@3", NULL, fails_the_third_time), 0);
    ck_assert_int_eq(in_child("ring.park=delay:30", NULL, is_delayed), 0);
    ck_assert_int_eq(in_child("journal.write=short", NULL, does_half), 0);
    ck_assert_int_eq(in_child("journal.sync=fail@4+", NULL, count_ten), 7);
    ck_assert_int_eq(in_child("journal.sync=die@4", NULL, count_ten), -SIGKILL);
    ck_assert_int_eq(in_child("journal.sync=fail@0%", NULL, three_in_ten_thousand), 0);
}
END_TEST

START_TEST(a_probability_follows_the_seed)
{
    int counts[4];
    for (int i = 0; i < 4; i++) {
        setenv("GYRE_FAULT_SEED", i < 2 ? "7" : i == 2 ? "8" : "1234567", 1);
        counts[i] = in_child("journal.sync=fail@0.3%", NULL, three_in_ten_thousand);
        ck_assert_int_ge(counts[i], 10);
        ck_assert_int_le(counts[i], 60);
    }
    ck_assert_int_eq(counts[0], counts[1]);
    ck_assert(counts[2] != counts[0] || counts[3] != counts[0]);
    unsetenv("GYRE_FAULT_SEED");
}
END_TEST

START_TEST(processes_that_share_a_board_count_together)
{
    char path[] = "/tmp/gyre-faults-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(in_child("journal.sync=fail@15+", path, count_ten), 0);
    ck_assert_int_eq(in_child("journal.sync=fail@15+", path, count_ten), 6);
    ck_assert_int_eq(pread(file, &board, sizeof board, 0), (ssize_t)sizeof board);
    ck_assert(board.magic == GYRE_FAULT_MAGIC);
    ck_assert(board.cells[GYRE_FAULT_JOURNAL_SYNC].hits == 20 &&
              board.cells[GYRE_FAULT_JOURNAL_SYNC].fired == 6);
    close(file);
    unlink(path);
}
END_TEST

START_TEST(every_point_is_in_the_docs)
{
    static const char *const rows[] = {
#define ROW(point, name, does, where) "| `" name "` | " does " | " where " |",
        GYRE_FAULT_TABLE(ROW)};
    static char text[1 << 17];
    FILE *file = fopen(FAULTS_DOC, "re");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    ck_assert_uint_lt(length, sizeof text - 1);
    fclose(file);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(strstr(text, rows[i]) != NULL, "docs/reliability.md lacks the row: %s", rows[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("faults");
    TCase *tcase = tcase_create("faults");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, a_plan_says_what_happens_where_and_when);
    tcase_add_test(tcase, a_wrong_plan_gets_a_sentence);
    tcase_add_test(tcase, a_full_disk_exhausts_a_journal);
    tcase_add_test(tcase, a_point_does_what_the_environment_says);
    tcase_add_test(tcase, a_probability_follows_the_seed);
    tcase_add_test(tcase, processes_that_share_a_board_count_together);
    tcase_add_test(tcase, every_point_is_in_the_docs);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
