/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of observation files: what readers find, what is left of a process that ends, and where there is no room. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/observation/observation_folder.h"
#include "core/observation/observed.h"
#include "unit/observation/folder.h"

static struct gyre_observed seen;
static enum gyre_observed_life life;

static void look(const char *path)
{
    ck_assert_int_eq(gyre_observed_read(path, &seen, &life), GYRE_OK);
}

static void look_again(const struct gyre_observation *observation)
{
    gyre_observed_finish(&seen);
    look(gyre_observation_path(observation));
}

START_TEST(a_reader_finds_what_was_written)
{
    struct gyre_observation *observation = folder_open(8);
    gyre_observe_record about = folder_record(GYRE_OBSERVE_KERNEL, 0, "orders"), found;
    const uint64_t words[GYRE_OBSERVE_WORDS] = {[GYRE_OBSERVE_KERNEL_HANDLED] = UINT64_C(1) << 40};
    struct stat file;
    const uint32_t kernel = gyre_observation_enter(observation, &about);
    gyre_observation_values(observation, kernel, words, GYRE_OBSERVE_KERNEL_WORDS);
    ck_assert(gyre_observation_state(observation, kernel, 5));
    ck_assert(!gyre_observation_state(observation, kernel, 5));
    gyre_observation_event(observation, GYRE_OBSERVE_STATE, kernel, "kernel '%s' is lost", "orders");
    gyre_observation_trouble(observation, 2, "the disk is full");
    gyre_observation_beat(observation);
    look(gyre_observation_path(observation));
    ck_assert_int_eq(life, GYRE_OBSERVED_LIVES);
    ck_assert_uint_eq(seen.head.pid, (unsigned)getpid());
    ck_assert_uint_eq(seen.head.looks, 1);
    ck_assert_uint_ge(seen.head.alive_ns, seen.head.started_ns);
    ck_assert(gyre_observed_record(&seen, kernel, &found));
    ck_assert_str_eq(found.name, "orders");
    ck_assert_uint_eq(found.state, 5);
    ck_assert_uint_gt(found.state_ns, 0);
    ck_assert_uint_eq(gyre_observed_value(&seen, kernel, GYRE_OBSERVE_KERNEL_HANDLED), UINT64_C(1) << 40);
    ck_assert_uint_gt(gyre_observed_value(&seen, kernel, 0), 0);
    gyre_observe_event event;
    gyre_observe_trouble trouble;
    ck_assert(gyre_observed_event(&seen, 1, &event) && !gyre_observed_event(&seen, 2, &event));
    ck_assert(!gyre_observed_trouble(&seen, 1, &trouble) && gyre_observed_trouble(&seen, 0, &trouble));
    ck_assert_str_eq(trouble.text, "the disk is full");
    ck_assert_int_eq(stat(gyre_observation_path(observation), &file), 0);
    ck_assert_uint_eq(file.st_mode & 0777, 0600);
    gyre_observation_close(observation);
}
END_TEST

