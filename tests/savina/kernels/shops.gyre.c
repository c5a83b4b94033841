/* SPDX-License-Identifier: Apache-2.0 */
/* Savina's benchmarks of actors that wait for each other: bounded buffer, sleeping barber, cigarette smokers. */
#include <gyre/kernel.h>

#include "random.h"

/* ---- bounded buffer: `size` producers of `left` items each, and as many consumers; an item costs `number` ---- */

#define BUFFER_STATE(FIELD)                                                                                  \
    FIELD(f64, made[40])                                                                                     \
    FIELD(f64, eaten[40])                                                                                    \
    FIELD(f64, items[50])                                                                                    \
    FIELD(u64, left[40])                                                                                     \
    FIELD(u32, idle[40])                                                                                     \
    FIELD(u32, waiting[40])                                                                                  \
    FIELD(u64, all)                                                                                          \
    FIELD(u64, done)                                                                                         \
    FIELD(u64, cost)                                                                                         \
    FIELD(u32, size) FIELD(u32, first) FIELD(u32, count) FIELD(u32, idle_count) FIELD(u32, waiting_count)
GYRE_MESSAGE(buffer_state, BUFFER_STATE)

#define BUFFER_PORTS(PORT) PORT(task, make, BUFFER_ACTORS_MAX) PORT(task, eat, 1)
GYRE_PORTS(buffer_ports, BUFFER_PORTS)

GYRE_HELPER void order_item(GYRE_GLOBAL task *out, GYRE_GLOBAL buffer_state *state, u32 who)
{
    state->left[who]--;
    out->who = who;
    out->number = state->cost;
    out->value = state->made[who];
}

/* What a consumer gets is the item and what it came to before. */
GYRE_HELPER void serve_item(GYRE_GLOBAL task *out, GYRE_GLOBAL buffer_state *state, u32 who, f64 item)
{
    out->who = who;
    out->number = state->cost;
    out->value = state->eaten[who] + item;
}

GYRE_HELPER f64 take_item(GYRE_GLOBAL buffer_state *state)
{
    const f64 item = state->items[state->first];
    state->first = (state->first + 1) % BUFFER_ITEMS;
    state->count--;
    return item;
}

/* Producers wait while one item more of each would not find room. */
GYRE_HELPER u32 has_room(const GYRE_GLOBAL buffer_state *state)
{
    return state->count < BUFFER_ITEMS - state->size;
}

GYRE_ACTOR_TO(buffer, task, total, buffer_ports, buffer_state)
{
    if (request->what == SAVINA_GO) {
        if (request->size == 0 || request->size > BUFFER_ACTORS_MAX || request->left == 0)
            return gyre_fail(gyre, 1, "so many producers there are not");
        state->size = request->size;
        state->cost = request->number;
        state->all = request->size * request->left;
        for (u32 i = 0; i < request->size; i++) {
            state->left[i] = request->left;
            state->idle[state->idle_count++] = i;
            order_item(gyre_emit(gyre, make), state, i);
        }
        return GYRE_NO_REPLY;
    }
    const u32 who = request->who;
    if (who >= state->size)
        return gyre_fail(gyre, 2, "there is no such actor");
    if (request->what == SAVINA_PUT) {
        state->made[who] = request->value;
        if (state->idle_count > 0) {
            serve_item(gyre_emit(gyre, eat), state, state->idle[--state->idle_count], request->value);
        } else {
            if (!gyre_assert(gyre, state->count < BUFFER_ITEMS))
                return GYRE_FAILED;
            state->items[(state->first + state->count++) % BUFFER_ITEMS] = request->value;
        }
        if (state->left[who] && has_room(state))
            order_item(gyre_emit(gyre, make), state, who);
        else if (state->left[who])
            state->waiting[state->waiting_count++] = who;
        return GYRE_NO_REPLY;
    }
    state->eaten[who] = request->value;
    if (state->count > 0)
        serve_item(gyre_emit(gyre, eat), state, who, take_item(state));
    else
        state->idle[state->idle_count++] = who;
    if (state->waiting_count > 0 && has_room(state))
        order_item(gyre_emit(gyre, make), state, state->waiting[--state->waiting_count]);
    if (++state->done < state->all)
        return GYRE_NO_REPLY;
    reply->count = state->done;
    reply->value = 0;
    for (u32 i = 0; i < state->size; i++)
        reply->value += state->eaten[i];
    return GYRE_REPLY;
}

