/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Express lines: a request that is sent alone is written a second time, into lines that each say whose they are, and
 * its reply may come back the same way, in place of the reply slot.
 *
 * Mirrors core/ring/express.c with its callers in send.c, call.c and receive.c, and
 * include/gyre/dialect/cuda_express.h.
 *
 * Modelled: a message is two lines, of a word and a sequence each. The host stores them one after the other, word
 * before sequence; a device's look reads each line as a whole, the lines and the slot in any order. The device answers
 * what it took from the lines by lines, each stored as a whole, in either order; all else by the slot. The host uses
 * the lines only while all before that request were received. A caller finds its reply in the slot or in the lines,
 * reads the lines one after the other, and completes the slot; or it gives up at any moment, and whoever steps over its
 * slot later moves the reply there.
 *
 * Abstracted: one worker that looks (claims.pml); a slot's payload is one word (slots.pml); a caller that is through
 * waits for the receive lock, where the library tries it (call.pml); waiting is a blocked guard.
 *
 * Invariants: the handler gets each request whole, once and in order; each caller gets its own reply, whole; a slot is
 * used again only after it was completed; in the end all is completed, and everybody comes to an end.
 *
 * Mutants: LINES_UNCHECKED NOT_ALONE LINE_SEQUENCE_FIRST ANSWER_UNCHECKED ANSWERS_ALL_BY_LINES SLOT_LEFT_OPEN
 * NOT_SETTLED ABANDONED_UNSEEN
 */
#ifndef CAPACITY
#define CAPACITY 2
#endif
#ifndef CALLERS
#define CALLERS 2
#endif
#ifndef CALLS
#define CALLS 2 /* of each caller */
#endif
#define TOTAL   (CALLERS * CALLS)
#define HANDLED 64
#define SLOT(i) ((i) % CAPACITY)
#define ID(caller, n) (1 + (caller) * CALLS + (n))

#define NONE      0
#define CALL      1
#define DONE      2
#define ABANDONED 3

typedef line_t {
    byte sequence; /* of index i: i + 1 */
    byte word
}
line_t request_slot[CAPACITY], reply_slot[CAPACITY];
line_t request_line[2], reply_line[2];

/* The host's own words. */
byte mark[CAPACITY];
byte sent, received;
bool send_lock, receive_lock;

/* Ghosts. */
byte of_index[TOTAL];
byte handled, through;

#define IN_SLOT(i) (reply_slot[SLOT(i)].sequence == (i) + 1)
#ifdef ANSWER_UNCHECKED
#define IN_LINES(i) (reply_line[0].sequence == (i) + 1)
#else
#define IN_LINES(i) (reply_line[0].sequence == (i) + 1 && reply_line[1].sequence == (i) + 1)
#endif
#ifdef ABANDONED_UNSEEN
#define ANSWERED(i) IN_SLOT(i)
#else
#define ANSWERED(i) (IN_SLOT(i) || IN_LINES(i))
#endif
#define HEAD_MARK mark[SLOT(received)]
#define SKIPPABLE (HEAD_MARK == DONE || (HEAD_MARK == ABANDONED && ANSWERED(received)))

inline lock(word)
{
    atomic {
        !word;
        word = true
    }
}

/* Under the receive lock. */
inline skip_calls()
{
    do
    :: SKIPPABLE ->
#ifndef NOT_SETTLED
        if
        :: HEAD_MARK == ABANDONED && !IN_SLOT(received) ->
            reply_slot[SLOT(received)].word = reply_line[0].word;
            reply_slot[SLOT(received)].sequence = received + 1
        :: else
        fi;
#endif
        mark[SLOT(received)] = NONE;
        received++
    :: !SKIPPABLE -> break
    od
}

inline write_line(number, index, value)
{
#ifdef LINE_SEQUENCE_FIRST
    request_line[number].sequence = index + 1;
    request_line[number].word = value
#else
    request_line[number].word = value;
    request_line[number].sequence = index + 1
#endif
}

/* Sends `value`; its index is left in `index`. */
inline send(value)
{
    do
    :: lock(send_lock);
        if
        :: sent - received < CAPACITY -> break
        :: else -> send_lock = false
        fi;
        sent - received < CAPACITY || SKIPPABLE;
        lock(receive_lock);
        skip_calls();
        receive_lock = false
    od;
    index = sent;
    mark[SLOT(index)] = CALL;
    of_index[index] = value;
    assert(index < CAPACITY || reply_slot[SLOT(index)].sequence == index + 1 - CAPACITY);
    request_slot[SLOT(index)].word = value;
    if
#ifdef NOT_ALONE
    :: true ->
#else
    :: received == index ->
#endif
        write_line(0, index, value);
        write_line(1, index, value)
    :: else
    fi;
    request_slot[SLOT(index)].sequence = index + 1;
    sent++;
    send_lock = false
}

