/* SPDX-License-Identifier: Apache-2.0 */
/* The file transport on files that were cut, changed or are not there: one case a run, `test_folder CASE`. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/transport/transport.h"
#include "gyre/backend.h"
#include "members.h"
#include "workers.h"

static char segment[400], record[400];
static struct gyre_config *config;
static struct gyre_transport *transport;

static gyre_status try_open(const char *more)
{
    const struct gyre_config_desc desc = {.api = cluster_settings(more)};
    gyre_config_destroy(config);
    must(gyre_config_load(&desc, &config));
    return gyre_transport_open(config, NULL, NULL, soon(), &transport);
}

static void open_again(void)
{
    gyre_transport_close(transport);
    must(try_open(NULL));
}

static void append_text(const char *text)
{
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = text, .byte_count = strlen(text), .expected = GYRE_TRANSPORT_ANY};
    must(gyre_transport_append(transport, "in.1", &block, NULL));
}

static void begin(void)
{
    uint64_t revision;
    begin_cluster();
    must(try_open(NULL));
    append_text("one");
    append_text("two");
    must(gyre_transport_record_put(transport, "app", "record", 6, 0, &revision));
    const char *folder = getenv("CLUSTER_TEST_FOLDER"), *app = getenv("CLUSTER_TEST_APP");
    snprintf(segment, sizeof segment, "%s/%s/logs/in.1/00000000000000000001.seg", folder, app);
    snprintf(record, sizeof record, "%s/%s/records/app", folder, app);
}

static off_t size_of(const char *path)
{
    struct stat about;
    require(stat(path, &about) == 0);
    return about.st_size;
}

static void turn_byte(const char *path, off_t at)
{
    unsigned char byte = 0;
    const int file = open(path, O_RDWR);
    require(file >= 0 && pread(file, &byte, 1, at) == 1);
    byte ^= 0x40;
    require(pwrite(file, &byte, 1, at) == 1);
    close(file);
}

static gyre_status read_all(unsigned *count)
{
    char bytes[64];
    size_t size;
    uint64_t at = 0;
    gyre_status status = GYRE_OK;
    for (*count = 0; status == GYRE_OK; *count += status == GYRE_OK)
        status = gyre_transport_read(transport, "in.1", at, bytes, sizeof bytes, &size, &at);
    return status;
}

/* At each length of its last block: a process was killed while it wrote. */
static void a_block_that_was_cut_is_written_over(void)
{
    const off_t whole = size_of(segment), block = whole / 2;
    unsigned count;
    for (off_t length = block; length < whole; length++) {
        require(truncate(segment, length) == 0);
        open_again();
        require(read_all(&count) == GYRE_AGAIN && count == 1);
        append_text("new");
        require(size_of(segment) == whole && read_all(&count) == GYRE_AGAIN && count == 2);
    }
}

/* Each byte in turn, except of the filling behind a block. */
static void every_byte_of_a_block_that_changed_is_told(void)
{
    unsigned count;
    for (off_t at = 0; at < 24 + 3; at++) {
        turn_byte(segment, at);
        open_again();
        const gyre_status status = read_all(&count);
        require(status == GYRE_INCOMPATIBLE && strstr(gyre_error_text(), "damaged"));
        require(count == 0);
        turn_byte(segment, at);
    }
}

/* A size that changed looks like a block that was written in part; an append would cut off what was acknowledged. */
static void a_damaged_head_keeps_the_blocks_behind_it(void)
{
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = "new", .byte_count = 3, .expected = GYRE_TRANSPORT_ANY};
    const off_t whole = size_of(segment);
    unsigned count;
    for (off_t at = 0; at < 16; at++) {
        turn_byte(segment, at);
        open_again();
        require(gyre_transport_append(transport, "in.1", &block, NULL) == GYRE_INCOMPATIBLE);
        require(strstr(gyre_error_text(), "00000000000000000001.seg' at byte 0: expected") != NULL);
        require(size_of(segment) == whole);
        turn_byte(segment, at);
        open_again();
        require(read_all(&count) == GYRE_AGAIN && count == 2);
    }
}

