/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages stored back to back: who may write which bytes of a ring, and when they are free again.
 *
 * Mirrors core/ring/bytes.c and bytes_put.c (the client), include/gyre/dialect/cpu_bridge.h (workers with a
 * track each) and cuda_promise.h, cuda_bridge.h (workers that share one), over the layout of include/gyre/ring_layout.h.
 * That a slot's words become visible together with its sequence is the business of slots.pml; here a slot is
 * published in one step, once all bytes of its message stand.
 *
 * Modelled: two rings of RING cells with room for the largest message behind their ends; messages of one or
 * two cells, written and read cell by cell, each cell holding the message's number. The sender takes bytes for
 * a request when the ring has them; they are free again once its completion was received. A worker takes a
 * request up when its track has room for the largest reply, and allots what the reply needs when it is handled.
 * Workers that share a track claim requests below a limit, which whoever finds it too low raises: it reads how
 * many requests are settled and then, in another step, how much of the track is free; and who allots does so
 * before, in another step, it counts its request as settled. Two workers answer in any order, so bytes come back out of turn: the client
 * keeps those until they are the oldest. With RESUMED a device died after it had answered request 1 and not
 * request 0, and its reply fills the track: a worker without room may use the spare place for the request that
 * the client waits for.
 *
 * Abstracted: positions count modulo WRAP; handlers choose the reply's length; waiting is a blocked guard.
 *
 * Invariants: every cell of a request holds its number when it is read, and so does every cell of a reply; no
 * write leaves the ring and the room behind it; everything is answered and received in order; no deadlock.
 *
 * Mutants: REQUEST_FREED_EARLY NO_REQUEST_ROOM NO_OVERHANG ROOM_FOR_LEAST NO_PROMISE HEAD_READ_FIRST
 * SETTLED_EARLY TAIL_BEFORE_READ TAIL_OUT_OF_TURN NO_SPARE SPARE_ANY_TIME. OWN_TRACKS gives each worker a track.
 */
#ifndef RING
#define RING 4 /* of replies */
#endif
#define REQUEST_RING 4
#ifndef MESSAGES
#define MESSAGES 4
#endif
#define LARGEST  2
#define WORKERS  2
#define CAPACITY 4
#define WRAP     32
#define SPARE    255
#ifdef OWN_TRACKS
#define TRACKS   2
#define TRACK(w) (w)
#else
#define TRACKS   1
#define TRACK(w) 0
#endif
#ifdef NO_OVERHANG
#define BEHIND 0
#else
#define BEHIND (LARGEST - 1)
#endif
#define CELLS         (RING + BEHIND)
#define REQUEST_CELLS (REQUEST_RING + BEHIND)
#define AT(position)     ((position) % RING)
#define FROM(position)   ((position) % REQUEST_RING)
#define ADD(a, b)        (((a) + (b)) % WRAP)
#define SINCE(a, b)      (((a) + WRAP - (b)) % WRAP)
#define SLOT(index)      ((index) % CAPACITY)
#define LENGTH(index)    (1 + (index) % 2) /* of requests: 1 2 1 2 */
#ifdef ROOM_FOR_LEAST
#define RESERVED 1
#else
#define RESERVED LARGEST
#endif

typedef ring_t {
    byte cell[CELLS]
}
byte requests[REQUEST_CELLS];
typedef slot_t {
    byte filled; /* index + 1 */
    byte position, length, track
}
ring_t replies[TRACKS];
byte spare[LARGEST];
slot_t request[CAPACITY], reply[CAPACITY];

/* the client's */
byte sent, received, request_head, request_tail;
byte starts[CAPACITY];
byte pending[TRACKS * RING]; /* given back out of turn: how much, from this cell on */
byte tail_told[TRACKS];
/* the client's, read by workers */
byte tail[TRACKS], received_told;
/* the workers' */
byte next, head[TRACKS], settled, limit;

