/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Yield: a resident kernel leaves at a message boundary, at every step of the traffic, and is launched again.
 *
 * Mirrors GYRE_VERB_YIELD, gyre_control_queue.first and the cursors of include/gyre/dialect/cuda_resident.h,
 * and the order and relaunch of backends/cuda/presence/cuda_order.c and cuda_presence.c.
 *
 * Modelled: the device's blocks; in each launch one of them has the queue, and any may have it in the next. It
 * works off windows of requests and looks at the order between messages. Told to leave, it saves its cursor and
 * leaves with the rest of its window unhandled; the host waits until all blocks have left and launches again.
 * With FROM_FIRST no cursor outlives a launch, as after a lost worker: the host looks for the first index that
 * has no completion and writes it as `first`. In the end the host stops the kernel, at once or when all is
 * answered, and completes as UNHANDLED what is left.
 *
 * Abstracted: memory is sequentially consistent (slots.pml); waiting is a blocked guard; a message is its number;
 * what blocks do among themselves within a launch (claims.pml).
 *
 * Invariants: each accepted message is handled at most once and reported exactly once, in order, UNHANDLED only
 * if its handler never ran; no handler runs while nothing is launched; everybody comes to an end.
 *
 * Mutants: CURSOR_NOT_SAVED SAVED_AFTER_LEAVING LEAVES_MID_MESSAGE LAUNCHED_BEFORE_ALL_LEFT WINDOW_SKIPPED
 * FIRST_BEFORE_ALL_LEFT FIRST_IS_RECEIVED FIRST_STOPS_AT_SENT
 */
#ifndef CAPACITY
#define CAPACITY 2 /* a power of two */
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef TOTAL
#define TOTAL 4
#endif
#ifndef YIELDS
#define YIELDS 2
#endif

#define WRAP      (4 * CAPACITY)
#define START     (WRAP - 2)
#define NEXT(i)   (((i) + 1) % WRAP)
#define ADD(i, n) (((i) + (n)) % WRAP)
#define SLOT(i)   ((i) % CAPACITY)
#define CREDIT    ((sent + WRAP - received) % WRAP < CAPACITY)

#define UNHANDLED 100 /* the outcome; otherwise the message itself comes back */

typedef slot_t {
    byte sequence;
    byte value
}
slot_t request[CAPACITY];
slot_t reply[CAPACITY];
byte sent = START;
byte received = START;
bool send_lock, closed, finished;

bool leave;          /* the order */
byte launch, owner;  /* how often it was launched; who has the queue then */
byte present;        /* blocks that have not left */
byte first = START;  /* of the queue's entry, by the host */
byte cursor = START; /* in device memory */

/* Ghosts. */
byte accepted, reported, running;
bool handled[TOTAL];

#define FILLED(slot, i) (slot.sequence == NEXT(i))

inline lock(word)
{
    atomic {
        !word;
        word = true
    }
}

proctype sender()
{
    do
    :: accepted == TOTAL -> break
    :: accepted < TOTAL ->
        lock(send_lock);
        if
        :: closed -> send_lock = false; break
        :: !closed && CREDIT ->
            request[SLOT(sent)].value = accepted;
            request[SLOT(sent)].sequence = NEXT(sent);
            d_step {
                sent = NEXT(sent);
                accepted++
            }
            send_lock = false
        :: else -> send_lock = false; closed || CREDIT
        fi
    od
}

