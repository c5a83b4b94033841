/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking for a checkpoint: the replay log of a queue is bounded, so a sender has whoever takes checkpoints
 * woken in time, and waits for one where the log is full.
 *
 * Mirrors tell and gyre_queue_log_asks in core/stages/log.c, announce_base there, and take_when_due in
 * core/durability/checkpoint_take.c without checkpoint_ms, so that nothing else wakes it.
 *
 * Modelled: the sender announces what it sends, then reads `ask_at`, which may be of the checkpoint before
 * by the time it exchanges `asked`, and rings the bell if it was not set. The taker loads the bell, looks,
 * and sleeps if nothing is wanted and the bell is as it was. Where something is wanted soon and not yet
 * handled it looks again and again.
 *
 * Abstracted: the producer's lock (one sender), slots (slots.pml), what a checkpoint does (crash.pml). The
 * exchanges are of acquire and release order, so whoever comes second sees what the other stored before.
 *
 * Invariants: no request is sent that the log has no room for; all are sent (deadlock check: nobody sleeps
 * for ever while a sender waits for room).
 *
 * Mutants: ASKED_STAYS NO_SECOND_LOOK ANNOUNCED_AFTER BELL_AFTER_LOOK
 */
#ifndef TOTAL
#define TOTAL 9
#endif
#define ROOM 4 /* capacity and entries of the log */
#ifndef ASK_AFTER
#define ASK_AFTER 2
#endif
#define BELL_WRAP 16

byte first, announced, handled; /* the base of the log; what was sent; what was handled */
byte limit = ROOM, ask_at = ASK_AFTER;
bool asked;
byte bell;
bool asleep;

inline ask()
{
    if
    :: announced_here >= ask_at ->
        d_step { before = asked; asked = true }
        if
        :: !before ->
            bell = (bell + 1) % BELL_WRAP;
            asleep = false
        :: else
        fi;
        before = false
    :: else
    fi
}

proctype sender()
{
    byte announced_here;
    bool before;
    do
    :: announced_here == TOTAL -> break
    :: announced_here < TOTAL ->
        announced_here < limit; /* else it waits; the taker rings the credit's bell */
        announced_here++;
        assert(announced_here <= first + ROOM);
#ifdef ANNOUNCED_AFTER
        ask();
        announced = announced_here
#else
        announced = announced_here;
        ask()
#endif
    od
}

proctype device()
{
    do
    :: handled == TOTAL -> break
    :: handled < announced -> handled++
    od
}

inline take()
{
    seen_handled = handled;
    first = seen_handled;
    limit = seen_handled + ROOM;
    ask_at = seen_handled + ASK_AFTER;
    seen_handled = 0;
    asked = false
}

/* Whether a checkpoint is wanted soon. */
inline look()
{
    soon = announced >= ask_at;
#ifndef ASKED_STAYS
    if
    :: !soon ->
        asked = false;
#ifndef NO_SECOND_LOOK
        soon = announced >= ask_at
#endif
    :: else
    fi
#endif
}

proctype taker()
{
    byte seen_bell, seen_handled;
    bool soon;
end_look:
    do
    :: true ->
#ifndef BELL_AFTER_LOOK
        seen_bell = bell;
#endif
        if
        :: handled >= first + ASK_AFTER -> take()
        :: else ->
            look();
#ifdef BELL_AFTER_LOOK
            seen_bell = bell;
#endif
            if
            :: soon -> /* soon: it looks again when more is handled, as it is in the end */
                handled >= first + ASK_AFTER
            :: else ->
                atomic {
                    if
                    :: bell == seen_bell -> asleep = true
                    :: else
                    fi
                }
end_asleep:
                !asleep
            fi;
            soon = false
        fi
    od
}

init {
    atomic {
        run sender();
        run device();
        run taker()
    }
}
