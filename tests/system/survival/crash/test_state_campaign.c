/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crash campaign for handlers with state: random requests to an actor while its worker process dies again
 * and again, and checkpoints and journals fail. Every reply, and in the end the state, is what an undisturbed
 * run gives.
 *
 *     test_state_campaign [SEED [FAULTS]]
 *
 * Everything that is chosen comes from the seed, which is printed; when a signal arrives is up to the
 * machine.
 */
#include "faults.h"
#include "workers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/random.h"
#include "../../../patience.h"

enum {
    WINDOW = 700,
    FAULTS_SHORT = 200,
    ONE_FAULT_IN = 90,
    POISON_IN = 25,
    KILL_IN = 10,
    POINT_IN = 4,
    LIVES = 4
};

static struct {
    uint64_t random, numbers, faults, signals, poison, replayed, checkpoints;
    crash_request window[WINDOW];
    uint64_t sent, received;
    crash_state model;
    bool has_points;
} campaign;

static uint64_t draw(uint64_t below)
{
    return random_below(&campaign.random, below);
}

static crash_request choose_request(bool faults)
{
    static const uint32_t ways[] = {CRASH_SEGFAULT, CRASH_ABORT, CRASH_TRAP,       CRASH_EXIT,   CRASH_DIVIDE,
                                    CRASH_LOOP,     CRASH_STOP,  CRASH_MISALIGNED, CRASH_MEMORY, CRASH_CUT};
    crash_request request = {.number = ++campaign.numbers};
    if (!faults || draw(ONE_FAULT_IN) != 0)
        return request;
    request.fault = ways[draw(sizeof ways / sizeof ways[0])];
    request.always = request.fault == CRASH_SEGFAULT && draw(POISON_IN) == 0;
    campaign.poison += request.always;
    campaign.faults++;
    return request;
}

static void send_some(gyre_queue *queue, uint64_t count, bool faults)
{
    for (; count > 0 && campaign.sent - campaign.received < WINDOW; count--) {
        crash_request request = choose_request(faults);
        campaign.window[campaign.sent++ % WINDOW] = request;
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
}

static void receive_some(gyre_queue *queue, uint64_t count)
{
    for (; count > 0 && campaign.received < campaign.sent; count--) {
        crash_reply reply = {0};
        gyre_completion completion;
        const crash_request *request = &campaign.window[campaign.received % WINDOW];
        must(gyre_receive(queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(60000))));
        require(completion.index == campaign.received++);
        require(completion.outcome == (request->always ? GYRE_HANDLER_FAILED : GYRE_REPLIED));
        if (request->always)
            continue;
        campaign.model.count++;
        campaign.model.hash = mixed(campaign.model.hash + request->number);
        require(reply.number == campaign.model.count && reply.check == campaign.model.hash);
    }
}

static void signal_worker(void)
{
    pid_t worker = worker_of(getpid());
    if (worker == 0)
        return; /* it is being replaced this very moment */
    uint64_t way = draw(8);
    if (way < 2)
        stop_worker(worker, way == 0 ? 10 : 5000);
    else
        kill(worker, SIGKILL);
    campaign.faults++;
    campaign.signals++;
}

