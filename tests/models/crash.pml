/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process of the workers dies at any step, and the next one resumes where requests are unanswered.
 *
 * Mirrors core/recovery (recovery_run.c, suspects.c, careful.c) and core/queue/resume.c on the host's side, and on the device's
 * the claim path, which passes over answered requests.
 *
 * Modelled: the workers of an incarnation stop together, wherever they are, at most CRASHES times; the keeper
 * then looks for the first unanswered index, slot by slot, marks the answered ones behind it, sets the claim
 * word, and starts the next incarnation. The sender publishes a request and counts it in two steps; sender and
 * receiver go on all the while. Indices count modulo WRAP and start two below it.
 *
 * Abstracted: claims, payloads and memory order are those of claims.pml and slots.pml; a window is claimed in
 * one step here. What a handler did before its death is not undone: it may run again.
 *
 * Invariants: every index is completed exactly once and received in order with its own reply, however often
 * its handler ran; a completion is never written twice; no deadlock.
 *
 * Mutants: NO_FENCE NO_SKIP RESUME_AT_CLAIM RESUME_AT_SENT SEARCH_BY_COUNT
 */
#ifndef CAPACITY
#define CAPACITY 2 /* a power of two */
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef TOTAL
#define TOTAL 3
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#define WINDOW 2

#define WRAP      (4 * CAPACITY)
#define START     (WRAP - 2)
#define NEXT(i)   (((i) + 1) % WRAP)
#define ADD(i, n) (((i) + (n)) % WRAP)
#define SLOT(i)   ((i) % CAPACITY)
#define IN_FLIGHT ((sent + WRAP - received) % WRAP)

typedef slot_t {
    byte sequence;
    byte value;
    bool answered /* of requests */
}
slot_t request[CAPACITY];
slot_t reply[CAPACITY];
byte claim = START;
byte sent = START;
byte received = START;
byte incarnation = 1; /* of the process that is alive */

/* Ghosts. */
byte accepted, reported;
bool completed[TOTAL];

#define FILLED(slot, i) (slot.sequence == NEXT(i))

proctype sender()
{
    do
    :: accepted == TOTAL -> break
    :: accepted < TOTAL && IN_FLIGHT < CAPACITY ->
        d_step {
            request[SLOT(sent)].value = 1 + accepted;
            request[SLOT(sent)].answered = false;
            request[SLOT(sent)].sequence = NEXT(sent)
        }
        d_step {
            sent = NEXT(sent);
            accepted++
        }
    od
}

proctype worker(byte mine)
{
    byte first, count, value;
    {
end_poll:
        do
        :: d_step {
            FILLED(request[SLOT(claim)], claim) ->
            first = claim;
            count = 1;
            if
            :: FILLED(request[SLOT(NEXT(first))], NEXT(first)) -> count = WINDOW
            :: else
            fi;
            claim = ADD(first, count)
        }
            do
            :: count == 0 -> break
            :: count > 0 ->
                value = request[SLOT(first)].value;
                if
                :: request[SLOT(first)].answered
                :: else ->
                    d_step {
                        assert(!completed[value - 1]);
                        completed[value - 1] = true;
                        reply[SLOT(first)].value = value;
                        reply[SLOT(first)].sequence = NEXT(first)
                    }
                fi;
                d_step {
                    first = NEXT(first);
                    count--;
                    value = 0
                }
            od;
            first = 0
        od
    }
#ifdef NO_FENCE
    unless { incarnation > mine && count == 0 } /* what was claimed is still worked off */
#else
    unless { incarnation > mine }
#endif
}

proctype keeper()
{
    byte first, i, crashes, w;
end_watch:
    do
    :: crashes < CRASHES ->
        atomic {
            incarnation++; /* reaped: nothing of the old one happens from here on */
            crashes++;
            first = received
        }
        do
#ifdef SEARCH_BY_COUNT
        :: first != sent && FILLED(reply[SLOT(first)], first) -> first = NEXT(first)
        :: first == sent || !FILLED(reply[SLOT(first)], first) -> break
#else
        :: FILLED(reply[SLOT(first)], first) -> first = NEXT(first)
        :: !FILLED(reply[SLOT(first)], first) -> break
#endif
        od;
#ifndef NO_SKIP
        atomic {
            i = first;
            do
            :: i == ADD(first, CAPACITY) -> break
            :: i != ADD(first, CAPACITY) ->
                if
                :: FILLED(reply[SLOT(i)], i) -> request[SLOT(i)].answered = true
                :: else
                fi;
                i = NEXT(i)
            od;
            i = 0
        }
#endif
#if defined(RESUME_AT_SENT)
        claim = sent;
#elif !defined(RESUME_AT_CLAIM)
        claim = first;
#endif
        atomic {
            for (w : 1 .. WORKERS) {
                run worker(incarnation)
            }
            w = 0;
            first = 0
        }
    od
}

proctype receiver()
{
    do
    :: reported == TOTAL -> break
    :: reported < TOTAL && FILLED(reply[SLOT(received)], received) ->
        assert(reply[SLOT(received)].value == 1 + reported);
        d_step {
            reported++;
            received = NEXT(received)
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
        run sender();
        run receiver();
        run keeper();
        for (i : 1 .. WORKERS) {
            run worker(1)
        }
        i = 0
    }
}
