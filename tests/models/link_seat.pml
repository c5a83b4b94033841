/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seat of a stage: its own thread and threads that follow their messages run it in turn. One sits at a time, and no message is
 * left without somebody who looks.
 *
 * Mirrors backends/cpu/threads/cpu_seat.c (the lock), cpu_walk.c (visit, serve, leave_behind), and of cpu_worker.c stage_has_work,
 * serve_stage, tell_links_starved and park_worker.
 *
 * Modelled: each read-modify-write of the seat's word as a step of its own. Senders publish to the stage; when it sleeps, each
 * rings or visits, as it likes. The stage has a queue as well, which its own thread alone serves. Handling takes a place of the
 * stage's own ring, which its target gives back at any time; it rings for that only when the stage has said that it is starved. A
 * visitor may leave before it is through (the end of a walk), and leaves the rest to the stage's own thread. A visitor that finds
 * room takes back that the stage is starved.
 *
 * Abstracted: store buffers (link_sleep.pml: a look at a stage is a read-modify-write here, and each publisher that visits makes one);
 * the stages behind this one, each of which has a seat like it; a thread that does not come back (it sits, and others knock).
 *
 * Invariants: nobody sits beside another (assertion); all is handled in the end (deadlock check: nobody sleeps for ever while
 * there is something for him).
 *
 * Mutants: TAKEN_UNSEEN NO_KNOCK KNOCK_FIRST KNOCK_IGNORED LOOK_UNHEARD QUEUE_UNSEEN LEFT_SILENTLY ROOM_UNTOLD UNTOLD_SILENTLY
 * OWNER_NOT_WOKEN
 * (without `left` nothing is lost either: visitor and owner would knock and ring in turn until one is quicker)
 */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 1 /* of each sender */
#endif
#ifndef REQUESTS
#define REQUESTS 1
#endif
#ifndef ROOM
#define ROOM 1 /* places in the stage's own ring */
#endif
#define TOTAL (SENDERS * MESSAGES + REQUESTS)

/* The word of the seat. */
bool held, knocked, waited;
bool left; /* a visitor left messages behind */

byte messages, requests; /* that wait at the stage */
byte used;               /* places of its own ring */
byte drained;
byte sitting;
bool parked, asleep, starved;
bool rung; /* the bell is not the one that the stage's thread saw before it looked */

#define FREE (used < ROOM)
#define OVER (drained == TOTAL)

inline ring()
{
    d_step {
        rung = true;
        asleep = false
    }
}

/* ---- the lock ---- */

/* cpu_seat_take */
inline take()
{
    do
    :: atomic { !held -> held = true; knocked = false; waited = false; break }
#ifdef TAKEN_UNSEEN
    :: atomic { held -> break }
#endif
    :: atomic { held -> waited = true }
       !waited /* the futex: whoever leaves clears it, and wakes the sleeper */
    od
}

/* cpu_seat_try: sets `got`. */
inline try()
{
    if
    :: atomic { !held && !knocked -> held = true; got = true }
    :: else ->
#ifdef NO_KNOCK
        got = false
#else
        d_step {
            got = !held;
            knocked = true
        }
        if
        :: !got
        :: got ->
            d_step {
                got = !held && knocked;
                held = held || got;
                knocked = knocked && !got
            }
        fi
#endif
    fi
}

/* cpu_seat_leave: sets `heard`. */
inline leave()
{
    d_step {
        heard = knocked;
        held = false;
        knocked = false
    }
}

/* cpu_seat_leave_quietly: sets `gone`. */
inline leave_quietly()
{
    if
    :: atomic { !knocked && !waited -> held = false; gone = true }
    :: atomic { knocked || waited -> gone = waited };
#ifdef KNOCK_IGNORED
        gone = true;
#endif
        d_step {
            knocked = false;
            if
            :: gone ->
                held = false;
#ifndef OWNER_NOT_WOKEN
                waited = false
#endif
            :: else
            fi
        }
    fi
}

