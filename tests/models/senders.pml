/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line of senders: who waits for room gets it in the order of waiting, and no wake-up is lost.
 *
 * Mirrors core/queue/senders.c, sender_block in room.c and gyre_queue_ring_credit.
 *
 * Modelled: each sender sends SENDS messages. One that finds no room, or others who wait, joins the line under the
 * lock. The first in line announces itself at the credit bell, looks once more and sleeps there; each of the others
 * sleeps at a word of its own. Who passes, or gives up at any moment, calls the next under the lock and wakes it
 * without. One that is not in line may pass before the others once for each place that the line took. Receivers
 * free places one at a time and ring when somebody is announced.
 *
 * Abstracted: memory is sequentially consistent and the barriers of parking are park.pml's; a place is freed by
 * anybody, at any time after it was taken (slots.pml, call.pml).
 *
 * Invariants: at most CAPACITY places are taken; between the moment that a sender joined and its passing, each sender
 * that came later passes at most as often as the bound of overtaking allows; nobody sleeps for ever (deadlock check).
 *
 * Mutants: GIVES_UP_SILENTLY PASSES_SILENTLY NO_LOOK_BEFORE_SLEEP CALLED_NOT_STORED OVERTAKES_FREELY
 * JOINS_WITHOUT_LOCK
 */
#ifndef SENDERS
#define SENDERS 3
#endif
#ifndef SENDS
#define SENDS 1 /* of each */
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif

#define NOBODY SENDERS

byte room = CAPACITY; /* free places */
byte line[SENDERS], length; /* senders in line, the first one first */
bool overtaken, locked;
byte bell, waiting; /* the credit bell, and who is announced there */

bool called[SENDERS], asleep_in_line[SENDERS], asleep_at_bell[SENDERS];

/* Ghosts. */
byte passed_before[SENDERS]; /* of who is in line: senders that passed while it was the first */
byte through;

#define LOCK   atomic { !locked -> locked = true }
#define UNLOCK locked = false

#define IS_FIRST(me) (length > 0 && line[0] == me)
#ifdef OVERTAKES_FREELY
#define HAS_TURN(me) (length == 0 || IS_FIRST(me) || !in_line)
#else
#define HAS_TURN(me) (length == 0 || IS_FIRST(me) || (!in_line && !overtaken))
#endif

/* Under the lock: takes `me` out of the line; `next` is the first after it when it was the first, else NOBODY. */
inline remove()
{
    d_step {
        next = NOBODY;
        k = 0;
        do
        :: line[k] != me -> k++
        :: else -> break
        od;
        if
        :: k == 0 && length > 1 -> next = line[1]
        :: else
        fi;
        length--;
        do
        :: k < length -> line[k] = line[k + 1]; k++
        :: else -> break
        od;
        k = 0;
        in_line = false;
        passed_before[me] = 0
    }
}

/* Without the lock: the word was stored under it. */
inline wake(whom)
{
    if
    :: whom != NOBODY -> asleep_in_line[whom] = false
    :: else
    fi;
    ring()
}

inline ring()
{
    if
    :: waiting > 0 ->
        d_step {
            bell = (bell + 1) % 16;
            for (k : 0 .. SENDERS - 1) {
                asleep_at_bell[k] = false
            }
            k = 0
        }
    :: else
    fi
}

/* Under the lock, when it passed or gives up. */
inline call_next()
{
    if
    :: next != NOBODY ->
#ifndef CALLED_NOT_STORED
        called[next] = true
#else
        skip
#endif
    :: else
    fi
}

/* Under the lock: the place is taken. */
inline pass()
{
    d_step {
        room--;
        if
        :: in_line -> overtaken = false
        :: !in_line && length > 0 ->
            overtaken = true;
            passed_before[line[0]]++;
            assert(passed_before[line[0]] <= 1)
        :: else
        fi
    }
    next = NOBODY;
    if
    :: in_line ->
        remove();
#ifndef PASSES_SILENTLY
        call_next()
#else
        next = NOBODY
#endif
    :: else
    fi
}

inline join()
{
#ifndef JOINS_WITHOUT_LOCK
    LOCK;
#endif
    if
    :: !in_line ->
        line[length] = me;
        length++;
        in_line = true
    :: else
    fi;
    called[me] = IS_FIRST(me);
#ifndef JOINS_WITHOUT_LOCK
    UNLOCK
#else
    skip
#endif
}

/* The first one: until there is room, or its deadline. */
inline wait_at_bell()
{
    waiting++;
    do
    :: true ->
        seen = bell;
        if
#ifndef NO_LOOK_BEFORE_SLEEP
        :: room > 0 -> break
        :: room == 0
#else
        :: looked -> break
        :: else -> looked = true
#endif
        fi;
        atomic {
            if
            :: bell == seen -> asleep_at_bell[me] = true
            :: else
            fi
        }
        if
        :: !asleep_at_bell[me]
        :: patience == 0 && asleep_at_bell[me] -> asleep_at_bell[me] = false; gives_up = true; break
        fi
    od;
    looked = false;
    seen = 0;
    waiting--
}

/* The others: until they are called, or their deadline. */
inline wait_in_line()
{
    do
    :: called[me] -> break
    :: else ->
        atomic {
            if
            :: !called[me] -> asleep_in_line[me] = true
            :: else
            fi
        }
        if
        :: !asleep_in_line[me]
        :: patience == 0 && asleep_in_line[me] -> asleep_in_line[me] = false; gives_up = true; break
        fi
    od
}

/* Only sender 0 has a deadline, which may pass at any moment: `patience` is 0 then. */
proctype sender(byte me)
{
    byte n, k, next, seen, patience = 1;
    bool in_line, gives_up, looked;
    if
    :: me == 0 -> patience = 0
    :: true
    fi;
    do
    :: n == SENDS -> break
    :: n < SENDS ->
        do
        :: true ->
            LOCK;
            if
            :: room > 0 && HAS_TURN(me) ->
                pass();
                UNLOCK;
                wake(next);
                break
            :: else -> UNLOCK
            fi;
            join();
            if
            :: called[me] -> wait_at_bell()
            :: else -> wait_in_line()
            fi;
            if
            :: gives_up ->
                LOCK;
                remove();
#ifndef GIVES_UP_SILENTLY
                call_next();
#else
                next = NOBODY;
#endif
                UNLOCK;
                wake(next);
                break
            :: else
            fi
        od;
        gives_up = false;
        n++
    od;
    through++
}

/* Frees what was taken. */
proctype receiver()
{
    byte k;
end_receiver:
    do
    :: atomic { room < CAPACITY -> room++ } ring()
    od
}

init {
    byte i;
    atomic {
        for (i : 0 .. SENDERS - 1) {
            run sender(i)
        }
        run receiver();
        i = 0
    }
}
