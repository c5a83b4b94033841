/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries to a kernel with state: no journal holds them, nothing has them handled again from a checkpoint on, and their
 * replies come in their order all the same, whoever dies. One case a run, `test_queries CASE`.
 */
#include "faults.h"
#include "lives.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "till.h"

enum { MOST = 1 << 15 };
#define PUT_MARK UINT64_C(0x1122334455667788)
#define ASK_MARK UINT64_C(0x8877665544332211)

static till_sum behind[MOST]; /* what the till has behind request `index` */

/* Two of three, by their numbers, whatever life sends them. */
static bool is_query(uint64_t index)
{
    return mixed(index) % 3 != 0;
}

static void make_model(void)
{
    till_sum now = {0};
    for (uint64_t i = 0; i < MOST; i++) {
        if (!is_query(i)) {
            now.sum = now.sum * 31 + number_of(i);
            now.puts++;
        }
        behind[i] = now;
    }
}

static gyre_kernel *launch_till(gyre_runtime *runtime)
{
    const gyre_launch_desc desc = {.size = sizeof desc, .source = TILL_KERNEL};
    gyre_kernel *kernel = NULL;
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

static void send_one(gyre_queue *queue, uint64_t index)
{
    const till_put put = {number_of(index), PUT_MARK};
    const till_ask ask = {{ASK_MARK, ASK_MARK, ASK_MARK, ASK_MARK}};
    uint64_t given = 0;
    must(is_query(index) ? gyre_send_as(queue, GYRE_TYPE(till_ask), &ask, sizeof ask, &given, soon())
                         : gyre_send_as(queue, GYRE_TYPE(till_put), &put, sizeof put, &given, soon()));
    require(given == index);
}

/* Of an earlier life nobody knows what was asked: that is told. */
static void receive_one(gyre_queue *queue, uint64_t index, bool of_earlier_life)
{
    till_reply reply;
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.index == index);
    if (of_earlier_life && is_query(index) && completion.outcome == GYRE_WAS_UNHANDLED)
        return;
    require(completion.outcome == GYRE_REPLIED);
    const till_sum *sum =
        is_query(index) ? &reply.gyre_one.gyre_of_till_ask : &reply.gyre_one.gyre_of_till_put;
    require(sum->sum == behind[index].sum && sum->puts == behind[index].puts);
}

static uint64_t take_over(gyre_queue *queue)
{
    const gyre_recovered recovered = recovered_of(queue);
    require(recovered.lost_first == recovered.lost_end && recovered.first <= ledger->received + 1);
    require(recovered.first + recovered.offered >= ledger->durable);
    for (uint64_t i = 0; i < recovered.offered; i++)
        receive_one(queue, recovered.first + i, true);
    ledger->offered += recovered.offered;
    ledger->received = ledger->sent = recovered.first + recovered.offered;
    ledger->at_work = true;
    return ledger->received;
}

static void require_till_of(gyre_kernel *kernel, uint64_t count)
{
    till_sum state;
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.sum == behind[count - 1].sum && state.puts == behind[count - 1].puts);
}

/* ---- what is written ---- */

