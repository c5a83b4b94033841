/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers that overwrite what their worker shares with the program. Whatever they write, the program goes on: no call
 * hangs, a kernel of another worker answers as if nothing had happened, and the kernel itself can be launched again.
 *
 *     test_scribble [RUNS [SEED]]
 *
 * Each run is a program of its own, `test_scribble run SEED`, that chooses from its seed what is written where, and
 * how its queues are made.
 */
#include "workers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scribble.h"
#include "tests/random.h"

enum { RUNS = 24, ROUNDS = 40, SETTINGS_MAX = 24, WAIT_MS = 3000 };

static uint64_t randomness;

static uint64_t draw(uint64_t below)
{
    return random_below(&randomness, below);
}

/* ---- a run ---- */

struct party {
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    gyre_queue *queue;
};

static gyre_runtime *open_with(const char *const *settings)
{
    const char *all[SETTINGS_MAX + 8] = {"backend.cpu.isolation=process",
                                         "gyre.check=off",
                                         "log_level=error",
                                         "backend.cpu.restart_limit=3",
                                         "backend.cpu.restart_backoff_ms=1",
                                         "kernel.default.stop_timeout_ms=500"};
    gyre_runtime *runtime = NULL;
    for (size_t i = 0; settings[i]; i++)
        all[6 + i] = settings[i];
    gyre_open_desc open = {.size = sizeof open, .settings = all, .backend = "cpu"};
    must(gyre_open(&open, &runtime));
    return runtime;
}

static struct party launch(gyre_runtime *runtime, const char *kernel, uint32_t blocks)
{
    struct party party = {.runtime = runtime};
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = SCRIBBLE_KERNELS, .kernel = kernel, .blocks = blocks};
    must(gyre_launch(runtime, &desc, &party.kernel));
    party.queue = gyre_kernel_queue(party.kernel);
    return party;
}

static const char *choose(const char *setting, const char *none)
{
    return draw(2) ? setting : none;
}

static struct party launch_scribbler(void)
{
    static const char *const kernels[] = {"scribbler", "scribbling_actor", "scribbling_chat"};
    const char *none = "log_level=error", *kernel = kernels[draw(3)];
    const char *settings[] = {choose("kernel.default.checkpoints=true", none),
                              choose("kernel.default.handler_budget_ms=200", none),
                              choose("kernel.default.timing=true", none),
                              choose("queue.default.header=64", none),
                              choose("queue.default.dead_letters=8", none),
                              choose("queue.default.seal=crc32c", none),
                              choose("queue.default.capacity=64", "queue.default.capacity=4096"),
                              choose("kernel.default.idle=park", none),
                              choose("backend.cpu.standby=true", none),
                              NULL};
    return launch(open_with(settings), kernel, strcmp(kernel, "scribbling_actor") != 0 && draw(2) ? 2 : 1);
}

static struct party launch_neighbour(void)
{
    const char *const settings[] = {NULL};
    return launch(open_with(settings), "scribbler", 1);
}

static void require_answer(const struct party *party, uint64_t number)
{
    const scribble_request request = {.number = number};
    scribble_reply reply = {0};
    must(gyre_call(party->queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.number == number && reply.check == number * UINT64_C(0x9e3779b97f4a7c15));
}

static scribble_request choose_request(uint64_t number)
{
    return (scribble_request){.how = SCRIBBLE_BEYOND + (uint32_t)draw(SCRIBBLE_HOWS - 1),
                              .then = (uint32_t)draw(SCRIBBLE_THENS),
                              .kilobytes = 20 + (uint32_t)draw(280),
                              .seed = (uint64_t)draw(UINT32_MAX) << 32 | draw(UINT32_MAX),
                              .number = number};
}

/* Whatever the worker writes, no more is received than was sent. */
static void require_account_of(const struct party *party)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    must(gyre_queue_stats_get(party->queue, &stats));
    require(stats.received + stats.dropped + stats.abandoned <= stats.sent);
    require(stats.high_water <= stats.capacity);
}

/* What comes of it is told in some way, and in time. */
static void exchange(const struct party *party, uint64_t number, bool scribbles)
{
    scribble_request requests[4] = {{.number = number}, {.number = number + 1}, {.number = number + 2}};
    unsigned char reply[8192];
    gyre_completion completion;
    if (scribbles)
        requests[1] = choose_request(number + 1);
    uint64_t sent = 0;
    while (sent < 3 &&
           gyre_send(party->queue, &requests[sent], sizeof requests[sent], NULL, gyre_in_ms(100)) == GYRE_OK)
        sent++;
    for (uint64_t i = 0; i < sent; i++)
        if (gyre_receive(party->queue, reply, sizeof reply, &completion, gyre_in_ms(scribbles ? 500 : 50)) !=
            GYRE_OK)
            break;
    for (int i = 0; i < 8; i++) /* what was not answered in time, perhaps; and nothing that was not sent */
        (void)gyre_receive(party->queue, reply, sizeof reply, &completion, GYRE_NO_WAIT);
    require_account_of(party);
}

