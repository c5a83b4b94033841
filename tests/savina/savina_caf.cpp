/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twelve of the benchmarks of main.c with CAF, the C++ Actor Framework, as Savina has them: each actor is an actor, and trees are
 * added up from their leaves. CAF's own settings: its scheduler has a thread for each processor. Every result is checked.
 *
 * savina_caf_more.cpp has bounded buffer, sleeping barber, smokers, filter bank and quicksort.
 *
 * usage: savina_caf [--small] [--repeat N]
 */
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <caf/all.hpp>

#include "savina_caf.h"

namespace
{

using caf::actor;
using caf::behavior;
using caf::event_based_actor;
using caf::stateful_actor;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

struct counted {
    u64 count = 0, sum = 0;
};

/* ---- ping-pong ---- */

behavior pong(event_based_actor *)
{
    return {[](u64 ball) { return ball + 1; }};
}

behavior ping(stateful_actor<counted> *self, actor other, u64 balls, actor client)
{
    self->send(other, u64{0});
    return {[=](u64 ball) {
        if (++self->state.count < balls) {
            self->send(other, ball);
            return;
        }
        self->send(client, ball);
        self->quit();
    }};
}

void begin_ping_pong(caf::actor_system &system, const actor &client, u64 size)
{
    system.spawn(ping, system.spawn(pong), size, client);
}

/* ---- counting ---- */

behavior count(stateful_actor<counted> *self, actor client)
{
    return {[=](u64) { self->state.count++; },
            [=](i32) {
                self->send(client, self->state.count);
                self->quit();
            }};
}

behavior produce(event_based_actor *self, actor counter, u64 size)
{
    for (u64 i = 0; i < size; i++)
        self->send(counter, i);
    self->send(counter, i32{0});
    return {};
}

void begin_counting(caf::actor_system &system, const actor &client, u64 size)
{
    system.spawn(produce, system.spawn(count, client), size);
}

/* ---- fork-join ---- */

constexpr u64 workers = 60;

struct worked {
    u64 count = 0;
    double value = 0;
};

behavior work(stateful_actor<worked> *self, u64 size, actor join)
{
    return {[=](u64) {
        const double sine = std::sin(37.2);
        self->state.value += sine * sine;
        if (++self->state.count < size)
            return;
        self->send(join, self->state.count);
        self->quit();
    }};
}

behavior join(stateful_actor<counted> *self, actor client)
{
    return {[=](u64 done) {
        self->state.sum += done;
        if (++self->state.count < workers)
            return;
        self->send(client, self->state.sum);
        self->quit();
    }};
}

behavior fork_all(event_based_actor *self, u64 size, actor client)
{
    std::vector<actor> all;
    const actor joined = self->spawn(join, client);
    for (u64 i = 0; i < workers; i++)
        all.push_back(self->spawn(work, size, joined));
    for (u64 i = 0; i < size; i++)
        for (const actor &worker : all)
            self->send(worker, i);
    return {};
}

void begin_fork_join(caf::actor_system &system, const actor &client, u64 size)
{
    system.spawn(fork_all, size, client);
}

/* ---- thread ring ---- */

constexpr u64 ring_actors = 100;

struct linked {
    actor next;
};

behavior ring(stateful_actor<linked> *self, u64 size, actor client)
{
    return {[=](actor next) { self->state.next = next; },
            [=](u64 hops) {
                if (hops == size)
                    self->send(client, hops);
                else
                    self->send(self->state.next, hops + 1);
            },
            [=](i32) {
                const actor next = self->state.next;
                self->state.next = nullptr;
                self->send(next, i32{0});
                self->quit();
            }};
}

actor ring_first; /* whoever ends the ring tells it */

void begin_thread_ring(caf::actor_system &system, const actor &client, u64 size)
{
    ring_first = system.spawn(ring, size, client);
    actor before = ring_first;
    for (u64 i = 1; i < ring_actors; i++) {
        const actor next = system.spawn(ring, size, client);
        caf::anon_send(before, next);
        before = next;
    }
    caf::anon_send(before, ring_first);
    caf::anon_send(ring_first, u64{0});
}

/* ---- big ---- */

constexpr u64 big_actors = 120;
using peers = std::shared_ptr<std::vector<actor>>;

struct pinging {
    u64 left = 0, random = 0;
};

behavior big(stateful_actor<pinging> *self, peers all, u64 number, u64 size, actor sink)
{
    self->state.left = size;
    self->state.random = number + 1;
    const auto ping_one = [=] {
        self->state.left--;
        self->state.random = self->state.random * 6364136223846793005u + 1442695040888963407u;
        self->send((*all)[(self->state.random >> 33) % big_actors], u64{number});
    };
    return {[=](i32) { ping_one(); }, [](u64) { return i64{1}; },
            [=](i64) {
                if (self->state.left)
                    ping_one();
                else
                    self->send(sink, u64{1});
            }};
}

behavior big_sink(stateful_actor<counted> *self, peers all, u64 size, actor client)
{
    return {[=](u64) {
        if (++self->state.count < big_actors)
            return;
        for (const actor &one : *all)
            self->send_exit(one, caf::exit_reason::user_shutdown);
        all->clear();
        self->send(client, size * big_actors);
        self->quit();
    }};
}

void begin_big(caf::actor_system &system, const actor &client, u64 size)
{
    const peers all = std::make_shared<std::vector<actor>>();
    const actor sink = system.spawn(big_sink, all, size, client);
    for (u64 i = 0; i < big_actors; i++)
        all->push_back(system.spawn(big, all, i, size, sink));
    const std::vector<actor> first = *all;
    for (const actor &one : first)
        caf::anon_send(one, i32{0});
}

/* ---- trees: fibonacci and skynet ---- */

behavior fibonacci(stateful_actor<counted> *self, u64 number, actor parent)
{
    if (number <= 2) {
        self->send(parent, u64{1});
        return {};
    }
    self->spawn(fibonacci, number - 1, actor{self});
    self->spawn(fibonacci, number - 2, actor{self});
    return {[=](u64 value) {
        self->state.sum += value;
        if (++self->state.count < 2)
            return;
        self->send(parent, self->state.sum);
        self->quit();
    }};
}

void begin_fibonacci(caf::actor_system &system, const actor &client, u64 size)
{
    system.spawn(fibonacci, size, client);
}

behavior skynet(stateful_actor<counted> *self, u64 first, u64 size, actor parent)
{
    if (size == 1) {
        self->send(parent, first);
        return {};
    }
    for (u64 i = 0; i < 10; i++)
        self->spawn(skynet, first + i * (size / 10), size / 10, actor{self});
    return {[=](u64 value) {
        self->state.sum += value;
        if (++self->state.count < 10)
            return;
        self->send(parent, self->state.sum);
        self->quit();
    }};
}

void begin_skynet(caf::actor_system &system, const actor &client, u64 size)
{
    system.spawn(skynet, u64{0}, size, client);
}

/* ---- running ---- */

struct benchmark {
    const char *name;
    void (*begin)(caf::actor_system &system, const actor &client, u64 size);
    u64 size, result, small, small_result;
};

const benchmark benchmarks[] = {
    {"ping_pong", begin_ping_pong, 40000, 40000, 200, 200},
    {"counting", begin_counting, 1000000, 1000000, 5000, 5000},
    {"fork_join", begin_fork_join, 10000, 600000, 100, 6000},
    {"thread_ring", begin_thread_ring, 100000, 100000, 1000, 1000},
    {"big", begin_big, 20000, 2400000, 20, 2400},
    {"fibonacci", begin_fibonacci, 25, 75025, 12, 144},
    {"skynet", begin_skynet, 1000000, 499999500000, 1000, 499500},
    {"bounded_buffer", begin_bounded_buffer, 1000, 40000, 20, 800},
    {"sleeping_barber", begin_barber, 5000, 5000, 200, 200},
    {"smokers", begin_smokers, 1000, 1000, 100, 100},
    {"filter_bank", begin_filter_bank, 34816, 2050, 272, 18},
    {"quicksort", begin_quicksort, 1000000, 1000000, 5000, 5000},
};

double run(const benchmark &one, bool small, u64 &found)
{
    caf::actor_system_config settings;
    caf::actor_system system{settings};
    caf::scoped_actor client{system};
    const auto start = std::chrono::steady_clock::now();
    one.begin(system, caf::actor_cast<actor>(client), small ? one.small : one.size);
    client->receive([&](u64 value) { found = value; });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (ring_first)
        caf::anon_send(ring_first, i32{0});
    ring_first = nullptr;
    return seconds.count();
}

} // namespace

