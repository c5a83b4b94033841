/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed actors whose program, or worker process, dies: each key's state has each of its messages once, in their order, also when
 * the next life has another number of blocks. One case a run, `test_keyed CASE`.
 */
#include "lives.h"

#include <gyre/keyed.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tellers.h"

enum { MOST = 1 << 17, ACCOUNTS = 997 };

static teller behind[MOST];     /* the state of a request's account once request `index` was handled */
static uint32_t last[ACCOUNTS]; /* while the model is made: 1 + the account's latest request */

static uint32_t account_of(uint64_t index)
{
    return (uint32_t)(mixed(index) % ACCOUNTS);
}

static void make_model(void)
{
    for (uint64_t i = 0; i < MOST; i++) {
        const uint32_t account = account_of(i), before = last[account];
        teller now = before ? behind[before - 1] : (teller){0};
        now.count++;
        now.trace = now.trace * 31 + number_of(i);
        behind[i] = now;
        last[account] = (uint32_t)i + 1;
    }
}

static const char *backend; /* NULL: the first that there is */

static gyre_status launch_tellers(gyre_runtime *runtime, uint32_t blocks, gyre_kernel **kernel)
{
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = TELLERS_KERNEL,
                                   .kernel = "tellers",
                                   .backend = backend,
                                   .blocks = blocks};
    return gyre_launch(runtime, &desc, kernel);
}

static void send_one(gyre_queue *queue, uint64_t index)
{
    const payment request = {account_of(index), number_of(index)};
    uint64_t given = 0;
    must(gyre_send(queue, &request, sizeof request, &given, soon()));
    require(given == index);
}

static void receive_one(gyre_queue *queue, uint64_t index)
{
    teller reply;
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.index == index && completion.outcome == GYRE_REPLIED);
    require(reply.count == behind[index].count && reply.trace == behind[index].trace);
}

static uint64_t take_over(gyre_queue *queue)
{
    const gyre_recovered recovered = recovered_of(queue);
    require(recovered.lost_first == recovered.lost_end && recovered.first <= ledger->received + 1);
    require(recovered.first + recovered.offered >= ledger->durable);
    for (uint64_t i = 0; i < recovered.offered; i++)
        receive_one(queue, recovered.first + i);
    ledger->offered += recovered.offered;
    ledger->received = ledger->sent = recovered.first + recovered.offered;
    ledger->at_work = true;
    return ledger->received;
}

/* Every account has what the first `count` requests left there, and those without a request have no state. */
static void require_accounts(gyre_kernel *kernel, uint64_t count)
{
    static bool seen[ACCOUNTS];
    teller state;
    uint32_t account;
    for (uint64_t index = count; index-- > 0;) {
        account = account_of(index);
        if (seen[account])
            continue;
        seen[account] = true;
        must(gyre_kernel_key_read(kernel, &account, sizeof account, &state, sizeof state));
        require(state.count == behind[index].count && state.trace == behind[index].trace);
    }
    account = ACCOUNTS;
    require(gyre_kernel_key_read(kernel, &account, sizeof account, &state, sizeof state) == GYRE_NOT_FOUND);
}

/* ---- lives ---- */

static bool isolated, workers_die;
static uint32_t blocks = 1, last_blocks = 2;
static const char *const with[] = {"kernel.default.checkpoint_ms=5", "kernel.tellers.keys=2000", NULL};

static void busy_life(void)
{
    gyre_kernel *kernel = NULL;
    gyre_runtime *runtime = open_durable(isolated, with);
    must(launch_tellers(runtime, blocks, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
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
            receive_one(queue, ledger->received);
            ledger->received++;
        }
    }
    gyre_close(runtime);
}

static void last_life(void)
{
    gyre_kernel *kernel = NULL;
    gyre_runtime *runtime = open_durable(false, with);
    must(launch_tellers(runtime, last_blocks, &kernel));
    const uint64_t count = take_over(gyre_kernel_queue(kernel));
    require(count > 0);
    require_accounts(kernel, count);
    gyre_close(runtime);
}