START_TEST(a_program_that_ends_removes_its_file)
{
    struct gyre_observation *first = folder_open(8), *second = folder_open(8);
    char path[GYRE_OBSERVATION_PATH_MAX];
    ck_assert_ptr_eq(first, second);
    snprintf(path, sizeof path, "%s", gyre_observation_path(first));
    gyre_observation_close(first);
    ck_assert_int_eq(access(path, F_OK), 0);
    gyre_observation_close(second);
    ck_assert_int_ne(access(path, F_OK), 0);
    /* one that calls exit() without closing it does so as well */
    const pid_t child = fork();
    if (child == 0) {
        (void)folder_open(8);
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    struct gyre_observed_file *files;
    size_t count;
    ck_assert_int_eq(gyre_observed_find(folder_path, &files, &count), GYRE_OK);
    ck_assert_uint_eq(count, 0);
}
END_TEST

/* Starts a process that writes a file, says so, and waits to be killed. */
static pid_t start_writer(void)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct gyre_observation *observation = folder_open(256);
        const gyre_observe_record about = folder_record(GYRE_OBSERVE_KERNEL, 0, "victim");
        gyre_observation_enter(observation, &about);
        if (write(ready[1], "!", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void kill_writer(pid_t child)
{
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(a_killed_process_leaves_its_file)
{
    struct gyre_observed_file *files;
    size_t count;
    int status;
    const pid_t child = start_writer();
    ck_assert_int_eq(gyre_observed_find(folder_path, &files, &count), GYRE_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(files[0].pid, child);
    look(files[0].path);
    ck_assert_int_eq(life, GYRE_OBSERVED_LIVES);
    gyre_observed_finish(&seen);
    kill(child, SIGSTOP);
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    look(files[0].path);
    ck_assert_int_eq(life, GYRE_OBSERVED_STOPPED);
    gyre_observed_finish(&seen);
    kill_writer(child);
    look(files[0].path);
    ck_assert_int_eq(life, GYRE_OBSERVED_DEAD);
    gyre_observe_record found;
    ck_assert(gyre_observed_record(&seen, 1, &found));
    ck_assert_str_eq(found.name, "victim");
    gyre_observed_files_free(files, count);
}
END_TEST

START_TEST(the_oldest_files_of_killed_processes_are_removed)
{
    struct gyre_observed_file *files;
    size_t count;
    for (int i = 0; i < 5; i++)
        kill_writer(start_writer());
    const pid_t alive = start_writer();
    struct gyre_observation *observation = folder_open(2);
    ck_assert_int_eq(gyre_observed_find(folder_path, &files, &count), GYRE_OK);
    ck_assert_uint_eq(count, 4); /* two dead ones, the living one and this one */
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || files[i].pid == alive;
    ck_assert(found);
    gyre_observed_files_free(files, count);
    gyre_observation_close(observation);
    kill_writer(alive);
}
END_TEST

/* What a forked child does with its copies: it must not touch the file of its parent. */
static void use_copy(struct gyre_observation *observation, uint32_t record)
{
    gyre_observation_event(observation, GYRE_OBSERVE_SAID, record, "a child says this");
    gyre_observation_leave(observation, record);
    gyre_observation_close(observation);
    struct gyre_observation *own = folder_open(8);
    const bool other = own != observation && strcmp(gyre_observation_path(own), "") != 0;
    gyre_observation_close(own);
    exit(other ? 0 : 1);
}

START_TEST(a_forked_child_leaves_the_file_alone)
{
    struct gyre_observation *observation = folder_open(8);
    const gyre_observe_record about = folder_record(GYRE_OBSERVE_KERNEL, 0, "parent");
    const uint32_t record = gyre_observation_enter(observation, &about);
    int status;
    const pid_t child = fork();
    if (child == 0)
        use_copy(observation, record);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    look(gyre_observation_path(observation));
    gyre_observe_record found;
    ck_assert(gyre_observed_record(&seen, record, &found));
    ck_assert_uint_eq(seen.head.events, 0);
    ck_assert_int_eq(life, GYRE_OBSERVED_LIVES);
    gyre_observation_close(observation);
}
END_TEST

START_TEST(records_are_used_again_and_run_out)
{
    struct gyre_observation *observation = folder_open(8);
    gyre_observe_record about = folder_record(GYRE_OBSERVE_QUEUE, 1, "first"), found;
    const uint64_t words[2] = {0, 7};
    const uint32_t number = gyre_observation_enter(observation, &about);
    gyre_observation_values(observation, number, words, 2);
    look(gyre_observation_path(observation));
    ck_assert(gyre_observed_record(&seen, number, &found));
    const uint64_t generation = found.generation;
    gyre_observation_leave(observation, number);
    look_again(observation);
    ck_assert(!gyre_observed_record(&seen, number, &found));
    about = folder_record(GYRE_OBSERVE_QUEUE, 1, "second");
    ck_assert_uint_eq(gyre_observation_enter(observation, &about), number);
    look_again(observation);
    ck_assert(gyre_observed_record(&seen, number, &found));
    ck_assert_str_eq(found.name, "second");
    ck_assert_uint_gt(found.generation, generation);
    ck_assert_uint_eq(gyre_observed_value(&seen, number, 1), 0); /* the first one's count is gone */
    uint32_t entered = 1;
    while (gyre_observation_enter(observation, &about))
        entered++;
    ck_assert_uint_eq(gyre_observation_enter(observation, &about), 0);
    gyre_observation_beat(observation);
    look_again(observation);
    ck_assert_uint_eq(entered + 1, gyre_observed_records(&seen));
    ck_assert_uint_eq(seen.head.records_refused, 2);
    gyre_observation_leave(observation, 7); /* a place that is given back is found */
    ck_assert_uint_eq(gyre_observation_enter(observation, &about), 7);
    gyre_observation_beat(observation); /* in this look there was room for all */
    look_again(observation);
    ck_assert_uint_eq(seen.head.records_refused, 0);
    gyre_observation_close(observation);
}
END_TEST

START_TEST(buckets_meet_at_their_edges)
{
    ck_assert_uint_eq(gyre_observe_edge(0), 0);
    ck_assert_uint_eq(gyre_observe_bucket(0), 0);
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++) {
        const uint64_t first = gyre_observe_edge(i), end = gyre_observe_edge(i + 1);
        ck_assert_uint_lt(first, end);
        ck_assert_uint_eq(gyre_observe_bucket(first), i);
        ck_assert_uint_eq(gyre_observe_bucket(end - 1), i);
        if (first >= 64) /* its middle is off by 6.25 % at most */
            ck_assert_uint_le((end - first) * 8, first);
    }
    for (int power = 3; power <= 37; power++) {
        uint32_t edge = 0;
        while (edge < GYRE_OBSERVE_BUCKETS && gyre_observe_edge(edge) != UINT64_C(1) << power)
            edge++;
        ck_assert_uint_eq(gyre_observe_edge(edge), UINT64_C(1) << power);
    }
    ck_assert_uint_eq(gyre_observe_edge(GYRE_OBSERVE_BUCKETS), UINT64_C(1) << 37);
    ck_assert_uint_eq(gyre_observe_bucket(UINT64_MAX), GYRE_OBSERVE_BUCKETS - 1);
}
END_TEST

START_TEST(histograms_belong_to_records)
{
    struct gyre_observation *observation = folder_open(8);
    const gyre_observe_record about = folder_record(GYRE_OBSERVE_QUEUE, 1, "timed");
    gyre_observe_histogram times = {.record = gyre_observation_enter(observation, &about),
                                    .time = GYRE_OBSERVE_HANDLED,
                                    .sum_ns = 700,
                                    .buckets = {[3] = 7}},
                           found;
    const uint32_t record = times.record;
    gyre_observation_histogram(observation, &times, false);
    times.buckets[3] = 8;
    gyre_observation_histogram(observation, &times, false);
    look(gyre_observation_path(observation));
    ck_assert(gyre_observed_histogram(&seen, record, GYRE_OBSERVE_HANDLED, &found));
    ck_assert(found.buckets[3] == 8 && found.buckets[4] == 0 && found.sum_ns == 700);
    ck_assert(!gyre_observed_histogram(&seen, record, GYRE_OBSERVE_WAITED, &found));
    gyre_observation_leave(observation, record);
    look_again(observation);
    ck_assert(!gyre_observed_histogram(&seen, record, GYRE_OBSERVE_HANDLED, &found));
    times.record = 0; /* a queue that found no record */
    gyre_observation_histogram(observation, &times, false);
    for (times.record = 1; times.record <= 300; times.record++)
        gyre_observation_histogram(observation, &times, true);
    gyre_observation_beat(observation);
    look_again(observation);
    ck_assert(gyre_observed_histogram(&seen, 256, GYRE_OBSERVE_HANDLED, &found));
    ck_assert(!gyre_observed_histogram(&seen, 257, GYRE_OBSERVE_HANDLED, &found));
    ck_assert_uint_eq(seen.head.records_refused, 300 - 256);
    /* what other programs tell takes no place of what this one measures */
    for (times.record = 301; times.record <= 600; times.record++)
        gyre_observation_histogram(observation, &times, false);
    gyre_observation_beat(observation);
    look_again(observation);
    ck_assert(gyre_observed_histogram(&seen, 556, GYRE_OBSERVE_HANDLED, &found));
    ck_assert(!gyre_observed_histogram(&seen, 557, GYRE_OBSERVE_HANDLED, &found));
    ck_assert_uint_eq(seen.head.records_refused, 300 - 256);
    gyre_observation_close(observation);
}
END_TEST

START_TEST(a_device_has_one_record)
{
    struct gyre_observation *observation = folder_open(8);
    gyre_observe_record about = folder_record(GYRE_OBSERVE_DEVICE, 1, "cpu");
    const uint32_t number = gyre_observation_enter_once(observation, &about);
    ck_assert_uint_eq(gyre_observation_enter_once(observation, &about), number);
    about.detail[0] = 'x';
    ck_assert_uint_ne(gyre_observation_enter_once(observation, &about), number);
    gyre_observation_close(observation);
}
END_TEST

START_TEST(sentences_that_differ_in_numbers_are_one_trouble)
{
    struct gyre_observation *observation = folder_open(8);
    char text[64];
    for (int i = 1; i <= 1000; i++) {
        snprintf(text, sizeof text, "request %d was dropped after %d ms", i, 2 * i);
        gyre_observation_trouble(observation, 2, text);
    }
    gyre_observation_trouble(observation, 1, "request 7 was dropped after 3 ms"); /* at another level */
    look(gyre_observation_path(observation));
    gyre_observe_trouble trouble;
    ck_assert(gyre_observed_trouble(&seen, 0, &trouble));
    ck_assert_uint_eq(trouble.count, 1000);
    ck_assert_str_eq(trouble.text, "request 1000 was dropped after 2000 ms");
    ck_assert_uint_le(trouble.first_ns, trouble.last_ns);
    ck_assert(gyre_observed_trouble(&seen, 1, &trouble) && trouble.count == 1 && trouble.level == 1);
    const uint32_t places = gyre_observed_troubles(&seen);
    for (uint32_t i = 0; i < places; i++) {
        snprintf(text, sizeof text, "trouble of kind %c%c", (char)('a' + i / 26), (char)('a' + i % 26));
        gyre_observation_trouble(observation, 2, text);
    }
    look_again(observation);
    ck_assert_uint_eq(seen.head.troubles_refused, 2);
    ck_assert(gyre_observed_trouble(&seen, places - 1, &trouble));
    gyre_observation_close(observation);
}
END_TEST

START_TEST(the_last_events_are_kept)
{
    struct gyre_observation *observation = folder_open(8);
    gyre_observe_event event;
    for (int i = 1; i <= 5000; i++)
        gyre_observation_event(observation, GYRE_OBSERVE_SAID, 0, "event %d", i);
    look(gyre_observation_path(observation));
    ck_assert_uint_eq(seen.head.events, 5000);
    const uint64_t first = gyre_observed_first_event(&seen);
    ck_assert_uint_eq(first, 5000 - 4096 + 1);
    ck_assert(!gyre_observed_event(&seen, first - 1, &event));
    for (uint64_t i = first; i <= 5000; i++) {
        char text[32];
        snprintf(text, sizeof text, "event %" PRIu64, i);
        ck_assert(gyre_observed_event(&seen, i, &event));
        ck_assert_str_eq(event.text, text);
    }
    gyre_observation_close(observation);
}
END_TEST

enum { LOOKS = 100 }; /* at the whole file, each */

/* Names and details of one record that change together; a reader must never see those of two. */
static void *change_names(void *argument)
{
    struct gyre_observation *observation = argument;
    for (int i = 0; i < 200000; i++) {
        gyre_observe_record about = {.kind = GYRE_OBSERVE_QUEUE};
        memset(about.name, 'a' + i % 26, sizeof about.name - 1);
        memset(about.detail, 'a' + i % 26, sizeof about.detail - 1);
        gyre_observation_leave(observation, gyre_observation_enter(observation, &about));
    }
    return NULL;
}

/* The first record is hidden, or whole. */
static void require_whole(void)
{
    gyre_observe_record found;
    if (!gyre_observed_record(&seen, 1, &found))
        return;
    ck_assert_int_eq(found.name[0], found.detail[0]);
    ck_assert_int_eq(found.name[0], found.name[sizeof found.name - 2]);
    ck_assert_int_eq(found.name[0], found.detail[sizeof found.detail - 2]);
}

START_TEST(a_writer_that_stands_anywhere_shows_no_half_record)
{
    struct gyre_observed_file *files = NULL;
    size_t count = 0;
    int status;
    const pid_t child = fork();
    if (child == 0) {
        struct gyre_observation *observation = folder_open(8);
        for (;;)
            change_names(observation);
    }
    do {
        gyre_observed_files_free(files, count);
        ck_assert_int_eq(gyre_observed_find(folder_path, &files, &count), GYRE_OK);
    } while (count == 0);
    for (int i = 0; i < LOOKS; i++) {
        kill(child, SIGSTOP);
        ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
        look(files[0].path);
        require_whole();
        gyre_observed_finish(&seen);
        kill(child, SIGCONT);
        usleep((useconds_t)(i * 7 % 100));
    }
    gyre_observed_files_free(files, count);
    kill_writer(child);
}
END_TEST

START_TEST(no_reader_sees_half_a_record)
{
    struct gyre_observation *observation = folder_open(8);
    pthread_t writer;
    unit_start(&writer, change_names, observation);
    for (int i = 0; i < LOOKS; i++) {
        look(gyre_observation_path(observation));
        require_whole();
        gyre_observed_finish(&seen);
    }
    pthread_join(writer, NULL);
    gyre_observation_close(observation);
}
END_TEST

START_TEST(a_folder_of_others_is_not_used)
{
    char path[GYRE_OBSERVATION_PATH_MAX];
    ck_assert_int_eq(setenv("XDG_RUNTIME_DIR", folder_path, 1), 0);
    ck_assert(gyre_observation_folder("", 0, path));
    ck_assert_int_eq(mkdir(path, 0700), 0);
    const int folder = gyre_observation_folder_open("", path, false);
    ck_assert_int_ge(folder, 0);
    close(folder);
    ck_assert_int_eq(chmod(path, 0777), 0);
    ck_assert_int_eq(gyre_observation_folder_open("", path, false), -1);
    ck_assert_int_eq(errno, EPERM);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(symlink("/tmp", path), 0); /* a link may lead anywhere */
    ck_assert_int_eq(gyre_observation_folder_open("", path, true), -1);
    ck_assert(gyre_observation_folder("", 1, path));
    ck_assert_int_eq(strncmp(path, "/dev/shm/gyre-", 14), 0);
    ck_assert(!gyre_observation_folder("", 2, path));
    ck_assert(gyre_observation_folder("/some/where", 0, path) &&
              !gyre_observation_folder("/some/where", 1, path));
}
END_TEST

START_TEST(a_folder_that_cannot_be_made_is_a_sentence)
{
    const struct gyre_observation_desc desc = {
        .folder = "/proc/no/such/folder", .mode = 0600, .every_ns = 1, .keep = 8};
    struct gyre_observation *observation;
    ck_assert_int_eq(gyre_observation_open(&desc, &observation), GYRE_UNAVAILABLE);
    ck_assert_ptr_null(observation);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "'/proc/no/such/folder'"));
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "observe.folder"));
    /* all calls take that there is none */
    gyre_observation_event(NULL, GYRE_OBSERVE_SAID, 0, "nobody reads this");
    gyre_observation_trouble(NULL, 2, "nor this");
    gyre_observation_beat(NULL);
    gyre_observation_close(NULL);
    ck_assert_uint_eq(gyre_observation_every_ns(NULL), 0);
}
END_TEST

