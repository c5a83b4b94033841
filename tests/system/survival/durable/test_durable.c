/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues with a journal, across the deaths of the program: one case a run, `test_durable CASE`. Nothing that
 * was acknowledged as durable may be lost, and every reply is that of a run in which nobody died.
 */
#include "faults.h"
#include "lives.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/journal/record.h"
#include "tests/random.h"

static uint64_t draw(uint64_t below)
{
    return random_below(&ledger->seed, below);
}

/* What an earlier life left must be all that was durable, and nothing before what it received. */
static uint64_t take_over(gyre_queue *queue)
{
    gyre_recovered recovered = recovered_of(queue);
    require(recovered.lost_first == recovered.lost_end); /* a last group may be torn, which was not durable */
    require(recovered.first <= ledger->received + 1); /* it may have died before it could note the last one */
    require(recovered.first + recovered.offered >= ledger->durable);
    ledger->received = recovered.first;
    for (uint64_t i = 0; i < recovered.offered; i++)
        receive_right(queue, ledger->received++);
    ledger->offered += recovered.offered;
    ledger->received = ledger->sent = recovered.first + recovered.offered;
    ledger->at_work = true;
    return ledger->received;
}

/* ---- orderly lives ---- */

static bool isolated;
static const char *const *extra;

static void fifty_requests(void)
{
    gyre_runtime *runtime = open_durable(isolated, extra);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    uint64_t first = take_over(queue);
    require(first == 50 * (ledger->lives - 1));
    for (uint64_t i = first; i < first + 50; i++) {
        send_right(queue, i, CRASH_NOT);
        receive_right(queue, i);
        ledger->received = ledger->sent = i + 1;
    }
    require_state_of(kernel, first + 50);
    gyre_close(runtime);
}

static void state_goes_on_in_the_next_run(void)
{
    for (int round = 0; round < 6; round++) {
        isolated = round % 2 != 0;
        live(fifty_requests, 0);
    }
    require(ledger->offered == 0);
}

static void leave_without_receiving(void)
{
    gyre_runtime *runtime = open_durable(isolated, extra);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_actor", 1));
    for (uint64_t i = 0; i < 100; i++)
        send_right(queue, i, CRASH_NOT);
    for (uint64_t i = 0; i < 40; i++)
        receive_right(queue, i);
    must(gyre_await(queue, 99, GYRE_DURABLE, soon()));
    must(gyre_await(queue, 99, GYRE_PROCESSED, soon()));
    if (ledger->seed)
        must(gyre_await(queue, 99, GYRE_CHECKPOINTED, soon()));
    if (ledger->seed == 1)
        gyre_close(runtime);
    else
        kill(getpid(), SIGKILL);
}

static void receive_the_rest(void)
{
    gyre_runtime *runtime = open_durable(isolated, extra);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_recovered recovered = recovered_of(queue);
    require(recovered.first <= 40 && recovered.first + recovered.offered == 100);
    for (uint64_t i = recovered.first; i < 100; i++)
        receive_right(queue, i);
    send_right(queue, 100, CRASH_NOT);
    receive_right(queue, 100);
    require_state_of(kernel, 101);
    gyre_close(runtime);
}

static void replies_that_nobody_took_are_offered(void)
{
    for (int round = 0; round < 12; round++) { /* with a checkpoint behind them or none, closed or killed */
        begin_lives();
        ledger->seed = (uint64_t)round % 3;
        isolated = round % 2 != 0;
        extra = round < 6 ? NULL : (const char *const[]){"queue.default.seal=crc32c", NULL};
        live(leave_without_receiving, ledger->seed == 1 ? 0 : 60000000);
        live(receive_the_rest, 0);
    }
}

/* ---- lives that end at any moment ---- */

static bool faults; /* workers die as well */

