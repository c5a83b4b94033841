/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives (gyre/collect.h) over kernels of which some are in worker processes that die in the midst: after each one, all parts have
 * the result, or all have what they had, or a part is told lost. `test_collect CASE`.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gyre/collect.h>

#include "core/kernel/kernel.h"
#include "faults.h"
#include "tests/conformance/kernels/collect.h"
#include "tests/random.h"
#include "workers.h"

enum { PARTS = 3, CELLS = 100000 /* several chunks of a copy */, ROUNDS = 25, POINTS_MAX = 400 };

static struct {
    gyre_runtime *runtime;
    gyre_kernel *kernels[PARTS];
    gyre_buffer *cells[PARTS];
    uint32_t values[PARTS]; /* what the cells of each part are */
} world;

/* Two backends whose devices are in worker processes, a process each, beside the CPU of this process. */
static void open_world(bool checkpoints, const char *const *backends)
{
    const char *settings[] = {"backend.first.library=" COLLECT_LIBRARY,
                              "backend.second.library=" COLLECT_LIBRARY,
                              "backend.first.isolation=process",
                              "backend.second.isolation=process",
                              "backend.first.restart_limit=1000",
                              "backend.second.restart_limit=1000",
                              "gyre.check=off",
                              "queue.part0.poison_limit=1000",
                              "queue.part1.poison_limit=1000",
                              "queue.part2.poison_limit=1000",
                              checkpoints ? "kernel.part0.checkpoints=true" : NULL,
                              "kernel.part1.checkpoints=true",
                              "kernel.part2.checkpoints=true",
                              NULL};
    const gyre_open_desc open = {.size = sizeof open, .backend = "cpu", .settings = settings};
    must(gyre_open(&open, &world.runtime));
    for (uint32_t i = 0; i < PARTS; i++) {
        char name[16];
        gyre_buffer *weights = NULL;
        snprintf(name, sizeof name, "part%u", i);
        must(gyre_buffer_alloc(world.runtime, backends[i], 0, CELLS * sizeof(uint32_t), &world.cells[i]));
        must(gyre_buffer_alloc(world.runtime, backends[i], 0, sizeof(double), &weights));
        const gyre_binding_name bindings[] = {{"cells", world.cells[i]}, {"weights", weights}};
        const gyre_launch_desc launch = {.size = sizeof launch,
                                         .source = COLLECT_KERNELS,
                                         .kernel = "collect_fill",
                                         .name = name,
                                         .backend = backends[i],
                                         .lanes = 1,
                                         .blocks = 1,
                                         .bindings = bindings,
                                         .binding_count = 2};
        must(gyre_launch(world.runtime, &launch, &world.kernels[i]));
    }
}

static filled fill_cells(uint32_t part, uint32_t value)
{
    const fill request = {.value = value};
    filled reply;
    must(gyre_call(gyre_kernel_queue(world.kernels[part]), &request, sizeof request, &reply, sizeof reply,
                   NULL, soon()));
    world.values[part] = value;
    return reply;
}

/* The cells are equal, and hold what they are to hold; from now on, something else. */
static void refill(uint32_t part, uint32_t value)
{
    const uint32_t expected = world.values[part];
    const filled reply = fill_cells(part, value);
    require(reply.uneven == 0 && reply.before == expected);
}

static void refill_all(uint64_t *random)
{
    for (uint32_t i = 0; i < PARTS; i++)
        refill(i, (uint32_t)random_below(random, UINT64_C(1) << 32));
}

static gyre_status sum_all(void)
{
    const gyre_collect_desc cells = {
        .size = sizeof cells, .kernels = world.kernels, .kernel_count = PARTS, .buffer = "cells"};
    return gyre_all_reduce(&cells, GYRE_COLLECT_SUM, soon());
}

static void expect_sum(void)
{
    const uint32_t sum = world.values[0] + world.values[1] + world.values[2];
    for (uint32_t i = 0; i < PARTS; i++)
        world.values[i] = sum;
}

/* ---- a worker dies at each of its calls ---- */

static const struct chosen_fault FAULTS[] = {
    {GYRE_FAULT_WORKER_CALL, GYRE_FAULT_DIE, 0},
    {GYRE_FAULT_WORKER_ANSWER, GYRE_FAULT_DIE, 0},
    {GYRE_FAULT_PROXY_ANSWER, GYRE_FAULT_FAIL, EIO},
};

