/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deactivate, activate and terminate against traffic: at every step of a sender, two workers and a
 * receiver.
 *
 * Mirrors the control word (gyre_control_command, gyre_control_block.acknowledged in
 * include/gyre/ring_layout.h), the worker loop of backends/cpu and the life cycle of core/kernel.
 *
 * Modelled: the host writes commands (an epoch and a verb); it may or may not wait until a command is
 * acknowledged before it writes the next. Workers look at the command at message boundaries only,
 * acknowledge it in a line of their own, keep their claimed window across a pause, and leave after STOP,
 * also in the middle of a window. Terminate closes the queue under the send lock, waits for every worker's
 * acknowledgement and then completes as UNHANDLED what has no completion. Senders wait for credit without
 * holding the lock.
 *
 * Abstracted: memory is sequentially consistent (slots.pml, park.pml); waiting is a blocked guard; a
 * message is its number.
 *
 * Invariants: each accepted message is reported exactly once, in order, and UNHANDLED only if its handler
 * never ran; no handler runs between an acknowledged PAUSE and the next RUN, nor after terminate returned;
 * every command is acknowledged and everybody comes to an end (deadlock check), whatever waits at that
 * moment.
 *
 * Mutants: COMPLETE_BEFORE_ACKNOWLEDGE ACKNOWLEDGE_MID_MESSAGE CLOSED_BEFORE_LOCK PAUSE_DROPS_WINDOW
 * LEFTOVERS_FROM_CLAIM STOP_IGNORED_WHEN_IDLE CREDIT_WAIT_KEEPS_LOCK
 */
#ifndef CAPACITY
#define CAPACITY 2 /* a power of two */
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef TOTAL
#define TOTAL 3
#endif
#ifndef COMMANDS
#define COMMANDS 2 /* before STOP */
#endif

#define WRAP      (4 * CAPACITY)
#define START     (WRAP - 2)
#define NEXT(i)   (((i) + 1) % WRAP)
#define ADD(i, n) (((i) + (n)) % WRAP)
#define SLOT(i)   ((i) % CAPACITY)
#define CREDIT    ((sent + WRAP - received) % WRAP < CAPACITY)

#define RUN   1
#define PAUSE 2
#define STOP  3
#define COMMAND(epoch, verb) ((epoch) * 4 + (verb))
#define VERB(command)        ((command) % 4)

#define UNHANDLED 100 /* the outcome; otherwise the message itself comes back */

typedef slot_t {
    byte sequence;
    byte value
}
slot_t request[CAPACITY];
slot_t reply[CAPACITY];
byte claim = START;
byte sent = START;
byte received = START;
bool send_lock, closed, finished;
byte command = COMMAND(0, RUN);
byte acknowledged[WORKERS];

/* Ghosts. */
byte accepted, reported;
bool handled[TOTAL];
bool quiet; /* a PAUSE or STOP is in force: no handler may begin or be running */
byte running;

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
#ifdef CLOSED_BEFORE_LOCK
        if
        :: closed -> break
        :: else
        fi;
#endif
        lock(send_lock);
        if
#ifndef CLOSED_BEFORE_LOCK
        :: closed -> send_lock = false; break
        :: !closed && CREDIT ->
#else
        :: CREDIT ->
#endif
            request[SLOT(sent)].value = accepted;
            request[SLOT(sent)].sequence = NEXT(sent);
            d_step {
                sent = NEXT(sent);
                accepted++
            }
            send_lock = false
#ifdef CREDIT_WAIT_KEEPS_LOCK
        :: !closed && !CREDIT -> CREDIT; send_lock = false
#else
        :: else -> send_lock = false; closed || CREDIT
#endif
        fi
    od
}

proctype worker(byte me)
{
    byte first, count, seen;
    do
    :: seen != command ->
        seen = command;
        acknowledged[me] = seen;
        if
        :: VERB(seen) == STOP -> break
#ifdef PAUSE_DROPS_WINDOW
        :: VERB(seen) == PAUSE -> count = 0
#endif
        :: else
        fi
    :: seen == command && VERB(seen) == PAUSE ->
        seen != command
    :: seen == command && VERB(seen) == RUN && count == 0 ->
#ifdef STOP_IGNORED_WHEN_IDLE
        FILLED(request[SLOT(claim)], claim);
#else
        FILLED(request[SLOT(claim)], claim) || seen != command;
#endif
        first = claim;
        do
        :: count < WINDOW && FILLED(request[SLOT(ADD(first, count))], ADD(first, count)) -> count++
        :: count == WINDOW || !FILLED(request[SLOT(ADD(first, count))], ADD(first, count)) -> break
        od;
#if WORKERS > 1
        atomic {
            if
            :: claim == first -> claim = ADD(first, count)
            :: else -> count = 0 /* another worker was quicker */
            fi
        }
#else
        claim = ADD(first, count)
#endif
    :: seen == command && VERB(seen) == RUN && count > 0 ->
        d_step {
            assert(!quiet);
            running++;
            assert(FILLED(request[SLOT(first)], first) && !handled[request[SLOT(first)].value]);
            handled[request[SLOT(first)].value] = true
        }
#ifdef ACKNOWLEDGE_MID_MESSAGE
        if
        :: seen != command -> acknowledged[me] = command
        :: else
        fi;
#endif
        d_step {
            assert(!FILLED(reply[SLOT(first)], first) && !quiet);
            reply[SLOT(first)].value = request[SLOT(first)].value;
            reply[SLOT(first)].sequence = NEXT(first);
            running--;
            first = NEXT(first);
            count--
        }
    od
}

/* Blocks until every worker acknowledged the current command. */
inline await_acknowledged()
{
    for (i : 0 .. WORKERS - 1) {
        acknowledged[i] == command
    }
    i = 0
}

/* Completes what the workers left; they have all gone, so their slots are the host's now. */
inline complete_leftovers()
{
#ifdef LEFTOVERS_FROM_CLAIM
    index = claim;
#else
    index = received;
#endif
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
    od
}

proctype controller()
{
    byte i, index, epoch;
    do
    :: epoch < COMMANDS && VERB(command) == RUN ->
        epoch++;
        command = COMMAND(epoch, PAUSE);
        if
        :: await_acknowledged();
            d_step {
                quiet = true;
                assert(running == 0)
            }
        :: skip
        fi
    :: epoch < COMMANDS && VERB(command) == PAUSE ->
        epoch++;
        quiet = false;
        command = COMMAND(epoch, RUN);
        if
        :: await_acknowledged()
        :: skip
        fi
    :: break
    od;
    if
    :: skip /* terminate at once */
    :: VERB(command) == RUN -> reported == TOTAL /* or when all is done: no UNHANDLED hides a loss */
    fi;
    lock(send_lock);
    closed = true;
    send_lock = false;
    epoch++;
    command = COMMAND(epoch, STOP);
#ifndef COMPLETE_BEFORE_ACKNOWLEDGE
    await_acknowledged();
    d_step {
        quiet = true;
        assert(running == 0)
    }
#endif
    complete_leftovers();
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
        run controller();
        for (i : 0 .. WORKERS - 1) {
            run worker(i)
        }
        i = 0
    }
}