/* Requests below `index` are done with. */
inline free_requests(index)
{
    if
    :: index == sent -> request_tail = request_head
    :: index != sent -> request_tail = starts[SLOT(index)]
    fi
}

#ifdef NO_REQUEST_ROOM
#define REQUEST_FITS true
#else
#define REQUEST_FITS (SINCE(request_head, request_tail) + LENGTH(sent) <= REQUEST_RING)
#endif

proctype sender()
{
    byte i;
    do
    :: sent == MESSAGES -> break
    :: sent < MESSAGES ->
        atomic {
            sent - received < CAPACITY && REQUEST_FITS;
            starts[SLOT(sent)] = request_head;
            i = 0
        }
        do
        :: i < LENGTH(sent) ->
            assert(FROM(request_head) + i < REQUEST_CELLS);
            requests[FROM(request_head) + i] = sent + 1;
            i++
        :: i == LENGTH(sent) -> break
        od;
        atomic {
            request[SLOT(sent)].position = request_head;
            request[SLOT(sent)].length = LENGTH(sent);
            request[SLOT(sent)].filled = sent + 1;
            request_head = ADD(request_head, LENGTH(sent));
            sent++;
            i = 0
        }
    od
}

#ifdef OWN_TRACKS
#define FITS(w) (SINCE(head[TRACK(w)], tail[TRACK(w)]) + RESERVED <= RING)
#else
#define FITS(w)    (next < limit)
#define ROOM(head) ((RING - SINCE(head, tail[0])) / RESERVED)
#define FULL       (settled + ROOM(head[0]) <= next)
#endif
#ifdef NO_PROMISE
#define COUNTED next
#else
#define COUNTED settled
#endif
#ifdef RESUMED
#define ANSWERED (reply[SLOT(next)].filled == next + 1)
#else
#define ANSWERED false
#endif
#ifdef SPARE_ANY_TIME
#define SPARE_IS_FREE true
#else
#define SPARE_IS_FREE (received_told == next)
#endif

proctype worker(byte me)
{
    byte index, i, length, at;
    bool elsewhere;
end_poll:
    do
#ifdef RESUMED
    :: atomic { /* answered by a device that died */
            request[SLOT(next)].filled == next + 1 && reply[SLOT(next)].filled == next + 1;
            next++;
            settled++
        }
#endif
#ifndef OWN_TRACKS
#ifdef HEAD_READ_FIRST
    :: atomic { !FITS(me) && !FULL; at = ROOM(head[0]) };
        atomic { at = COUNTED + at; limit = (at > limit -> at : limit); at = 0 }
#else
    :: atomic { !FITS(me) && !FULL; at = COUNTED };
        atomic { at = at + ROOM(head[0]); limit = (at > limit -> at : limit); at = 0 }
#endif
#endif
    :: atomic {
            request[SLOT(next)].filled == next + 1 && !ANSWERED && FITS(me);
            index = next;
            next++;
#ifdef REQUEST_FREED_EARLY
            free_requests(next);
#endif
            elsewhere = false
        }
        goto handle
#if defined(RESUMED) && !defined(NO_SPARE)
    :: atomic {
            request[SLOT(next)].filled == next + 1 && !ANSWERED && !FITS(me) && FULL && SPARE_IS_FREE;
            index = next;
            next++;
            elsewhere = true
        }
        goto handle
#endif
    od;
handle:
    i = 0;
    do
    :: i < request[SLOT(index)].length ->
        assert(requests[FROM(request[SLOT(index)].position) + i] == index + 1);
        i++
    :: else -> break
    od;
    if
    :: length = 1
    :: length = LARGEST
    fi;
#ifdef SETTLED_EARLY
    settled++;
#endif
    atomic {
        at = head[TRACK(me)];
        if
        :: elsewhere
        :: else -> head[TRACK(me)] = ADD(head[TRACK(me)], length)
        fi;
        i = 0
    }
#ifndef SETTLED_EARLY
    settled++;
#endif
    do
#ifdef RESUMED
    :: i < length && elsewhere -> spare[i] = index + 1; i++
#endif
    :: i < length && !elsewhere ->
        assert(AT(at) + i < CELLS);
        replies[TRACK(me)].cell[AT(at) + i] = index + 1;
        i++
    :: i == length -> break
    od;
    atomic {
        reply[SLOT(index)].position = at;
        reply[SLOT(index)].length = length;
        if
        :: elsewhere -> reply[SLOT(index)].track = SPARE
        :: !elsewhere -> reply[SLOT(index)].track = TRACK(me)
        fi;
        reply[SLOT(index)].filled = index + 1;
        index = 0;
        i = 0;
        length = 0;
        at = 0
    }
    goto end_poll
}

