/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of a pool, whose owner takes the newest message of it and thieves the oldest.
 *
 * Mirrors backends/device/device_jobs.c and backends/cpu/links/cpu_jobs.c, give_back in cpu_links.c and find_tail in cpu_ports.c, and gyre_link_ring in
 * include/gyre/link_layout.h.
 *
 * Modelled: `ends` is one word of two halves, which everybody changes by a compare-and-swap, and the owner by an addition as well.
 * The owner writes the payloads of what it emits, then raises the upper half. What it takes it copies, and lowers the upper half
 * and `head`, so the next message has the same index, and the same place. A thief raises the lower half, reads the message where
 * it lies, and counts it as fetched in the counter of its section. The owner moves its tail over whole sections that were fetched,
 * and emits only where there is room for all that one call may.
 * Indices count without a wrap.
 *
 * Abstracted: what a message causes (link_flow.pml); sleepers (link_sleep.pml); the other rings of the pool.
 *
 * Invariants: a place is written only when no thief reads it; each message is seen whole, and handled exactly once; in the end all
 * are (deadlock check).
 *
 * Mutants: POP_WITHOUT_SWAP STEAL_WITHOUT_SWAP HALVES_APART PAYLOAD_LATE POP_IN_PLACE TAIL_IN_PART
 */
#ifndef CAPACITY
#define CAPACITY 4 /* a power of two */
#endif
#ifndef MESSAGES
#define MESSAGES 5
#endif
#ifndef MOST
#define MOST 2
#endif
#ifndef SECTIONS
#define SECTIONS 2
#endif
#define SECTION  (CAPACITY / SECTIONS)

#define SLOT(i)       ((i) % CAPACITY)
#define SECTION_OF(i) (SLOT(i) / SECTION)

byte value[CAPACITY]; /* 1 + the number of the message */
byte low, high;       /* `ends` */
byte fetched[SECTIONS];
byte head, tail; /* by the owner */

/* Ghosts. */
bool taken[CAPACITY]; /* a thief reads the place */
bool handled[MESSAGES];
byte handled_count;

#ifdef TAIL_IN_PART
#define WAS_FETCHED(i) (fetched[SECTION_OF(i)] > (i) / CAPACITY * SECTION) /* one message of the section */
#else
#define WAS_FETCHED(i) (fetched[SECTION_OF(i)] >= ((i) / CAPACITY + 1) * SECTION)
#endif
#define HAS_ROOM (head + MOST - tail <= CAPACITY)

inline handle(what)
{
    assert(what != 0 && !handled[what - 1]);
    handled[what - 1] = true;
    handled_count++
}

inline write_payload(index)
{
    d_step {
        assert(!taken[SLOT(index)]);
        value[SLOT(index)] = 1 + next
    }
}

/* Emits one message, or two. */
inline emit()
{
    count = 1;
    if
    :: next + 1 < MESSAGES && MOST > 1 -> count = 2
    :: true
    fi;
#ifndef PAYLOAD_LATE
    write_payload(head);
#endif
    if
    :: count == 2 ->
        d_step {
            assert(!taken[SLOT(head + 1)]);
            value[SLOT(head + 1)] = 2 + next
        }
    :: else
    fi;
    atomic {
        high = high + count;
        head = head + count
    }
#ifdef PAYLOAD_LATE
    write_payload(head - count);
#endif
    d_step {
        next = next + count;
        count = 0
    }
}

/* Takes the newest message, if there is one. */
inline pop()
{
    d_step {
        seen_low = low;
        seen_high = high
    }
    if
    :: seen_low == seen_high
    :: else ->
        atomic {
            if
#ifdef POP_WITHOUT_SWAP
            :: true ->
#endif
#ifdef HALVES_APART
            :: high == seen_high ->
#endif
#if !defined(POP_WITHOUT_SWAP) && !defined(HALVES_APART)
            :: low == seen_low && high == seen_high ->
#endif
                high = seen_high - 1;
                has = true
            :: else
            fi;
        }
        if
        :: has ->
            has = false;
            head = head - 1;
#ifndef POP_IN_PLACE
            copy = value[SLOT(head)];
#else
            at = head;
            if
            :: next < MESSAGES && HAS_ROOM -> emit() /* what its handler emits */
            :: true
            fi;
            copy = value[SLOT(at)];
#endif
            d_step {
                handle(copy);
                copy = 0
            }
        :: else
        fi
    fi
    d_step {
        seen_low = 0;
        seen_high = 0
    }
}

proctype owner()
{
    byte next, count, seen_low, seen_high, copy;
    bool has;
#ifdef POP_IN_PLACE
    byte at;
#endif
    do
    :: atomic { next < MESSAGES && !HAS_ROOM && WAS_FETCHED(tail) -> tail = tail + SECTION }
    :: next < MESSAGES && HAS_ROOM -> emit()
    :: low != high -> pop()
    :: next == MESSAGES && handled_count == MESSAGES -> break
    od
}

proctype thief()
{
    byte seen_low, seen_high, copy;
    bool has;
end_idle:
    do
    :: atomic {
        low != high ->
            seen_low = low;
            seen_high = high
        }
        atomic {
            if
#ifdef STEAL_WITHOUT_SWAP
            :: true ->
#endif
#ifdef HALVES_APART
            :: low == seen_low ->
#endif
#if !defined(STEAL_WITHOUT_SWAP) && !defined(HALVES_APART)
            :: low == seen_low && high == seen_high ->
#endif
                low = seen_low + 1;
                taken[SLOT(seen_low)] = true;
                has = true
            :: else
            fi
        }
        if
        :: has ->
            has = false;
            copy = value[SLOT(seen_low)];
            d_step {
                assert(copy == value[SLOT(seen_low)]);
                handle(copy);
                taken[SLOT(seen_low)] = false
            }
            d_step {
                fetched[SECTION_OF(seen_low)] = fetched[SECTION_OF(seen_low)] + 1;
                copy = 0
            }
        :: else
        fi;
        d_step {
            seen_low = 0;
            seen_high = 0
        }
    od
}

init {
    atomic {
        run owner();
        run thief();
        run thief()
    }
}
