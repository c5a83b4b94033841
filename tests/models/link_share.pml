/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that take shares of a ring of a pool whose messages leave in their order, by additions and by exchanges of one word.
 *
 * Mirrors gyre_pool_claim_ and gyre_pool_keep_ in include/gyre/dialect/cuda_link_pool.h.
 *
 * Modelled: a block looks at `claimed` and at the ring's head. Then it adds its share to `claimed`, whatever others did meanwhile, or
 * exchanges `claimed` if it is what the block saw. What an addition claimed beyond the head is given back by an exchange, unless the head
 * came that far: so by who claimed last first. The sender raises the head.
 *
 * Abstracted: how a block chooses between the two ways, and its share: it may choose anything. What a message is, its place, and when it
 * may be written anew (link_ring.pml). A block sees a message behind the head, as it waits for the message's sequence.
 *
 * Invariants: a message is taken once; only messages that were sent are taken; in the end all are (deadlock check), and nothing beyond the
 * head is claimed.
 *
 * Mutants: BACK_WITHOUT_SWAP BACK_TO_HEAD BACK_ALL HEAD_ONCE KEEP_ALL TAKE_WITHOUT_SWAP
 */
#ifndef MESSAGES
#define MESSAGES 4
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif
#ifndef MOST
#define MOST 2 /* messages of a share */
#endif

byte head, claimed;

/* Ghosts. */
bool taken[MESSAGES];
byte taken_count, inside; /* inside: blocks between their looks and the end of their claims */

/* Takes the messages from `first` on, below `end`. */
inline take(end)
{
    d_step {
        do
        :: first < end ->
            assert(first < head && !taken[first]);
            taken[first] = true;
            taken_count++;
            first++
        :: else -> break
        od;
        first = 0;
        seen = 0;
        known = 0;
        share = 0;
        inside--
    }
}

/* Gives back what the addition claimed beyond the head. Then `known` is the end of what is kept. */
inline keep()
{
    do
    :: known >= first + share ->
        known = first + share;
        break
    :: else ->
#ifdef HEAD_ONCE
        skip;
#else
        known = head;
#endif
        atomic {
            if
            :: known >= first + share -> skip /* it came meanwhile */
#ifdef BACK_WITHOUT_SWAP
            :: known < first + share ->
#else
            :: known < first + share && claimed == first + share ->
#endif
#ifdef BACK_TO_HEAD
                claimed = known;
#else
#ifdef BACK_ALL
                claimed = first;
#else
                claimed = (known > first -> known : first);
#endif
#endif
                if
                :: known < first -> known = first
                :: else
                fi;
                share = known - first
#ifndef HEAD_ONCE
            :: head >= first + share -> skip
#endif
            fi
        }
    od
}

proctype block()
{
    byte first, seen, known, share;
end_idle:
    do
    :: atomic {
        claimed < head ->
            seen = claimed;
            inside++
        }
        known = head;
        select(share : 1 .. MOST);
        if
        :: known <= seen -> take(0)
        :: known > seen ->
            /* by an addition */
            atomic {
                first = claimed;
                claimed = claimed + share
            }
#ifndef KEEP_ALL
            keep();
#else
            known = first + share;
#endif
            take(known)
        :: known > seen ->
            if
            :: share > known - seen -> share = known - seen
            :: else
            fi;
            atomic {
                if
#ifdef TAKE_WITHOUT_SWAP
                :: true ->
#else
                :: claimed == seen ->
#endif
                    claimed = seen + share;
                    first = seen;
                    known = seen + share
                :: else ->
                    first = 0;
                    known = 0
                fi
            }
            take(known)
        fi
    od
}

proctype sender()
{
    do
    :: head < MESSAGES -> head++
    :: head == MESSAGES && taken_count == MESSAGES && inside == 0 ->
        assert(claimed == head);
        break
    od
}

init {
    byte i;
    atomic {
        run sender();
        do
        :: i < BLOCKS ->
            run block();
            i++
        :: else -> break
        od;
        i = 0
    }
}
