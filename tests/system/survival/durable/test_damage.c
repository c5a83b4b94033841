/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals that were damaged, cut, or are somebody else's, as the next life of the program meets them: one case a run,
 * `test_damage CASE`.
 */
#include "lives.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/journal/record.h"

static const char *const *extra;

/* ---- damage ---- */

static void thousand_durable(void)
{
    gyre_runtime *runtime = open_durable(false, extra);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_actor", 1));
    for (uint64_t i = 0; i < 1000; i++) {
        send_right(queue, i, CRASH_NOT);
        receive_right(queue, i);
        must(gyre_await(queue, i, GYRE_DURABLE, soon()));
    }
    kill(getpid(), SIGKILL);
}

static void meet_damage(void)
{
    gyre_runtime *runtime = open_durable(false, extra);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_recovered recovered = recovered_of(queue);
    require(recovered.lost_bytes > 0);
    require(log_lines_with(ledger->seed == 1 ? "is damaged" : "in the midst of a record") == 1);
    uint64_t end = recovered.first + recovered.offered;
    require(recovered.lost_first == end && end <= 1000 && (end < 1000 || ledger->seed == 0));
    require(recovered.lost_end == (ledger->seed == 1 ? 1000 : end));
    for (uint64_t i = recovered.first; i < end; i++)
        receive_right(queue, i);
    send_right(queue, end, CRASH_NOT);
    receive_right(queue, end);
    require_state_of(kernel, end + 1);
    gyre_close(runtime);
}

static void damage(const char *path, bool cut)
{
    struct stat now = {0};
    unsigned char byte = 0;
    int file = open(path, O_RDWR | O_CLOEXEC);
    require(file >= 0 && fstat(file, &now) == 0);
    if (cut)
        require(ftruncate(file, now.st_size - 5) == 0);
    off_t middle = now.st_size / 2;
    require(pread(file, &byte, 1, middle) == 1);
    byte ^= 0x10;
    require(cut || pwrite(file, &byte, 1, middle) == 1);
    close(file);
}

static void a_damaged_journal_is_used_up_to_its_last_whole_record(void)
{
    static const char *const settings[] = {"kernel.default.checkpoint_ms=0", NULL};
    extra = settings;
    for (uint64_t flipped = 0; flipped < 2; flipped++) {
        char path[128];
        begin_lives();
        ledger->seed = flipped;
        live(thousand_durable, 60000000);
        journal_path("fragile_actor", path, sizeof path);
        damage(path, !flipped);
        live(meet_damage, 0);
    }
}

/* Where the last whole record ends, the mark behind it aside. */
static off_t end_of_records(const char *path)
{
    struct gyre_record_header header;
    off_t offset = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    require(file >= 0);
    while (pread(file, &header, sizeof header, offset) == (ssize_t)sizeof header &&
           header.kind != GYRE_RECORD_MARK)
        offset += (off_t)(sizeof header + (header.size + 7) / 8 * 8);
    close(file);
    return offset;
}

static void meet_shortened(void)
{
    gyre_runtime *runtime = open_durable(false, extra);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_actor", 1));
    const gyre_recovered recovered = recovered_of(queue);
    const uint64_t end = recovered.first + recovered.offered;
    require(log_lines_with("was shortened: it ends behind a whole record") == (ledger->seed != 0));
    require((recovered.lost_bytes > 0) == (ledger->seed != 0));
    require(recovered.lost_first == end && recovered.lost_end == end);
    kill(getpid(), SIGKILL);
}

/* Nothing of a record is missing, and yet it says so; one whose program was killed is whole. */
static void a_journal_that_was_cut_behind_a_record_says_so(void)
{
    char path[128];
    extra = (const char *const[]){"kernel.default.checkpoint_ms=0", NULL};
    live(thousand_durable, 60000000);
    journal_path("fragile_actor", path, sizeof path);
    for (uint64_t round = 0; round < 2; round++) {
        ledger->seed = round;
        if (round)
            require(truncate(path, end_of_records(path)) == 0);
        live(meet_shortened, 60000000);
    }
}

static void meet_nonsense(void)
{
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = CRASH_KERNELS, .kernel = "fragile_actor"};
    require(gyre_launch(runtime, &desc, &kernel) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "move it away"));
    gyre_close(runtime);
}