#define REPLY  reply[SLOT(received)]
#define ENTRY(position) pending[track * RING + AT(position)]

/* What was given back out of turn and is the oldest now. */
inline settle()
{
    do
    :: ENTRY(tail_told[track]) > 0 ->
        i = ENTRY(tail_told[track]);
        ENTRY(tail_told[track]) = 0;
        tail_told[track] = ADD(tail_told[track], i)
    :: else -> break
    od
}

inline give_back()
{
    if
    :: REPLY.track == SPARE
    :: REPLY.track != SPARE ->
        atomic {
            track = REPLY.track;
#ifdef TAIL_OUT_OF_TURN
            tail_told[track] = ADD(REPLY.position, REPLY.length);
#elif defined(OWN_TRACKS) || defined(RESUMED)
            assert(REPLY.position == tail_told[track]); /* in turn, or the only one */
            tail_told[track] = ADD(tail_told[track], REPLY.length);
#else
            if
            :: REPLY.position == tail_told[track] ->
                tail_told[track] = ADD(tail_told[track], REPLY.length)
            :: else ->
                ENTRY(REPLY.position) = REPLY.length
            fi;
            settle();
#endif
            tail[track] = tail_told[track];
            track = 0;
            i = 0
        }
    fi
}

proctype consumer()
{
    byte i, track;
    do
    :: received == MESSAGES -> break
    :: received < MESSAGES ->
        REPLY.filled == received + 1;
#ifdef TAIL_BEFORE_READ
        give_back();
#endif
        i = 0;
        do
#ifdef RESUMED
        :: i < REPLY.length && REPLY.track == SPARE ->
            assert(spare[i] == received + 1);
            i++
#endif
        :: i < REPLY.length && REPLY.track != SPARE ->
            assert(replies[REPLY.track].cell[AT(REPLY.position) + i] == received + 1);
            i++
        :: i == REPLY.length -> break
        od;
#ifndef TAIL_BEFORE_READ
        give_back();
#endif
        atomic {
            received_told = received + 1;
            received++;
#ifndef REQUEST_FREED_EARLY
            free_requests(received);
#endif
            i = 0
        }
    od
}

init {
    byte t;
    atomic {
        for (t : 0 .. TRACKS - 1) {
            head[t] = WRAP - 3;
            tail[t] = WRAP - 3;
            tail_told[t] = WRAP - 3
        }
        request_head = WRAP - 3;
        request_tail = WRAP - 3;
#ifdef RESUMED
        for (t : 0 .. 1) {
            request[SLOT(t)].position = request_head;
            request[SLOT(t)].length = LENGTH(t);
            request[SLOT(t)].filled = t + 1;
            starts[SLOT(t)] = request_head;
            requests[FROM(request_head)] = t + 1;
            requests[FROM(request_head) + LENGTH(t) - 1] = t + 1;
            request_head = ADD(request_head, LENGTH(t))
        }
        sent = 2;
        reply[1].position = head[0];
        reply[1].length = LARGEST;
        reply[1].filled = 2;
        replies[0].cell[AT(head[0])] = 2;
        replies[0].cell[AT(head[0]) + 1] = 2;
        head[0] = ADD(head[0], LARGEST);
#endif
        t = 0;
        run sender();
        run worker(0);
        run worker(1);
        run consumer()
    }
}
