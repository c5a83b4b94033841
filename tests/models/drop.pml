/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A full queue that drops its oldest message to make room for a new one.
 *
 * Mirrors drop_oldest in core/ring/queue_wait.c and the look at gyre_queue_host.drop_before in the workers'
 * loop.
 *
 * Modelled: a sender that finds no credit reads the cursor, then, under the send lock, makes sure that the
 * queue is still full with that message at its head, asks the device to complete it without running the
 * handler (drop_before), waits for its completion, whichever it is, and discards it under the receive lock,
 * unless a receiver was quicker. The device may see drop_before late and handle the message. A receiver
 * takes completions meanwhile, dropped ones too; it may stop at any time, or never start.
 *
 * Abstracted: memory is sequentially consistent (slots.pml) but for the late drop_before; waiting is a
 * blocked guard (park.pml); no calls among the messages (call.pml).
 *
 * Invariants: each accepted message is received or discarded, exactly once, in order; only a message that
 * stood at the head of a full queue is asked to be dropped; senders never wait for a message that nobody
 * sent (deadlock check); at most CAPACITY in flight.
 *
 * Mutants: FULL_NOT_CHECKED_AGAIN DISCARD_UNCOMPLETED DISCARD_WITHOUT_LOCK
 */
#ifndef CAPACITY
#define CAPACITY 1 /* a power of two */
#endif
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 3 /* of each sender */
#endif

/* Indices do not wrap here: drop_before is compared by order, which 64 bits allow. */
#define TOTAL     (SENDERS * MESSAGES)
#define SLOT(i)   ((i) % CAPACITY)
#define FULL      (sent - received >= CAPACITY)
#define COMPLETED(i) (reply[SLOT(i)] == (i) + 1)

byte request[CAPACITY], reply[CAPACITY]; /* sequences */
byte drop_before;
byte sent, received; /* the host's own */
bool send_lock, receive_lock;

/* Ghosts. */
byte taken[TOTAL]; /* how often a message was received or discarded */
bool droppable[TOTAL];
byte done; /* senders that are through */

inline lock(word)
{
    atomic {
        !word;
        word = true
    }
}

inline take(i)
{
    assert(taken[i] == 0 && (i == 0 || taken[i - 1] == 1) && COMPLETED(i));
    taken[i]++
}

inline drop_oldest()
{
    cursor = received;
    lock(send_lock);
#ifdef FULL_NOT_CHECKED_AGAIN
    if
    :: true ->
#else
    if
    :: received != cursor || !FULL -> send_lock = false /* it changed meanwhile: look again */
    :: else ->
#endif
        droppable[cursor] = FULL;
        if
        :: drop_before < cursor + 1 -> drop_before = cursor + 1
        :: else
        fi;
        send_lock = false;
#ifndef DISCARD_UNCOMPLETED
        COMPLETED(cursor) || received > cursor;
#endif
#ifndef DISCARD_WITHOUT_LOCK
        lock(receive_lock);
#endif
        if
        :: received == cursor ->
            d_step {
                take(cursor)
            }
            received = cursor + 1
        :: else /* a receiver was quicker */
        fi;
        receive_lock = false
    fi
}

proctype sender()
{
    byte n, cursor;
    do
    :: n == MESSAGES -> break
    :: n < MESSAGES ->
        lock(send_lock);
        if
        :: !FULL ->
            request[SLOT(sent)] = sent + 1;
            sent++;
            assert(sent - received <= CAPACITY);
            send_lock = false;
            n++
        :: else ->
            send_lock = false;
            drop_oldest()
        fi
    od;
    done++
}

proctype worker()
{
    byte head;
end_poll:
    do
    :: request[SLOT(head)] == head + 1 ->
        if
        :: head < drop_before -> assert(droppable[head]) /* completed as dropped */
        :: true                                          /* handled */
        fi;
        d_step {
            assert(!COMPLETED(head));
            reply[SLOT(head)] = head + 1;
            head++
        }
    od
}

proctype receiver()
{
    do
    :: COMPLETED(received) ->
        lock(receive_lock);
        if
        :: COMPLETED(received) ->
            d_step {
                take(received)
            }
            received++
        :: else
        fi;
        receive_lock = false
    :: true -> break
    od;
    done == SENDERS; /* then what is left is there to be received */
    do
    :: received == sent -> break
    :: received != sent && COMPLETED(received) ->
        d_step {
            take(received)
        }
        received++
    od;
    assert(received == TOTAL)
}

init {
    byte i;
    atomic {
        for (i : 1 .. SENDERS) {
            run sender()
        }
        run worker();
        run receiver();
        i = 0
    }
}
