/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is (cpu_turns.h). Numbers are drawn only where there is something to choose from, so that looks while nothing is
 * there, of which a slow machine has more, change nothing.
 */
#include "backends/cpu/check/cpu_turns.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/cpu/check/cpu_crash.h"
#include "backends/cpu/check/cpu_finding.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_watched.h"
#include "gyre/keyed_layout.h"
#include "gyre/waiting.h"

enum {
    NAP_FIRST_NS = 50000,
    NAP_MAX_NS = 1000000,
    TURN_NS = 1000,     /* what a turn takes in virtual time */
    CALL_NS = 100,      /* what it takes to ask for the time */
    POINT_ODDS = 16,    /* one in so many accesses ends a turn */
    ACCESSES_MAX = 8192 /* of a run, in its turns_file */
};
#define BEGIN_NS UINT64_C(1000000000000)
/* how much later it is when all wait, and one of them asks for the time in its loop: each time more, up to two weeks */
#define LEAP_FIRST_NS UINT64_C(1000000)
#define LEAP_MAX_NS   UINT64_C(1000000000000000)
#define LEAP_GROWS    8
/* in place of so many looks one is enough for that */
#define LOOKS_FOR_TIME 64
/* how much later it is when a process goes on in place of one that ended */
#define CRASH_NS UINT64_C(1000000000)
/* After so many accesses a turn ends even beyond the limit of switches, because the handler may wait for another one. */
#define QUIET_MAX 100000

struct cpu_turns {
    const gyre_host *host;
    pthread_mutex_t lock;
    struct cpu_turn *list;   /* in order of launch */
    struct cpu_turn *holder; /* whose turn it is; NULL: nobody's */
    uint64_t state;          /* of the numbers */
    uint64_t clock_ns;
    bool inner;                       /* turns end inside of handlers, too */
    uint64_t switches, switches_most; /* how often one did; how often one may, 0: any number of times */
    uint32_t quiet;                   /* accesses since the turn began, beyond that number */
    bool finds_deadlocks;
    uint64_t looks;    /* so many in vain are for ever */
    FILE *log;         /* the turns_file; NULL: none */
    uint32_t accesses; /* that it has */
};

static _Thread_local struct cpu_turns *current; /* for cpu_turns_time_ns */

/* ---- numbers and time ---- */