/* ---- the stage ---- */

inline sit()
{
    sitting++;
    assert(sitting == 1)
}

/* Handles one message or request, for which there is room. */
inline handle(what)
{
    d_step {
        what--;
        used++
    }
}

inline tell_starved()
{
    take();
    starved = !FREE;
    leave()
}

/* stage_has_work of the stage's own thread, which sleeps: sets `found`. */
inline look()
{
    if
    :: left -> found = true
    :: !left ->
#ifdef LOOK_UNHEARD
        d_step {
            got = !held && !knocked;
            held = held || got
        }
#else
        try();
#endif
        if
        :: got ->
            sit();
#ifdef ROOM_UNTOLD
            found = FREE && (messages > 0 || requests > 0);
#else
            found = (FREE || !starved) && (messages > 0 || requests > 0);
#endif
            sitting--;
            leave();
            found = found || heard
        :: !got ->
#ifdef QUEUE_UNSEEN
            found = false
#else
            found = requests > 0
#endif
        fi
    fi;
    got = false
}

inline park()
{
    tell_starved();
    parked = true;
    do
    :: true ->
        rung = false;
        look();
        if
        :: found || OVER -> break
        :: !found && !OVER
        fi;
        d_step {
            if
            :: !rung -> asleep = true
            :: else
            fi
        }
        !asleep || OVER /* the end is no message: nobody rings for it here */
    od;
    atomic {
        asleep = false;
        parked = false;
        starved = false;
        found = false;
        heard = false;
        rung = false
    }
}

active proctype owner()
{
    bool got, heard, found, busy;
    do
    :: OVER -> break
    :: !OVER ->
        take();
        sit();
        left = false;
        do
        :: FREE && messages > 0 -> handle(messages); busy = true
        :: FREE && requests > 0 -> handle(requests); busy = true
        :: !FREE || (messages == 0 && requests == 0) -> break
        od;
        sitting--;
        leave();
        heard = false;
        if
        :: busy -> busy = false
        :: !busy -> park()
        fi
    od
}

/* ---- the others ---- */

inline leave_behind()
{
    left = true;
#ifndef LEFT_SILENTLY
    ring()
#else
    skip
#endif
}

inline visit()
{
    try();
    if
    :: got ->
        do
        :: true ->
            sit();
            do
            :: FREE && messages > 0 -> handle(messages)
            :: !FREE || messages == 0 -> break
            :: messages > 0 -> break /* the end of the walk */
            od;
            if
            :: messages > 0 -> leave_behind()
            :: messages == 0
            fi;
            if
            :: starved && FREE ->
                starved = false;
#ifndef UNTOLD_SILENTLY
                ring()
#endif
            :: !starved || !FREE
            fi;
            sitting--;
            leave_quietly();
            if
            :: gone -> break
            :: !gone
            fi
        od
    :: !got
    fi;
    atomic {
        got = false;
        gone = false
    }
}

proctype sender()
{
    byte sent;
    bool got, gone;
    do
    :: sent == MESSAGES -> break
    :: sent < MESSAGES ->
#ifdef KNOCK_FIRST
        if
        :: parked -> visit()
        :: !parked
        fi;
#endif
        d_step {
            messages++;
            sent++
        }
#ifndef KNOCK_FIRST
        if
        :: parked -> visit()
        :: parked -> ring()
        :: !parked
        fi
#endif
    od
}

active proctype client()
{
    byte sent;
    do
    :: sent == REQUESTS -> break
    :: sent < REQUESTS ->
        d_step {
            requests++;
            sent++
        }
        if
        :: parked -> ring()
        :: !parked
        fi
    od
}

active proctype target()
{
    do
    :: OVER -> break
    :: used > 0 ->
        d_step {
            used--;
            drained++
        }
        if
        :: starved -> ring()
        :: !starved
        fi
    od
}

init
{
    byte i;
    atomic {
        for (i : 1 .. SENDERS) {
            run sender()
        }
        i = 0
    }
}
