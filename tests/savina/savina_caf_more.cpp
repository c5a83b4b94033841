/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded buffer, sleeping barber, smokers, filter bank and quicksort with CAF, as savina_caf.cpp has the others. What costs time in
 * an actor costs the same as in the kernels of kernels/shops.gyre.c and kernels/filter_bank.gyre.c.
 */
#include "savina_caf.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <vector>

namespace
{

using caf::actor;
using caf::behavior;
using caf::event_based_actor;
using caf::stateful_actor;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;

u64 random_after(u64 random)
{
    return random * 6364136223846793005u + 1442695040888963407u;
}

u64 next_random(u64 &random)
{
    random = random_after(random);
    return random >> 33;
}

u64 wait_busily(u64 random, u64 steps)
{
    for (u64 i = 0; i < steps; i++)
        random = random_after(random);
    return random;
}

/* ---- bounded buffer: an order is an u32, an item a double, and a consumer's "done" a number and a double ---- */

constexpr u32 buffer_actors = 40, buffer_items = 50;

double process_item(double value, u64 cost)
{
    u64 random = cost;
    for (u64 i = 0; i < cost * 100; i++) {
        random = random_after(random);
        value += std::log(static_cast<double>(random >> 11) / 9007199254740992.0 + 0.01);
    }
    return value;
}

struct worth {
    double value = 0;
};

behavior producer(stateful_actor<worth> *self, u32 who, u64 cost, actor buffer)
{
    return {[=](i32) {
        self->state.value = process_item(self->state.value, cost);
        self->send(buffer, who, self->state.value);
    }};
}

behavior consumer(stateful_actor<worth> *self, u32 who, u64 cost, actor buffer)
{
    return {[=](double item) {
        self->state.value = process_item(self->state.value + item, cost);
        self->send(buffer, i32{1}, who, self->state.value);
    }};
}

struct buffering {
    std::vector<actor> producers, consumers;
    std::vector<u64> left;
    std::vector<double> eaten;
    std::deque<double> items;
    std::vector<u32> idle, waiting;
    u64 done = 0;
};

void order_item(stateful_actor<buffering> *self, u32 who)
{
    self->state.left[who]--;
    self->send(self->state.producers[who], i32{0});
}

bool has_room(const buffering &state)
{
    return state.items.size() < buffer_items - buffer_actors;
}

void end_buffer(stateful_actor<buffering> *self, u64 size, u64 cost, const actor &client)
{
    double sum = 0;
    for (const double value : self->state.eaten)
        sum += value;
    const double items = static_cast<double>(size),
                 expected = buffer_actors * process_item(0, cost) * (items * (items + 1) / 2 + items);
    const bool right = std::fabs(sum - expected) <= 1e-9 * std::fabs(expected);
    self->send(client, right ? self->state.done : u64{0});
    for (const std::vector<actor> *all : {&self->state.producers, &self->state.consumers})
        for (const actor &one : *all)
            self->send_exit(one, caf::exit_reason::user_shutdown);
    self->state = buffering{};
    self->quit();
}

void begin_buffer(stateful_actor<buffering> *self, u64 size, u64 cost)
{
    for (u32 i = 0; i < buffer_actors; i++) {
        self->state.producers.push_back(self->spawn(producer, i, cost, actor{self}));
        self->state.consumers.push_back(self->spawn(consumer, i, cost, actor{self}));
        self->state.left.push_back(size);
        self->state.eaten.push_back(0);
        self->state.idle.push_back(i);
    }
    for (u32 i = 0; i < buffer_actors; i++)
        order_item(self, i);
}

behavior buffer(stateful_actor<buffering> *self, u64 size, actor client)
{
    const u64 cost = size < 1000 ? 1 : 25;
    begin_buffer(self, size, cost);
    return {[=](u32 who, double item) {
                buffering &state = self->state;
                if (state.idle.empty()) {
                    state.items.push_back(item);
                } else {
                    self->send(state.consumers[state.idle.back()], item);
                    state.idle.pop_back();
                }
                if (state.left[who] && has_room(state))
                    order_item(self, who);
                else if (state.left[who])
                    state.waiting.push_back(who);
            },
            [=](i32, u32 who, double value) {
                buffering &state = self->state;
                state.eaten[who] = value;
                if (state.items.empty()) {
                    state.idle.push_back(who);
                } else {
                    self->send(state.consumers[who], state.items.front());
                    state.items.pop_front();
                }
                if (!state.waiting.empty() && has_room(state)) {
                    order_item(self, state.waiting.back());
                    state.waiting.pop_back();
                }
                if (++state.done == size * buffer_actors)
                    end_buffer(self, size, cost, client);
            }};
}

/* ---- sleeping barber: a customer is an actor; the room says u32 to one that finds no chair, the barber u64 to one that is served ---- */

struct in_room {
    std::deque<actor> waiting;
    bool is_busy = false;
};

struct at_work {
    u64 random = 0;
};

behavior barber(stateful_actor<at_work> *self)
{
    return {[=](actor customer, actor room) {
        const u64 steps = next_random(self->state.random) % 1000 + 10;
        self->state.random = wait_busily(self->state.random, steps);
        self->send(customer, u64{1});
        self->send(room, i32{0});
    }};
}

behavior room(stateful_actor<in_room> *self, u64 chairs, actor worker)
{
    const auto serve_next = [=] {
        in_room &state = self->state;
        if (state.is_busy || state.waiting.empty())
            return;
        state.is_busy = true;
        self->send(worker, state.waiting.front(), actor{self});
        state.waiting.pop_front();
    };
    return {[=](actor customer) {
                if (self->state.waiting.size() == chairs)
                    self->send(customer, u32{0});
                else
                    self->state.waiting.push_back(customer);
                serve_next();
            },
            [=](i32) {
                self->state.is_busy = false;
                serve_next();
            }};
}

behavior customer(event_based_actor *self, actor factory, actor room)
{
    return {[=](u32) { self->send(factory, actor{self}); },
            [=](u64) {
                self->send(factory, u64{1});
                self->quit();
            },
            [=](i32) { self->send(room, actor{self}); }};
}

struct making {
    u64 random = 0, came = 0, served = 0;
    actor barber, room;
};

behavior factory(stateful_actor<making> *self, u64 size, actor client)
{
    self->state.barber = self->spawn(barber);
    self->state.room = self->spawn(room, size < 1000 ? size / 8 + 1 : 1000, self->state.barber);
    self->send(self, i32{0});
    return {[=](i32) {
                making &state = self->state;
                self->send(self->spawn(customer, actor{self}, state.room), i32{0});
                const u64 steps = next_random(state.random) % 1000 + 10;
                state.random = wait_busily(state.random, steps);
                if (++state.came < size)
                    self->send(self, i32{0});
            },
            [=](actor returned) { self->send(returned, i32{0}); },
            [=](u64) {
                making &state = self->state;
                if (++state.served < size)
                    return;
                self->send(client, state.served);
                self->send_exit(state.room, caf::exit_reason::user_shutdown);
                self->send_exit(state.barber, caf::exit_reason::user_shutdown);
                state.room = state.barber = nullptr;
                self->quit();
            }};
}

/* ---- smokers ---- */

constexpr u64 smoker_count = 200;

struct smoked {
    u64 random = 0;
};

behavior smoker(stateful_actor<smoked> *self, actor arbiter)
{
    return {[=](u64 steps) {
        self->send(arbiter, i32{0});
        self->state.random = wait_busily(steps, steps);
        self->send(arbiter, self->state.random);
    }};
}

struct judging {
    std::vector<actor> smokers;
    u64 random = 1, rounds = 0, done = 0;
};

behavior arbiter(stateful_actor<judging> *self, u64 size, actor client)
{
    const auto begin_round = [=] {
        judging &state = self->state;
        const u64 who = next_random(state.random) % smoker_count;
        self->send(state.smokers[who], next_random(state.random) % 1000 + 10);
    };
    for (u64 i = 0; i < smoker_count; i++)
        self->state.smokers.push_back(self->spawn(smoker, actor{self}));
    begin_round();
    return {[=](i32) {
                if (++self->state.rounds < size)
                    begin_round();
            },
            [=](u64) {
                judging &state = self->state;
                if (++state.done < size)
                    return;
                for (const actor &one : state.smokers)
                    self->send_exit(one, caf::exit_reason::user_shutdown);
                self->send(client, state.rounds);
                state.smokers.clear();
                self->quit();
            }};
}

/* ---- filter bank ---- */

constexpr u32 channels = 8;

struct delayed {
    std::vector<double> kept;
    std::size_t at = 0;
};

behavior delay(stateful_actor<delayed> *self, u64 length, actor next)
{
    self->state.kept.assign(length, 0);
    return {[=](double value) {
                delayed &state = self->state;
                self->send(next, state.kept[state.at]);
                state.kept[state.at] = value;
                state.at = (state.at + 1) % length;
            },
            [=](i32 end) {
                self->send(next, end);
                self->quit();
            }};
}

struct filtered {
    std::vector<double> kept, taps;
    std::size_t at = 0;
    bool is_full = false;
};

double filter_value(const double *kept, const double *taps, std::size_t columns)
{
    double a = 0, b = 0, c = 0, d = 0;
    for (std::size_t i = 0; i + 3 < columns; i += 4) {
        a += kept[i] * taps[columns - 1 - i];
        b += kept[i + 1] * taps[columns - 2 - i];
        c += kept[i + 2] * taps[columns - 3 - i];
        d += kept[i + 3] * taps[columns - 4 - i];
    }
    return a + b + (c + d);
}

behavior fir(stateful_actor<filtered> *self, std::vector<double> taps, actor next)
{
    self->state.kept.assign(taps.size(), 0);
    self->state.taps = std::move(taps);
    return {[=](double value) {
                filtered &state = self->state;
                state.kept[state.at++] = value;
                if (state.at == state.kept.size()) {
                    state.at = 0;
                    state.is_full = true;
                }
                if (state.is_full)
                    self->send(next, filter_value(state.kept.data(), state.taps.data(), state.kept.size()));
            },
            [=](i32 end) {
                self->send(next, end);
                self->quit();
            }};
}

struct sampled {
    u64 count = 0;
};

behavior sample(stateful_actor<sampled> *self, u64 columns, actor next)
{
    return {[=](double value) {
                self->send(next, self->state.count ? 0.0 : value);
                self->state.count = (self->state.count + 1) % columns;
            },
            [=](i32 end) {
                self->send(next, end);
                self->quit();
            }};
}

behavior tag(event_based_actor *self, u32 channel, actor next)
{
    return {[=](double value) { self->send(next, channel, value); },
            [=](i32 end) {
                self->send(next, end);
                self->quit();
            }};
}

struct integrated {
    std::deque<double> values[channels];
    u64 count = 0;
    u32 ended = 0;
};

behavior integrate(stateful_actor<integrated> *self, actor client)
{
    return {[=](u32 channel, double value) {
                integrated &state = self->state;
                state.values[channel].push_back(value);
                for (const std::deque<double> &values : state.values)
                    if (values.empty())
                        return;
                for (std::deque<double> &values : state.values)
                    values.pop_front();
                state.count++;
            },
            [=](i32) {
                if (++self->state.ended < channels)
                    return;
                self->send(client, self->state.count);
                self->quit();
            }};
}

std::vector<double> taps_of(int filter, u32 channel, u64 columns)
{
    std::vector<double> taps;
    for (u64 i = 0; i < columns; i++)
        taps.push_back(filter == 0
                           ? static_cast<double>(i * columns + channel * channels + channel + i + channel + 1)
                           : static_cast<double>(i * channel + channel * channel + channel + i));
    return taps;
}

behavior filter_source(event_based_actor *self, u64 size, actor client)
{
    const u64 columns = size * 8 / 17;
    const actor all = self->spawn(integrate, client);
    std::vector<actor> first;
    for (u32 i = 0; i < channels; i++) {
        const actor last = self->spawn(fir, taps_of(1, i, columns), self->spawn(tag, i, all));
        const actor middle = self->spawn(sample, columns, self->spawn(delay, columns - 1, last));
        first.push_back(self->spawn(delay, columns - 1, self->spawn(fir, taps_of(0, i, columns), middle)));
    }
    for (u64 i = 0; i < size; i++)
        for (const actor &channel : first)
            self->send(channel, static_cast<double>(i % 1000 + 1));
    for (const actor &channel : first)
        self->send(channel, i32{0});
    return {};
}

/* ---- quicksort: each part is an actor, which leaves its numbers sorted where its parent finds them ---- */

using numbers = std::shared_ptr<std::vector<u64>>;

struct parted {
    numbers below = std::make_shared<std::vector<u64>>(), above = std::make_shared<std::vector<u64>>();
    std::vector<u64> equal;
    u64 ended = 0;
};

u64 middle_of(u64 a, u64 b, u64 c)
{
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

void part(const std::vector<u64> &all, parted &out)
{
    const u64 pivot = middle_of(all.front(), all[all.size() / 2], all.back());
    for (const u64 number : all)
        (number < pivot ? *out.below : number > pivot ? *out.above : out.equal).push_back(number);
}

behavior quicksort(stateful_actor<parted> *self, numbers mine, actor parent)
{
    if (mine->size() <= 2048) {
        std::sort(mine->begin(), mine->end());
        self->send(parent, u64{mine->size()});
        return {};
    }
    part(*mine, self->state);
    self->spawn(quicksort, self->state.below, actor{self});
    self->spawn(quicksort, self->state.above, actor{self});
    return {[=](u64) {
        parted &state = self->state;
        if (++state.ended < 2)
            return;
        *mine = *state.below;
        mine->insert(mine->end(), state.equal.begin(), state.equal.end());
        mine->insert(mine->end(), state.above->begin(), state.above->end());
        self->send(parent, u64{mine->size()});
        self->quit();
    }};
}

behavior sort_all(event_based_actor *self, numbers all, actor client)
{
    self->spawn(quicksort, all, actor{self});
    return {[=](u64 count) {
        self->send(client, std::is_sorted(all->begin(), all->end()) ? count : u64{0});
        self->quit();
    }};
}

} // namespace

void begin_bounded_buffer(caf::actor_system &system, const caf::actor &client, std::uint64_t size)
{
    system.spawn(buffer, size, client);
}

void begin_barber(caf::actor_system &system, const caf::actor &client, std::uint64_t size)
{
    system.spawn(factory, size, client);
}

void begin_smokers(caf::actor_system &system, const caf::actor &client, std::uint64_t size)
{
    system.spawn(arbiter, size, client);
}

void begin_filter_bank(caf::actor_system &system, const caf::actor &client, std::uint64_t size)
{
    system.spawn(filter_source, size, client);
}

void begin_quicksort(caf::actor_system &system, const caf::actor &client, std::uint64_t size)
{
    const numbers all = std::make_shared<std::vector<u64>>();
    u64 random = 1024;
    for (u64 i = 0; i < size; i++) {
        random = random_after(random);
        all->push_back(random >> 4);
    }
    system.spawn(sort_all, all, client);
}