/* A machine lost its power: the file has grown, and its bytes did not reach the disk. */
static void zeros_at_the_end_are_written_over(void)
{
    const off_t whole = size_of(segment);
    unsigned count;
    require(truncate(segment, whole + 5000) == 0);
    open_again();
    require(read_all(&count) == GYRE_AGAIN && count == 2);
    append_text("new");
    require(read_all(&count) == GYRE_AGAIN && count == 3 && size_of(segment) == whole / 2 * 3);
    require(truncate(segment, whole + 5000) == 0);
    turn_byte(segment, whole + 4999);
    turn_byte(segment, whole);
    open_again();
    require(read_all(&count) == GYRE_INCOMPATIBLE && count == 2);
}

/* ---- sync ---- */

static bool syncs_fail;
static unsigned data_syncs;
static ino_t synced[64];
static unsigned synced_count;

/* The plugin calls these two. */
GYRE_BACKEND_EXPORT int fdatasync(int file)
{
    data_syncs++;
    errno = EIO;
    return syncs_fail ? -1 : (int)syscall(SYS_fdatasync, file);
}

GYRE_BACKEND_EXPORT int fsync(int file)
{
    struct stat about;
    require(fstat(file, &about) == 0 && synced_count < 64);
    synced[synced_count++] = about.st_ino;
    errno = EIO;
    return syncs_fail ? -1 : (int)syscall(SYS_fsync, file);
}

static bool was_synced(const char *path)
{
    struct stat about;
    require(stat(path, &about) == 0);
    for (unsigned i = 0; i < synced_count; i++)
        if (synced[i] == about.st_ino)
            return true;
    return false;
}

static void blocks_that_may_not_be_on_the_disk_are_not_read(void)
{
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = "new", .byte_count = 3, .expected = GYRE_TRANSPORT_ANY};
    const off_t whole = size_of(segment);
    uint64_t number = 0;
    unsigned count;
    gyre_transport_close(transport);
    must(try_open("cluster.sync=true"));
    data_syncs = 0;
    require(read_all(&count) == GYRE_AGAIN && count == 2 && data_syncs == 1); /* one for what is there */
    syncs_fail = true;
    require(gyre_transport_append(transport, "in.1", &block, &number) == GYRE_TIMEOUT);
    require(strstr(gyre_error_text(), "it is not known") != NULL);
    require(size_of(segment) == whole / 2 * 3);
    require(read_all(&count) == GYRE_UNAVAILABLE && count == 0); /* it begins anew, and knows nothing yet */
    require(gyre_transport_record_put(transport, "app", "x", 1, 1, &number) == GYRE_UNAVAILABLE);
    syncs_fail = false;
    require(read_all(&count) == GYRE_AGAIN && count == 3);
    must(gyre_transport_append(transport, "in.1", &block, &number));
    require(number == 4 && read_all(&count) == GYRE_AGAIN && count == 4);
}

static void folders_that_are_made_are_on_the_disk(void)
{
    char above[400], setting[512], path[512];
    snprintf(above, sizeof above, "%s/above", getenv("CLUSTER_TEST_FOLDER"));
    require(mkdir(above, 0700) == 0);
    snprintf(setting, sizeof setting, "cluster.folder=%s/made", above);
    setenv("GYRE_CLUSTER__SYNC", "true", 1);
    gyre_transport_close(transport);
    must(try_open(setting));
    append_text("one");
    require(was_synced(above));
    snprintf(path, sizeof path, "%s/made", above);
    require(was_synced(path));
    snprintf(path, sizeof path, "%s/made/%s", above, getenv("CLUSTER_TEST_APP"));
    require(was_synced(path));
    snprintf(path, sizeof path, "%s/made/%s/logs", above, getenv("CLUSTER_TEST_APP"));
    require(was_synced(path));
    snprintf(path, sizeof path, "%s/made/%s/logs/in.1", above, getenv("CLUSTER_TEST_APP"));
    require(was_synced(path));
}

/* ---- a process that is stopped within a lock ---- */