static void states_of_keys_outlive_the_program(void)
{
    for (unsigned i = 0; i < 12; i++) {
        blocks = 1 + i % 3;
        isolated = i % 4 == 3;
        live_at_work(busy_life, 15000 + 7000 * i);
    }
    live(last_life, 0);
    require(ledger->offered > 0);
}

static void states_of_keys_outlive_workers(void)
{
    isolated = workers_die = true;
    for (unsigned i = 0; i < 4; i++) {
        blocks = 1 + i % 2;
        live_at_work(busy_life, 100000 + 40000 * i);
    }
    live(last_life, 0);
}

/* A kernel with checkpoints has one block there. */
static void states_of_keys_outlive_the_program_on_cuda(void)
{
    need_backend("cuda");
    backend = "cuda";
    last_blocks = 1;
    for (unsigned i = 0; i < 3; i++)
        live_at_work(busy_life, 200000 + 100000 * i);
    live(last_life, 0);
}

static void states_of_keys_outlive_the_program_on_opencl(void)
{
    need_backend("opencl");
    backend = "opencl";
    for (unsigned i = 0; i < 6; i++) {
        blocks = 1 + i % 3;
        live_at_work(busy_life, 60000 + 30000 * i);
    }
    live(last_life, 0);
}

/* ---- reminders ---- */

/*
 * When a reminder comes nobody knows before. But what an account was told is a chain: each reply follows from the one before it by
 * some reminders and the message, also when the lives before it died. So a reminder that came again, or at another place when
 * requests were handled again, breaks it.
 */
enum { WATCHED = 61, LEAST_ROUNDS = 30 };

/* What an account's last reply said. Kept across lives, which may end while it is written: the other half is good then. */
struct told {
    watch states[2];
    uint64_t next[2]; /* 1 + the request's index */
    _Atomic uint32_t half;
};
static struct told *told;

static uint32_t watched_of(uint64_t index)
{
    return (uint32_t)(mixed(index) % WATCHED);
}

static const char *const watched_with[] = {"kernel.default.checkpoint_ms=20", "kernel.watched.keys=200",
                                           "queue.watched.header=sent", NULL};

static gyre_kernel *launch_watched(gyre_runtime *runtime, uint32_t count)
{
    gyre_kernel *kernel = NULL;
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = TELLERS_KERNEL, .kernel = "watched", .blocks = count};
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

static void follow(uint64_t index, const watch *reply)
{
    struct told *account = &told[watched_of(index)];
    const uint32_t half = atomic_load(&account->half);
    const watch *before = &account->states[half];
    uint64_t trace = before->trace;
    if (account->next[half] > index) /* it was taken, and its life died before the journal noted that */
        return;
    require(reply->count == before->count + 1);
    require(reply->reminded >= before->reminded && reply->reminded <= before->reminded + 1);
    if (reply->reminded > before->reminded)
        trace = trace * 31 + REMINDED_AS;
    require(reply->trace == trace * 31 + number_of(index));
    account->states[!half] = *reply;
    account->next[!half] = index + 1;
    atomic_store(&account->half, !half);
}

static void send_watched(gyre_queue *queue, uint64_t index)
{
    const payment request = {watched_of(index), number_of(index)};
    uint64_t given = 0;
    must(gyre_send(queue, &request, sizeof request, &given, soon()));
    require(given == index);
}

static void receive_watched(gyre_queue *queue, uint64_t index)
{
    watch reply;
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.index == index && completion.outcome == GYRE_REPLIED);
    follow(index, &reply);
}

static uint64_t take_over_watched(gyre_queue *queue)
{
    const gyre_recovered recovered = recovered_of(queue);
    require(recovered.lost_first == recovered.lost_end);
    require(recovered.first + recovered.offered >= ledger->durable);
    for (uint64_t i = 0; i < recovered.offered; i++)
        receive_watched(queue, recovered.first + i);
    ledger->offered += recovered.offered;
    return recovered.first + recovered.offered;
}