static void busy_life(void)
{
    gyre_runtime *runtime = open_durable(isolated, extra);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_actor", 1));
    uint64_t next = take_over(queue);
    for (;;) {
        for (uint64_t count = draw(60); count > 0 && next - ledger->received < 500; count--) {
            send_right(queue, next, faults && draw(400) == 0 ? CRASH_SEGFAULT : CRASH_NOT);
            ledger->sent = ++next;
        }
        if (draw(3) == 0 && next) {
            must(gyre_await(queue, next - 1, GYRE_DURABLE, soon()));
            ledger->durable = next;
        }
        for (uint64_t count = draw(70); count > 0 && ledger->received < next; count--) {
            receive_right(queue, ledger->received);
            ledger->received++;
        }
        if (next > 60000)
            _exit(EXIT_SUCCESS);
    }
}

static void last_life(void)
{
    gyre_runtime *runtime = open_durable(isolated, extra);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    uint64_t count = take_over(gyre_kernel_queue(kernel));
    require(count >= ledger->durable);
    require_state_of(kernel, count);
    gyre_close(runtime);
}

static void die_again_and_again(const char *const *settings, int lives)
{
    extra = settings;
    ledger->seed = gyre_now_ns() | 1;
    printf("seed %llu\n", (unsigned long long)ledger->seed);
    live(last_life, 0); /* also compiles the handler, for which a life may be too short */
    for (int round = 0; round < lives || ledger->durable == 0; round++) {
        const unsigned longer = round < lives ? 0 : 20000 * (unsigned)(round - lives); /* a slow disk */
        isolated = faults || round % 3 == 1;
        (round % 4 == 3 ? live : live_at_work)(busy_life, 20000 + longer + (unsigned)draw(60000));
    }
    live(last_life, 0);
}

static void nothing_durable_is_lost_when_the_program_is_killed(void)
{
    faults = true;
    die_again_and_again((const char *const[]){"kernel.default.checkpoint_ms=5", NULL}, 25);
}

static void a_small_journal_begins_anew(void)
{
    die_again_and_again((const char *const[]){"kernel.default.checkpoint_ms=3",
                                              "queue.default.journal_size=65536", "queue.default.fsync=never",
                                              NULL},
                        20);
    struct stat now;
    char path[128];
    journal_path("fragile_actor", path, sizeof path);
    require(stat(path, &now) == 0 && now.st_size < 4 << 20);
}

/* ---- lives that end at a fault point ---- */

static struct chosen_fault fatal;

static void fated_life(void)
{
    need_fault_board();
    if (fatal.point == GYRE_FAULT_JOURNAL_WROTE) { /* torn: half of it is there */
        const struct chosen_fault half = {GYRE_FAULT_JOURNAL_WRITE, GYRE_FAULT_SHORT, 0};
        arm_fault(&half, 1, UINT64_MAX / 2);
    }
    arm_fault(&fatal, 1 + draw(fatal.point >= GYRE_FAULT_JOURNAL_RENEW ? 4 : 40), 1);
    busy_life();
}

static void nothing_durable_is_lost_when_the_program_dies_at_a_fault_point(void)
{
    static const enum gyre_fault_point points[] = {GYRE_FAULT_RING_PARK,         GYRE_FAULT_CHECKPOINT_COPY,
                                                   GYRE_FAULT_CHECKPOINT_COMMIT, GYRE_FAULT_JOURNAL_WRITE,
                                                   GYRE_FAULT_JOURNAL_WROTE,     GYRE_FAULT_JOURNAL_SYNC,
                                                   GYRE_FAULT_JOURNAL_RENEW,     GYRE_FAULT_JOURNAL_RENAME};
    enum { POINTS = sizeof points / sizeof points[0], LIVES = 3 * POINTS };
    static const char *const settings[] = {"kernel.default.checkpoint_ms=3",
                                           "queue.default.journal_size=65536", NULL};
    need_fault_board();
    extra = settings;
    ledger->seed = gyre_now_ns() | 1;
    printf("seed %llu\n", (unsigned long long)ledger->seed);
    for (int round = 0; round < LIVES; round++) {
        fatal = (struct chosen_fault){points[round % POINTS], GYRE_FAULT_DIE, 0};
        isolated = round % 3 == 1;
        live_at_work(fated_life, 1000000);
    }
    live(last_life, 0);
    require(ledger->durable > 0);
}

/* ---- a handler that keeps nothing ---- */