/* A process of its own that holds the lock of a file below the app's folder. */
static pid_t hold(const char *name)
{
    char path[400], told;
    int ready[2];
    snprintf(path, sizeof path, "%s/%s/%s", getenv("CLUSTER_TEST_FOLDER"), getenv("CLUSTER_TEST_APP"), name);
    require(pipe(ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int file = open(path, O_RDWR | O_CREAT, 0600);
        require(file >= 0 && flock(file, LOCK_EX) == 0 && write(ready[1], "", 1) == 1);
        for (;;)
            pause();
    }
    require(child > 0 && read(ready[0], &told, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void a_lock_that_is_held_is_taken_over(void)
{
    uint64_t number = 0;
    unsigned count;
    gyre_transport_close(transport);
    must(try_open("cluster.reach_ms=30"));
    const pid_t log = hold("logs/in.1/lock"), records = hold("records.lock");
    require(read_all(&count) == GYRE_AGAIN && count == 2);
    append_text("new");
    must(gyre_transport_last(transport, "in.1", &number));
    require(number == 3 && read_all(&count) == GYRE_AGAIN && count == 3);
    must(gyre_transport_record_put(transport, "app", "x", 1, 1, &number));
    must(gyre_transport_purge(transport, "in.1", 2));
    const pid_t again = hold("logs/in.1/lock.1");
    append_text("new");
    require(kill(log, SIGKILL) == 0 && waitpid(log, NULL, 0) == log);
    require(kill(records, SIGKILL) == 0 && waitpid(records, NULL, 0) == records);
    open_again(); /* finds the lock that is one now */
    append_text("new");
    must(gyre_transport_record_put(transport, "app", "y", 1, 2, &number));
    require(kill(again, SIGKILL) == 0 && waitpid(again, NULL, 0) == again);
    require(read_all(&count) == GYRE_AGAIN && count == 5);
}

/* ---- logs of several segments ---- */

enum { IN_SEGMENT = 8, SEGMENTS = 6 }; /* blocks of the largest size that fill a segment */

static char *segment_path(char path[400], unsigned base)
{
    snprintf(path, 400, "%s/%s/logs/state.1/%020u.seg", getenv("CLUSTER_TEST_FOLDER"),
             getenv("CLUSTER_TEST_APP"), base);
    return path;
}

static void fill_segments(void)
{
    static unsigned char bytes[GYRE_TRANSPORT_BLOCK_MAX];
    const gyre_transport_block block = {
        .size = sizeof block, .bytes = bytes, .byte_count = sizeof bytes, .expected = GYRE_TRANSPORT_ANY};
    for (unsigned i = 0; i < IN_SEGMENT * SEGMENTS; i++)
        must(gyre_transport_append(transport, "state.1", &block, NULL));
}

static gyre_status read_behind(uint64_t after, uint64_t *number)
{
    static unsigned char bytes[GYRE_TRANSPORT_BLOCK_MAX];
    size_t size;
    return gyre_transport_read(transport, "state.1", after, bytes, sizeof bytes, &size, number);
}

/* Set: the plugin's unlinkat records what it removes, and the process ends at the third. */
static bool dies_while_it_purges;

GYRE_BACKEND_EXPORT int unlinkat(int in, const char *name, int flags)
{
    static unsigned removals;
    if (dies_while_it_purges && strstr(name, ".seg") && ++removals == 3)
        _exit(33);
    return (int)syscall(SYS_unlinkat, in, name, flags);
}

static void a_purge_that_was_killed_leaves_no_hole(void)
{
    char path[400];
    int how;
    fill_segments();
    const pid_t child = fork();
    if (child == 0) {
        dies_while_it_purges = true;
        open_again();
        gyre_transport_purge(transport, "state.1", IN_SEGMENT * (SEGMENTS - 1) + 1);
        _exit(0);
    }
    require(child > 0 && waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 33);
    for (unsigned i = 0; i < SEGMENTS; i++)
        require((access(segment_path(path, 1 + i * IN_SEGMENT), F_OK) == 0) == (i >= 2));
}

/* What a purge of another Gyre, or a person, removed from the middle. */
static void a_hole_is_passed(void)
{
    char path[400];
    uint64_t number = 0;
    fill_segments();
    must(read_behind(IN_SEGMENT - 1, &number));
    require(unlink(segment_path(path, 1 + IN_SEGMENT)) == 0);
    for (int i = 0; i < 2; i++) { /* a reader that was there already, and one that comes */
        must(read_behind(IN_SEGMENT, &number));
        require(number == 2 * IN_SEGMENT + 1);
        open_again();
        must(read_behind(IN_SEGMENT - 1, &number));
        require(number == IN_SEGMENT);
    }
    must(gyre_transport_last(transport, "state.1", &number));
    require(number == IN_SEGMENT * SEGMENTS);
}

/* What is missing there was acknowledged. */
static void a_segment_that_was_cut_before_another_is_told(void)
{
    char path[400];
    uint64_t number = 0;
    fill_segments();
    require(truncate(segment_path(path, 1 + IN_SEGMENT), 3 << 20) == 0);
    open_again();
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK)
        status = read_behind(number, &number);
    require(status == GYRE_INCOMPATIBLE && strstr(gyre_error_text(), "because later ones are there") != NULL);
}

/* ---- records, bells, folders ---- */

static void a_damaged_record_is_told(void)
{
    char bytes[64];
    size_t size;
    uint64_t revision, put;
    turn_byte(record, size_of(record) - 1);
    require(gyre_transport_record_get(transport, "app", bytes, sizeof bytes, &size, &revision) ==
            GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "is damaged") != NULL);
    require(gyre_transport_record_put(transport, "app", "x", 1, 1, &revision) == GYRE_INCOMPATIBLE);
    require(truncate(record, 3) == 0);
    require(gyre_transport_record_get(transport, "app", bytes, sizeof bytes, &size, &revision) ==
            GYRE_INCOMPATIBLE);
    must(gyre_transport_record_put(transport, "app", "whole", 5, GYRE_TRANSPORT_ANY, &put));
    must(gyre_transport_record_get(transport, "app", bytes, sizeof bytes, &size, &revision));
    require(size == 5 && memcmp(bytes, "whole", 5) == 0 && revision == put && put > 1);
}

/* Somebody who cuts the file of bells short ends no process. */
static void bells_that_are_gone_cost_time_alone(void)
{
    char path[400];
    unsigned count;
    snprintf(path, sizeof path, "%s/%s/bells", getenv("CLUSTER_TEST_FOLDER"), getenv("CLUSTER_TEST_APP"));
    require(truncate(path, 0) == 0);
    append_text("three");
    must(gyre_transport_wait(transport, "in.1", 2, soon()));
    require(gyre_transport_wait(transport, "in.1", 3, gyre_in_ms(20)) == GYRE_TIMEOUT);
    require(read_all(&count) == GYRE_AGAIN && count == 3);
}

static void folders_that_do_not_do_are_refused(void)
{
    char setting[512];
    gyre_transport_close(transport);
    require(try_open("cluster.folder=") == GYRE_CONFIG);
    require(strstr(gyre_error_text(), "needs a folder") != NULL);
    snprintf(setting, sizeof setting, "cluster.folder=%s", segment);
    require(try_open(setting) == GYRE_UNAVAILABLE);
    require(strstr(gyre_error_text(), "Not a directory") != NULL);
    snprintf(setting, sizeof setting, "cluster.folder=%s/there/is/none", getenv("CLUSTER_TEST_FOLDER"));
    require(try_open(setting) == GYRE_UNAVAILABLE);
    require(strstr(gyre_error_text(), "No such file") != NULL);
}

static const named_case cases[] = {
    {"a_block_that_was_cut_is_written_over", a_block_that_was_cut_is_written_over},
    {"every_byte_of_a_block_that_changed_is_told", every_byte_of_a_block_that_changed_is_told},
    {"a_damaged_head_keeps_the_blocks_behind_it", a_damaged_head_keeps_the_blocks_behind_it},
    {"zeros_at_the_end_are_written_over", zeros_at_the_end_are_written_over},
    {"blocks_that_may_not_be_on_the_disk_are_not_read", blocks_that_may_not_be_on_the_disk_are_not_read},
    {"folders_that_are_made_are_on_the_disk", folders_that_are_made_are_on_the_disk},
    {"a_lock_that_is_held_is_taken_over", a_lock_that_is_held_is_taken_over},
    {"a_purge_that_was_killed_leaves_no_hole", a_purge_that_was_killed_leaves_no_hole},
    {"a_hole_is_passed", a_hole_is_passed},
    {"a_segment_that_was_cut_before_another_is_told", a_segment_that_was_cut_before_another_is_told},
    {"a_damaged_record_is_told", a_damaged_record_is_told},
    {"bells_that_are_gone_cost_time_alone", bells_that_are_gone_cost_time_alone},
    {"folders_that_do_not_do_are_refused", folders_that_do_not_do_are_refused},
};

int main(int argc, char **argv)
{
    const int code = RUN_NAMED(argc, argv, begin, cases);
    gyre_transport_close(transport);
    gyre_config_destroy(config);
    return end_cluster(code);
}
