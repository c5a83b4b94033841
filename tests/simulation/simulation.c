/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the protocol of rings, checkpoints, replay and journal under a seeded scheduler, with crashes of the
 * device and of the whole program between any two steps, torn and wrong bytes at the end of the disk, and
 * writes that fail.
 *
 *     simulation [FIRST_SEED [SEEDS [STEPS]]]
 *
 * Checked at every step of the client: each request is completed once and in order in each life, every reply
 * is that of a run without crashes, poison is failed and leaves no trace, and after a crash of the program
 * nothing that was durable is missing. The first seed that breaks it is printed; it alone repeats the run.
 *
 * MUTANT, a number, breaks the glue that stands here for the runtime; mutants of the real files are made by
 * CMakeLists.txt. Each has to be caught.
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/queue/life.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/stages/log.h"
#include "core/stages/make.h"
#include "tests/random.h"

#ifndef MUTANT
#define MUTANT 0
#endif
enum mutants {
    MUTANT_NO_PAUSE = 1,      /* state is copied while the handler changes it */
    MUTANT_STALE_COMMIT = 2,  /* a checkpoint that a crash interrupted counts */
    MUTANT_RESUME_LATE = 3,   /* the next device begins behind the first unanswered request */
    MUTANT_NO_REPLAY = 4,     /* a checkpoint is put back, and what came after it is not handled again */
    MUTANT_DURABLE_EARLY = 5, /* acknowledged before it is synced */
    MUTANT_LOOK_LATE = 6      /* which requests a checkpoint covers is noted when the device runs again */
};

enum { STATES_MAX = 1 << 16, SEEDS_DEFAULT = 400, STEPS_DEFAULT = 3000, POISON_LIMIT = 2 };

enum who { WHO_SENDS, WHO_RECEIVES, WHO_SAVES, WHO_WRITES, WHO_HANDLES, WHO_DIES, WHO_CRASHES, WHO_COUNT };

enum save_phase { SAVE_NOT, SAVE_PAUSING, SAVE_COPIED_HALF, SAVE_COPIED, SAVE_SEALED };

static struct {
    uint64_t seed, random, steps;
    uint64_t crashes, deaths, checkpoints, lives;
    bool fair_disk;

    gyre_control_region *control;
    gyre_queue *queue;
    struct gyre_store store;
    struct gyre_journal journal;
    struct sim_disk disk;
    struct sim_device device;
    uint64_t generation, save_generation, replaying, suspect, suspected;
    bool recovering;
    enum save_phase save;
    bool to_journal;
    bool unsynced;

    struct sim_state expected[STATES_MAX]; /* behind each request */
    uint64_t received, durable;
    uint64_t weights[WHO_COUNT];
} world;

/* ---- chance and failure ---- */

static uint64_t draw(uint64_t below)
{
    return random_below(&world.random, below);
}

static _Noreturn void fail(const char *what, int line)
{
    printf("seed %llu, step %llu: line %d: %s\n    last error: %s\n", (unsigned long long)world.seed,
           (unsigned long long)world.steps, line, what, gyre_error_text());
    exit(EXIT_FAILURE);
}
#define require(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static bool refuses(void)
{
    return !world.fair_disk && draw(40) == 0;
}

static void expect_all(void)
{
    struct sim_state state = {0, 0};
    for (uint64_t index = 0; index < STATES_MAX; index++) {
        if (!sim_is_poison(sim_number(index)))
            sim_handle(&state, sim_number(index));
        world.expected[index] = state;
    }
}

/* ---- the client ---- */

static void client_sends(void)
{
    uint64_t index = gyre_queue_next_index(world.queue);
    struct sim_request request = {sim_number(index), index};
    if (index >= STATES_MAX)
        return;
    gyre_status status = gyre_send(world.queue, &request, sizeof request, NULL, GYRE_NO_WAIT);
    require(status == GYRE_OK || status == GYRE_AGAIN);
}

static bool client_receives(void)
{
    struct sim_state reply;
    gyre_completion completion;
    gyre_status status = gyre_receive(world.queue, &reply, sizeof reply, &completion, GYRE_NO_WAIT);
    if (status == GYRE_AGAIN)
        return false;
    require(status == GYRE_OK && completion.index == world.received);
    if (sim_is_poison(sim_number(world.received))) {
        require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == GYRE_FAILURE_CRASH);
    } else {
        require(completion.outcome == GYRE_REPLIED);
        require(memcmp(&reply, &world.expected[world.received], sizeof reply) == 0);
    }
    world.received++;
    return true;
}