static void receive_plain(gyre_queue *queue, uint64_t index)
{
    crash_reply reply;
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.index == index && completion.outcome == GYRE_REPLIED);
    require(reply.number == number_of(index) && reply.check == mixed(reply.number));
}

static void stateless_life(void)
{
    gyre_runtime *runtime = open_durable(false, extra);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 2));
    gyre_recovered recovered = recovered_of(queue);
    require(recovered.first <= ledger->received + 1);
    require(recovered.first + recovered.offered >= ledger->durable);
    ledger->received = recovered.first;
    uint64_t next = recovered.first + recovered.offered;
    ledger->at_work = true;
    bool rest = ledger->lives > 12;
    while (!rest || ledger->received < next) {
        for (uint64_t count = rest ? 0 : draw(50); count > 0 && next - ledger->received < 900; count--)
            send_right(queue, next++, CRASH_NOT);
        if (next) {
            must(gyre_await(queue, next - 1, GYRE_DURABLE, soon()));
            ledger->durable = next;
        }
        for (uint64_t count = rest ? 1000 : draw(50); count > 0 && ledger->received < next; count--) {
            receive_plain(queue, ledger->received);
            ledger->received++;
        }
    }
    gyre_close(runtime);
}

static void requests_of_stateless_handlers_outlive_the_program(void)
{
    ledger->seed = gyre_now_ns() | 1;
    printf("seed %llu\n", (unsigned long long)ledger->seed);
    for (int round = 0; round < 12; round++)
        live_at_work(stateless_life, 20000 + (unsigned)draw(40000));
    live(stateless_life, 0);
}

static void relaunch_twice(void)
{
    gyre_runtime *runtime = open_durable(isolated, NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 2);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    uint64_t sent = 0;
    for (uint64_t part = 100; part <= 300; part += 100) {
        for (; sent < part; sent++)
            send_right(queue, sent, CRASH_NOT);
        must(gyre_kernel_terminate(kernel, soon(), NULL));
        must(gyre_kernel_relaunch(kernel));
    }
    for (uint64_t i = 0; i < 150; i++)
        receive_plain(queue, i);
    must(gyre_await(queue, sent - 1, GYRE_DURABLE, soon()));
    gyre_close(runtime);
}

static void receive_after_relaunches(void)
{
    gyre_runtime *runtime = open_durable(isolated, NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 2));
    gyre_recovered recovered = recovered_of(queue);
    require(recovered.first == 150 && recovered.offered == 150);
    for (uint64_t i = 150; i < 300; i++)
        receive_plain(queue, i);
    gyre_close(runtime);
}

static void a_relaunched_kernel_goes_on_with_its_journal(void)
{
    for (int round = 0; round < 2; round++) {
        begin_lives();
        isolated = round != 0;
        live(relaunch_twice, 0);
        live(receive_after_relaunches, 0);
    }
}

static void open_and_close(void)
{
    const gyre_queue_desc till = {.size = sizeof till, .name = "till"};
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 2);
    for (uint64_t sent = 0, received = 0; sent < 200;) {
        gyre_queue *queue = NULL;
        must(gyre_queue_open(kernel, &till, &queue));
        gyre_recovered recovered = recovered_of(queue);
        require(recovered.first == received && recovered.first + recovered.offered == sent);
        for (; sent % 30 != 29; sent++)
            send_right(queue, sent, CRASH_NOT);
        send_right(queue, sent++, CRASH_NOT);
        for (; received + 10 < sent; received++)
            receive_plain(queue, received);
        gyre_queue_close(queue);
    }
    gyre_close(runtime);
}

static void a_closed_queue_goes_on_when_it_is_opened_again(void)
{
    live(open_and_close, 0);
}

/* ---- a disk that refuses ---- */