static uint64_t draw(struct cpu_turns *turns)
{
    uint64_t number = turns->state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

uint32_t cpu_turns_pick(struct cpu_worker *worker, uint32_t count)
{
    return worker->turn.turns && count > 1 ? (uint32_t)(draw(worker->turn.turns) % count) : 0;
}

uint64_t cpu_turns_most(const struct cpu_worker *worker, uint64_t count)
{
    return worker->turn.turns && worker->turn.most < count ? worker->turn.most : count;
}

uint64_t cpu_turns_now(const struct cpu_worker *worker)
{
    const struct cpu_turns *const turns = worker->turn.turns;
    return turns ? __atomic_load_n(&turns->clock_ns, __ATOMIC_RELAXED) : gyre_clock_ns();
}

static uint64_t pass_time(struct cpu_turns *turns, uint64_t ns)
{
    return __atomic_add_fetch(&turns->clock_ns, ns, __ATOMIC_RELAXED);
}

gyre_u64 cpu_turns_time_ns(void)
{
    if (!current)
        return gyre_clock_ns();
    if (current->holder) /* it is the handler that asks */
        current->holder->asked_time = true;
    return pass_time(current, CALL_NS);
}

/* ---- whose turn it is ---- */

static bool is_settled(const struct cpu_turn *turn)
{
    const struct cpu_worker *const worker = turn->worker;
    return turn->inside ||
           __atomic_load_n(&worker->resident->control->command.command, __ATOMIC_ACQUIRE) == worker->command;
}

static bool can_go_on(const struct cpu_turn *turn)
{
    return turn->inside || (!turn->vain && turn->has_work(turn->worker));
}

static struct cpu_turn *find_unsettled(const struct cpu_turns *turns)
{
    struct cpu_turn *turn = turns->list;
    while (turn && is_settled(turn))
        turn = turn->next;
    return turn;
}

static struct cpu_turn *draw_next(struct cpu_turns *turns)
{
    static const uint32_t lengths[] = {1, 1, 2, 8};
    uint32_t count = 0;
    struct cpu_turn *chosen = NULL;
    for (struct cpu_turn *turn = turns->list; turn; turn = turn->next)
        count += can_go_on(turn);
    if (!count)
        return NULL;
    uint32_t left = count > 1 ? (uint32_t)(draw(turns) % count) : 0;
    for (struct cpu_turn *turn = turns->list; !chosen; turn = turn->next)
        if (can_go_on(turn) && left-- == 0)
            chosen = turn;
    chosen->most = lengths[draw(turns) % (sizeof lengths / sizeof *lengths)];
    turns->quiet = 0; /* whoever runs next has waited for nobody yet */
    pass_time(turns, TURN_NS);
    return chosen;
}

/* When the next reminder of the device is due; UINT64_MAX: there is none. */
static uint64_t next_reminder(const struct cpu_turns *turns)
{
    uint64_t next_ns = UINT64_MAX;
    for (const struct cpu_turn *turn = turns->list; turn; turn = turn->next) {
        if (turn->due_ns == GYRE_KEYED_NO_DUE)
            continue;
        const uint64_t due_ns = turn->due_ns < 0 ? 0 : (uint64_t)turn->due_ns;
        next_ns = due_ns < next_ns ? due_ns : next_ns;
    }
    return next_ns;
}

void cpu_turns_resume(struct cpu_worker *worker)
{
    struct cpu_turns *const turns = worker->turn.turns;
    if (!turns)
        return;
    pthread_mutex_lock(&turns->lock);
    const uint64_t next_ns = next_reminder(turns);
    if (next_ns != UINT64_MAX && next_ns > turns->clock_ns)
        __atomic_store_n(&turns->clock_ns, next_ns, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&turns->lock);
}

/* Sleeps a moment without the lock. What was in vain may do now: a client may have made room. */
static void nap(struct cpu_turns *turns, uint64_t *nap_ns)
{
    const struct timespec time = {0, (long)*nap_ns};
    /* a tool that compares runs makes time pass by pauses; else a reminder would wait for messages */
    const bool passes = !turns->log && next_reminder(turns) != UINT64_MAX;
    pthread_mutex_unlock(&turns->lock);
    nanosleep(&time, NULL);
    pthread_mutex_lock(&turns->lock);
    if (passes)
        pass_time(turns, *nap_ns);
    *nap_ns = 2 * *nap_ns < NAP_MAX_NS ? 2 * *nap_ns : NAP_MAX_NS;
    for (struct cpu_turn *turn = turns->list; turn; turn = turn->next)
        turn->vain = false;
}

/* ---- handlers that wait for each other ---- */

/* After how many looks in vain a handler is taken to wait; soon where it may wait for a time, because that passes then. */
static uint64_t looks_of(const struct cpu_turn *turn)
{
    const bool leaps = turn->asked_time && turn->leap_ns <= LEAP_MAX_NS;
    return turn->turns->looks / (leaps ? LOOKS_FOR_TIME : 1);
}

static bool waits_for_ever(const struct cpu_turn *turn)
{
    return turn->inside && turn->is_guarded && turn->repeats >= looks_of(turn);
}

/* Whether some are inside of handlers, each of them waits, and nobody else has anything to do. */
static bool are_stuck(const struct cpu_turns *turns)
{
    uint32_t waiting = 0;
    for (const struct cpu_turn *turn = turns->list; turn; turn = turn->next) {
        if (turn->given_up || (can_go_on(turn) && !waits_for_ever(turn)))
            return false;
        waiting += turn->inside;
    }
    return waiting > 0;
}

bool cpu_turns_leap(struct cpu_worker *worker)
{
    struct cpu_turn *const turn = &worker->turn;
    if (!turn->turns || !turn->asked_time || turn->leap_ns > LEAP_MAX_NS)
        return false;
    turn->leap_ns = turn->leap_ns ? turn->leap_ns * LEAP_GROWS : LEAP_FIRST_NS;
    pass_time(turn->turns, turn->leap_ns);
    turn->asked_time = false;
    turn->repeats = 0;
    return true;
}

/* As cpu_turns_leap, for the first one of those who wait that asked for the time. */
static bool leap(const struct cpu_turns *turns)
{
    bool leapt = false;
    for (struct cpu_turn *turn = turns->list; turn && !leapt; turn = turn->next)
        leapt = turn->inside && cpu_turns_leap(turn->worker);
    return leapt;
}

/* Tells who waits where, and has all of them leave their handlers. */
static void give_up(struct cpu_turns *turns, const struct cpu_turn *self)
{
    char waiters[1800] = "";
    for (struct cpu_turn *turn = turns->list; turn; turn = turn->next) {
        if (!turn->inside)
            continue;
        turn->given_up = true;
        cpu_finding_add_waiter(turn->worker, turn->last.code, turn->waits_for, waiters, sizeof waiters);
    }
    cpu_finding_waiters(self->worker, waiters);
}

/* ---- turns ---- */

/* Gives the turn to somebody. `turn`, the caller's, has it, and waits here while nobody has anything to do. */
static void choose(struct cpu_turns *turns, struct cpu_turn *turn)
{
    struct cpu_turn *next;
    uint64_t nap_ns = NAP_FIRST_NS;
    while (!(next = find_unsettled(turns)) && !(next = draw_next(turns)))
        nap(turns, &nap_ns);
    turns->holder = next;
    if (next != turn)
        pthread_cond_signal(&next->called);
}

static void await_turn(struct cpu_turns *turns, struct cpu_turn *turn)
{
    turn->awaited = true;
    while (turns->holder != turn)
        pthread_cond_wait(&turn->called, &turns->lock);
    turn->awaited = false;
}

void cpu_turns_await(struct cpu_worker *worker)
{
    struct cpu_turn *const turn = &worker->turn;
    struct cpu_turns *const turns = turn->turns;
    current = turns;
    pthread_mutex_lock(&turns->lock);
    if (!turns->holder)
        turns->holder = turn;
    if (turns->holder == turn)
        choose(turns, turn);
    await_turn(turns, turn);
    pthread_mutex_unlock(&turns->lock);
}

void cpu_turns_did(struct cpu_worker *worker, bool anything)
{
    struct cpu_turns *const turns = worker->turn.turns;
    pthread_mutex_lock(&turns->lock);
    worker->turn.vain = !anything;
    for (struct cpu_turn *turn = turns->list; anything && turn; turn = turn->next)
        turn->vain = false;
    pthread_mutex_unlock(&turns->lock);
}

/* ---- inside of handlers ---- */

/*
 * Counts how often in turn the handler found by atomic operations what it had found before: so it does nothing but wait. Others do not
 * count, because nobody can wait by them: a loop that reads one word again and again may be about anything.
 */
static void count_repeats(struct cpu_turn *turn, const struct cpu_touch *touch)
{
    const bool counts = touch->how & GYRE_TOUCH_ATOMIC;
    struct cpu_look look = {touch->code, touch->at, 0};
    memcpy(&look.bytes, touch->at, touch->size < sizeof look.bytes ? touch->size : sizeof look.bytes);
    if (counts)
        turn->last = look;
    for (uint32_t i = 0; i < CPU_LOOKS_MAX; i++) {
        const struct cpu_look *const before = &turn->looks[i];
        if (before->code != look.code || before->at != look.at)
            continue;
        turn->repeats = before->bytes == look.bytes ? turn->repeats + counts : 0;
        turn->looks[i] = look;
        return;
    }
    turn->repeats = 0;
    turn->looks[turn->next_look++ % CPU_LOOKS_MAX] = look;
}

/* Ends the turn here. The lock of the checks is given away meanwhile: other workers handle messages. */
static void stop_inside(struct cpu_turn *turn)
{
    struct cpu_turns *const turns = turn->turns;
    pthread_mutex_t *const checks = &turn->worker->resident->device->checks->lock;
    const uint32_t most = turn->most;
    pthread_mutex_unlock(checks);
    pthread_mutex_lock(&turns->lock);
    turn->inside = true;
    choose(turns, turn);
    await_turn(turns, turn);
    turn->inside = false;
    turn->most = most;
    pthread_mutex_unlock(&turns->lock);
    pthread_mutex_lock(checks);
}

/* As stop_inside, for a handler that has waited for long: it may be that everybody waits. */
static void look_for_deadlock(struct cpu_turn *turn, const struct cpu_touch *touch)
{
    struct cpu_turns *const turns = turn->turns;
    if (!turn->waits_for[0])
        cpu_finding_memory(turn->worker, touch, turn->waits_for, sizeof turn->waits_for);
    pthread_mutex_lock(&turns->lock);
    turn->inside = true;
    const bool stuck = are_stuck(turns);
    if (stuck && !leap(turns))
        give_up(turns, turn);
    turn->inside = false;
    pthread_mutex_unlock(&turns->lock);
}

/* Whether the limit of switches keeps the turn where it is. */
static bool is_limited(struct cpu_turns *turns)
{
    return turns->switches_most && turns->switches >= turns->switches_most && ++turns->quiet < QUIET_MAX;
}

void cpu_turns_point(struct cpu_worker *worker, const struct cpu_touch *touch)
{
    struct cpu_turn *const turn = &worker->turn;
    struct cpu_turns *const turns = turn->turns;
    if (!turns || !turns->inner)
        return;
    if (turn->is_guarded && turns->finds_deadlocks)
        count_repeats(turn, touch);
    if (is_limited(turns) || draw(turns) % POINT_ODDS != 0)
        return;
    turns->switches++;
    turns->quiet = 0;
    if (turn->repeats >= looks_of(turn) && touch->how & GYRE_TOUCH_ATOMIC)
        look_for_deadlock(turn, touch);
    if (!turn->given_up)
        stop_inside(turn);
    if (turn->given_up && turn->is_guarded && !worker->lanes)
        longjmp(turn->out, 1);
}

/* ---- workers ---- */

void cpu_turns_enlist(struct cpu_worker *worker, bool (*has_work)(const struct cpu_worker *worker))
{
    struct cpu_turns *const turns = worker->resident->device->turns;
    if (!turns)
        return;
    struct cpu_turn *const turn = &worker->turn;
    *turn = (struct cpu_turn){
        .turns = turns, .worker = worker, .has_work = has_work, .most = 1, .due_ns = GYRE_KEYED_NO_DUE};
    pthread_cond_init(&turn->called, NULL);
    pthread_mutex_lock(&turns->lock);
    struct cpu_turn **end = &turns->list;
    while (*end)
        end = &(*end)->next;
    *end = turn;
    pthread_mutex_unlock(&turns->lock);
}

/* Gives the turn of a worker that ended to one whose thread is there, which goes on to look. */
static void hand_on(struct cpu_turns *turns)
{
    struct cpu_turn *turn = turns->list;
    while (turn && !turn->awaited)
        turn = turn->next;
    turns->holder = turn;
    if (turn)
        pthread_cond_signal(&turn->called);
}

void cpu_turns_leave(struct cpu_worker *worker)
{
    struct cpu_turn *const turn = &worker->turn;
    struct cpu_turns *const turns = turn->turns;
    if (!turns)
        return;
    pthread_mutex_lock(&turns->lock);
    struct cpu_turn **link = &turns->list;
    while (*link != turn)
        link = &(*link)->next;
    *link = turn->next;
    if (turns->holder == turn)
        hand_on(turns);
    pthread_mutex_unlock(&turns->lock);
    pthread_cond_destroy(&turn->called);
    turn->turns = NULL;
}

/* ---- the file ---- */

/* The name of the kernel whose messages the worker handles; "-": a client's. The worker has its turn. */
static const char *sender_of(const struct cpu_turns *turns, uint64_t from)
{
    for (const struct cpu_turn *turn = turns->list; from && turn; turn = turn->next)
        if ((uint64_t)(uintptr_t)turn->worker->resident->control == from)
            return turn->worker->resident->kernel->name;
    return "-";
}

void cpu_turns_note(struct cpu_worker *worker, uint32_t entry, uint64_t index, uint32_t hops)
{
    const struct cpu_turns *const turns = worker->turn.turns;
    worker->turn.next_index = index;
    if (turns && turns->log)
        fprintf(turns->log, "%s %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32 " %s\n",
                worker->resident->kernel->name, worker->block, entry, index, hops,
                sender_of(turns, worker->turn.from));
}

/* What is compared of bytes: themselves, or a number that follows from all of them. */
static uint64_t number_of(const void *at, uint64_t size)
{
    const unsigned char *const bytes = at;
    uint64_t number = 0;
    if (size <= sizeof number)
        memcpy(&number, bytes, size);
    else
        for (uint64_t i = 0; i < size; i++)
            number = (number ^ bytes[i]) * UINT64_C(0x100000001b3);
    return number;
}

void cpu_turns_note_access(struct cpu_worker *worker, const struct cpu_touch *touch, uint32_t lane)
{
    struct cpu_turns *const turns = worker->turn.turns;
    char memory[128];
    Dl_info file;
    if (!turns || !turns->log || turns->accesses == ACCESSES_MAX || !dladdr(touch->code, &file) ||
        !file.dli_fname)
        return;
    const uint64_t message =
        number_of(worker->watched->request, worker->resident->kernel->sizes.request_least);
    turns->accesses++;
    cpu_finding_memory(worker, touch, memory, sizeof memory);
    fprintf(turns->log,
            "@\t%s\t%s\t%" PRIu64 "\t%" PRIx64 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64
            "\t%" PRIx64 "\t%d\t%lx\t%s\t%s\n",
            worker->resident->kernel->name, sender_of(turns, worker->turn.from), worker->turn.index, message,
            lane, touch->how, (uint64_t)(uintptr_t)touch->at, touch->size,
            number_of(touch->older ? touch->older : touch->at, touch->size), touch->older != NULL,
            (unsigned long)((const char *)touch->code - (const char *)file.dli_fbase - 1), file.dli_fname,
            memory);
}

/* ---- the device ---- */

gyre_status cpu_turns_open(struct gyre_device *device)
{
    struct cpu_settings *const settings = &device->settings;
    if (!(settings->checks & ~(uint32_t)CPU_CHECK_TRAFFIC)) /* it counts what lanes do, in any order */
        return GYRE_OK;
    struct cpu_turns *const turns = calloc(1, sizeof *turns);
    if (!turns)
        return device->host->error(GYRE_EXHAUSTED, "no memory for the turns of the cpu device");
    if (settings->turns_file[0] && !(turns->log = fopen(settings->turns_file, "we"))) {
        free(turns);
        return device->host->error(GYRE_CONFIG, "backend.cpu turns_file: '%.300s' cannot be written: %s",
                                   settings->turns_file, strerror(errno));
    }
    pthread_mutex_init(&turns->lock, NULL);
    turns->host = device->host;
    turns->state = settings->seed;
    turns->switches_most = settings->switches;
    turns->clock_ns = BEGIN_NS + (cpu_crash_was(settings) ? CRASH_NS : 0);
    /* what a run of lanes wrote is taken back before the next one: nobody else may see it */
    turns->inner = settings->seeds == 1 || !(settings->checks & CPU_CHECK_SCHEDULE);
    turns->looks = settings->looks;
    turns->finds_deadlocks = settings->checks & CPU_CHECK_DEADLOCK;
    settings->follow = CPU_FOLLOW_NEVER; /* a thread that runs another stage has no turn of its own there */
    device->turns = turns;
    return GYRE_OK;
}

void cpu_turns_close(struct gyre_device *device)
{
    struct cpu_turns *const turns = device->turns;
    char text[512];
    if (!turns)
        return;
    const bool bad = turns->log && ferror(turns->log);
    if (turns->log && (fclose(turns->log) != 0 || bad)) {
        snprintf(text, sizeof text, "backend.cpu turns_file: '%.300s' cannot be written: %s",
                 device->settings.turns_file, strerror(errno));
        device->host->log(device->host->context, GYRE_LOG_ERROR, text);
    }
    pthread_mutex_destroy(&turns->lock);
    free(turns);
}
