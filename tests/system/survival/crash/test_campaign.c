/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crash campaign: random requests to a stateless handler while its worker process dies again and again,
 * in every way, at random moments. Nothing may be lost, doubled or wrong.
 *
 *     test_campaign [SEED [FAULTS]]
 *
 * Everything that is chosen comes from the seed, which is printed, so a run can be repeated; when a signal
 * arrives is up to the machine. Faults: what a handler does to itself (see crash.gyre.c; each happens once
 * for its request), a few requests that crash every time and must be failed, SIGKILL and SIGSTOP from
 * outside (for 5 s, unless the worker is replaced before, or so short that nobody notices), and fault points:
 * sockets that are cut, workers that do not start or die in the midst of a call, memory that lacks.
 */
#include "faults.h"
#include "workers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/random.h"
#include "../../../patience.h"

enum {
    WINDOW = 512,
    QUEUES = 2,
    FAULTS_SHORT = 220,
    ONE_FAULT_IN = 60, /* requests */
    POISON_IN = 40,    /* faults: one that happens every time */
    KILL_IN = 8,       /* turns of the loop: a signal from outside */
    POINT_IN = 5,      /* turns: a fault point is armed */
    BUFFER_IN = 4,     /* turns: a buffer is used */
    BUFFER_WORDS = 64,
    AGAIN_AT_FIRST = 10, /* operations that are made before the first request */
    CODE_CRASH = -10,
    CODE_ASSERT = -2
};

struct sent {
    uint32_t fault;
    bool always;
    uint64_t number;
};

struct line {
    gyre_queue *queue;
    struct sent window[WINDOW];
    uint64_t sent, received;
};

static struct {
    uint64_t random, numbers, requests, replies, failures, faults, kills, stops, poison, again;
    struct line lines[QUEUES];
    gyre_buffer *buffer;
    bool has_points;
} campaign;

static uint64_t draw(uint64_t below)
{
    return random_below(&campaign.random, below);
}

static struct sent choose_request(bool faults)
{
    static const uint32_t ways[] = {CRASH_SEGFAULT,   CRASH_SEGFAULT, CRASH_ABORT, CRASH_TRAP,   CRASH_EXIT,
                                    CRASH_DIVIDE,     CRASH_LOOP,     CRASH_STOP,  CRASH_ASSERT, CRASH_ASSERT,
                                    CRASH_MISALIGNED, CRASH_MEMORY,   CRASH_CUT};
    struct sent request = {.number = ++campaign.numbers};
    if (!faults || draw(ONE_FAULT_IN) != 0)
        return request;
    request.fault = ways[draw(sizeof ways / sizeof ways[0])];
    request.always = request.fault == CRASH_ASSERT;
    if (request.fault == CRASH_SEGFAULT && draw(POISON_IN) == 0)
        request.always = true;
    campaign.poison += request.always && request.fault != CRASH_ASSERT;
    campaign.faults += request.fault != CRASH_ASSERT;
    return request;
}

static void send_some(struct line *line, uint64_t count, bool faults)
{
    for (; count > 0 && line->sent - line->received < WINDOW; count--) {
        struct sent chosen = choose_request(faults);
        crash_request request = {.fault = chosen.fault, .always = chosen.always, .number = chosen.number};
        uint64_t index = 0;
        line->window[line->sent % WINDOW] = chosen;
        must(gyre_send(line->queue, &request, sizeof request, &index, soon()));
        require(index == line->sent++);
        campaign.requests++;
    }
}

static void check(const struct sent *sent, const crash_reply *reply, const gyre_completion *completion)
{
    if (!sent->always && completion->outcome != GYRE_REPLIED)
        fprintf(stderr, "request %llu (fault %u): outcome %d, code %d\n", (unsigned long long)sent->number,
                sent->fault, (int)completion->outcome, completion->failure_code);
    if (!sent->always) {
        require(completion->outcome == GYRE_REPLIED);
        require(reply->number == sent->number && reply->check == mixed(sent->number));
        campaign.replies++;
        return;
    }
    require(completion->outcome == GYRE_HANDLER_FAILED);
    require(completion->failure_code == (sent->fault == CRASH_ASSERT ? CODE_ASSERT : CODE_CRASH));
    campaign.failures++;
}

static void receive_some(struct line *line, uint64_t count)
{
    for (; count > 0 && line->received < line->sent; count--) {
        crash_reply reply = {0};
        gyre_completion completion;
        must(gyre_receive(line->queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(60000))));
        require(completion.index == line->received);
        check(&line->window[line->received++ % WINDOW], &reply, &completion);
    }
}

static void signal_worker(void)
{
    uint64_t way = draw(8);
    pid_t worker = worker_of(getpid());
    if (worker == 0)
        return; /* it is being replaced this very moment */
    if (way < 2)
        stop_worker(worker, way == 0 ? 10 : 5000);
    else
        kill(worker, SIGKILL);
    campaign.faults++;
    campaign.kills += way >= 2;
    campaign.stops += way < 2;
}