static void full_disk(void)
{
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_actor", 1));
    struct rlimit before, small = {1 << 16, RLIM_INFINITY};
    require(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small.rlim_max = before.rlim_max;
    require(setrlimit(RLIMIT_FSIZE, &small) == 0); /* from here on write says EFBIG, as it may say ENOSPC */
    uint64_t sent = 0, received = 0;
    crash_request request = {.number = number_of(0)};
    while (gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(patiently(200))) == GYRE_OK) {
        request.number = number_of(++sent);
        receive_right(queue, received++);
    }
    require(gyre_error_text() && strstr(gyre_error_text(), "waits for its journal"));
    require(gyre_await(queue, sent - 1, GYRE_DURABLE, gyre_in_ms(100)) == GYRE_TIMEOUT);
    const size_t waits =
        log_lines_with("cannot be written"); /* more than one if a new file had room for some more */
    require(waits > 0 && log_lines_with("is written again") == waits - 1);
    require(setrlimit(RLIMIT_FSIZE, &before) == 0);
    for (uint64_t i = 0; i < 500; i++) { /* and it goes on as soon as there is room */
        send_right(queue, sent++, CRASH_NOT);
        receive_right(queue, received++);
    }
    must(gyre_await(queue, sent - 1, GYRE_DURABLE, soon()));
    require(log_lines_with("is written again") == waits);
    ledger->sent = ledger->durable = ledger->received = sent;
    kill(getpid(), SIGKILL);
}

static void nothing_is_lost_when_the_disk_is_full(void)
{
    live(full_disk, 60000000);
    require(ledger->durable > 500);
    live(last_life, 0);
}

static void end_on_a_full_disk(void)
{
    const struct chosen_fault full = {GYRE_FAULT_JOURNAL_WRITE, GYRE_FAULT_FAIL, ENOSPC};
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_actor", 1));
    send_right(queue, 0, CRASH_NOT);
    receive_right(queue, 0);
    must(gyre_await(queue, 0, GYRE_DURABLE, soon()));
    arm_fault(&full, 1, UINT64_MAX / 2);
    send_right(queue, 1, CRASH_NOT);
    receive_right(queue, 1);
    gyre_close(runtime);
    require(log_lines_with("could not be written to its end: requests that were not durable are not in it") ==
            1);
    disarm_faults();
    ledger->durable = ledger->received = ledger->sent = 1;
}

/* What was accepted and is nowhere is told. */
static void a_journal_that_ends_on_a_full_disk_says_so(void)
{
    need_fault_board();
    live(end_on_a_full_disk, 0);
    live(last_life, 0);
}

/* A disk with some room, but not for a new file: the old one may not take it all. */
static void no_room_beside(void)
{
    char path[128];
    struct stat now;
    const struct chosen_fault no_new_file = {GYRE_FAULT_JOURNAL_RENEW, GYRE_FAULT_FAIL, ENOSPC};
    gyre_runtime *runtime = open_durable(false, extra);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_actor", 1));
    journal_path("fragile_actor", path, sizeof path);
    arm_fault(&no_new_file, 1, UINT64_MAX / 2);
    uint64_t sent = 0, received = 0;
    crash_request request = {.number = number_of(0)};
    while (sent < 50000 &&
           gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(patiently(300))) == GYRE_OK) {
        request.number = number_of(++sent);
        receive_right(queue, received++);
    }
    require(sent < 50000 && strstr(gyre_error_text(), "waits for its journal"));
    require(stat(path, &now) == 0 && now.st_size < 4 * 65536);
    require(log_lines_with("cannot be written") == 1 && log_lines_with("is written again") == 0);
    disarm_faults();
    for (uint64_t i = 0; i < 500; i++) {
        send_right(queue, sent++, CRASH_NOT);
        receive_right(queue, received++);
    }
    must(gyre_await(queue, sent - 1, GYRE_DURABLE, soon()));
    require(stat(path, &now) == 0 && now.st_size < 2 * 65536);
    ledger->sent = ledger->durable = ledger->received = sent;
    kill(getpid(), SIGKILL);
}

static void a_journal_that_cannot_begin_anew_leaves_room_for_that(void)
{
    static const char *const settings[] = {"kernel.default.checkpoint_ms=3", "queue.default.fsync=never",
                                           "queue.default.journal_size=65536", NULL};
    need_fault_board();
    extra = settings;
    live(no_room_beside, 60000000);
    require(ledger->durable > 500);
    live(last_life, 0);
}

