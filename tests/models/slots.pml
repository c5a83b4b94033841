/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slot handshake of one queue: producers -> worker -> consumers, and back.
 *
 * Mirrors core/ring (send, receive, the credit) and the single-worker loop of backends/cpu, over the layout
 * of include/gyre/ring_layout.h.
 *
 * Modelled: request and reply slots whose payload words and sequence become visible one at a time. The
 * stores of one message may become visible in any order that the release store of `sequence` allows, the
 * loads in any order that the acquire load of `sequence` allows. Producers share the queue under one lock,
 * consumers under another. Indices count modulo WRAP and start two below it, so every run crosses the wrap;
 * slots start with the sequences of the lap before.
 *
 * Abstracted: a payload is two words, of two cache lines (length and info travel as payload); waiting is a
 * blocked guard (park.pml has the real thing); the handler marks its reply with HANDLED.
 *
 * Invariants: nothing torn, lost, duplicated or out of order per producer, on the worker's side and on the
 * consumers' side; at most CAPACITY in flight; no deadlock.
 *
 * Mutants: SEQUENCE_FIRST SEQUENCE_BETWEEN NO_ACQUIRE NO_FULL_CHECK CREDIT_EARLY SHARED_HEADER
 * COMPLETE_EARLY ORDERED_COMPARE SHORT_SEQUENCE NO_SEND_LOCK NO_RECEIVE_LOCK. With BOUND_UNCHECKED a mutant
 * that has too much in flight must be caught by the damage it does.
 */
#ifndef CAPACITY
#define CAPACITY 2 /* a power of two */
#endif
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 3 /* of each producer */
#endif
#ifndef CONSUMERS
#define CONSUMERS 1
#endif

#ifdef SHORT_SEQUENCE
#define WRAP CAPACITY /* the sequence does not tell one lap from the next */
#else
#define WRAP (4 * CAPACITY)
#endif
#define START    ((WRAP - 2) % WRAP)
#define TOTAL    (PRODUCERS * MESSAGES)
#define HANDLED  64 /* what the handler adds to a message */
#define NEXT(i)  (((i) + 1) % WRAP)
#define SLOT(i)  ((i) % CAPACITY)
#define IN_FLIGHT ((sent + WRAP - received) % WRAP)

#ifdef ORDERED_COMPARE
#define FILLED(slot, i) (slot.sequence >= NEXT(i))
#else
#define FILLED(slot, i) (slot.sequence == NEXT(i))
#endif

typedef slot_t {
    byte sequence;
    byte word[2]
}
slot_t request[CAPACITY];
slot_t reply[CAPACITY];

/* The host's own words: no device reads or writes them. */
byte sent = START;
byte received = START;
bool send_lock, receive_lock;

/* Ghosts: what the invariants need, not part of the protocol. */
byte accepted, reported;
byte handled_next[PRODUCERS], reported_next[PRODUCERS];

#define MESSAGE(producer, n) (1 + (producer) * MESSAGES + (n))
#define PRODUCER_OF(m)       (((m) - 1) / MESSAGES)
#define NUMBER_OF(m)         (((m) - 1) % MESSAGES)

inline lock(word)
{
    atomic {
        !word;
        word = true
    }
}

/* Which stores may still follow the store of the sequence: none, all, or the second line's. */
#if defined(SEQUENCE_FIRST)
#define MAY_PUBLISH true
#elif defined(SEQUENCE_BETWEEN)
#define MAY_PUBLISH (stored & 1)
#else
#define MAY_PUBLISH (stored == 3)
#endif

/* Stores a message word by word, in every order that its memory order allows. */
inline publish(slot, index, value)
{
    stored = 0;
    do
    :: d_step {
        !(stored & 1);
        slot.word[0] = value;
        stored = stored | 1
    }
    :: d_step {
        !(stored & 2);
        slot.word[1] = value;
        stored = stored | 2
    }
    :: d_step {
        !(stored & 4) && MAY_PUBLISH;
        slot.sequence = NEXT(index);
        stored = stored | 4
    }
    :: stored == 7 -> break
    od;
    stored = 0
}

