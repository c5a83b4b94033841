/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of spans of this process (gyre/trace.h), and when spans are written into it.
 *
 * Somebody who wants them has a file beside the observation file, and a lock on it (observed_ask.c). This process reads nothing of that
 * file: it asks only whether somebody has the lock, and whether the file belongs to the user of this process or to root, because in a
 * folder that several users write to anybody may make a file of that name. A reader that dies gives its lock back, so no process is
 * traced for a reader that is gone.
 *
 * Lock: that of the object, for switching. Spans are written without it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/observation/observation_memory.h"
#include "gyre/waiting.h"

_Static_assert((GYRE_OBSERVATION_SPANS & (GYRE_OBSERVATION_SPANS - 1)) == 0, "a power of two");

/* ---- asking ---- */

bool gyre_observation_trace_wanted(const struct gyre_observation *observation)
{
    char path[GYRE_OBSERVATION_PATH_MAX];
    if (observation->tracing != GYRE_TRACING_ASKED)
        return observation->tracing == GYRE_TRACING_ALWAYS;
    if (!gyre_observation_ask_path(observation->path, path))
        return false;
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool asked = gyre_observation_ask_counts(file);
    close(file);
    return asked;
}

/* ---- switching ---- */

static bool has_pages(struct gyre_observation *observation)
{
    for (uint64_t number = 0; number < GYRE_OBSERVATION_SPANS; number++)
        if (!gyre_observation_at(observation, GYRE_OBSERVE_TRACE, number))
            return false;
    return true;
}

/* Under the lock. Without memory for the spans nothing changes. */
static void switch_trace(struct gyre_observation *observation, bool on)
{
    gyre_trace *trace = &observation->trace;
    if (on == (__atomic_load_n(&trace->on, __ATOMIC_RELAXED) != 0) || (on && !has_pages(observation)))
        return;
    __atomic_store_n(&trace->on, on, __ATOMIC_RELEASE);
    __atomic_store_n(&observation->head->trace_ns, on ? gyre_clock_ns() : 0, __ATOMIC_RELEASE);
}

void gyre_observation_trace_look(struct gyre_observation *observation, bool wanted)
{
    gyre_observe_head *head = observation->head;
    switch_trace(observation, wanted);
    __atomic_store_n(&head->spans, __atomic_load_n(&observation->trace.next, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
    __atomic_store_n(&head->spans_lost, __atomic_load_n(&observation->trace.lost, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

void gyre_observation_trace_begin(struct gyre_observation *observation, enum gyre_tracing tracing)
{
    gyre_trace *trace = &observation->trace;
    const gyre_observe_part *part = &observation->head->parts[GYRE_OBSERVE_TRACE - 1];
    observation->tracing = tracing;
    trace->spans = (gyre_observe_span *)(void *)(observation->memory + part->offset);
    trace->mask = GYRE_OBSERVATION_SPANS - 1;
    if (getrandom(&trace->secret, sizeof trace->secret, GRND_NONBLOCK) != (ssize_t)sizeof trace->secret)
        trace->secret = gyre_clock_ns() * UINT64_C(0x9e3779b97f4a7c15);
    switch_trace(observation, tracing == GYRE_TRACING_ALWAYS);
}

void gyre_observation_trace_end(struct gyre_observation *observation)
{
    char path[GYRE_OBSERVATION_PATH_MAX];
    __atomic_store_n(&observation->trace.on, 0, __ATOMIC_RELEASE);
    if (observation->path[0] && gyre_observation_ask_path(observation->path, path))
        unlink(path);
}

gyre_trace *gyre_observation_trace(struct gyre_observation *observation)
{
    if (!observation || __atomic_load_n(&observation->foreign, __ATOMIC_ACQUIRE) ||
        observation->tracing == GYRE_TRACING_NEVER)
        return NULL;
    return &observation->trace;
}
