/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls among plain messages: the host-side marks that keep one thread's reply from another, and the credit
 * of calls that timed out.
 *
 * Mirrors core/queue/call.c, receive.c and the credit of core/queue: the mark per slot is the host's own, the reply slot is
 * the device's.
 *
 * Modelled: a call takes an index like a send and marks its slot CALL before it publishes the request; it
 * waits for its own reply slot, copies it word by word and marks DONE; a call that times out, at any
 * moment, marks ABANDONED. A receiver never takes a slot that is marked. Whoever holds the receive lock (a
 * receiver, a caller that is through, a sender that lacks credit) skips slots that are DONE, and slots that
 * are ABANDONED once their reply has arrived; each skip returns the credit. A caller that is through marks
 * its slot under the lock, or finds it taken, marks without it, and tries again or leaves the skipping to
 * others. The device completes what is in flight in any
 * order, as several workers do.
 *
 * Abstracted: memory is sequentially consistent (slots.pml); waiting is a blocked guard (park.pml); one
 * thread sends plain messages and one receives them.
 *
 * Invariants: a call gets its own reply and nobody else does; plain messages come back complete and in
 * order; no reply is overwritten before it is taken; no request is overwritten before it is completed; at
 * most CAPACITY in flight; everybody comes to an end.
 *
 * Mutants: MARK_AFTER_PUBLISH RECEIVE_TAKES_CALL ABANDONED_CREDIT_EARLY DONE_BEFORE_COPY
 * SENDER_DOES_NOT_SKIP SKIP_WITHOUT_LOCK MARK_NOT_CLEARED
 */
#ifndef CAPACITY
#define CAPACITY 2 /* 1 or 2 */
#endif
#ifndef CALLERS
#define CALLERS 2
#endif
#ifndef CALLS
#define CALLS 1 /* of each caller */
#endif
#ifndef PLAIN
#define PLAIN 2 /* messages sent without a call */
#endif

#define WRAP     (4 * CAPACITY)
#define START    (WRAP - 2)
#define NEXT(i)  (((i) + 1) % WRAP)
#define SLOT(i)  ((i) % CAPACITY)
#define CREDIT   ((sent + WRAP - received) % WRAP < CAPACITY)
#define CALL_ID  32 /* the n-th call of caller c is CALL_ID + c * CALLS + n; a plain message is 1, 2, ... */

#define NONE      0
#define CALL      1
#define DONE      2
#define ABANDONED 3

typedef slot_t {
    byte sequence;
    byte word[2]
}
slot_t request[CAPACITY];
slot_t reply[CAPACITY];

/* The host's own words. */
byte mark[CAPACITY];
byte sent = START;
byte received = START;
bool send_lock, receive_lock;

/* Ghosts. */
byte accepted, returned, plain_received;

#define FILLED(slot, i) (slot.sequence == NEXT(i))
#define HEAD_FILLED     FILLED(reply[SLOT(received)], received)
#define HEAD_MARK       mark[SLOT(received)]
#ifdef ABANDONED_CREDIT_EARLY
#define SKIPPABLE (HEAD_MARK == DONE || HEAD_MARK == ABANDONED)
#else
#define SKIPPABLE (HEAD_MARK == DONE || (HEAD_MARK == ABANDONED && HEAD_FILLED))
#endif
#ifdef RECEIVE_TAKES_CALL
#define RECEIVABLE HEAD_FILLED
#else
#define RECEIVABLE (HEAD_MARK == NONE && HEAD_FILLED)
#endif

inline lock(word)
{
    atomic {
        !word;
        word = true
    }
}

/* Under the receive lock: returns the credit of calls that are through. */
inline skip_calls()
{
    do
    :: SKIPPABLE ->
#ifndef MARK_NOT_CLEARED
        mark[SLOT(received)] = NONE;
#endif
        d_step {
            received = NEXT(received);
            returned++
        }
    :: !SKIPPABLE -> break
    od
}