/* One collective in which a worker dies at call `number`. False: there were not so many. */
static bool sum_with_a_death(const struct chosen_fault *fault, uint64_t number, gyre_status *status)
{
    const uint64_t before = faults_fired();
    arm_fault(fault, number, 1);
    *status = sum_all();
    const bool fired = faults_fired() > before;
    disarm_faults();
    return fired;
}

/* With checkpoints every death is survived, and each part is in the sum once. */
static void parts_with_checkpoints_outlive_their_workers(const char *const *backends)
{
    uint64_t random = random_begin(7);
    open_world(true, backends);
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
        gyre_status status = GYRE_OK;
        uint64_t number = 1;
        bool fired = true;
        for (; fired && number < POINTS_MAX; number++) {
            refill_all(&random);
            fired = sum_with_a_death(&FAULTS[i], number, &status);
            must(status);
            expect_sum();
            if (number % 3 == 0) /* the result outlives its worker */
                (void)kill_worker();
        }
        printf("fault %zu: a worker died at %llu calls\n", i, (unsigned long long)number - 2);
        require(!fired && number > 10);
    }
    refill_all(&random);
    gyre_close(world.runtime);
}

static void workers_die_at_every_call(void)
{
    static const char *const backends[] = {"first", "cpu", "second"};
    parts_with_checkpoints_outlive_their_workers(backends);
}

/* Two parts in one process: both go back, or neither. */
static void two_parts_die_at_once(void)
{
    static const char *const backends[] = {"cpu", "first", "first"};
    parts_with_checkpoints_outlive_their_workers(backends);
}

/* ---- without checkpoints ---- */

static uint32_t seen[CELLS];

static void look_at_cells(uint32_t part)
{
    must(gyre_buffer_download(world.cells[part], 0, seen, sizeof seen));
}

static void require_cells(uint32_t part)
{
    look_at_cells(part);
    for (uint32_t i = 0; i < CELLS; i++)
        require(seen[i] == world.values[part]);
}

/* The lost part has what a worker's death leaves, and nothing of the result that was given up. */
static void bring_back(uint32_t part)
{
    const uint32_t sum = world.values[0] + world.values[1] + world.values[2];
    look_at_cells(part);
    for (uint32_t i = 0; i < CELLS; i++)
        require(seen[i] != sum);
    must(gyre_kernel_relaunch(world.kernels[part]));
    fill_cells(part, 1);
}

static bool is_lost(const gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    return info.state == GYRE_KERNEL_LOST;
}

/* The part of the worker is lost with it, and is told so; all others keep what they had, also those that had the result. */
static void a_lost_part_leaves_all_as_they_were(void)
{
    static const char *const backends[] = {"cpu", "cpu", "second"};
    uint64_t random = random_begin(9), lost = 0, number = 1;
    bool fired = true;
    open_world(false, backends);
    for (; fired && number < POINTS_MAX; number++) {
        gyre_status status = GYRE_OK;
        refill_all(&random);
        fired = sum_with_a_death(&FAULTS[number % 2], (number + 1) / 2, &status);
        require(fired || status == GYRE_OK);
        if (status == GYRE_OK)
            expect_sum();
        else
            require(status == GYRE_LOST && strstr(gyre_error_text(), "kernel 'part2'"));
        require_cells(0);
        require_cells(1);
        if (status != GYRE_OK) {
            require(is_lost(world.kernels[2]));
            bring_back(2);
            lost++;
        } else if (is_lost(world.kernels[2])) {
            must(gyre_kernel_relaunch(world.kernels[2]));
            fill_cells(2, 1);
        }
    }
    printf("lost %llu times\n", (unsigned long long)lost);
    require(lost > 10 && !fired);
    gyre_close(world.runtime);
}

/* ---- at any moment ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t asked;
    uint32_t kills; /* that are still to be done */
    bool ends;
} killer = {.lock = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER};

static void *kill_when_asked(void *argument)
{
    uint64_t random = *(uint64_t *)argument;
    pthread_mutex_lock(&killer.lock);
    while (!killer.ends) {
        if (!killer.kills) {
            pthread_cond_wait(&killer.asked, &killer.lock);
            continue;
        }
        killer.kills--;
        pthread_mutex_unlock(&killer.lock);
        nanosleep(&(struct timespec){0, (long)random_below(&random, 3000000)}, NULL);
        (void)kill_worker();
        pthread_mutex_lock(&killer.lock);
    }
    pthread_mutex_unlock(&killer.lock);
    return NULL;
}

