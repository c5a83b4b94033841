/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of a link: one block sends, several blocks of the target fetch, and the places come back in sections.
 *
 * Mirrors make_room, find_tail, publish_port, claim_run and give_back in backends/cpu/links/cpu_links.c, and gyre_link_ring in
 * include/gyre/link_layout.h.
 *
 * Modelled: a call of the sender begins only when the ring has room for all that it may emit (MOST); it emits 1 to MOST
 * messages, whose payloads it writes where they lie, and publishes them afterwards, one sequence after the other. A block of
 * the target looks how many messages are filled, claims its share by a compare-and-swap, handles each where it lies, and
 * counts the handled ones in the counter of their section. It may be interrupted after each message, and keeps what it
 * claimed. The sender moves its tail over whole sections that were fetched, as far as it needs them. A controller interrupts
 * both kernels; with PAUSES it pauses the target, then the sender, and waits each time until they obeyed: a sender without
 * room obeys all the same.
 * Indices count without a wrap; the sequence has the low bits only, and wraps every two laps.
 *
 * Abstracted: sleepers (link_sleep.pml); what a message causes at the target, and its flow (link_flow.pml); several rings,
 * which have nothing in common.
 *
 * Invariants: a place is written only when its last message was handled; each message is seen whole, and handled exactly
 * once; in the end all calls found room and all messages are handled (deadlock check), also when one call may emit as much as
 * the capacity without one section.
 *
 * Mutants: WAIT_INSIDE ROOM_FOR_ONE TAIL_IN_PART FETCHED_EARLY CLAIM_WITHOUT_SWAP PLAIN_FETCHED SEQUENCE_FIRST
 * SHORT_SEQUENCE; with MOST above what the sections allow a sender waits for ever
 */
#ifndef CAPACITY
#define CAPACITY 4 /* a power of two */
#endif
#ifndef SECTIONS
#define SECTIONS 2
#endif
#ifndef MOST
#define MOST (CAPACITY - SECTION)
#endif
#ifndef CALLS
#define CALLS 3
#endif
#define BLOCKS   2 /* of the target */
#define RUN      2 /* messages that a block claims at once */
#define SECTION  (CAPACITY / SECTIONS)
#define MESSAGES (CALLS * MOST)

#ifdef SHORT_SEQUENCE
#define SEQUENCE(i) (1 + (i) % CAPACITY)
#else
#define SEQUENCE(i) (1 + (i) % (2 * CAPACITY))
#endif
#define SLOT(i)       ((i) % CAPACITY)
#define SECTION_OF(i) (SLOT(i) / SECTION)

typedef slot_t {
    byte sequence; /* 0: never filled */
    byte value
}
slot_t slot[CAPACITY];
byte claimed;           /* by the target's blocks */
byte fetched[SECTIONS]; /* by the target's blocks */
byte head, tail;        /* by the sender */

/* Commands: odd is PAUSE. The sender is participant 0. */
byte command[2], obeyed[1 + BLOCKS];
#define KERNEL(participant) ((participant) > 0)

/* Ghosts. */
bool taken[CAPACITY]; /* the place holds a message that was not handled */
bool handled[MESSAGES];
byte handled_count;
bool all_sent;

#define FILLED(i) (slot[SLOT(i)].sequence == SEQUENCE(i))

#ifdef TAIL_IN_PART
#define WAS_FETCHED(i) (fetched[SECTION_OF(i)] > (i) / CAPACITY * SECTION) /* one message of the section */
#else
#define WAS_FETCHED(i) (fetched[SECTION_OF(i)] >= ((i) / CAPACITY + 1) * SECTION)
#endif
#ifdef ROOM_FOR_ONE
#define NEED 1
#else
#define NEED MOST
#endif
#define HAS_ROOM (head + NEED - tail <= CAPACITY)

inline obey(me)
{
    seen != command[KERNEL(me)] ->
    d_step {
        seen = command[KERNEL(me)];
        obeyed[me] = seen
    }
}

/* Each look at a section's counter is a step of its own. */
inline find_tail()
{
    do
    :: HAS_ROOM -> break
    :: atomic { !HAS_ROOM && WAS_FETCHED(tail) -> tail = tail + SECTION }
#ifndef WAIT_INSIDE
    :: !HAS_ROOM && !WAS_FETCHED(tail) -> break
#endif
    od
}