/* A point that is hit while nothing fails, or while a worker is replaced, now or a little later. */
static void arm_point(void)
{
    static const struct chosen_fault choice[] = {{GYRE_FAULT_KEEPER_SPAWN, GYRE_FAULT_FAIL, EAGAIN},
                                                 {GYRE_FAULT_KEEPER_CONNECT, GYRE_FAULT_FAIL, EMFILE},
                                                 {GYRE_FAULT_PROXY_SEND, GYRE_FAULT_FAIL, EPIPE},
                                                 {GYRE_FAULT_PROXY_ANSWER, GYRE_FAULT_FAIL, EPIPE},
                                                 {GYRE_FAULT_PROXY_REVIVE, GYRE_FAULT_FAIL, ENOMEM},
                                                 {GYRE_FAULT_WORKER_START, GYRE_FAULT_DIE, 0},
                                                 {GYRE_FAULT_WORKER_CALL, GYRE_FAULT_DIE, 0},
                                                 {GYRE_FAULT_WORKER_CALL, GYRE_FAULT_DELAY, 15},
                                                 {GYRE_FAULT_WORKER_ANSWER, GYRE_FAULT_DIE, 0},
                                                 {GYRE_FAULT_WORKER_ANSWER, GYRE_FAULT_DELAY, 15},
                                                 {GYRE_FAULT_WORKER_MAP, GYRE_FAULT_FAIL, ENOMEM},
                                                 {GYRE_FAULT_RECOVERY_LAUNCH, GYRE_FAULT_DELAY, 10},
                                                 {GYRE_FAULT_RING_PARK, GYRE_FAULT_DELAY, 5}};
    const struct chosen_fault *chosen = &choice[draw(sizeof choice / sizeof choice[0])];
    uint64_t after = 1 + draw(4);
    if (campaign.has_points)
        arm_fault(chosen, after, 1);
}

/* An operation that too many workers died of, or without memory, has not happened, and is made again. */
static bool has_happened(gyre_status status)
{
    require(status == GYRE_OK || status == GYRE_LOST || status == GYRE_EXHAUSTED);
    campaign.again += status != GYRE_OK;
    require(campaign.again < campaign.requests + AGAIN_AT_FIRST);
    return status == GYRE_OK;
}

/* What a program does beside sending: calls of the device, which also meet its deaths. */
static void use_buffer(void)
{
    uint64_t numbers[BUFFER_WORDS], found[BUFFER_WORDS];
    for (size_t i = 0; i < BUFFER_WORDS; i++)
        numbers[i] = draw(UINT64_C(1) << 32);
    while (!has_happened(gyre_buffer_upload(campaign.buffer, 0, numbers, sizeof numbers)))
        ;
    while (!has_happened(gyre_buffer_download(campaign.buffer, 0, found, sizeof found)))
        ;
    require(memcmp(numbers, found, sizeof found) == 0);
}

static void one_life(uint64_t faults)
{
    /* poison_limit: whoever is alone when its worker dies of something else often enough would be failed. A slow machine may
       give no worker the time to answer between two faults. */
    const char *const settings[] = {patient_setting("kernel.default.handler_budget_ms", 30),
                                    "kernel.default.poison_limit=6",
                                    "backend.cpu.restart_limit=1000",
                                    patient_setting("backend.cpu.worker_timeout_ms", 500),
                                    "log_level=warning",
                                    NULL};
    gyre_runtime *runtime = open_isolated(settings);
    uint32_t blocks = 1 + (uint32_t)draw(3);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", blocks);
    campaign.lines[0] = (struct line){.queue = gyre_kernel_queue(kernel)};
    campaign.lines[1] = (struct line){0};
    must(gyre_queue_open(kernel, NULL, &campaign.lines[1].queue));
    must(gyre_buffer_alloc(runtime, NULL, 0, BUFFER_WORDS * sizeof(uint64_t), &campaign.buffer));
    while (campaign.faults < faults) {
        struct line *line = &campaign.lines[draw(QUEUES)];
        send_some(line, draw(100), true);
        if (draw(KILL_IN) == 0)
            signal_worker();
        if (draw(POINT_IN) == 0)
            arm_point();
        if (draw(BUFFER_IN) == 0)
            use_buffer();
        receive_some(&campaign.lines[draw(QUEUES)], draw(120));
    }
    if (campaign.has_points)
        disarm_faults();
    for (int i = 0; i < QUEUES; i++)
        receive_some(&campaign.lines[i], UINT64_MAX);
    for (int i = 0; i < QUEUES; i++) { /* and it works still */
        send_some(&campaign.lines[i], 50, false);
        receive_some(&campaign.lines[i], UINT64_MAX);
    }
    gyre_close(runtime);
    require(worker_of(getpid()) == 0);
    go_on_stopped();
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : gyre_now_ns();
    uint64_t faults = argc > 2 ? strtoull(argv[2], NULL, 0) : FAULTS_SHORT;
    uint64_t start = gyre_now_ns();
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    campaign.random = random_begin(seed);
    make_fault_folder();
    campaign.has_points = make_fault_board();
    for (uint64_t part = 1; part <= 4; part++) /* four lives with different numbers of blocks */
        one_life(faults * part / 4);
    require(campaign.replies + campaign.failures == campaign.requests);
    printf(
        "%llu requests: %llu right replies, %llu expected failures, 0 lost, 0 doubled, 0 wrong; %llu faults "
        "(%llu SIGKILL, %llu SIGSTOP, %llu poison) and %llu at fault points in %.1f s\n",
        (unsigned long long)campaign.requests, (unsigned long long)campaign.replies,
        (unsigned long long)campaign.failures, (unsigned long long)campaign.faults,
        (unsigned long long)campaign.kills, (unsigned long long)campaign.stops,
        (unsigned long long)campaign.poison, (unsigned long long)faults_fired(),
        (double)(gyre_now_ns() - start) / 1e9);
    return EXIT_SUCCESS;
}