/* ---- checkpoints, as the runtime takes them ---- */

static void copy_half(size_t from, size_t size)
{
    memcpy(gyre_store_next(&world.store) + from, (const unsigned char *)&world.device.state + from, size);
}

static void save_step(void)
{
    const size_t half = sizeof(uint64_t);
    bool stale = world.save_generation != world.generation && MUTANT != MUTANT_STALE_COMMIT;
    if (world.save != SAVE_NOT && stale) {
        world.save = SAVE_NOT; /* the device died meanwhile */
        return;
    }
    switch (world.save) {
    case SAVE_NOT:
        if (world.device.dead || world.recovering || world.to_journal)
            return;
        world.save_generation = world.generation;
        world.device.paused = MUTANT != MUTANT_NO_PAUSE;
        world.save = SAVE_PAUSING;
        break;
    case SAVE_PAUSING:
        if (world.device.dead || (world.device.phase != SIM_LOOKS && MUTANT != MUTANT_NO_PAUSE))
            return; /* a copy from a dead device waits for the next one, and is thrown away then */
        if (MUTANT != MUTANT_LOOK_LATE)
            gyre_queue_log_look(world.queue);
        copy_half(0, half);
        world.save = SAVE_COPIED_HALF;
        break;
    case SAVE_COPIED_HALF:
        if (world.device.dead)
            return;
        copy_half(half, sizeof(struct sim_state) - half);
        world.device.paused = false;
        world.save = SAVE_COPIED;
        break;
    case SAVE_COPIED:
        if (MUTANT == MUTANT_LOOK_LATE)
            gyre_queue_log_look(world.queue);
        gyre_store_seal(&world.store);
        world.save = SAVE_SEALED;
        break;
    case SAVE_SEALED:
        gyre_store_commit(&world.store);
        gyre_queue_log_commit(world.queue, UINT64_MAX);
        world.save = SAVE_NOT;
        world.to_journal = true;
        world.checkpoints++;
        break;
    }
}

/* ---- the journal, as its thread writes it ---- */

static void journal_step(void)
{
    bool more = false;
    if (world.journal.doubtful) {
        gyre_journal_renew(&world.journal, world.queue, &world.store);
        return;
    }
    if (world.unsynced) {
        if (MUTANT != MUTANT_DURABLE_EARLY && gyre_journal_sync(&world.journal) != GYRE_OK)
            return;
        gyre_queue_log_set_durable(world.queue, world.journal.sent);
        world.durable = world.journal.sent;
        world.unsynced = false;
        return;
    }
    if (world.to_journal) {
        gyre_status status = world.journal.size > 4000
                                 ? gyre_journal_renew(&world.journal, world.queue, &world.store)
                                 : gyre_journal_checkpoint(&world.journal, world.queue, &world.store, false);
        world.to_journal = status != GYRE_OK;
    } else {
        gyre_journal_gather(&world.journal, world.queue, &more);
    }
    gyre_queue_log_set_journal_limit(world.queue, world.journal.taken + gyre_ring_of(world.queue)->capacity);
    world.unsynced = true;
}

/* ---- the death of the device, and its return ---- */

static void condemn_if_guilty(void)
{
    uint64_t first = gyre_queue_first_unanswered(world.queue);
    world.suspected = world.suspect == first ? world.suspected + 1 : 1;
    world.suspect = first;
    if (first < gyre_queue_next_index(world.queue) && sim_is_poison(sim_number(first)) &&
        world.suspected >= POISON_LIMIT)
        gyre_queue_fail(world.queue, first, GYRE_FAILURE_CRASH, "crashed");
}

static void recover_begins(void)
{
    world.generation++;
    if (!world.recovering)
        condemn_if_guilty(); /* else it died of requests that it had handled before */
    const unsigned char *state = gyre_store_last(&world.store);
    require(state != NULL);
    memcpy(&world.device.state, state, sizeof world.device.state);
    world.device.dead = world.device.paused = false;
    world.replaying = 0;
    world.recovering = true;
}

/* One request is handled again, or the device goes on. */
static void recover_step(void)
{
    struct sim_request again = {0};
    struct gyre_logged_request request = {.payload = &again};
    uint64_t end = gyre_queue_first_unanswered(world.queue);
    if (MUTANT != MUTANT_NO_REPLAY && gyre_queue_log_next(world.queue, &world.replaying, end, &request)) {
        require(request.length == sizeof again && again.index == world.replaying);
        sim_handle(&world.device.state, again.number);
        world.replaying++;
        return;
    }
    gyre_queue_mark_settled(world.queue);
    world.device.next = end + (MUTANT == MUTANT_RESUME_LATE && gyre_queue_next_index(world.queue) > end);
    world.device.phase = SIM_LOOKS;
    world.recovering = false;
}