#define BACK_PORTS(PORT) PORT(task, back, 1)
GYRE_PORTS(back_ports, BACK_PORTS)

/* Adds a hundred logarithms of random numbers for each unit of the cost. */
GYRE_HELPER f64 process_item(f64 value, u32 cost)
{
    u64 random = cost;
    for (u32 i = 0; i < cost * 100; i++) {
        random = savina_random(random);
        value += log((f64)(random >> 11) / 9007199254740992.0 + 0.01);
    }
    return value;
}

GYRE_KERNEL_TO(producer, task, gyre_none, back_ports)
{
    GYRE_GLOBAL task *out = gyre_emit(gyre, back);
    *out = *request;
    out->what = SAVINA_PUT;
    out->value = process_item(request->value, (u32)request->number);
    return GYRE_NO_REPLY;
}

GYRE_KERNEL_TO(consumer, task, gyre_none, back_ports)
{
    GYRE_GLOBAL task *out = gyre_emit(gyre, back);
    *out = *request;
    out->what = SAVINA_GET;
    out->value = process_item(request->value, (u32)request->number);
    return GYRE_NO_REPLY;
}

/* ---- sleeping barber: `left` customers, who come back as long as the waiting room with its `size` chairs is full ---- */

/* Computes so many random numbers, which takes a while. */
GYRE_HELPER u64 wait_busily(u64 random, u32 steps)
{
    for (u32 i = 0; i < steps; i++)
        random = savina_random(random);
    return random;
}

#define CUSTOMERS(FIELD)                                                                                     \
    FIELD(u64, random)                                                                                       \
    FIELD(u64, all) FIELD(u64, came) FIELD(u64, served) FIELD(u32, chairs) FIELD(u32, is_served[256])
GYRE_MESSAGE(customers_state, CUSTOMERS)

#define CUSTOMERS_PORTS(PORT) PORT(task, room, 1) PORT(task, next, 1)
GYRE_PORTS(customers_ports, CUSTOMERS_PORTS)

GYRE_HELPER void enter_room(GYRE_GLOBAL task *out, const GYRE_GLOBAL customers_state *state, u32 who)
{
    out->what = SAVINA_PUT;
    out->who = who;
    out->size = state->chairs;
}

GYRE_ACTOR_TO(customers, task, total, customers_ports, customers_state)
{
    if (request->what == SAVINA_GO) {
        if (request->left == 0 || request->left > CUSTOMERS_MAX)
            return gyre_fail(gyre, 1, "so many customers there are not");
        state->all = request->left;
        state->chairs = request->size;
    }
    if (request->what == SAVINA_GO || request->what == SAVINA_TELL) { /* the next one comes */
        enter_room(gyre_emit(gyre, room), state, (u32)state->came++);
        const u32 steps = next_random(&state->random) % BARBER_STEPS + 10;
        state->random = wait_busily(state->random, steps);
        if (state->came < state->all)
            gyre_emit(gyre, next)->what = SAVINA_TELL;
        return GYRE_NO_REPLY;
    }
    const u32 who = request->who;
    if (who >= state->came)
        return gyre_fail(gyre, 2, "there is no such customer");
    if (request->what == SAVINA_NO) {
        enter_room(gyre_emit(gyre, room), state, who);
        return GYRE_NO_REPLY;
    }
    if (state->is_served[who / 32] >> who % 32 & 1)
        return gyre_fail(gyre, 3, "a customer is served twice");
    state->is_served[who / 32] |= 1u << who % 32;
    if (++state->served < state->all)
        return GYRE_NO_REPLY;
    reply->count = state->served;
    reply->sum = request->number;
    return GYRE_REPLY;
}

#define ROOM(FIELD) FIELD(u32, who[1000]) FIELD(u32, first) FIELD(u32, count) FIELD(u32, is_busy)
GYRE_MESSAGE(room_state, ROOM)

#define ROOM_PORTS(PORT) PORT(task, barber, 1) PORT(task, full, 1)
GYRE_PORTS(room_ports, ROOM_PORTS)