/* Of checkpoints, journals and what handles requests again; a disk refuses up to three times in a row. */
static void arm_point(void)
{
    static const struct chosen_fault choice[] = {{GYRE_FAULT_CHECKPOINT_COPY, GYRE_FAULT_FAIL, ENOMEM},
                                                 {GYRE_FAULT_CHECKPOINT_COMMIT, GYRE_FAULT_DELAY, 3},
                                                 {GYRE_FAULT_RECOVERY_REPLAY, GYRE_FAULT_FAIL, EIO},
                                                 {GYRE_FAULT_RECOVERY_LAUNCH, GYRE_FAULT_DELAY, 10},
                                                 {GYRE_FAULT_PROXY_ANSWER, GYRE_FAULT_FAIL, EPIPE},
                                                 {GYRE_FAULT_WORKER_ANSWER, GYRE_FAULT_DIE, 0},
                                                 {GYRE_FAULT_JOURNAL_WRITE, GYRE_FAULT_FAIL, ENOSPC},
                                                 {GYRE_FAULT_JOURNAL_WRITE, GYRE_FAULT_FAIL, EIO},
                                                 {GYRE_FAULT_JOURNAL_WRITE, GYRE_FAULT_SHORT, 0},
                                                 {GYRE_FAULT_JOURNAL_SYNC, GYRE_FAULT_FAIL, EIO},
                                                 {GYRE_FAULT_JOURNAL_RENEW, GYRE_FAULT_FAIL, EMFILE},
                                                 {GYRE_FAULT_JOURNAL_RENAME, GYRE_FAULT_FAIL, ENOSPC}};
    const struct chosen_fault *chosen = &choice[draw(sizeof choice / sizeof choice[0])];
    uint64_t after = 1 + draw(4), times = 1 + draw(3);
    if (campaign.has_points)
        arm_fault(chosen, after, chosen->point >= GYRE_FAULT_JOURNAL_WRITE ? times : 1);
}

static void require_state(gyre_kernel *kernel)
{
    crash_state state;
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == campaign.model.count && state.hash == campaign.model.hash);
    must(gyre_kernel_info_get(kernel, &info));
    campaign.replayed += info.replayed;
    campaign.checkpoints += info.checkpoints;
}

/* So that the next life begins without it. */
static void remove_journal(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/fragile_actor.fragile_actor.journal", getenv("CRASH_FOLDER"));
    require(unlink(path) == 0);
}

static void one_life(uint64_t faults, bool journal)
{
    static const char *const every[] = {"checkpoint_messages=1", "checkpoint_messages=100",
                                        "checkpoint_messages=900", "checkpoint_ms=7"};
    char messages[64], folder[128];
    snprintf(messages, sizeof messages, "kernel.default.%s", every[draw(sizeof every / sizeof every[0])]);
    const char *settings[] = {"kernel.default.checkpoints=true",
                              patient_setting("kernel.default.handler_budget_ms", 30),
                              "kernel.default.poison_limit=6",  /* as in test_campaign.c */
                              "backend.cpu.restart_limit=1000", /* likewise */
                              patient_setting("backend.cpu.worker_timeout_ms", 500),
                              "kernel.default.replay_log=32768",
                              "log_level=error",
                              messages,
                              folder,
                              journal ? "queue.default.durability=journal" : NULL,
                              "queue.default.journal_size=65536",
                              NULL};
    snprintf(folder, sizeof folder, "gyre.journal_dir=%s", getenv("CRASH_FOLDER"));
    gyre_runtime *runtime = open_isolated(settings);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    campaign.sent = campaign.received = 0;
    campaign.model = (crash_state){0};
    while (campaign.faults < faults) {
        send_some(queue, draw(150), true);
        if (draw(KILL_IN) == 0)
            signal_worker();
        if (draw(POINT_IN) == 0)
            arm_point();
        receive_some(queue, draw(160));
    }
    disarm_faults();
    receive_some(queue, UINT64_MAX);
    send_some(queue, 100, false);
    receive_some(queue, UINT64_MAX);
    if (journal)
        must(gyre_await(queue, campaign.sent - 1, GYRE_DURABLE, soon()));
    require_state(kernel);
    gyre_close(runtime);
    require(worker_of(getpid()) == 0);
    go_on_stopped();
    if (journal)
        remove_journal();
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
    for (uint64_t part = 1; part <= LIVES; part++)
        one_life(faults * part / LIVES, part % 2 == 0);
    printf(
        "%llu requests, every reply and the state as without faults; %llu faults (%llu by signals, "
        "%llu poison) and %llu at fault points, %llu checkpoints, %llu requests handled again, in %.1f s\n",
        (unsigned long long)campaign.numbers, (unsigned long long)campaign.faults,
        (unsigned long long)campaign.signals, (unsigned long long)campaign.poison,
        (unsigned long long)faults_fired(), (unsigned long long)campaign.checkpoints,
        (unsigned long long)campaign.replayed, (double)(gyre_now_ns() - start) / 1e9);
    return EXIT_SUCCESS;
}