START_TEST(names_of_files_are_checked)
{
    pid_t pid;
    uint64_t start;
    ck_assert(gyre_observation_file_name("12-345.obs", &pid, &start) && pid == 12 && start == 345);
    static const char *const wrong[] = {"",          "12.obs", "12-.obs",   "-12-3.obs",         "12-3.obsx",
                                        "0-3.obs",   "12-3",   " 12-3.obs", "99999999999-3.obs", "12-3 .obs",
                                        "../1-2.obs"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(!gyre_observation_file_name(wrong[i], &pid, &start), "%s", wrong[i]);
}
END_TEST

static void finish_case(void)
{
    gyre_observed_finish(&seen);
    folder_remove();
}

int main(void)
{
    Suite *suite = suite_create("observation");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, folder_make, finish_case);
    tcase_set_timeout(all, 60);
    tcase_add_test(all, a_reader_finds_what_was_written);
    tcase_add_test(all, a_program_that_ends_removes_its_file);
    tcase_add_test(all, a_killed_process_leaves_its_file);
    tcase_add_test(all, the_oldest_files_of_killed_processes_are_removed);
    tcase_add_test(all, a_forked_child_leaves_the_file_alone);
    tcase_add_test(all, records_are_used_again_and_run_out);
    tcase_add_test(all, buckets_meet_at_their_edges);
    tcase_add_test(all, histograms_belong_to_records);
    tcase_add_test(all, a_device_has_one_record);
    tcase_add_test(all, sentences_that_differ_in_numbers_are_one_trouble);
    tcase_add_test(all, the_last_events_are_kept);
    tcase_add_test(all, a_writer_that_stands_anywhere_shows_no_half_record);
    tcase_add_test(all, no_reader_sees_half_a_record);
    tcase_add_test(all, a_folder_of_others_is_not_used);
    tcase_add_test(all, a_folder_that_cannot_be_made_is_a_sentence);
    tcase_add_test(all, names_of_files_are_checked);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
