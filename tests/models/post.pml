/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One fence for the replies of several workers of a CUDA block: no sequence reaches the host before its
 * payload, every reply is delivered once, and nobody waits for ever.
 *
 * Mirrors gyre_post_ and gyre_post_step_ in include/gyre/dialect/cuda_move.h: a worker whose payload is
 * stored either becomes the one that makes the fence, and takes along all that were posted, or posts its own
 * and waits until somebody took it along or the place is free. And gyre_post_lone_ in cuda_lone.h: with a
 * lone message a worker that makes the fence takes nobody along.
 *
 * Modelled: payloads on their way to the host arrive in any order and at any time; a fence waits until those
 * have arrived that were stored before it began, whoever stored them. Sequences arrive at once: the worst
 * case.
 *
 * Abstracted: what a worker's threads do together (they meet at a barrier before its payloads count as
 * stored), runs of several messages.
 *
 * Invariants: a sequence is visible only with its payload; after TURNS each all was delivered; nobody waits
 * for ever.
 *
 * Mutants: POST_FIRST FENCE_EARLY NO_RETRY
 */
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef TURNS
#define TURNS 2 /* runs of each worker */
#endif

byte stored[WORKERS];    /* payloads that the worker's threads have stored */
byte arrived[WORKERS];   /* ... and that the host sees */
byte delivered[WORKERS]; /* sequences that the host sees */
bit posted[WORKERS], finished[WORKERS];
bit posting;
byte gone;

/* The bus: a payload that is under way may arrive at any time. */
proctype bus(byte whose)
{
end:
    do
    :: atomic { arrived[whose] < stored[whose] -> arrived[whose]++ }
    od
}

#define EACH(statement)                                                                                      \
    i = 0;                                                                                                   \
    do                                                                                                       \
    :: i < WORKERS -> statement; i++                                                                         \
    :: else -> break                                                                                         \
    od

proctype worker(byte me)
{
    bit batch[WORKERS];
    byte needs[WORKERS];
    byte turn, i;
    bool mine, taken;
    do
    :: turn < TURNS ->
       mine = false;
#ifdef POST_FIRST
       posted[me] = 1;
       mine = true;
       stored[me]++;
#else
       stored[me]++;
#endif
       do
       :: mine && finished[me] -> atomic { finished[me] = 0; break }
       :: else ->
          if
          :: atomic { posting == 0 -> posting = 1 };
             taken = !mine;
#ifdef FENCE_EARLY
             atomic { EACH(needs[i] = stored[i]); i = 0 };
#endif
             atomic {
                 if
                 :: taken -> skip /* a lone message's worker */
                 :: EACH(batch[i] = posted[i]; posted[i] = 0)
                 fi;
                 if
                 :: !mine -> batch[me] = 1
                 :: else
                 fi
                 i = 0
             };
#ifndef FENCE_EARLY
             atomic { EACH(needs[i] = stored[i]); i = 0 };
#endif
             do
             :: i < WORKERS -> atomic { arrived[i] >= needs[i]; needs[i] = 0; i++ }
             :: else -> break
             od;
             atomic {
                 EACH(if :: batch[i] -> delivered[i]++; assert(delivered[i] <= arrived[i]) :: else fi)
             };
             atomic {
                 EACH(if :: batch[i] && (mine || i != me) -> finished[i] = 1 :: else fi);
                 EACH(batch[i] = 0);
                 i = 0
             };
             posting = 0;
             if
             :: taken -> break
             :: else
             fi
          :: posting == 1 ->
             if
             :: !mine -> posted[me] = 1; mine = true
             :: else
             fi;
#ifdef NO_RETRY
             finished[me] == 1
#endif
          fi
       od;
       turn++;
       assert(delivered[me] == turn)
    :: else -> break
    od;
    gone++
}

init
{
    byte i;
    atomic {
        i = 0;
        do
        :: i < WORKERS -> run worker(i); run bus(i); i++
        :: else -> break
        od
    }
}
