/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock that one thread may own: nobody is inside with another, and nobody's word is lost.
 *
 * Mirrors core/base/lock.h and lock.c, and how core/ring uses it: who leaves something for the holder (the
 * mark of a call that ended, call.c) stores it, tries the lock, and goes away when it fails; a holder
 * looks for marks after it gave the lock, and tries again when it sees one (gyre_consumer_give).
 *
 * Modelled: each thread that ever owned the lock has a seat, a flag that it alone writes; one who was the
 * owner may still raise it for a moment before it sees that it is none. Store buffers. An owner enters and leaves with plain stores, which may stay invisible for any
 * time while it goes on; they become visible in their order. An operation on the word waits until the buffer
 * of its thread is empty; the heavy barrier empties everybody's. Ownership may begin whenever somebody
 * took the word, and ends when another one does.
 *
 * Abstracted: sleeping on the word (it is a futex as in park.pml), the number of takes that make an owner.
 *
 * Invariants: every section sees what the sections before it stored (the count is right at the end), no mark
 * is left when all have gone, nobody waits for ever.
 *
 * Mutants: NO_BARRIER NO_SECOND_LOOK NO_WAIT ONE_SEAT NO_LOOK_AFTER
 */
#ifndef THREADS
#define THREADS 2 /* 2 or 3 */
#endif
#ifndef TURNS
#define TURNS 3 /* of each thread */
#endif

#define NOBODY 255
#define INSIDE 0
#define COUNT  1

/* What is visible to everybody. */
bit word;
bit inside[THREADS]; /* the seats */
byte seat = NOBODY; /* of the holder; nobody's: it has the word */
byte owner = NOBODY;
byte count; /* what the lock protects */
bool mark[THREADS];

chan buffer[THREADS] = [4] of { byte, byte };
byte unseen[THREADS]; /* counts in the buffer */
byte stored[THREADS]; /* the newest of them */

byte sections, gone;

#define DRAINED empty(buffer[me])
#if THREADS > 2
#define ANY_MARK (mark[0] || mark[1] || mark[2])
#else
#define ANY_MARK (mark[0] || mark[1])
#endif

inline flush_one(thread)
{
    buffer[thread]?what, value;
    if
    :: what == INSIDE ->
#ifdef ONE_SEAT
        inside[0] = value
#else
        inside[thread] = value
#endif
    :: else -> count = value; unseen[thread]--
    fi
}

/* Any buffer's oldest store may become visible at any time. */
active proctype memory()
{
    byte what, value;
end_memory:
    do
    :: atomic { nempty(buffer[0]) -> flush_one(0) }
    :: atomic { nempty(buffer[1]) -> flush_one(1) }
#if THREADS > 2
    :: atomic { nempty(buffer[2]) -> flush_one(2) }
#endif
    od
}

inline heavy_barrier()
{
    atomic {
        for (k : 0 .. THREADS - 1) {
            do
            :: nempty(buffer[k]) -> flush_one(k)
            :: empty(buffer[k]) -> break
            od
        }
        k = 0; what = 0; value = 0
    }
}

/* gyre_lock_enter */
inline enter()
{
    in = false;
    if
    :: owner == me ->
        buffer[me]!INSIDE, 1;
#ifdef NO_SECOND_LOOK
        in = true;
        seat = me
#else
        if
        :: owner == me -> in = true; seat = me
        :: else -> buffer[me]!INSIDE, 0
        fi
#endif
    :: else
    fi
}

/* The word is held. */
inline evict()
{
    if
    :: owner != NOBODY ->
        former = owner;
        owner = NOBODY;
#ifndef NO_BARRIER
        heavy_barrier();
#endif
#ifndef NO_WAIT
#ifdef ONE_SEAT
        inside[0] == 0;
#else
        inside[former] == 0;
#endif
#endif
        former = 0
    :: else
    fi
}

/* Also who becomes the owner is decided here. */
inline begin()
{
    seat = NOBODY;
    if
    :: owner = me
    :: skip
    fi
}

inline take()
{
    enter();
    if
    :: in
    :: else ->
        atomic { word == 0 && DRAINED -> word = 1; in = true };
        evict();
        begin()
    fi
}

inline try()
{
    enter();
    if
    :: in
    :: else ->
        atomic {
            DRAINED ->
            if
            :: word == 0 -> word = 1; in = true
            :: else
            fi
        };
        if
        :: in -> evict(); begin()
        :: else
        fi
    fi
}

inline give()
{
    if
    :: seat == NOBODY -> atomic { DRAINED -> word = 0 }
    :: else -> buffer[me]!INSIDE, 0
    fi
}

/* Reads what is protected, its own stores included, and stores it again. */
inline section()
{
    atomic {
        seen = (unseen[me] -> stored[me] : count);
        sections++
    };
    atomic { nfull(buffer[me]) -> buffer[me]!COUNT, seen + 1; unseen[me]++; stored[me] = seen + 1; seen = 0 };
    for (k : 0 .. THREADS - 1) {
        if
        :: mark[k] -> atomic { DRAINED -> mark[k] = false }
        :: else
        fi
    }
    k = 0
}

inline look_for_marks()
{
#ifdef NO_LOOK_AFTER
    in = false
#else
    if
    :: ANY_MARK -> try()
    :: else -> in = false
    fi
#endif
}

/* gyre_consumer_give: the lock is held. */
inline finish()
{
    do
    :: in -> section(); give(); look_for_marks()
    :: else -> break
    od
}

active [THREADS] proctype thread()
{
    byte me = _pid - 1, turn, k, seen, what, value, former;
    bool in;
    do
    :: turn < TURNS ->
        turn++;
        if
        :: take()
        :: atomic { DRAINED -> mark[me] = true }; try()
        fi;
        finish()
    :: turn == TURNS -> break
    od;
    DRAINED;
    gone++
}

active proctype judge()
{
    gone == THREADS;
    assert(count == sections);
    assert(!ANY_MARK);
    assert(word == 0)
}