static void cut_off(const char *path)
{
    require(truncate(path, 100) == 0);
}

static void remove_it(const char *path)
{
    require(unlink(path) == 0);
}

static void move_away(const char *path)
{
    char other[160];
    snprintf(other, sizeof other, "%s.moved", path);
    require(rename(path, other) == 0);
}

/* By somebody who knows nothing of journals, while they are in use. */
static const struct {
    void (*harm)(const char *path);
    const char *words;
} harms[] = {{remove_it, "was removed while it is in use"},
             {move_away, "was moved or replaced while it is in use"},
             {cut_off, "was cut off while it is in use"}};

static void harmed_file(void)
{
    enum { EACH = 100 };
    char path[128];
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_actor", 1));
    for (uint64_t i = 0; i < 2 * EACH; i++) {
        if (i == EACH) {
            must(gyre_await(queue, i - 1, GYRE_DURABLE, soon()));
            journal_path("fragile_actor", path, sizeof path);
            harms[ledger->seed].harm(path);
        }
        send_right(queue, i, CRASH_NOT);
        receive_right(queue, i);
    }
    must(gyre_await(queue, 2 * EACH - 1, GYRE_DURABLE, soon()));
    require(access(path, F_OK) == 0 && log_lines_with(harms[ledger->seed].words) == 1);
    ledger->sent = ledger->durable = ledger->received = 2 * EACH;
    kill(getpid(), SIGKILL);
}

static void a_journal_that_was_removed_is_written_anew(void)
{
    for (uint64_t i = 0; i < sizeof harms / sizeof harms[0]; i++) {
        begin_lives();
        ledger->seed = i;
        live(harmed_file, 60000000);
        require(ledger->durable > 0);
        live(last_life, 0);
    }
}

/* The cut comes when the journal's thread has looked at the file's size and has not written yet: its write makes the file as long
 * as expected, with a hole. */
static void cut_beneath_a_write(void)
{
    enum { EACH = 100, LATE_MS = 200 };
    const struct chosen_fault late = {GYRE_FAULT_JOURNAL_WRITE, GYRE_FAULT_DELAY, LATE_MS};
    char path[128];
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile_actor", 1));
    for (uint64_t i = 0; i < EACH; i++) {
        send_right(queue, i, CRASH_NOT);
        receive_right(queue, i);
    }
    must(gyre_await(queue, EACH - 1, GYRE_DURABLE, soon()));
    journal_path("fragile_actor", path, sizeof path);
    arm_fault(&late, 1, 1);
    send_right(queue, EACH, CRASH_NOT);
    while (faults_fired() == 0)
        usleep(1000);
    cut_off(path);
    receive_right(queue, EACH);
    must(gyre_await(queue, EACH, GYRE_DURABLE, soon()));
    ledger->sent = ledger->durable = ledger->received = EACH + 1;
    kill(getpid(), SIGKILL);
}

static void a_journal_that_is_cut_beneath_a_write_is_written_anew(void)
{
    need_fault_board();
    begin_lives();
    live(cut_beneath_a_write, 60000000);
    require(ledger->durable > 0);
    live(last_life, 0);
}

/* ---- waiting for the journal ---- */

enum { STREAMED = 10000 };

static void *send_stream(void *queue)
{
    for (uint64_t i = 0; i < STREAMED; i++)
        send_right(queue, i, CRASH_NOT);
    return NULL;
}

/* The sender is held up by the journal all the time: replies that were taken have to be noted there. */
static void stream_through_a_small_queue(const char *idle)
{
    gyre_runtime *runtime =
        open_durable(false, (const char *const[]){"queue.default.capacity=16", "queue.default.fsync=interval",
                                                  "queue.default.fsync_ms=3600000", idle, NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 1));
    pthread_t sender;
    require(pthread_create(&sender, NULL, send_stream, queue) == 0);
    for (uint64_t i = 0; i < STREAMED; i++)
        receive_plain(queue, i);
    pthread_join(sender, NULL);
    gyre_close(runtime);
}

static void wait_asleep(void)
{
    stream_through_a_small_queue("queue.default.idle=park");
}