static void put_and_ask(void)
{
    gyre_runtime *runtime =
        open_durable(false, (const char *const[]){"kernel.default.checkpoint_ms=0", NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_till(runtime));
    for (uint64_t i = 0; i < 900; i++) {
        send_one(queue, i);
        receive_one(queue, i, false);
    }
    must(gyre_await(queue, 899, GYRE_DURABLE, soon()));
    kill(getpid(), SIGKILL);
}

static unsigned char *read_journal(size_t *size)
{
    char path[128];
    struct stat about;
    journal_path("till", path, sizeof path);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    require(file >= 0 && fstat(file, &about) == 0);
    unsigned char *bytes = malloc((size_t)about.st_size + 1);
    *size = (size_t)about.st_size;
    require(bytes && read(file, bytes, *size) == about.st_size);
    close(file);
    return bytes;
}

static size_t count_marks(const unsigned char *bytes, size_t size, uint64_t mark)
{
    size_t count = 0;
    for (size_t at = 0; at + sizeof mark <= size; at += sizeof mark)
        count += memcmp(bytes + at, &mark, sizeof mark) == 0;
    return count;
}

static void go_on_from_all_puts(void)
{
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_kernel *kernel = launch_till(runtime);
    ledger->received = 900;
    require(take_over(gyre_kernel_queue(kernel)) == 900);
    require_till_of(kernel, 900);
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    require(info.replayed == behind[899].puts);
    gyre_close(runtime);
}

static void a_journal_holds_no_queries(void)
{
    size_t size = 0;
    live(put_and_ask, 60000000);
    unsigned char *bytes = read_journal(&size);
    require(count_marks(bytes, size, PUT_MARK) == behind[899].puts);
    require(count_marks(bytes, size, ASK_MARK) == 0);
    free(bytes);
    live(go_on_from_all_puts, 0);
}

/* ---- deaths ---- */

static bool isolated, workers_die;
static const char *const *with = (const char *const[]){"kernel.default.checkpoint_ms=5", NULL};

static void busy_life(void)
{
    gyre_runtime *runtime = open_durable(isolated, with);
    gyre_queue *queue = gyre_kernel_queue(launch_till(runtime));
    uint64_t next = take_over(queue);
    for (uint64_t round = 0; next < MOST; round++) {
        for (int i = 0; i < 40 && next < MOST; i++)
            send_one(queue, next++);
        ledger->sent = next;
        if (round % 5 == 0) {
            must(gyre_await(queue, next - 1, GYRE_DURABLE, soon()));
            ledger->durable = next;
        }
        if (workers_die && round % 20 == 10)
            kill_worker();
        while (next - ledger->received > 100) {
            receive_one(queue, ledger->received, false);
            ledger->received++;
        }
    }
    gyre_close(runtime);
}

static void last_life(void)
{
    gyre_runtime *runtime = open_durable(false, with);
    gyre_kernel *kernel = launch_till(runtime);
    const uint64_t count = take_over(gyre_kernel_queue(kernel));
    require(count > 0);
    require_till_of(kernel, count);
    gyre_close(runtime);
}

static void replies_keep_their_order_when_the_program_is_killed(void)
{
    for (unsigned i = 0; i < 16; i++) {
        isolated = i % 2 != 0;
        live_at_work(busy_life, 20000 + 7000 * i);
    }
    live(last_life, 0);
    require(ledger->offered > 0);
}

/* A header is no part of a query that is kept either. */
static void sealed_replies_with_headers_keep_their_order(void)
{
    with = (const char *const[]){"kernel.default.checkpoint_ms=5", "queue.default.header=64",
                                 "queue.default.seal=crc32c", "queue.default.journal_size=65536", NULL};
    replies_keep_their_order_when_the_program_is_killed();
}

static void replies_keep_their_order_when_workers_die_too(void)
{
    isolated = workers_die = true;
    for (unsigned i = 0; i < 8; i++)
        live_at_work(busy_life, 100000 + 40000 * i);
    live(last_life, 0);
}

/* ---- in one life ---- */

static void ask_while_the_worker_dies(void)
{
    gyre_runtime *runtime = open_durable(true, (const char *const[]){"kernel.default.checkpoint_ms=0", NULL});
    gyre_kernel *kernel = launch_till(runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_kernel_info info = {.size = sizeof info};
    for (uint64_t i = 0; i < 600; i++) {
        send_one(queue, i);
        receive_one(queue, i, false);
    }
    kill_worker();
    for (uint64_t i = 600; i < 700; i++) {
        send_one(queue, i);
        receive_one(queue, i, false);
    }
    must(gyre_kernel_info_get(kernel, &info));
    require(info.restarts == 1 && info.replayed >= behind[599].puts && info.replayed <= behind[699].puts);
    require_till_of(kernel, 700);
    gyre_close(runtime);
}

static void a_worker_handles_no_query_again(void)
{
    live(ask_while_the_worker_dies, 0);
}

static void await_queries(void)
{
    gyre_runtime *runtime = open_durable(false, NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_till(runtime));
    uint64_t query = 0;
    while (!is_query(query))
        query++;
    for (uint64_t i = 0; i <= query; i++)
        send_one(queue, i);
    for (gyre_acknowledgement what = GYRE_ACCEPTED; what <= GYRE_DURABLE; what++)
        must(gyre_await(queue, query, what, soon()));
    for (uint64_t i = 0; i <= query; i++)
        receive_one(queue, i, false);
    gyre_close(runtime);
}

/* The disk refuses from then on whatever asks it. */
static void ask_beside_a_disk_that_refuses(void)
{
    static const struct chosen_fault refuse = {GYRE_FAULT_JOURNAL_SYNC, GYRE_FAULT_FAIL, EIO};
    gyre_runtime *runtime =
        open_durable(false, (const char *const[]){"kernel.default.checkpoint_ms=0", NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_till(runtime));
    uint64_t first = 0, end;
    while (!is_query(first) || !is_query(first + 1))
        first++;
    for (end = first; is_query(end);)
        end++;
    for (uint64_t i = 0; i < first; i++)
        send_one(queue, i);
    if (first)
        must(gyre_await(queue, first - 1, GYRE_DURABLE, soon()));
    arm_fault(&refuse, 1, UINT64_MAX / 2);
    for (uint64_t i = first; i < end; i++)
        send_one(queue, i);
    must(gyre_await(queue, end - 1, GYRE_DURABLE, soon()));
    require(faults_fired() == 0);
    send_one(queue, end); /* which is no query */
    require(gyre_await(queue, end, GYRE_DURABLE, gyre_in_ms(200)) == GYRE_TIMEOUT && faults_fired() > 0);
    disarm_faults();
    must(gyre_await(queue, end, GYRE_DURABLE, soon()));
    for (uint64_t i = 0; i <= end; i++)
        receive_one(queue, i, false);
    gyre_close(runtime);
}

static void queries_wait_for_no_disk(void)
{
    need_fault_board();
    live(ask_beside_a_disk_that_refuses, 0);
}

static void queries_are_acknowledged(void)
{
    live(await_queries, 0);
}

static const named_case cases[] = {
    {"a_journal_holds_no_queries", a_journal_holds_no_queries},
    {"replies_keep_their_order_when_the_program_is_killed",
     replies_keep_their_order_when_the_program_is_killed},
    {"sealed_replies_with_headers_keep_their_order", sealed_replies_with_headers_keep_their_order},
    {"replies_keep_their_order_when_workers_die_too", replies_keep_their_order_when_workers_die_too},
    {"a_worker_handles_no_query_again", a_worker_handles_no_query_again},
    {"queries_are_acknowledged", queries_are_acknowledged},
    {"queries_wait_for_no_disk", queries_wait_for_no_disk},
};

static void prepare(void)
{
    begin_lives();
    make_model();
}

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, prepare, cases);
}