int main(int argc, char **argv)
{
    bool small = false;
    unsigned long repeat = 1;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--small") == 0) {
            small = true;
        } else if (std::strcmp(argv[i], "--repeat") == 0 && i + 1 < argc) {
            repeat = std::strtoul(argv[++i], nullptr, 10);
        } else {
            repeat = 0;
            break;
        }
    }
    if (repeat == 0 || repeat > 1000) {
        std::fprintf(stderr, "usage: savina_caf [--small] [--repeat N]: N is a number from 1 to 1000\n");
        return 2;
    }
    int wrong = 0;
    for (const benchmark &one : benchmarks) {
        const u64 expected = small ? one.small_result : one.result;
        double best = 0;
        for (unsigned long i = 0; i < repeat; i++) {
            u64 found = 0;
            const double seconds = run(one, small, found);
            best = i == 0 || seconds < best ? seconds : best;
            if (found != expected) {
                std::fprintf(stderr, "savina_caf: %s: %llu was expected, found %llu\n", one.name,
                             static_cast<unsigned long long>(expected),
                             static_cast<unsigned long long>(found));
                wrong = 1;
            }
        }
        std::printf("%-15s %14llu %9.4f\n", one.name, static_cast<unsigned long long>(expected), best);
        std::fflush(stdout);
    }
    return wrong;
}
