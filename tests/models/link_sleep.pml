/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleepers at both ends of a link: a target without messages, and a sender without room. No wake-up is lost.
 *
 * Mirrors ring_early, ring_bells, wake_sender and cpu_links_tell_starved in backends/cpu/links/cpu_links.c, park_worker and
 * leave_park in backends/cpu/workers/cpu_worker.c (gyre_control_device.parked, gyre_control_doorbell.bell, gyre_link_ring.starved).
 *
 * Modelled: store buffering, as in park.pml: what the sender publishes, and the target gives back, may stay invisible for any
 * time, while its author goes on and loads the flag of the other side. The sender publishes in runs; it may wake a parked
 * target early, once a run and without a barrier, and looks for sleepers again at the end of the run. The target handles in
 * runs of its own, gives all places of a run back at its end, and then looks at `starved`. Who wants to sleep says so, forces
 * everybody's stores out (membarrier), loads the bell, looks once more, and sleeps only if the bell still has that value. A
 * sender says that it is starved only when it finds no room as it says so; messages and room are two reasons to wake.
 * With FENCES (command.parks) who publishes, or gives back, fences before it loads the flag, and the sleeper's own is enough.
 *
 * Abstracted: the slots and sections (link_ring.pml): a ring is two counts; commands (park.pml); a task that rests is one
 * that sleeps.
 *
 * Invariants: all messages are sent and handled, and everybody leaves in the end (deadlock check: nobody sleeps for ever while
 * there is something for him).
 *
 * Mutants: STARVED_AFTER_LOOK BELL_BEFORE_PUBLISH EARLY_ONLY NO_RECHECK_SENDER NO_RECHECK_TARGET NO_BARRIER_SENDER
 * NO_BARRIER_TARGET BELL_AFTER_LOOK_SENDER BELL_AFTER_LOOK_TARGET STARVED_BEFORE_GIVING STARVED_STAYS_AWAY
 */
#ifndef CAPACITY
#define CAPACITY 2
#endif
#ifndef TOTAL
#define TOTAL 4
#endif
#ifndef TARGETS
#define TARGETS 1 /* blocks of the target: 1 or 2 */
#endif
#define RUN 2 /* messages of one run */

#ifdef FENCES
#define NO_BARRIER_SENDER
#define NO_BARRIER_TARGET
#define FENCE(buffered) (buffered) == 0
#else
#define FENCE(buffered) skip
#endif

/* What is visible to everybody. */
byte published, fetched;
/* Store buffers: what its author has stored and nobody else sees yet. */
byte published_buffered, fetched_buffered[TARGETS];

byte claimed;                  /* by the target's blocks */
byte parked, bell;             /* blocks of the target that are or may be asleep; their futex word */
bool starved;                  /* the sender is or may be asleep for want of room */
byte sender_bell;              /* the sender's futex word */
bool sender_asleep, target_asleep[TARGETS];

/* Any store may become visible at any time. */
active proctype memory()
{
end_memory:
    do
    :: d_step { published_buffered > 0 -> published_buffered--; published++ }
    :: d_step { fetched_buffered[0] > 0 -> fetched = fetched + fetched_buffered[0]; fetched_buffered[0] = 0 }
#if TARGETS > 1
    :: d_step { fetched_buffered[1] > 0 -> fetched = fetched + fetched_buffered[1]; fetched_buffered[1] = 0 }
#endif
    od
}

/* membarrier: a full barrier on every thread of the process that runs. */
inline barrier()
{
    d_step {
        published = published + published_buffered;
        published_buffered = 0;
        for (k : 0 .. TARGETS - 1) {
            fetched = fetched + fetched_buffered[k];
            fetched_buffered[k] = 0
        }
        k = 0
    }
}

/* A bell never overtakes what its author stored before. */
inline ring_targets()
{
    d_step {
        published_buffered == 0;
        bell++;
        target_asleep[0] = false;
        target_asleep[TARGETS - 1] = false
    }
}

inline ring_sender()
{
    d_step {
        fetched_buffered[me] == 0;
        sender_bell++;
        sender_asleep = false
    }
}

/* ---- the sender ---- */

#define ROOM (sent - fetched < CAPACITY)

