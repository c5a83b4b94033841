/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals and loss of power: one life of a program is recorded call by call, and then the power fails behind
 * many of these calls, each time another way (tests/simulation/power.h). Whatever is left on the disk then, the
 * next life finds all that had been acknowledged as durable before, and every reply and the state are right.
 *
 *     test_power CASE [SEED]
 */
#include "lives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/random.h"
#include "tests/simulation/power.h"

enum { REQUESTS = 4000, LOSSES = 40, SYNC_FAILS_IN = 6 };

struct scene {
    const char *kernel;
    const char *const *settings;
    bool syncs_fail;
};

static const struct scene *scene;
static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    return random_below(&ledger->seed, below);
}

static bool keeps_state(void)
{
    return strcmp(scene->kernel, "fragile_actor") == 0;
}

static bool sync_fails(enum power_call call)
{
    return call == POWER_SYNC && draw(SYNC_FAILS_IN) == 0;
}

static void receive_reply(gyre_queue *queue, uint64_t index)
{
    crash_reply reply;
    gyre_completion completion;
    if (keeps_state()) {
        receive_right(queue, index);
        return;
    }
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.index == index && completion.outcome == GYRE_REPLIED);
    require(reply.number == number_of(index) && reply.check == mixed(reply.number));
}

/* ---- the life that is recorded ---- */

static void recorded_life(void)
{
    gyre_runtime *runtime = open_durable(false, scene->settings);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, scene->kernel, 1));
    uint64_t next = 0, received = 0;
    power_let_fail(scene->syncs_fail ? sync_fails : NULL);
    while (next < REQUESTS) {
        for (uint64_t count = draw(60); count > 0 && next - received < 500; count--)
            send_right(queue, next++, CRASH_NOT);
        if (draw(3) == 0 && next) {
            must(gyre_await(queue, next - 1, GYRE_DURABLE, soon()));
            power_note(next);
        }
        for (uint64_t count = draw(70); count > 0 && received < next; count--)
            receive_reply(queue, received++);
    }
    ledger->sent = next;
    ledger->received = received;
    _exit(EXIT_SUCCESS); /* what it did not write is none of anybody's */
}

/* ---- the lives after ---- */

static void life_after(void)
{
    power_stop();
    gyre_runtime *runtime = open_durable(false, scene->settings);
    gyre_kernel *kernel = launch_fragile(runtime, scene->kernel, 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_recovered recovered = recovered_of(queue);
    uint64_t end = recovered.first + recovered.offered;
    require(recovered.first <= ledger->received && end >= ledger->durable && end <= ledger->sent);
    for (uint64_t i = recovered.first; i < end; i++)
        receive_reply(queue, i);
    if (keeps_state())
        require_state_of(kernel, end);
    ledger->offered += end > ledger->durable;
    gyre_close(runtime);
}

static void lose_power(uint64_t number)
{
    char left[96];
    const uint64_t before = power_calls(), calls = 1 + (number * 7919 + seed) % before;
    snprintf(left, sizeof left, "/tmp/gyre-power-%u-%u", (unsigned)getpid(), (unsigned)number);
    power_fail(calls, seed + number, left);
    ledger->durable = power_noted(calls);
    if (access(left, F_OK) != 0)
        return; /* not even the folder is there, which nobody was promised anything of */
    move_journals(left);
    live(life_after, 0);
}

static void run(const struct scene *which)
{
    scene = which;
    ledger->seed = random_begin(seed);
    printf("seed %llu\n", (unsigned long long)seed);
    live(life_after, 0); /* compiles the handler */
    power_record(journal_folder());
    live(recorded_life, 0);
    power_stop();
    uint64_t promised = power_noted(power_calls());
    require(promised > REQUESTS / 2);
    for (uint64_t number = 0; number < LOSSES; number++)
        lose_power(number);
    printf(
        "%llu calls, %d losses of power, %llu times more than promised was there: nothing durable was lost\n",
        (unsigned long long)power_calls(), LOSSES, (unsigned long long)ledger->offered);
}

static const char *const often[] = {"kernel.default.checkpoint_ms=3", "queue.default.journal_size=65536",
                                    "queue.default.fsync=group", NULL};
static const char *const now_and_then[] = {"kernel.default.checkpoint_ms=5",
                                           "queue.default.journal_size=65536", "queue.default.fsync=interval",
                                           "queue.default.fsync_ms=3", NULL};

static void nothing_durable_is_lost_with_the_power(void)
{
    run(&(const struct scene){"fragile_actor", often, false});
}

static void nothing_durable_is_lost_with_the_power_when_syncs_fail(void)
{
    run(&(const struct scene){"fragile_actor", often, true});
}

static void nothing_durable_is_lost_with_the_power_without_state(void)
{
    run(&(const struct scene){"fragile", often, true});
}

static void nothing_durable_is_lost_with_the_power_between_two_syncs(void)
{
    run(&(const struct scene){"fragile_actor", now_and_then, true});
}

static const named_case cases[] = {
    {"nothing_durable_is_lost_with_the_power", nothing_durable_is_lost_with_the_power},
    {"nothing_durable_is_lost_with_the_power_when_syncs_fail",
     nothing_durable_is_lost_with_the_power_when_syncs_fail},
    {"nothing_durable_is_lost_with_the_power_without_state",
     nothing_durable_is_lost_with_the_power_without_state},
    {"nothing_durable_is_lost_with_the_power_between_two_syncs",
     nothing_durable_is_lost_with_the_power_between_two_syncs},
};

int main(int argc, char **argv)
{
    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : gyre_now_ns() >> 10;
    return RUN_NAMED(argc > 2 ? 2 : argc, argv, begin_lives, cases);
}
