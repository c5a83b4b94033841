/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of several levels in front of a ring: does each of them get in, however many come that are more
 * urgent, and does a message that did not wait go behind one of a higher level?
 *
 * Mirrors level_rank, level_choose and levels_pump in core/stages/levels.c, core/queue/post.c's order of
 * "look, send, remember" with -DDEDUP, and, with -DFIND, levels_find and the look at the ring behind it
 * in match.c.
 *
 * Modelled: messages of a low level that are sent once, and a sender of urgent ones that never stops as long as
 * there is a place; a pump that moves the first message of the level whose rank (level plus age) is highest
 * into the ring, the older one of two that are equal; time that passes by steps, and may pass at any moment.
 * With DEDUP: two senders of the same id, which the window remembers. With FIND: a message that is moved while
 * somebody looks for it.
 *
 * Abstracted: the ring, which always has room for one more; ages beyond the highest level, which count as it.
 *
 * Invariants: a message waits at most PATIENCE moves after it reached the highest level; a message of a higher
 * level is never passed by a younger one of a lower level that has not risen; a message of an id that is
 * remembered is not sent; who looks for a message that was not received finds it.
 *
 * Mutants: NO_AGEING YOUNGER_FIRST LEVEL_IGNORED REMEMBER_BEFORE_SENDING LOOK_WITHOUT_LOCK RING_FIRST
 * LEAVES_BEFORE_IT_ARRIVES
 */
#define LEVELS   2
#define PLACES   3 /* of urgent messages that wait at once */
#define PATIENCE (PLACES + 1)
#define AGE      2 /* steps after which a message rises */

#if defined(FIND)

bool locked = false, in_line = true, in_ring = false;
byte waiting = 1;

inline take() { atomic { !locked -> locked = true } }
inline give() { locked = false }

active proctype mover()
{
    take();
#ifdef LEAVES_BEFORE_IT_ARRIVES
    waiting = 0;
    in_line = false;
    in_ring = true;
#else
    in_ring = true;
    in_line = false;
    waiting = 0;
#endif
    give()
}

/* A line in which nobody waits is not looked at, so the lock is not what keeps the two apart. */
inline look_at_line()
{
    if
    :: waiting == 0
    :: else ->
        take();
        seen = seen || in_line;
        give()
    fi
}

active proctype seeker()
{
    bool seen = false;
#ifdef RING_FIRST
    seen = in_ring;
    look_at_line();
#else
    look_at_line();
    seen = seen || in_ring;
#endif
    assert(seen)
}

#elif !defined(DEDUP)

byte waiting_low = 0, age_low = 0; /* one message of level 0: 1 while it waits; steps that it waited */
byte urgent[PLACES], urgent_count = 0; /* ages of those of level 1, oldest first */
byte moves = 0; /* since the low one was as high as can be */
bool low_sent = false, low_in = false;

/* whether the low one is older than the first urgent one */
#define OLDER (urgent_count == 0 || age_low > urgent[0])
#ifdef NO_AGEING
#define RANK_LOW 0
#else
#define RANK_LOW (age_low >= AGE -> LEVELS - 1 : 0)
#endif
#ifdef YOUNGER_FIRST
#define TIE (!OLDER)
#else
#define TIE OLDER
#endif
#ifdef LEVEL_IGNORED
#define LOW_NEXT (waiting_low && TIE || urgent_count == 0)
#else
#define LOW_NEXT (waiting_low && (urgent_count == 0 || (RANK_LOW == LEVELS - 1 && TIE)))
#endif

active proctype sender()
{
    byte i;
    do
    :: atomic { !low_sent -> low_sent = true; waiting_low = 1; age_low = 0 }
    :: atomic { urgent_count < PLACES -> urgent[urgent_count] = 0; urgent_count++ }
    :: atomic { low_in -> break }
    od
}

/* a step of time: nobody's age grows beyond what can be told apart */
active proctype time()
{
    byte i;
    do
    :: atomic {
        !low_in && (waiting_low && age_low < 4) ->
        age_low++;
        i = 0;
        do
        :: i < urgent_count -> urgent[i] = (urgent[i] < 4 -> urgent[i] + 1 : 4); i++
        :: i >= urgent_count -> break
        od
    }
    :: low_in -> break
    od
}

active proctype pump()
{
    byte i;
    do
    :: atomic {
        !low_in && (waiting_low || urgent_count > 0) ->
        if
        :: LOW_NEXT ->
            assert(urgent_count == 0 || age_low >= AGE); /* not risen: it passes nobody */
            waiting_low = 0;
            low_in = true
        :: else ->
            moves = (waiting_low && age_low >= AGE && OLDER -> moves + 1 : 0);
            assert(moves <= PATIENCE); /* nobody starves */
            i = 0;
            do
            :: i + 1 < urgent_count -> urgent[i] = urgent[i + 1]; i++
            :: i + 1 >= urgent_count -> break
            od;
            urgent_count--
        fi
    }
    :: low_in -> break
    od
}

#else

/* Two senders of one id, of which only one message may go; one of them may find the queue full first. */
bool known = false, locked = false;
byte sent = 0, refused = 0, tries = 0, room = 0;

inline take() { atomic { !locked -> locked = true } }
inline give() { locked = false }

proctype sends()
{
    bool seen, done = false;
    do
    :: !done ->
#ifdef LOOK_WITHOUT_LOCK
        seen = known;
        take();
#else
        take();
        seen = known;
#endif
        if
        :: seen -> refused++; done = true
        :: !seen && room > 0 -> room--; sent++; known = true; done = true
        :: !seen && room == 0 ->
#ifdef REMEMBER_BEFORE_SENDING
            known = true
#else
            skip
#endif
        fi;
        give()
    :: done -> break
    od;
    tries++
}

init {
    run sends();
    run sends();
    room = 2;
    tries == 2;
    assert(sent == 1 && refused == 1) /* sent once, and the other told */
}

#endif