/* A worker that completes what nobody sent is not heard. One of several requests, since one alone has a line of its own. */
static void require_no_more_than_sent(void)
{
    const struct party liar = launch_neighbour();
    scribble_request requests[4] = {{.number = 1}, {.number = 2}, {.number = 3}, {.number = 4}};
    unsigned char reply[64];
    size_t sent = 0;
    requests[3] = (scribble_request){.how = SCRIBBLE_AHEAD, .number = UINT64_MAX - 1};
    must(gyre_send_batch(liar.queue, requests, sizeof requests[0], 4, &sent, soon()));
    for (size_t i = 0; i < sent; i++)
        must(gyre_receive(liar.queue, reply, sizeof reply, NULL, soon()));
    require(gyre_receive(liar.queue, reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    require(gyre_receive(liar.queue, reply, sizeof reply, NULL, gyre_in_ms(20)) == GYRE_TIMEOUT);
    require_account_of(&liar);
    gyre_close(liar.runtime);
}

static void look(const struct party *party)
{
    gyre_kernel_info info = {.size = sizeof info};
    gyre_queue_stats stats = {.size = sizeof stats};
    gyre_block_info block = {.size = sizeof block};
    must(gyre_kernel_info_get(party->kernel, &info));
    must(gyre_queue_stats_get(party->queue, &stats));
    must(gyre_kernel_block_get(party->kernel, 0, &block));
}

/* What changes the kernel, and opens queues beside, while its control region says anything. */
static void disturb(const struct party *party)
{
    gyre_queue_desc desc = {.size = sizeof desc, .capacity = 16};
    gyre_queue *queue = NULL;
    switch (draw(5)) {
    case 0:
        gyre_kernel_deactivate(party->kernel, gyre_in_ms(200));
        gyre_kernel_activate(party->kernel, gyre_in_ms(200));
        break;
    case 1:
        if (gyre_queue_open(party->kernel, &desc, &queue) == GYRE_OK)
            gyre_queue_close(queue);
        break;
    case 2:
        kill(worker_of(getpid()), 0); /* looks alone */
        break;
    default:
        look(party);
    }
}

static void launch_again(const struct party *party)
{
    gyre_kernel_terminate(party->kernel, GYRE_NO_WAIT, NULL);
    if (gyre_kernel_relaunch(party->kernel) == GYRE_OK)
        exchange(party, UINT32_MAX, false);
}

static int run(uint64_t seed)
{
    randomness = random_begin(seed);
    make_fault_folder();
    require_no_more_than_sent();
    struct party neighbour = launch_neighbour(), scribbler = launch_scribbler();
    const uint64_t until = gyre_now_ns() + (uint64_t)WAIT_MS * 1000000;
    for (uint64_t round = 1; round <= ROUNDS && gyre_now_ns() < until; round++) {
        exchange(&scribbler, round * 8, draw(4) == 0);
        require_answer(&neighbour, round);
        if (draw(3) == 0)
            disturb(&scribbler);
        require_answer(&neighbour, round);
    }
    look(&scribbler);
    launch_again(&scribbler);
    require_answer(&neighbour, 1);
    gyre_close(scribbler.runtime);
    require_answer(&neighbour, 2);
    gyre_close(neighbour.runtime);
    return EXIT_SUCCESS;
}

/* ---- all ---- */

static pid_t start_run(const char *program, uint64_t seed)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "run", number, (char *)NULL);
        _exit(127);
    }
    require(child > 0);
    return child;
}

static bool has_ended_well(const char *program, uint64_t seed)
{
    int status = 0;
    const uint64_t begun = gyre_now_ns(), limit = patiently(60000) * UINT64_C(1000000);
    pid_t child = start_run(program, seed), ended = 0;
    while (ended == 0 && gyre_now_ns() - begun < limit) {
        usleep(5000);
        ended = waitpid(child, &status, WNOHANG);
    }
    if (ended == 0) {
        printf("seed %llu: hangs\n", (unsigned long long)seed);
        kill(child, SIGABRT);
        waitpid(child, &status, 0);
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return true;
    printf("seed %llu: %s %d\n", (unsigned long long)seed, WIFSIGNALED(status) ? "signal" : "exit code",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return false;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "run"))
        return run(strtoull(argv[2], NULL, 0));
    const uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 0) : RUNS;
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : gyre_now_ns() / 1000 % 1000000000;
    static const uint64_t found[] = {834064746}; /* a stamp that overflowed (stages/timing.c) */
    uint64_t failed = 0;
    for (size_t i = 0; argc == 1 && i < sizeof found / sizeof found[0]; i++)
        failed += !has_ended_well("/proc/self/exe", found[i]);
    for (uint64_t i = 0; i < runs; i++)
        failed += !has_ended_well("/proc/self/exe", first + i);
    printf("%llu runs from seed %llu: %llu programs did not end as they should\n", (unsigned long long)runs,
           (unsigned long long)first, (unsigned long long)failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