static void ask_killer(uint32_t kills, bool ends)
{
    pthread_mutex_lock(&killer.lock);
    killer.kills = kills;
    killer.ends = ends;
    pthread_cond_signal(&killer.asked);
    pthread_mutex_unlock(&killer.lock);
}

static void workers_are_killed_at_any_moment(void)
{
    static const char *const backends[] = {"first", "second", "cpu"};
    const uint64_t seed = (uint64_t)time(NULL);
    uint64_t random = random_begin(seed), of_killer = random_begin(seed + 1);
    pthread_t thread;
    printf("seed %llu\n", (unsigned long long)seed);
    open_world(true, backends);
    require(pthread_create(&thread, NULL, kill_when_asked, &of_killer) == 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        refill_all(&random);
        ask_killer((uint32_t)random_below(&random, 3), false);
        must(sum_all());
        expect_sum();
    }
    refill_all(&random);
    ask_killer(0, true);
    pthread_join(thread, NULL);
    gyre_close(world.runtime);
}

/* ---- a worker dies while its kernel stands ---- */

static gyre_kernel *launch_reading(gyre_runtime *runtime, const char *name, const char *backend)
{
    gyre_buffer *weights = NULL;
    gyre_kernel *kernel = NULL;
    must(gyre_buffer_alloc(runtime, backend, 0, sizeof(uint64_t), &weights));
    const gyre_binding_name binding = {"weights", weights};
    const gyre_launch_desc launch = {.size = sizeof launch,
                                     .source = CRASH_KERNELS,
                                     .kernel = "fragile_reads",
                                     .name = name,
                                     .backend = backend,
                                     .blocks = 1,
                                     .bindings = &binding,
                                     .binding_count = 1};
    must(gyre_launch(runtime, &launch, &kernel));
    return kernel;
}

/* The status is for the caller, who may have killed a part. */
static void *sum_weights(void *kernels)
{
    const gyre_collect_desc weights = {
        .size = sizeof weights, .kernels = kernels, .kernel_count = 2, .buffer = "weights"};
    (void)gyre_all_reduce(&weights, GYRE_COLLECT_SUM, soon());
    return NULL;
}

static void await_pause(const gyre_kernel *kernel)
{
    const uint64_t limit = soon();
    while (__atomic_load_n(&kernel->order.verb, __ATOMIC_RELAXED) != GYRE_VERB_PAUSE) {
        require(gyre_now_ns() < limit);
        usleep(1000);
    }
}

/* Without checkpoints, which it does not need: it keeps nothing. */
static void a_kernel_that_stood_when_its_worker_died_goes_on(void)
{
    const char *const settings[] = {"backend.first.library=" COLLECT_LIBRARY,
                                    "backend.first.isolation=process", "gyre.check=off",
                                    "kernel.default.stop_timeout_ms=60000", NULL};
    const gyre_open_desc open = {.size = sizeof open, .backend = "cpu", .settings = settings};
    const crash_request request = {.number = 7};
    gyre_runtime *runtime = NULL;
    crash_reply reply;
    pthread_t collector;
    must(gyre_open(&open, &runtime));
    gyre_kernel *kernels[] = {launch_reading(runtime, "one", "first"), launch_reading(runtime, "two", "cpu")};
    halt_worker(worker_of(getpid()));
    require(pthread_create(&collector, NULL, sum_weights, kernels) == 0);
    await_pause(kernels[0]);
    require(kill_worker());
    pthread_join(collector, NULL);
    must(gyre_call(gyre_kernel_queue(kernels[0]), &request, sizeof request, &reply, sizeof reply, NULL,
                   soon()));
    require(reply.number == request.number);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"workers_die_at_every_call", workers_die_at_every_call},
    {"two_parts_die_at_once", two_parts_die_at_once},
    {"a_lost_part_leaves_all_as_they_were", a_lost_part_leaves_all_as_they_were},
    {"a_kernel_that_stood_when_its_worker_died_goes_on", a_kernel_that_stood_when_its_worker_died_goes_on},
    {"workers_are_killed_at_any_moment", workers_are_killed_at_any_moment},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, need_fault_board, cases);
}