static void watched_life(void)
{
    gyre_runtime *runtime = open_durable(isolated, watched_with);
    gyre_queue *queue = gyre_kernel_queue(launch_watched(runtime, blocks));
    uint64_t next = take_over_watched(queue), received = next;
    for (uint64_t round = 0;; round++) {
        ledger->at_work = round > LEAST_ROUNDS;
        for (int i = 0; i < 10; i++)
            send_watched(queue, next++);
        must(gyre_await(queue, next - 1, GYRE_DURABLE, soon())); /* what is told is kept */
        ledger->durable = next;
        if (workers_die && round % 20 == 10)
            kill_worker();
        while (next - received > 5)
            receive_watched(queue, received++);
    }
}

/* Each account is reminded once more than its last message found, whatever died since then. */
static void reminded_life(void)
{
    gyre_runtime *runtime = open_durable(false, watched_with);
    gyre_kernel *kernel = launch_watched(runtime, 2);
    take_over_watched(gyre_kernel_queue(kernel));
    uint64_t reminders = 0;
    for (uint32_t account = 0; account < WATCHED; account++) {
        watch state = {0};
        while (!state.since)
            must(gyre_kernel_key_read(kernel, &account, sizeof account, &state, sizeof state));
        const watch *last_reply = &told[account].states[told[account].half];
        require(state.since == 1 && state.count == last_reply->count);
        require(state.trace == last_reply->trace * 31 + REMINDED_AS);
        reminders += state.reminded;
    }
    require(reminders > WATCHED);
    gyre_close(runtime);
}

static void prepare_watched(void)
{
    told = mmap(NULL, WATCHED * sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(told != MAP_FAILED);
}

static void reminders_outlive_the_program(void)
{
    prepare_watched();
    for (unsigned i = 0; i < 6; i++) {
        blocks = 1 + i % 3;
        live_at_work(watched_life, 60000 + 17000 * i);
    }
    live(reminded_life, 0);
    require(ledger->offered > 0);
}

static void reminders_outlive_workers(void)
{
    prepare_watched();
    isolated = workers_die = true;
    for (unsigned i = 0; i < 3; i++) {
        blocks = 1 + i % 2;
        live_at_work(watched_life, 150000 + 40000 * i);
    }
    live(reminded_life, 0);
}

/* ---- a table that does not fit ---- */

static void pay_once(void)
{
    gyre_kernel *kernel = NULL;
    gyre_runtime *runtime = open_durable(false, with);
    must(launch_tellers(runtime, 1, &kernel));
    send_one(gyre_kernel_queue(kernel), 0);
    receive_one(gyre_kernel_queue(kernel), 0);
    gyre_close(runtime);
}

static void launch_with_other_keys(void)
{
    gyre_kernel *kernel = NULL;
    gyre_runtime *runtime = open_durable(false, (const char *const[]){"kernel.tellers.keys=4000", NULL});
    require(launch_tellers(runtime, 1, &kernel) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "kept a table for 2000 keys, and has keys = 4000 now") != NULL);
    gyre_close(runtime);
}

static void another_number_of_keys_is_refused(void)
{
    live(pay_once, 0);
    live(launch_with_other_keys, 0);
}

static const named_case cases[] = {
    {"states_of_keys_outlive_the_program", states_of_keys_outlive_the_program},
    {"states_of_keys_outlive_workers", states_of_keys_outlive_workers},
    {"states_of_keys_outlive_the_program_on_cuda", states_of_keys_outlive_the_program_on_cuda},
    {"states_of_keys_outlive_the_program_on_opencl", states_of_keys_outlive_the_program_on_opencl},
    {"another_number_of_keys_is_refused", another_number_of_keys_is_refused},
    {"reminders_outlive_the_program", reminders_outlive_the_program},
    {"reminders_outlive_workers", reminders_outlive_workers},
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