/* Rings while the run goes on, unless it did already. Without a barrier the look may miss a sleeper. */
inline ring_early()
{
    if
    :: !rung && parked > 0 ->
        ring_targets();
        rung = true
    :: rung || parked == 0
    fi
}

inline ring_bells()
{
#ifndef EARLY_ONLY
    FENCE(published_buffered);
    if
    :: parked > 0 -> ring_targets()
    :: else
    fi;
#endif
    rung = false
}

inline send_run()
{
    do
    :: count == RUN || sent == TOTAL || !ROOM -> break
    :: count < RUN && sent < TOTAL && ROOM ->
#ifdef BELL_BEFORE_PUBLISH
        ring_early();
        ring_bells();
#endif
        d_step {
            published_buffered++;
            sent++;
            count++
        }
#ifndef BELL_BEFORE_PUBLISH
        ring_early()
#endif
    od;
#ifndef BELL_BEFORE_PUBLISH
    ring_bells();
#endif
    count = 0
}

inline tell_starved()
{
#ifdef STARVED_STAYS_AWAY
    skip
#else
    starved = !ROOM
#endif
}

inline park_sender()
{
#ifndef STARVED_AFTER_LOOK
    tell_starved();
#endif
#ifndef NO_BARRIER_SENDER
    barrier();
#endif
    do
    :: true ->
#ifndef BELL_AFTER_LOOK_SENDER
        seen = sender_bell;
#endif
        if
#ifdef NO_RECHECK_SENDER
        :: looked -> break
        :: !looked -> looked = true
#else
        :: ROOM -> break
        :: else
#endif
        fi;
#ifdef BELL_AFTER_LOOK_SENDER
        seen = sender_bell;
#endif
#ifdef STARVED_AFTER_LOOK
        tell_starved();
#endif
        d_step {
            if
            :: sender_bell == seen -> sender_asleep = true
            :: else
            fi
        }
        !sender_asleep
    od;
    atomic {
        looked = false;
        starved = false;
        seen = 0
    }
}

proctype sender()
{
    byte sent, count, seen, k;
    bool rung, looked;
    do
    :: sent == TOTAL -> break
    :: sent < TOTAL && ROOM -> send_run()
    :: sent < TOTAL && !ROOM -> park_sender()
    od
}

/* ---- the target ---- */

#define PENDING (published > claimed)
#define OVER    (claimed == TOTAL)

inline wake_sender()
{
    FENCE(fetched_buffered[me]);
    if
    :: starved -> ring_sender()
    :: else
    fi
}

inline fetch_run()
{
    d_step { /* claims by compare-and-swap */
        count = (published - claimed < RUN -> published - claimed : RUN);
        claimed = claimed + count
    }
    fetched_buffered[me] == 0; /* a store buffer of one entry */
#ifdef STARVED_BEFORE_GIVING
    wake_sender();
#endif
    d_step {
        fetched_buffered[me] = count;
        count = 0
    }
#ifndef STARVED_BEFORE_GIVING
    wake_sender()
#endif
}

inline park_target()
{
    parked++;
#ifndef NO_BARRIER_TARGET
    barrier();
#endif
    do
    :: true ->
#ifndef BELL_AFTER_LOOK_TARGET
        seen = bell;
#endif
        if
#ifdef NO_RECHECK_TARGET
        :: looked -> break
        :: !looked -> looked = true
#else
        :: PENDING || OVER -> break
        :: else
#endif
        fi;
#ifdef BELL_AFTER_LOOK_TARGET
        seen = bell;
#endif
        d_step {
            if
            :: bell == seen -> target_asleep[me] = true
            :: else
            fi
        }
        !target_asleep[me] || OVER /* the end is no message: nobody rings for it here */
    od;
    atomic {
        target_asleep[me] = false;
        looked = false;
        parked--;
        seen = 0
    }
}

proctype target(byte me)
{
    byte count, seen, k;
    bool looked;
    do
    :: OVER -> break
    :: atomic { PENDING -> fetch_run() }
    :: !PENDING && !OVER -> park_target()
    od
}

init {
    byte i;
    atomic {
        run sender();
        for (i : 0 .. TARGETS - 1) {
            run target(i)
        }
        i = 0
    }
}
