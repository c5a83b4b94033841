/* SPDX-License-Identifier: Apache-2.0 */
/* A worker that handles requests step by step: see world.h. */
#include "world.h"

#include <string.h>

#include "core/queue/queue.h"
#include "core/ring/ring.h"

uint64_t sim_number(uint64_t index)
{
    uint64_t number = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return number ^ number >> 29;
}

bool sim_is_poison(uint64_t number)
{
    return number % 23 == 5;
}

static void change_half(struct sim_state *state)
{
    state->count++;
}

static void change_rest(struct sim_state *state, uint64_t number)
{
    state->hash = (state->hash ^ number) * UINT64_C(0xff51afd7ed558ccd);
    state->hash ^= state->hash >> 33;
}

void sim_handle(struct sim_state *state, uint64_t number)
{
    change_half(state);
    change_rest(state, number);
}

void sim_device_crash(struct sim_device *device, uint64_t random)
{
    device->dead = true;
    device->state = (struct sim_state){random, ~random};
    device->phase = SIM_LOOKS;
}

static bool look(struct sim_device *device, gyre_queue *queue)
{
    const gyre_slot *slot = gyre_request_slot(gyre_ring_of(queue), device->next);
    if (device->paused || slot->sequence != device->next + 1)
        return false;
    if (slot->info == GYRE_REQUEST_ANSWERED)
        device->next++;
    else
        device->phase = SIM_BEGAN;
    return true;
}

static void write_half(const struct sim_device *device, gyre_queue *queue)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), device->next);
    slot->length = sizeof device->state;
    memcpy(slot + 1, &device->state.count, sizeof device->state.count);
}

static void write_rest(const struct sim_device *device, gyre_queue *queue)
{
    gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), device->next);
    slot->info = GYRE_OUTCOME_REPLY;
    memcpy(slot + 1, &device->state, sizeof device->state);
}

bool sim_device_step(struct sim_device *device, gyre_queue *queue)
{
    struct sim_request request;
    memcpy(&request, gyre_request_slot(gyre_ring_of(queue), device->next) + 1, sizeof request);
    switch (device->phase) {
    case SIM_LOOKS:
        return look(device, queue);
    case SIM_BEGAN:
        change_half(&device->state);
        break;
    case SIM_CHANGED_HALF:
        if (sim_is_poison(request.number)) {
            sim_device_crash(device, request.number);
            return true;
        }
        change_rest(&device->state, request.number);
        break;
    case SIM_CHANGED:
        write_half(device, queue);
        break;
    case SIM_WROTE_HALF:
        write_rest(device, queue);
        break;
    case SIM_WROTE:
        gyre_reply_slot(gyre_ring_of(queue), device->next)->sequence = device->next + 1;
        device->next++;
        device->phase = SIM_LOOKS;
        return true;
    }
    device->phase++;
    return true;
}
