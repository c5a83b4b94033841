/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floors (work_shape.h) in which two threads take turns on one cache line. When both spin, a turn costs the way of the line between
 * two cores. When both sleep, a turn costs a futex wake.
 */
#include "cli/bench/floor_server.h"
#include "cli/bench/floor_turns.h"
#include "cli/bench/work_shape.h"

#include "gyre/waiting.h"

struct turns {
    _Alignas(64) uint32_t turn; /* odd: the server's turn; even: the client's */
    _Alignas(64) words_48 message;
};

static uint32_t turn_of(const struct turns *shared)
{
    return __atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE); /* pairs with the other side's release */
}

/* ---- spinning ---- */

static void serve_line(bench_server *server)
{
    struct turns *shared = server->context;
    for (uint32_t turn = 1;; turn += 2) {
        while (turn_of(shared) != turn)
            if (bench_server_stopped(server))
                return;
        __atomic_store_n(&shared->turn, turn + 1, __ATOMIC_RELEASE);
    }
}

/* The client's side of a floor: takes turns until the time is up, and counts wrong replies. */
typedef void play_turns(struct turns *shared, uint64_t duration_ns, bench_histogram *times, uint64_t *errors);

static void play_line(struct turns *shared, uint64_t duration_ns, bench_histogram *times, uint64_t *errors)
{
    uint64_t start = gyre_clock_ns(), before = start;
    (void)errors; /* no message travels */
    for (uint32_t turn = 0; before - start < duration_ns; turn += 2) {
        __atomic_store_n(&shared->turn, turn + 1, __ATOMIC_RELEASE);
        while (turn_of(shared) != turn + 2)
            ;
        uint64_t now = gyre_clock_ns();
        bench_histogram_add(times, now - before);
        before = now;
    }
}

/* ---- sleeping ---- */

/* Gives the turn to the other thread, and wakes that thread if it sleeps. */
static void pass_turn(struct turns *shared, uint32_t turn)
{
    __atomic_store_n(&shared->turn, turn, __ATOMIC_RELEASE);
    gyre_futex_wake(&shared->turn, 1);
}

static void serve_park(bench_server *server)
{
    struct turns *shared = server->context;
    for (uint32_t turn = 1;; turn += 2) {
        while (turn_of(shared) != turn) {
            if (bench_server_stopped(server))
                return;
            gyre_futex_wait(&shared->turn, turn - 1, UINT64_MAX);
        }
        words_48 request = shared->message;
        bench_handle(BENCH_48, &request, &shared->message);
        pass_turn(shared, turn + 1);
    }
}

static void play_park(struct turns *shared, uint64_t duration_ns, bench_histogram *times, uint64_t *errors)
{
    uint64_t start = gyre_clock_ns(), before = start;
    for (uint32_t turn = 0; before - start < duration_ns; turn += 2) {
        bench_fill(BENCH_48, &shared->message, turn);
        pass_turn(shared, turn + 1);
        while (turn_of(shared) != turn + 2)
            gyre_futex_wait(&shared->turn, turn + 1, UINT64_MAX);
        *errors += !bench_right(BENCH_48, &shared->message, turn);
        uint64_t now = gyre_clock_ns();
        bench_histogram_add(times, now - before);
        before = now;
    }
}

/* ---- rounds ---- */

static void finish_sample(const bench_histogram *times, uint64_t start_ns, uint64_t cpu_ns,
                          bench_sample *sample)
{
    double elapsed = (double)(gyre_clock_ns() - start_ns);
    sample->cpu = (double)(bench_cpu_ns() - cpu_ns) / elapsed;
    sample->messages = times->count;
    sample->per_second = (double)times->count * 1e9 / elapsed;
    bench_sample_latencies(sample, times);
    bench_pin(-1);
}

static bool run_turns(void (*serve)(bench_server *server), play_turns *play, uint64_t duration_ns,
                      bench_sample *sample)
{
    static bench_histogram histogram; /* 60 kB; floors run one at a time */
    struct turns shared = {0};
    bench_server server = {.serve = serve, .context = &shared};
    histogram = (bench_histogram){0};
    *sample = (bench_sample){0};
    if (!bench_server_start(&server))
        return false;
    bench_pin(bench_core_client());
    uint64_t start = gyre_clock_ns(), cpu = bench_cpu_ns();
    play(&shared, duration_ns, &histogram, &sample->errors);
    finish_sample(&histogram, start, cpu, sample);
    __atomic_store_n(&server.stop, 1, __ATOMIC_RELAXED);
    pass_turn(&shared,
              turn_of(&shared) + 2); /* nobody's turn: a server that sleeps looks up and sees `stop` */
    bench_server_stop(&server);
    return true;
}

bool bench_floor_line(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    (void)shape;
    return run_turns(serve_line, play_line, duration_ns, sample);
}

bool bench_floor_park(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample)
{
    (void)shape;
    return run_turns(serve_park, play_park, duration_ns, sample);
}