inline leave(its_mark)
{
    lock(receive_lock);
    mark[SLOT(index)] = its_mark;
    skip_calls();
    receive_lock = false
}

proctype caller(byte me)
{
    byte n, index, word, end_mark;
    for (n : 0 .. CALLS - 1) {
        send(ID(me, n));
        end_mark = DONE;
        if
        :: IN_SLOT(index) -> assert(reply_slot[SLOT(index)].word == ID(me, n) + HANDLED)
        :: IN_LINES(index) && !IN_SLOT(index) ->
            word = reply_line[0].word;
            assert(word == ID(me, n) + HANDLED);
            word = reply_line[1].word;
            assert(word == ID(me, n) + HANDLED);
#ifndef SLOT_LEFT_OPEN
            reply_slot[SLOT(index)].sequence = index + 1
#endif
        :: true -> end_mark = ABANDONED /* at any moment */
        fi;
        leave(end_mark);
        word = 0
    }
    through++
}

/* The lines as one look finds them, each at its moment, and the slot at another. */
inline look()
{
    looked = 0;
    do
    :: d_step {
        !(looked & 1);
        first.sequence = request_line[0].sequence;
        first.word = request_line[0].word;
        looked = looked | 1
    }
    :: d_step {
        !(looked & 2);
        second.sequence = request_line[1].sequence;
        second.word = request_line[1].word;
        looked = looked | 2
    }
    :: d_step {
        !(looked & 4);
        there = request_slot[SLOT(next)].sequence == next + 1;
        looked = looked | 4
    }
    :: looked == 7 -> break
    od;
    looked = 0
}

inline answer_by_lines()
{
    if
    :: d_step {
        reply_line[0].word = value + HANDLED;
        reply_line[0].sequence = next + 1
    };
    d_step {
        reply_line[1].word = value + HANDLED;
        reply_line[1].sequence = next + 1
    }
    :: d_step {
        reply_line[1].word = value + HANDLED;
        reply_line[1].sequence = next + 1
    };
    d_step {
        reply_line[0].word = value + HANDLED;
        reply_line[0].sequence = next + 1
    }
    fi
}

#ifdef LINES_UNCHECKED
#define WHOLE (first.sequence == next + 1)
#else
#define WHOLE (first.sequence == next + 1 && second.sequence == next + 1)
#endif

proctype device()
{
    byte next, value, looked;
    bool there, by_lines;
    line_t first, second;
    do
    :: next < TOTAL && (request_slot[SLOT(next)].sequence == next + 1 || request_line[0].sequence == next + 1) ->
        look();
        if
        :: WHOLE ->
            by_lines = true;
            value = first.word;
            assert(second.word == value)
        :: !WHOLE && there ->
            by_lines = false;
            value = request_slot[SLOT(next)].word
        :: !WHOLE && !there -> goto again
        fi;
        assert(value == of_index[next]);
        handled++;
#ifdef ANSWERS_ALL_BY_LINES
        by_lines = true;
#endif
        if
        :: by_lines -> answer_by_lines()
        :: else ->
            reply_slot[SLOT(next)].word = value + HANDLED;
            reply_slot[SLOT(next)].sequence = next + 1
        fi;
        next++;
again:
        value = 0;
        there = false;
        by_lines = false;
        d_step {
            first.sequence = 0;
            first.word = 0;
            second.sequence = 0;
            second.word = 0
        }
    :: next == TOTAL -> break
    od
}

/* Whoever waits until nothing is under way: all that was sent is answered. */
proctype drain()
{
    through == CALLERS && handled == TOTAL;
    lock(receive_lock);
    skip_calls();
    do
    :: received < TOTAL ->
        SKIPPABLE;
        skip_calls()
    :: received == TOTAL -> break
    od;
    receive_lock = false;
    assert(sent == TOTAL)
}

init {
    byte i;
    atomic {
        run device();
        run drain();
        for (i : 0 .. CALLERS - 1) {
            run caller(i)
        }
    }
}