static void device_step(void)
{
    if (world.device.dead)
        recover_begins();
    else if (world.recovering)
        recover_step();
    else
        sim_device_step(&world.device, world.queue);
}

/* ---- the death of the program, and its return ---- */

/* `logged`: requests before the first one that its log has to hold. */
static void make_queue(uint64_t first, uint64_t logged)
{
    struct gyre_queue_options options = {.name = "sim",
                                         .capacity = UINT64_C(2) << draw(4),
                                         .request_size = sizeof(struct sim_request),
                                         .reply_size = sizeof(struct sim_state),
                                         .policy = GYRE_FULL_BLOCK,
                                         .idle = GYRE_WAIT_SPIN,
                                         .first_sequence = first,
                                         .device_wakes = true,
                                         .device_returns = true,
                                         .control = world.control};
    while (options.capacity < gyre_ring_of(world.queue)->capacity)
        options.capacity *= 2; /* what is left has to fit */
    uint64_t room = gyre_log_of(world.queue)->count > logged ? gyre_log_of(world.queue)->count : logged;
    struct gyre_queue *old = world.queue;
    require(gyre_queue_create(&options, &world.queue) == GYRE_OK);
    require(gyre_queue_log_create(world.queue, gyre_queue_log_bytes(world.queue, room)) == GYRE_OK);
    gyre_journal_release(&world.journal);
    gyre_queue_destroy(old);
}

static void first_queue(void)
{
    static const uint64_t capacities[] = {2, 4, 8, 16};
    struct gyre_queue_options options = {.name = "sim",
                                         .capacity = capacities[draw(4)],
                                         .request_size = sizeof(struct sim_request),
                                         .reply_size = sizeof(struct sim_state),
                                         .policy = GYRE_FULL_BLOCK,
                                         .idle = GYRE_WAIT_SPIN,
                                         .device_wakes = true,
                                         .device_returns = true,
                                         .control = world.control};
    require(gyre_queue_create(&options, &world.queue) == GYRE_OK);
    require(gyre_queue_log_create(world.queue, gyre_queue_log_bytes(world.queue, 1 + draw(20))) == GYRE_OK);
}

/* Until the disk does it; a program that is launched reports a disk that refuses, and is launched again. */
static void begin_journal(void)
{
    require(gyre_journal_init(&world.journal, &sim_disk_functions, &world.disk, world.queue) == GYRE_OK);
    world.journal.open.state_size = sizeof(struct sim_state);
    while (gyre_journal_renew(&world.journal, world.queue, &world.store) != GYRE_OK ||
           gyre_journal_sync(&world.journal) != GYRE_OK)
        ;
    gyre_queue_log_set_journal_limit(world.queue, world.journal.taken + gyre_ring_of(world.queue)->capacity);
    gyre_queue_log_set_durable(world.queue, world.journal.sent);
    world.durable = world.journal.sent;
}

static void keep_state(const void *state)
{
    gyre_store_clear(&world.store);
    memcpy(gyre_store_next(&world.store), state, sizeof(struct sim_state));
    gyre_store_seal(&world.store);
    gyre_store_commit(&world.store);
}

static void begin_world(void)
{
    static const struct sim_state nothing;
    world.control = aligned_alloc(GYRE_LINE_SIZE, GYRE_CONTROL_SIZE(1));
    require(world.control && gyre_store_create(sizeof(struct sim_state), &world.store) == GYRE_OK);
    memset(world.control, 0, GYRE_CONTROL_SIZE(1));
    world.disk.refuses = refuses;
    sim_disk_begin(&world.disk);
    first_queue();
    keep_state(&nothing);
    begin_journal();
}

static void program_crashes(void)
{
    struct gyre_journal_content content;
    uint64_t promised = world.durable;
    sim_disk_crash(&world.disk, draw(UINT64_MAX >> 32) << 32 | draw(UINT64_C(1) << 32));
    gyre_status status = gyre_journal_read(world.disk.bytes, world.disk.size, &content);
    require(status == GYRE_OK);
    require(content.sent >= promised && content.received <= world.received && content.state);
    world.received = content.received;
    make_queue(content.received, content.received > content.covered ? content.received - content.covered : 0);
    require(gyre_journal_restore(&content, world.queue) == GYRE_OK);
    gyre_queue_log_resume(world.queue, content.covered, UINT64_MAX);
    keep_state(content.state);
    begin_journal();
    gyre_journal_content_release(&content);
    world.save = SAVE_NOT;
    world.to_journal = world.unsynced = world.recovering = false;
    world.suspect = UINT64_MAX;
    sim_device_crash(&world.device, 0); /* the first device of this life is made as after a death */
    world.recovering = true;
    world.crashes++;
}