/* The barber sleeps until somebody comes, and asks for the next customer when one is served. */
GYRE_ACTOR_TO(room, task, gyre_none, room_ports, room_state)
{
    if (request->what == SAVINA_GET)
        state->is_busy = 0;
    else if (request->size > ROOM_CHAIRS)
        return gyre_fail(gyre, 1, "so many chairs there are not");
    else if (state->count == request->size) {
        GYRE_GLOBAL task *back = gyre_emit(gyre, full);
        back->what = SAVINA_NO;
        back->who = request->who;
    } else
        state->who[(state->first + state->count++) % ROOM_CHAIRS] = request->who;
    if (state->is_busy || state->count == 0)
        return GYRE_NO_REPLY;
    state->is_busy = 1;
    gyre_emit(gyre, barber)->who = state->who[state->first];
    state->first = (state->first + 1) % ROOM_CHAIRS;
    state->count--;
    return GYRE_NO_REPLY;
}

#define BARBER_PORTS(PORT) PORT(task, room, 1) PORT(task, served, 1)
GYRE_PORTS(barber_ports, BARBER_PORTS)

/* State: sum is the last random number, which tells at the end that the barber did it all. */
GYRE_ACTOR_TO(barber, task, gyre_none, barber_ports, total)
{
    const u32 steps = next_random(&state->sum) % BARBER_STEPS + 10;
    state->sum = wait_busily(state->sum, steps);
    gyre_emit(gyre, room)->what = SAVINA_GET;
    GYRE_GLOBAL task *out = gyre_emit(gyre, served);
    out->what = SAVINA_END;
    out->who = request->who;
    out->number = state->sum;
    return GYRE_NO_REPLY;
}

/* ---- cigarette smokers: `left` rounds, in each of which the arbiter has one of `size` smokers begin ---- */

#define ARBITER(FIELD)                                                                                       \
    FIELD(u64, random) FIELD(u64, rounds) FIELD(u64, all) FIELD(u64, done) FIELD(u64, sum) FIELD(u32, size)
GYRE_MESSAGE(arbiter_state, ARBITER)

#define ARBITER_PORTS(PORT) PORT(task, smokers, 1)
GYRE_PORTS(arbiter_ports, ARBITER_PORTS)

/* The next round begins when a smoker has begun, and the last one ends when all have smoked. */
GYRE_ACTOR_TO(arbiter, task, total, arbiter_ports, arbiter_state)
{
    if (request->what == SAVINA_GO) {
        if (request->size == 0 || request->size > SMOKERS_MAX || request->left == 0)
            return gyre_fail(gyre, 1, "so many smokers there are not");
        state->random = 1;
        state->all = request->left;
        state->size = request->size;
    } else if (request->what == SAVINA_TELL) {
        state->rounds++;
    } else {
        state->done++;
        state->sum += request->number;
    }
    if (request->what != SAVINA_END && state->rounds < state->all) {
        GYRE_GLOBAL task *out = gyre_emit(gyre, smokers);
        out->what = SAVINA_GET;
        out->who = next_random(&state->random) % state->size;
        out->number = next_random(&state->random) % SMOKER_STEPS + 10;
    }
    if (state->done < state->all)
        return GYRE_NO_REPLY;
    reply->count = state->rounds;
    reply->sum = state->sum;
    return GYRE_REPLY;
}

#define SMOKERS(FIELD) FIELD(u64, smoked[200])
GYRE_MESSAGE(smokers_state, SMOKERS)

#define SMOKERS_PORTS(PORT) PORT(task, arbiter, 1) PORT(task, smoke, 1)
GYRE_PORTS(smokers_ports, SMOKERS_PORTS)

/* A smoker says that it begins, and smokes then: by a message to itself, since what a handler emits leaves when it returns. */
GYRE_ACTOR_TO(smokers, task, gyre_none, smokers_ports, smokers_state)
{
    if (request->who >= SMOKERS_MAX)
        return gyre_fail(gyre, 1, "there is no such smoker");
    GYRE_GLOBAL task *out = gyre_emit(gyre, arbiter);
    out->who = request->who;
    out->what = request->what == SAVINA_GET ? SAVINA_TELL : SAVINA_END;
    if (request->what == SAVINA_GET) {
        GYRE_GLOBAL task *later = gyre_emit(gyre, smoke);
        *later = *request;
        later->what = SAVINA_PUT;
        return GYRE_NO_REPLY;
    }
    state->smoked[request->who]++;
    out->number = wait_busily(request->number, (u32)request->number);
    return GYRE_NO_REPLY;
}
