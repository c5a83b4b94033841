/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several workers serve one queue: windows are claimed with a compare-and-swap on one device-side word.
 *
 * Mirrors the claim path of backends/cpu (gyre_queue_claim.next in include/gyre/ring_layout.h) and the
 * receiving side of core/ring.
 *
 * Modelled: each worker reads the claim word, looks how many slots from there on are filled (at most
 * WINDOW), swaps the word and only then reads and completes the window's slots, one by one; windows of
 * different workers complete in any order. The claim word, the slots and the swap are separate steps.
 * Indices count modulo WRAP and start two below it.
 *
 * Abstracted: a slot's payload and sequence change in one step (slots.pml has them apart); one sending and
 * one receiving thread (slots.pml has several).
 *
 * Invariants: every index handled once and reported once, in the order of sending, with its own reply;
 * never an unfilled slot handled; at most CAPACITY in flight; no deadlock.
 *
 * Mutants: CLAIM_WITHOUT_SWAP CLAIM_UNREADY RECEIVE_BY_COUNT STALE_REPLY_TAKEN
 */
#ifndef CAPACITY
#define CAPACITY 4 /* a power of two */
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef TOTAL
#define TOTAL 7
#endif

#define WRAP      (4 * CAPACITY)
#define START     (WRAP - 2)
#define NEXT(i)   (((i) + 1) % WRAP)
#define ADD(i, n) (((i) + (n)) % WRAP)
#define SLOT(i)   ((i) % CAPACITY)
#define IN_FLIGHT ((sent + WRAP - received) % WRAP)

typedef slot_t {
    byte sequence;
    byte value
}
slot_t request[CAPACITY];
slot_t reply[CAPACITY];
byte claim = START; /* the workers' own line */
byte sent = START;  /* the host's own words */
byte received = START;

/* Ghosts. */
byte accepted, reported, completed;
bool handled[TOTAL];

#define FILLED(slot, i) (slot.sequence == NEXT(i))

proctype sender()
{
    do
    :: accepted == TOTAL -> break
    :: accepted < TOTAL && IN_FLIGHT < CAPACITY ->
        d_step {
            request[SLOT(sent)].value = 1 + accepted;
            request[SLOT(sent)].sequence = NEXT(sent)
        }
        d_step {
            sent = NEXT(sent);
            accepted++
        }
        assert(accepted - reported <= CAPACITY)
    od
}

proctype worker()
{
    byte first, count, value;
end_poll:
    do
    :: FILLED(request[SLOT(claim)], claim) ->
        first = claim;
        count = 0;
        do
        :: count == WINDOW -> break
#ifdef CLAIM_UNREADY
        :: count < WINDOW && FILLED(request[SLOT(first)], first) -> count++
#else
        :: count < WINDOW && FILLED(request[SLOT(ADD(first, count))], ADD(first, count)) -> count++
#endif
        :: count < WINDOW && (count > 0 || !FILLED(request[SLOT(first)], first)) -> break
        od;
#ifdef CLAIM_WITHOUT_SWAP
        claim = ADD(first, count);
#else
        atomic {
            if
            :: claim == first -> claim = ADD(first, count)
            :: else -> count = 0 /* another worker was quicker */
            fi
        }
#endif
        do
        :: count == 0 -> break
        :: count > 0 ->
            value = request[SLOT(first)].value;
            assert(FILLED(request[SLOT(first)], first));
            d_step {
                assert(value > 0 && !handled[value - 1]);
                handled[value - 1] = true
            }
            d_step {
                reply[SLOT(first)].value = value;
                reply[SLOT(first)].sequence = NEXT(first);
                completed++;
                first = NEXT(first);
                count--;
                value = 0
            }
        od;
        first = 0
    od
}

#if defined(RECEIVE_BY_COUNT)
#define REPLY_READY (completed > reported) /* a shared count of completions instead of the slot's sequence */
#elif defined(STALE_REPLY_TAKEN)
#define REPLY_READY (sent != received) /* takes what is in the slot, without looking at the sequence */
#else
#define REPLY_READY FILLED(reply[SLOT(received)], received)
#endif

proctype receiver()
{
    do
    :: reported == TOTAL -> break
    :: reported < TOTAL && REPLY_READY ->
        assert(reply[SLOT(received)].value == 1 + reported);
        d_step {
            reported++;
            received = NEXT(received)
        }
    od;
    assert(completed == TOTAL)
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
        for (i : 1 .. WORKERS) {
            run worker()
        }
        i = 0
    }
}