/* Who is awake all the time has told nobody that it waits. */
static void wait_awake(void)
{
    stream_through_a_small_queue("queue.default.idle=yield");
}

static void wait_as_always(void)
{
    stream_through_a_small_queue("queue.default.idle=adaptive");
}

static void who_waits_for_the_journal_waits_for_no_timer(void)
{
    static void (*const ways[])(void) = {wait_asleep, wait_awake, wait_as_always};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char path[512];
        live(ways[i], 0);
        journal_path("fragile", path, sizeof path);
        require(unlink(path) == 0); /* the next one begins anew */
    }
}

/* ---- what is refused ---- */

static void refusals(void)
{
    gyre_runtime *runtime =
        open_durable(false, (const char *const[]){"kernel.default.checkpoints=false", NULL});
    gyre_kernel *kernel = NULL;
    gyre_queue *queue = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = CRASH_KERNELS, .kernel = "fragile_actor"};
    require(gyre_launch(runtime, &desc, &kernel) == GYRE_CONFIG);
    require(strstr(gyre_error_text(), "set checkpoints = true"));
    kernel = launch_fragile(runtime, "fragile", 1);
    require(gyre_queue_open(kernel, NULL, &queue) == GYRE_INVALID && strstr(gyre_error_text(), "no name"));
    gyre_queue_desc named = {.size = sizeof named, .name = "another/one"};
    must(gyre_queue_open(kernel, &named, &queue));
    send_right(queue, 0, CRASH_NOT);
    must(gyre_await(queue, 0, GYRE_DURABLE, soon()));
    require(gyre_await(queue, 1, GYRE_DURABLE, soon()) == GYRE_INVALID);
    require(gyre_await(queue, 0, GYRE_CHECKPOINTED, soon()) == GYRE_INVALID);
    gyre_runtime *second = open_durable(false, NULL);
    gyre_launch_desc again = {.size = sizeof again, .source = CRASH_KERNELS, .kernel = "fragile"};
    require(gyre_launch(second, &again, &kernel) == GYRE_AGAIN);
    require(strstr(gyre_error_text(), "in use by another kernel of this program"));
    gyre_close(second);
    gyre_close(runtime);
}

static void what_cannot_be_kept_is_refused(void)
{
    live(refusals, 0);
}

static const named_case cases[] = {
    {"state_goes_on_in_the_next_run", state_goes_on_in_the_next_run},
    {"replies_that_nobody_took_are_offered", replies_that_nobody_took_are_offered},
    {"nothing_durable_is_lost_when_the_program_is_killed",
     nothing_durable_is_lost_when_the_program_is_killed},
    {"a_small_journal_begins_anew", a_small_journal_begins_anew},
    {"nothing_durable_is_lost_when_the_program_dies_at_a_fault_point",
     nothing_durable_is_lost_when_the_program_dies_at_a_fault_point},
    {"requests_of_stateless_handlers_outlive_the_program",
     requests_of_stateless_handlers_outlive_the_program},
    {"a_relaunched_kernel_goes_on_with_its_journal", a_relaunched_kernel_goes_on_with_its_journal},
    {"a_closed_queue_goes_on_when_it_is_opened_again", a_closed_queue_goes_on_when_it_is_opened_again},
    {"nothing_is_lost_when_the_disk_is_full", nothing_is_lost_when_the_disk_is_full},
    {"a_journal_that_ends_on_a_full_disk_says_so", a_journal_that_ends_on_a_full_disk_says_so},
    {"a_journal_that_cannot_begin_anew_leaves_room_for_that",
     a_journal_that_cannot_begin_anew_leaves_room_for_that},
    {"a_journal_that_was_removed_is_written_anew", a_journal_that_was_removed_is_written_anew},
    {"a_journal_that_is_cut_beneath_a_write_is_written_anew",
     a_journal_that_is_cut_beneath_a_write_is_written_anew},
    {"who_waits_for_the_journal_waits_for_no_timer", who_waits_for_the_journal_waits_for_no_timer},
    {"what_cannot_be_kept_is_refused", what_cannot_be_kept_is_refused},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, begin_lives, cases);
}