proctype block(byte me)
{
    byte mine, next, count;
    bool serving;
    do
    :: finished -> break
    :: launch != mine ->
        atomic {
            mine = launch;
            serving = owner == me
        }
#ifdef FROM_FIRST
        next = first;
#else
        next = cursor;
#endif
        count = 0;
        do
        :: leave -> break
        :: !leave && serving && count == 0 && FILLED(request[SLOT(next)], next) ->
            do
            :: count < WINDOW && FILLED(request[SLOT(ADD(next, count))], ADD(next, count)) -> count++
            :: count == WINDOW || !FILLED(request[SLOT(ADD(next, count))], ADD(next, count)) -> break
            od
        :: !leave && serving && count > 0 ->
            d_step {
                assert(FILLED(request[SLOT(next)], next) && !handled[request[SLOT(next)].value]);
                handled[request[SLOT(next)].value] = true;
                running++
            }
#ifdef LEAVES_MID_MESSAGE
            if
            :: leave -> running--; break
            :: else
            fi;
#endif
            d_step {
                assert(!FILLED(reply[SLOT(next)], next) && present > 0);
                reply[SLOT(next)].value = request[SLOT(next)].value;
                reply[SLOT(next)].sequence = NEXT(next);
                running--;
                next = NEXT(next);
                count--
            }
        od;
#ifdef WINDOW_SKIPPED
        next = ADD(next, count);
#endif
#ifdef SAVED_AFTER_LEAVING
        present--;
#endif
#ifndef CURSOR_NOT_SAVED
        if
        :: serving -> cursor = next
        :: else
        fi;
#endif
#ifndef SAVED_AFTER_LEAVING
        present--
#endif
    od
}

/*
 * The first index without a completion, from `received` on. `sent` is no end of the search: a sender publishes a
 * request before it counts it, so one may be answered that is not counted yet.
 */
inline find_first()
{
    index = received;
#ifndef FIRST_IS_RECEIVED
    do
#ifdef FIRST_STOPS_AT_SENT
    :: index != sent && FILLED(reply[SLOT(index)], index) -> index = NEXT(index)
    :: index == sent || !FILLED(reply[SLOT(index)], index) -> break
#else
    :: FILLED(reply[SLOT(index)], index) -> index = NEXT(index)
    :: else -> break
#endif
    od;
#endif
    first = index
}

inline launch_again()
{
    atomic {
        present = present + BLOCKS;
        leave = false;
        if
        :: owner = 0
        :: owner = BLOCKS - 1
        fi;
        launch++
    }
}

proctype host()
{
    byte index, yields;
    launch_again();
    do
    :: yields < YIELDS ->
        yields++;
        leave = true;
#ifdef FIRST_BEFORE_ALL_LEFT
        find_first();
#endif
#ifndef LAUNCHED_BEFORE_ALL_LEFT
        present == 0;
        assert(running == 0);
#endif
#if defined(FROM_FIRST) && !defined(FIRST_BEFORE_ALL_LEFT)
        find_first();
#endif
        launch_again()
    :: break
    od;
    if
    :: skip /* terminate at once */
    :: true -> reported == TOTAL /* or when all is answered: no UNHANDLED hides a loss */
    fi;
    lock(send_lock);
    closed = true;
    send_lock = false;
    leave = true;
    present == 0;
    assert(running == 0);
    index = received;
    do
    :: index == sent -> break
    :: index != sent && FILLED(reply[SLOT(index)], index) -> index = NEXT(index)
    :: index != sent && !FILLED(reply[SLOT(index)], index) ->
        d_step {
            assert(!handled[request[SLOT(index)].value]);
            reply[SLOT(index)].value = UNHANDLED;
            reply[SLOT(index)].sequence = NEXT(index);
            index = NEXT(index)
        }
    od;
    finished = true
}

proctype receiver()
{
    do
    :: FILLED(reply[SLOT(received)], received) ->
        d_step {
            if
            :: reply[SLOT(received)].value == UNHANDLED -> assert(!handled[reported])
            :: else -> assert(reply[SLOT(received)].value == reported && handled[reported])
            fi;
            reported++;
            received = NEXT(received)
        }
    :: finished && received == sent -> break
    od;
    assert(reported == accepted)
}

init {
    byte i;
    atomic {
        for (i : 0 .. CAPACITY - 1) {
            request[SLOT(START + i)].sequence = (START + i + 1 + WRAP - CAPACITY) % WRAP;
            reply[SLOT(START + i)].sequence = (START + i + 1 + WRAP - CAPACITY) % WRAP
        }
        run sender();
        run receiver();
        run host();
        for (i : 0 .. BLOCKS - 1) {
            run block(i)
        }
        i = 0
    }
}
