/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline whose handlers crash when they are told to: deal sends parts to left and right, gather adds up what these make of them.
 * With check = off, as crash.gyre.c. Elsewhere than on the CPU backend a fault that does not come always never comes.
 */
#include <gyre/kernel.h>
#include "pipelines.h"

#ifdef GYRE_DIALECT_C
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether this is the first time for this request. */
static int is_first(u64 number)
{
    char path[512];
    const char *folder = getenv("CRASH_FOLDER");
    snprintf(path, sizeof path, "%s/%llu", folder ? folder : "/nowhere", (unsigned long long)number);
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
    return file >= 0;
}

/* The file is the test's word. */
static void wait_for_word(void)
{
    char path[512];
    const char *folder = getenv("CRASH_FOLDER");
    snprintf(path, sizeof path, "%s/go_on", folder ? folder : "/nowhere");
    while (access(path, F_OK) != 0)
        usleep(1000);
}

static void crash_at(const crash_step *step, u32 at)
{
    static volatile u32 zero;
    if (step->at != at || !(step->always || is_first(step->number)))
        return;
    if (step->fault == CRASH_ABORT)
        abort();
    if (step->fault == CRASH_EXIT)
        _exit(3);
    while (step->fault == CRASH_LOOP && !zero)
        ;
    if (step->fault == CRASH_WAIT)
        wait_for_word();
    else
        *(volatile u32 *)(uintptr_t)zero = 1;
}
#else
GYRE_HELPER void crash_at(GYRE_GLOBAL const crash_step *step, u32 at)
{
    if (step->at == at && step->always)
        *(volatile u32 *)0 = 1;
}
#endif

GYRE_HELPER u64 mixed(u64 number)
{
    number = (number ^ number >> 31) * 0x9e3779b97f4a7c15u;
    return number ^ number >> 29;
}

#define DEAL_PORTS(PORT) PORT(crash_step, left, 4) PORT(crash_step, right, 4)
GYRE_PORTS(deal_ports, DEAL_PORTS)
GYRE_KERNEL_TO(deal, crash_step, gyre_none, deal_ports)
{
    for (u32 i = 0; i < request->parts && i < 4; i++) {
        GYRE_GLOBAL crash_step *left = gyre_emit(gyre, left), *right = gyre_emit(gyre, right);
        *left = *right = *request;
    }
    crash_at(request, STEP_DEAL);
    return GYRE_NO_REPLY;
}

#define SIDE_PORTS(PORT) PORT(crash_step, on, 1)
GYRE_PORTS(side_ports, SIDE_PORTS)
GYRE_KERNEL_TO(left, crash_step, gyre_none, side_ports)
{
    GYRE_GLOBAL crash_step *on = gyre_emit(gyre, on);
    *on = *request;
    crash_at(request, STEP_LEFT);
    return GYRE_NO_REPLY;
}

GYRE_KERNEL_TO(right, crash_step, gyre_none, side_ports)
{
    GYRE_GLOBAL crash_step *on = gyre_emit(gyre, on);
    *on = *request;
    on->number = mixed(request->number);
    if (on->at == STEP_GATHER)
        on->at = 0; /* left's parts crash there */
    crash_at(request, STEP_RIGHT);
    return GYRE_NO_REPLY;
}

GYRE_FLOW(gather, crash_gathered)
GYRE_KERNEL(gather, crash_step, crash_reply)
{
    GYRE_GLOBAL crash_gathered *flow = gyre_flow(gyre, gather);
    flow->sum += mixed(request->number);
    crash_at(request, STEP_GATHER);
    if (++flow->seen < 2 * (u64)request->parts)
        return GYRE_NO_REPLY;
    reply->number = request->parts;
    reply->check = flow->sum;
    return GYRE_REPLY;
}

/* Stands where gather does, and keeps a state. */
GYRE_ACTOR(keep, crash_step, crash_reply, crash_state)
{
    state->count++;
    crash_at(request, STEP_KEEP);
    reply->number = state->count;
    reply->check = mixed(request->number);
    return GYRE_REPLY;
}

/* Counts its messages, and passes on those that have parts, with their number. */
GYRE_ACTOR_TO(number, crash_step, gyre_none, side_ports, crash_state)
{
    state->count++;
    if (request->parts) {
        GYRE_GLOBAL crash_step *on = gyre_emit(gyre, on);
        *on = *request;
        on->number = state->count;
    }
    return GYRE_NO_REPLY;
}

/* For a tap. */
GYRE_KERNEL(watch, crash_step, gyre_none)
{
    (void)request;
    return GYRE_NO_REPLY;
}

/* Keeps a state whose value says in which order messages came, and ends the flow of each third request. */
GYRE_ACTOR_TO(tally, crash_step, gyre_none, side_ports, crash_state)
{
    state->count++;
    state->hash = mixed(state->hash ^ request->number);
    crash_at(request, STEP_DEAL);
    if (request->number % 3) {
        GYRE_GLOBAL crash_step *on = gyre_emit(gyre, on);
        *on = *request;
    }
    return GYRE_NO_REPLY;
}

/* Behind tally: keeps another one, and replies with it. */
GYRE_ACTOR(ledger, crash_step, crash_reply, crash_state)
{
    state->count++;
    crash_at(request, STEP_KEEP);
    state->hash = mixed(state->hash ^ request->number);
    reply->number = state->count;
    reply->check = state->hash;
    return GYRE_REPLY;
}