/* Writes the payloads of all that the call emits: nobody else looks at them yet. */
inline emit()
{
    atomic {
        for (k : 0 .. emitted - 1) {
            assert(!taken[SLOT(head + k)]);
            slot[SLOT(head + k)].value = 1 + head + k
        }
    }
}

inline publish(i)
{
    d_step {
        assert(!taken[SLOT(head + i)]);
        taken[SLOT(head + i)] = true;
        slot[SLOT(head + i)].sequence = SEQUENCE(head + i)
    }
}

inline call()
{
    select(emitted : 1 .. MOST);
#ifndef SEQUENCE_FIRST
    emit();
#endif
    for (k : 0 .. emitted - 1) {
        publish(k)
    }
#ifdef SEQUENCE_FIRST
    emit();
#endif
    atomic {
        head = head + emitted;
        emitted = 0;
        k = 0;
        calls++
    }
}

proctype sender()
{
    byte seen, calls, emitted, k;
    do
    :: obey(0)
    :: seen == command[0] && seen % 2 == 0 && calls < CALLS ->
        find_tail();
        if
        :: HAS_ROOM -> call()
        :: else -> seen != command[0] || WAS_FETCHED(tail) /* a look that found no room took nothing */
        fi
    :: calls == CALLS && seen == command[0] && !all_sent -> all_sent = true
    :: all_sent && handled_count == head && command[0] == 2 && seen == 2 -> break
    od
}

/* Counts messages [first, next) as fetched, section by section. */
inline give_back()
{
    do
    :: first == next -> break
    :: first != next ->
        stop = (first / SECTION + 1) * SECTION;
        stop = (stop < next -> stop : next);
#ifdef PLAIN_FETCHED
        copy = fetched[SECTION_OF(first)];
        fetched[SECTION_OF(first)] = copy + stop - first;
        copy = 0;
#else
        fetched[SECTION_OF(first)] = fetched[SECTION_OF(first)] + stop - first;
#endif
        d_step {
            first = stop;
            stop = 0
        }
    od
}

inline claim_run()
{
    next = claimed;
    end = next;
    do
    :: end - next < BLOCKS * RUN && FILLED(end) -> end++
    :: end - next == BLOCKS * RUN || !FILLED(end) -> break
    od;
    atomic {
        end = next + (end - next + BLOCKS - 1) / BLOCKS;
        first = next
    }
#ifdef CLAIM_WITHOUT_SWAP
    claimed = end;
#else
    d_step {
        if
        :: claimed == next -> claimed = end
        :: else -> /* another block was quicker */
            next = end;
            first = end
        fi
    }
#endif
#ifdef FETCHED_EARLY
    copy = next;
    next = end;
    give_back();
    next = copy;
    copy = 0;
    first = next
#endif
}

/* Reads the message from the beginning of its handler to its end. */
inline handle()
{
    value = slot[SLOT(next)].value;
    d_step {
        assert(value == 1 + next && slot[SLOT(next)].value == value);
        assert(!handled[next]);
        handled[next] = true;
        handled_count++;
        taken[SLOT(next)] = false;
        value = 0;
        next++
    }
}

proctype target(byte me)
{
    byte seen, first, next, end, stop, value, copy;
end_idle:
    do
    :: obey(me)
    :: seen == command[1] && seen % 2 == 0 && (next != end || FILLED(claimed)) ->
        if
        :: next == end -> claim_run()
        :: else -> first = next
        fi;
        do
        :: next == end -> break
        :: next != end ->
            handle();
            if
            :: seen != command[1] -> break /* interrupted: the rest stays claimed */
            :: true
            fi
        od;
#ifdef FETCHED_EARLY
        first = next
#else
        give_back()
#endif
    od
}

/* Interrupts both kernels at any time. With PAUSES pauses the target, then the sender, and lets both go on. */
proctype controller()
{
#ifdef PAUSES
    command[1] = 1;
    obeyed[1] == 1 && obeyed[2] == 1;
    command[0] = 1;
    obeyed[0] == 1;
#endif
    command[0] = 2;
    command[1] = 2
}

init {
    atomic {
        run sender();
        run target(1);
        run target(2);
        run controller()
    }
}