/* Sends `value`; leaves its index in `index`. A sender that lacks credit skips what can be skipped. */
inline send(value, its_mark)
{
    do
    :: lock(send_lock);
        if
        :: CREDIT -> break
        :: else -> send_lock = false
        fi;
#ifdef SENDER_DOES_NOT_SKIP
        CREDIT
#else
        CREDIT || SKIPPABLE;
#ifndef SKIP_WITHOUT_LOCK
        lock(receive_lock);
        skip_calls();
        receive_lock = false
#else
        skip_calls()
#endif
#endif
    od;
    index = sent;
#ifndef MARK_AFTER_PUBLISH
    mark[SLOT(index)] = its_mark;
#endif
    assert(FILLED(reply[SLOT(index)], (index + WRAP - CAPACITY) % WRAP)); /* the last lap's is done */
    d_step {
        request[SLOT(index)].word[0] = value;
        request[SLOT(index)].sequence = NEXT(index)
    }
#ifdef MARK_AFTER_PUBLISH
    mark[SLOT(index)] = its_mark;
#endif
    d_step {
        sent = NEXT(sent);
        accepted++;
        assert(accepted - returned <= CAPACITY)
    }
    send_lock = false
}

proctype caller(byte me)
{
    byte n, index, first, second, end;
    do
    :: n == CALLS -> break
    :: n < CALLS ->
        send(CALL_ID + me * CALLS + n, CALL);
        if
        :: FILLED(reply[SLOT(index)], index) ->
#ifdef DONE_BEFORE_COPY
            mark[SLOT(index)] = DONE;
#endif
            first = reply[SLOT(index)].word[0];
            second = reply[SLOT(index)].word[1];
            assert(first == second && first == CALL_ID + me * CALLS + n);
            end = DONE
        :: true -> end = ABANDONED
        fi;
        if
        :: lock(receive_lock); mark[SLOT(index)] = end; skip_calls(); receive_lock = false
        :: true -> /* the lock is taken */
            mark[SLOT(index)] = end;
            if
            :: lock(receive_lock); skip_calls(); receive_lock = false
            :: true /* still taken: left to the next who holds it */
            fi
        fi;
        n++
    od
}

#if PLAIN > 0
proctype plain_sender()
{
    byte n, index;
    do
    :: n == PLAIN -> break
    :: n < PLAIN ->
        send(1 + n, NONE);
        n++
    od
}

proctype plain_receiver()
{
    byte first, second;
    do
    :: plain_received == PLAIN -> break
    :: plain_received < PLAIN ->
        RECEIVABLE || SKIPPABLE;
        lock(receive_lock);
        skip_calls();
        if
        :: RECEIVABLE ->
            first = reply[SLOT(received)].word[0];
            second = reply[SLOT(received)].word[1];
            d_step {
                plain_received++;
                assert(first == second && first == plain_received)
            }
            d_step {
                received = NEXT(received);
                returned++
            }
        :: else
        fi;
        receive_lock = false
    od
}
#endif

#define IN_PROGRESS(s) (request[s].sequence != reply[s].sequence)

/* Completes any request in flight; the completion is stored word by word. */
proctype device()
{
    byte s, value;
end_idle:
    do
    :: IN_PROGRESS(0) || IN_PROGRESS(CAPACITY - 1) ->
        if
        :: IN_PROGRESS(0) -> s = 0
        :: IN_PROGRESS(CAPACITY - 1) -> s = CAPACITY - 1
        fi;
        value = request[s].word[0];
        reply[s].word[0] = value;
        reply[s].word[1] = value;
        d_step {
            assert(request[s].word[0] == value);
            reply[s].sequence = request[s].sequence;
            value = 0;
            s = 0
        }
    od
}

init {
    byte i;
    atomic {
        for (i : 0 .. CAPACITY - 1) {
            request[SLOT(START + i)].sequence = (START + i + 1 + WRAP - CAPACITY) % WRAP;
            reply[SLOT(START + i)].sequence = (START + i + 1 + WRAP - CAPACITY) % WRAP
        }
        run device();
        for (i : 0 .. CALLERS - 1) {
            run caller(i)
        }
#if PLAIN > 0
        run plain_sender();
        run plain_receiver();
#endif
        i = 0
    }
}
