/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A full queue that drops its oldest message to make room for a new one.
 *
 * Mirrors drop_oldest, ask_to_drop and asked_to_drop in core/queue/room.c and the look at
 * gyre_queue_host.drop_before in the workers' loop.
 *
 * Modelled: a sender that finds no credit reads the cursor, then, under the send lock, makes sure that the
 * queue is still full with that message at its head, asks the device to complete it without running the
 * handler (drop_before), waits for its completion, whichever it is, and discards it under the receive lock,
 * unless a receiver was quicker. The device may see drop_before late and handle the message. A sender whose
 * deadline passes first takes the order back, unless others gave it as well, and does not send; the device may have
 * read the order by then. A receiver takes completions meanwhile, dropped ones too; it may stop at any time, or
 * never start.
 *
 * Abstracted: memory is sequentially consistent (slots.pml) but for the late drop_before; waiting is a
 * blocked guard (park.pml); no calls among the messages (call.pml).
 *
 * Invariants: each accepted message is received or discarded, exactly once, in order; only a message that
 * stood at the head of a full queue is asked to be dropped, and the device finds no order but of senders that
 * wait for what comes of it; no sender's order is taken back by another; senders never wait for a message that
 * nobody sent (deadlock check); at most CAPACITY in flight.
 *
 * Mutants: FULL_NOT_CHECKED_AGAIN DISCARD_UNCOMPLETED DISCARD_WITHOUT_LOCK ORDER_STAYS ORDER_OF_OTHERS_TAKEN_BACK
 * ORDERS_COUNTED_TOGETHER
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
#ifndef DEADLINES
#define DEADLINES 1 /* that pass too early; those of the others never do */
#endif

/* Indices do not wrap here: drop_before is compared by order, which 64 bits allow. */
#define TOTAL     (SENDERS * MESSAGES)
#define SLOT(i)   ((i) % CAPACITY)
#define FULL      (sent - received >= CAPACITY)
#define COMPLETED(i) (reply[SLOT(i)] == (i) + 1)

byte request[CAPACITY], reply[CAPACITY]; /* sequences */
byte drop_before;
byte sent, received; /* the host's own */
byte asked, askers;  /* the message that is to be dropped, and how many wait for that */
bool send_lock, receive_lock;

/* Ghosts. */
byte taken[TOTAL]; /* how often a message was received or discarded */
bool droppable[TOTAL];
byte waiting[TOTAL]; /* senders that gave the order to drop it, and wait */
byte deadlines = DEADLINES, given_up; /* sends */
byte done;           /* senders that are through */

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

/* Under the send lock: one step, of which the device sees drop_before alone. An order for a later message is there
 * when this one has long gone. */
inline ask_to_drop()
{
    d_step {
        droppable[cursor] = FULL;
        counted = (cursor >= asked);
        if
        :: counted ->
#ifdef ORDERS_COUNTED_TOGETHER
            askers++;
#else
            askers = (cursor > asked -> 1 : askers + 1);
#endif
            asked = cursor;
            waiting[cursor]++
        :: else
        fi;
        drop_before = (drop_before > cursor -> drop_before : cursor + 1)
    }
}

/* Under the send lock. */
#ifdef ORDER_STAYS
#define NOBODY_ELSE false
#elif defined(ORDER_OF_OTHERS_TAKEN_BACK)
#define NOBODY_ELSE true
#else
#define NOBODY_ELSE (askers == 0)
#endif
inline asked_to_drop()
{
    d_step {
        if
        :: counted ->
            waiting[cursor]--;
            askers = (cursor == asked -> askers - 1 : askers)
        :: else
        fi;
        if
        :: in_vain && counted && cursor == asked && NOBODY_ELSE && drop_before == cursor + 1 -> drop_before = cursor
        :: else
        fi;
        assert(waiting[cursor] == 0 || drop_before > cursor)
    }
}

inline discard()
{
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
        ask_to_drop();
        send_lock = false;
#ifndef DISCARD_UNCOMPLETED
        do
        :: COMPLETED(cursor) || received > cursor -> break
        :: deadlines > 0 -> deadlines--; in_vain = true; break
        od;
#endif
        lock(send_lock);
        asked_to_drop();
        send_lock = false;
        if
        :: !in_vain || COMPLETED(cursor) || received > cursor -> discard()
        :: else -> given_up++; n++
        fi;
        in_vain = false
    fi
}

proctype sender()
{
    byte n, cursor;
    bool in_vain, counted;
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
        :: atomic { head < drop_before -> assert(droppable[head] && waiting[head] > 0) } /* to be dropped */
        :: true                                                                          /* to be handled */
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
    assert(received == TOTAL - given_up)
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