/* ---- the scheduler ---- */

/* How often each machine has its turn differs from seed to seed: any of them may be the slowest. */
static void choose_weights(void)
{
    world.weights[WHO_SENDS] = 20 + draw(230);
    world.weights[WHO_RECEIVES] = 5 + draw(200);
    world.weights[WHO_SAVES] = 10 + draw(120);
    world.weights[WHO_WRITES] = 5 + draw(200);
    world.weights[WHO_HANDLES] = 50 + draw(400);
    world.weights[WHO_DIES] = draw(30);
    world.weights[WHO_CRASHES] = draw(4);
}

static enum who whose_turn(void)
{
    uint64_t all = 0;
    for (int who = 0; who < WHO_COUNT; who++)
        all += world.weights[who];
    uint64_t turn = draw(all);
    int who = 0;
    for (; turn >= world.weights[who]; who++)
        turn -= world.weights[who];
    return (enum who)who;
}

static void one_step(void)
{
    world.steps++;
    switch (whose_turn()) {
    case WHO_SENDS:
        client_sends();
        break;
    case WHO_RECEIVES:
        client_receives();
        break;
    case WHO_SAVES:
        save_step();
        break;
    case WHO_WRITES:
        journal_step();
        break;
    case WHO_HANDLES:
        device_step();
        break;
    case WHO_DIES:
        world.deaths += !world.device.dead;
        if (!world.device.dead)
            sim_device_crash(&world.device, draw(1000));
        break;
    default:
        program_crashes();
    }
}

/* Without crashes from here on: everything that was sent is completed, and the state is as expected. */
static void settle(void)
{
    world.fair_disk = true;
    world.save = SAVE_NOT;
    world.device.paused = false;
    for (uint64_t idle = 0; idle < 1000 && world.received < gyre_queue_next_index(world.queue); idle++) {
        for (int i = 0; i < 20; i++)
            device_step();
        if (client_receives())
            idle = 0;
    }
    require(world.received == gyre_queue_next_index(world.queue));
    for (int i = 0; i < 1000 && (world.device.dead || world.recovering); i++)
        device_step();
    if (world.received)
        require(memcmp(&world.device.state, &world.expected[world.received - 1], sizeof(struct sim_state)) ==
                0);
}

static void end_world(void)
{
    gyre_journal_release(&world.journal);
    gyre_queue_destroy(world.queue);
    gyre_store_destroy(&world.store);
    sim_disk_finish(&world.disk);
    free(world.control);
}

static void run_seed(uint64_t seed, uint64_t steps)
{
    world.seed = seed;
    world.random = random_begin(seed + 1);
    world.received = world.durable = world.generation = world.suspected = 0;
    world.suspect = UINT64_MAX;
    world.save = SAVE_NOT;
    world.recovering = world.to_journal = world.unsynced = world.fair_disk = false;
    world.device = (struct sim_device){.phase = SIM_LOOKS};
    choose_weights();
    begin_world();
    for (uint64_t step = 0; step < steps; step++)
        one_step();
    settle();
    end_world();
    world.lives++;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    uint64_t seeds = argc > 2 ? strtoull(argv[2], NULL, 0) : SEEDS_DEFAULT;
    uint64_t steps = argc > 3 ? strtoull(argv[3], NULL, 0) : STEPS_DEFAULT;
    uint64_t begun = gyre_now_ns();
    expect_all();
    for (uint64_t seed = first; seed < first + seeds; seed++)
        run_seed(seed, steps);
    double seconds = (double)(gyre_now_ns() - begun) / 1e9;
    printf("%llu seeds, %llu steps (%.2f M/s), %llu deaths of the device, "
           "%llu of the program, %llu checkpoints: nothing lost, doubled or wrong\n",
           (unsigned long long)seeds, (unsigned long long)world.steps, (double)world.steps / seconds / 1e6,
           (unsigned long long)world.deaths, (unsigned long long)world.crashes,
           (unsigned long long)world.checkpoints);
    return EXIT_SUCCESS;
}