/* Loads the two words of a filled slot, in either order. */
inline fetch(slot)
{
    if
    :: first = slot.word[0]; second = slot.word[1]
    :: second = slot.word[1]; first = slot.word[0]
    fi
}

proctype producer(byte me)
{
    byte n, stored, others;
    do
    :: n == MESSAGES -> break
    :: else ->
retry:
#ifndef NO_SEND_LOCK
        lock(send_lock);
#endif
#ifndef NO_FULL_CHECK
        if
        :: IN_FLIGHT < CAPACITY
        :: else ->
            send_lock = false;
            IN_FLIGHT < CAPACITY;
            goto retry
        fi;
#endif
#ifdef SHARED_HEADER
        others = received; /* the header is read as a whole ... */
#endif
        publish(request[SLOT(sent)], sent, MESSAGE(me, n));
        d_step {
            sent = NEXT(sent);
#ifdef SHARED_HEADER
            received = others; /* ... and written back as a whole */
#endif
            accepted++;
            n++
        }
#ifndef BOUND_UNCHECKED
        assert(accepted - reported <= CAPACITY);
#endif
        send_lock = false
    od
}

proctype worker()
{
    byte head = START;
    byte first, second, stored;
end_poll:
    do
    :: FILLED(request[SLOT(head)], head) ->
#ifdef COMPLETE_EARLY
        reply[SLOT(head)].sequence = NEXT(head);
#endif
        fetch(request[SLOT(head)]);
        d_step {
            assert(first == second && first != 0);
            assert(NUMBER_OF(first) == handled_next[PRODUCER_OF(first)]);
            handled_next[PRODUCER_OF(first)]++
        }
        publish(reply[SLOT(head)], head, first + HANDLED);
        head = NEXT(head);
        first = 0;
        second = 0
    od
}

#define REPLY_READY FILLED(reply[SLOT(received)], received)

proctype consumer()
{
    byte first, second, others;
    do
    :: reported == TOTAL -> break
    :: reported < TOTAL ->
#ifdef NO_ACQUIRE
        second = reply[SLOT(received)].word[1]; /* loaded ahead of the sequence */
#endif
        REPLY_READY || reported == TOTAL;
#ifndef NO_RECEIVE_LOCK
        lock(receive_lock);
#endif
        if
        :: reported == TOTAL || !REPLY_READY
        :: else ->
#ifdef CREDIT_EARLY
            byte taken = received;
            received = NEXT(received);
            fetch(reply[SLOT(taken)]);
#elif defined(NO_ACQUIRE)
            first = reply[SLOT(received)].word[0];
#else
            fetch(reply[SLOT(received)]);
#endif
#ifdef SHARED_HEADER
            others = sent;
#endif
            assert(first == second && first > HANDLED);
            d_step {
                first = first - HANDLED;
                assert(NUMBER_OF(first) == reported_next[PRODUCER_OF(first)]);
                reported_next[PRODUCER_OF(first)]++;
                reported++;
                first = 0;
                second = 0
            }
#ifdef SHARED_HEADER
            d_step {
                received = NEXT(received);
                sent = others
            }
#elif !defined(CREDIT_EARLY)
            received = NEXT(received);
#endif
        fi;
        receive_lock = false
    od;
    assert(reported == TOTAL)
}

init {
    byte i;
    atomic {
        for (i : 0 .. CAPACITY - 1) {
            request[SLOT(START + i)].sequence = (START + i + 1 + WRAP - CAPACITY) % WRAP;
            reply[SLOT(START + i)].sequence = (START + i + 1 + WRAP - CAPACITY) % WRAP
        }
        run worker();
        for (i : 0 .. PRODUCERS - 1) {
            run producer(i)
        }
        for (i : 1 .. CONSUMERS) {
            run consumer()
        }
        i = 0
    }
}