static void a_file_that_is_no_journal_is_refused(void)
{
    char path[128];
    journal_path("fragile_actor", path, sizeof path);
    FILE *file = fopen(path, "we");
    require(file && fputs("no journal at all, but long enough to be one's header", file) >= 0);
    require(fclose(file) == 0);
    live(meet_nonsense, 0);
}

/* ---- a journal of something else ---- */

static const struct {
    const char *of, *kernel, *name, *setting, *words;
} strangers[] = {
    {.of = "fragile_actor",
     "fragile_actor",
     "other",
     NULL,
     "is of queue 'fragile_actor' of kernel 'fragile_actor', not of"},
    {.of = "fragile_actor", "fragile", "fragile_actor", NULL, "holds a state of an earlier type"},
    {.of = "fragile", "fragile_spans", "fragile", NULL, "holds 1 request of type"},
    {.of = "fragile_actor",
     "fragile_actor",
     "fragile_actor",
     "queue.default.header=16",
     "set its header as it was"},
};
static size_t stranger;

static void write_a_journal(void)
{
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, strangers[stranger].of, 1));
    send_right(queue, 0, CRASH_NOT);
    must(gyre_await(queue, 0, GYRE_DURABLE, soon()));
    gyre_close(runtime);
}

static void meet_a_strangers(void)
{
    gyre_runtime *runtime = open_durable(false, (const char *const[]){strangers[stranger].setting, NULL});
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = CRASH_KERNELS,
                             .kernel = strangers[stranger].kernel,
                             .name = strangers[stranger].name};
    require(gyre_launch(runtime, &desc, &kernel) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), strangers[stranger].words));
    gyre_close(runtime);
}

/* Refused with what differs, and left as it is. */
static void a_journal_of_something_else_is_refused(void)
{
    char path[128], other[128];
    struct stat before = {0}, after = {0};
    for (stranger = 0; stranger < sizeof strangers / sizeof strangers[0]; stranger++) {
        live(write_a_journal, 0);
        journal_path(strangers[stranger].of, path, sizeof path);
        journal_path(strangers[stranger].name, other, sizeof other);
        require(rename(path, other) == 0 && stat(other, &before) == 0);
        live(meet_a_strangers, 0);
        require(stat(other, &after) == 0 && before.st_ino == after.st_ino && before.st_size == after.st_size);
        require(unlink(other) == 0);
    }
}

static void meet_none(void)
{
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = CRASH_KERNELS, .kernel = "fragile_actor"};
    require(gyre_launch(runtime, &desc, &kernel) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "damaged before its first whole checkpoint"));
    gyre_close(runtime);
}

/* Requests without the state that they change are no beginning. */
static void a_journal_without_a_whole_checkpoint_is_refused(void)
{
    char path[128];
    stranger = 0;
    live(write_a_journal, 0);
    journal_path("fragile_actor", path, sizeof path);
    require(truncate(path, sizeof(struct gyre_record_header) + sizeof(struct gyre_record_open) + 40) == 0);
    live(meet_none, 0);
}

static void meet_unreadable(void)
{
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = CRASH_KERNELS, .kernel = "fragile_actor"};
    require(gyre_launch(runtime, &desc, &kernel) == GYRE_FAILED);
    require(strstr(gyre_error_text(), "fragile_actor.journal': open says"));
    gyre_close(runtime);
}

/* A journal that is there and cannot be opened (no permission, no descriptors, a link that leads nowhere). */
static void a_journal_that_cannot_be_read_is_not_replaced(void)
{
    char path[128];
    struct stat now;
    journal_path("fragile_actor", path, sizeof path);
    require(symlink(path, path) == 0);
    live(meet_unreadable, 0);
    require(lstat(path, &now) == 0 && S_ISLNK(now.st_mode));
}

static const named_case cases[] = {
    {"a_damaged_journal_is_used_up_to_its_last_whole_record",
     a_damaged_journal_is_used_up_to_its_last_whole_record},
    {"a_journal_that_was_cut_behind_a_record_says_so", a_journal_that_was_cut_behind_a_record_says_so},
    {"a_file_that_is_no_journal_is_refused", a_file_that_is_no_journal_is_refused},
    {"a_journal_of_something_else_is_refused", a_journal_of_something_else_is_refused},
    {"a_journal_without_a_whole_checkpoint_is_refused", a_journal_without_a_whole_checkpoint_is_refused},
    {"a_journal_that_cannot_be_read_is_not_replaced", a_journal_that_cannot_be_read_is_not_replaced},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, begin_lives, cases);
}
