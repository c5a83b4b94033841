/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow: everything that one request causes on a pipeline has exactly one completion, the right one.
 *
 * Mirrors cpu_links_run, call_handler, settle_sole, settle_counted, note_reply, note_failure and end_flow in
 * backends/cpu/links/cpu_links.c, gyre_flow and GYRE_ORIGIN_SOLE in include/gyre/link_layout.h.
 *
 * Modelled: the request is its flow's only message and says so. A handler emits none, one or two messages, replies or not, or
 * fails, in which case it emits none. As long as the only message causes one only message, and nobody replied, nothing is
 * counted. Else the flow counts its messages, replies and failures, each by an atomic addition of its own; the first reply and
 * the first failure are stored after the count, in a step of their own. Messages are taken by any worker, in any order. The
 * next request takes the same place in the table of flows.
 *
 * Abstracted: rings (link_ring.pml) are a set of messages; additions are atomic and seen at once: the order that C gives them
 * is by `alive` and by the sequences of messages.
 *
 * With ROUNDS, begin_round and note_sent in backends/cpu/links/cpu_flow.c, and cuda_link_rounds.h: in place of a completion without a reply a message
 * goes to the kernel that begins rounds, as its flow's only one, unless nothing was emitted in the last round.
 *
 * With MARKS, cuda_link_sink.h: the first reply and the first failure are marked in the word that counts messages, by operations of their own, and
 * whoever finds no message left looks at nothing else where it is not marked.
 *
 * Invariants: each request is completed once, after every message of its flow was handled, with the outcome that follows from
 * what its handlers did: a failure beats a reply, two replies are a failure, one reply is whole and is the reply, else there
 * is none; the reply is written by one handler; nobody waits for ever for a completion (deadlock check). A round begins when
 * every message of the last one was handled and something was emitted in it, and only then.
 *
 * Mutants: ACCOUNT_AFTER_PUBLISH SOLE_ACCOUNT_AFTER_PUBLISH SOLE_KEPT DECREMENT_BEFORE_NOTE PLAIN_ALIVE PLAIN_ANSWERS
 * FAILED_EMITS ANSWERS_STAY REPLY_BEATS; with ROUNDS: STIRRED_STAYS STIR_AFTER_PUBLISH ROUND_COUNTED; with MARKS: MARK_LATE MARK_CLEARED
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef FLOWS
#define FLOWS 2
#endif
#ifndef LINKS
#define LINKS 2 /* that a message comes by at most; each handler before may emit two */
#endif
#define PENDING 8 /* messages under way, at most */

/* A message: which flow it is of, how many links it came by, and whether it is the flow's only one. */
chan requests = [1] of { byte };
chan links = [PENDING] of { byte, byte, bool };

/* The flow's entry, and the completion: its slot, and how often it was published. */
byte alive, answers, failures;
bool failure;
#ifdef MARKS
bool marked; /* a part of alive */
#define IS_MARKED marked
#define MARK marked = true
#else
#define IS_MARKED true
#define MARK skip
#endif
byte reply; /* 0: not written */
mtype = { NONE, NO_REPLY, REPLY, FAILED, TWO_REPLIED };
mtype completed = NONE;
byte completion_flow; /* the request that the completion is of */

#ifdef ROUNDS
bool stirred;  /* something was emitted in this round */
byte rounds;
bool emitted;  /* a ghost: the same, as it is */
#define ROUND_OF_FLOW rounds
#else
#define ROUND_OF_FLOW 0
#endif

/* Ghosts. */
byte under_way;        /* messages that are published, or whose handlers run, and requests */
byte replied, failed;  /* handlers that did, of this flow */
byte finished;         /* requests that the client saw completed */

inline complete(outcome)
{
    d_step {
        assert(under_way == 1 && completed == NONE && flow == finished);
        completion_flow = flow;
        completed = outcome;
        under_way--
    }
}

/* ---- what is noted in the flow ---- */

inline note_reply()
{
#ifdef PLAIN_ANSWERS
    copy = answers;
    answers = copy + 1;
#else
    d_step {
        copy = answers;
        answers++
    }
#endif
    if
    :: copy == 0 ->
#ifndef MARK_LATE
        MARK;
#endif
        assert(reply == 0);
        reply = 1 + flow
    :: else
    fi;
    copy = 0
}

inline note_failure()
{
    d_step {
        copy = failures;
        failures++
    }
    if
    :: copy == 0 ->
        MARK;
        failure = true
    :: else
    fi;
    copy = 0
}

inline note()
{
    if
    :: fails -> note_failure()
    :: replies -> note_reply()
    :: else
    fi
}

/* ---- rounds ---- */

inline stir()
{
#ifdef ROUNDS
    if
    :: emits > 0 -> stirred = true
    :: else
    fi
#else
    skip
#endif
}

/* The request is taken: what the flow says is of an earlier one. */
inline begin_rounds()
{
#ifdef ROUNDS
#ifndef STIRRED_STAYS
    stirred = false;
#endif
    d_step {
        rounds = 0;
        emitted = false
    }
#else
    skip
#endif
}

#ifdef ROUNDS
inline next_round()
{
    d_step {
        assert(emitted && under_way == 1);
        stirred = false;
        emitted = false;
        rounds++
    }
#ifdef ROUND_COUNTED
    links ! flow, 0, false
#else
    links ! flow, 0, true
#endif
}
#endif

/* The only message of its flow emitted nothing, and nobody replied or failed. */
inline end_silent()
{
#ifdef ROUNDS
    if
    :: stirred -> next_round()
    :: else ->
        assert(!emitted);
        complete(NO_REPLY)
    fi
#else
    complete(NO_REPLY)
#endif
}

/* The same of a flow that was counted: something was emitted in its round. */
inline end_counted()
{
#ifdef ROUNDS
    assert(stirred);
    next_round()
#else
    complete(NO_REPLY)
#endif
}

/* ---- the end ---- */

inline publish(only)
{
#ifndef STIR_AFTER_PUBLISH
    stir();
#endif
#ifdef ROUNDS
    emitted = emitted || emits > 0;
#endif
    for (k : 1 .. emits) {
        atomic {
            under_way = under_way + (k < emits); /* the handled message is done with the last one */
            links ! flow, hops + 1, only
        }
    }
#ifdef STIR_AFTER_PUBLISH
    stir();
#endif
    k = 0
}

inline end_flow()
{
#ifdef MARKS
    if
    :: !noted -> end_counted()
    :: else -> end_noted()
    fi
#else
    end_noted()
#endif
}

inline end_noted()
{
    atomic {
        assert(failures == 0 || failure);
        assert(answers == 0 || reply == 1 + flow)
    }
#ifdef REPLY_BEATS
    if
    :: answers == 1 -> complete(REPLY)
    :: answers > 1 -> complete(TWO_REPLIED)
    :: answers == 0 && failures > 0 -> complete(FAILED)
    :: else -> complete(NO_REPLY)
    fi
#else
    if
    :: failures > 0 -> complete(FAILED)
    :: failures == 0 && answers > 1 -> complete(TWO_REPLIED)
    :: failures == 0 && answers == 1 -> complete(REPLY)
    :: else -> end_counted()
    fi
#endif
}

/* The flow counts its messages from now on. */
inline begin_count()
{
    d_step {
        alive = emits;
#ifdef MARKS
        marked = false
#endif
    }
}

inline settle_sole()
{
    if
#ifdef SOLE_KEPT
    :: emits == 1 && !replies ->
        publish(true)
    :: emits == 1 && replies ->
        note_reply();
        publish(true)
    :: emits > 1 ->
#else
    :: emits == 1 && !replies ->
        publish(true)
    :: emits > 0 && (emits > 1 || replies) ->
#endif
#ifndef ANSWERS_STAY
        answers = 0;
        failures = 0;
#endif
#ifdef SOLE_ACCOUNT_AFTER_PUBLISH
        publish(false);
        alive = emits;
        if
        :: replies -> note_reply()
        :: else
        fi
#elif defined(MARK_CLEARED)
        if
        :: replies -> note_reply()
        :: else
        fi;
        begin_count();
        publish(false)
#else
        begin_count();
        if
        :: replies -> note_reply()
        :: else
        fi;
        publish(false)
#endif
    :: emits == 0 && fails -> complete(FAILED)
    :: emits == 0 && replies ->
        reply = 1 + flow;
        complete(REPLY)
    :: emits == 0 && !fails && !replies -> end_silent()
    fi
}

/* The last message of its flow ends it, and counts as under way until then. */
inline settle_counted()
{
#ifndef DECREMENT_BEFORE_NOTE
    note();
#endif
#ifdef ACCOUNT_AFTER_PUBLISH
    publish(false);
    if
    :: emits > 1 -> alive = alive + emits - 1
    :: else
    fi;
#else
    if
    :: emits > 1 -> alive = alive + emits - 1
    :: else
    fi;
    publish(false);
#endif
    if
    :: emits > 0
    :: else ->
#ifdef PLAIN_ALIVE
        copy = alive;
        atomic {
            alive = copy - 1;
            last = alive == 0;
            noted = IS_MARKED;
            under_way = under_way - !last
        }
        copy = 0;
#else
        atomic {
            alive--;
            last = alive == 0;
            noted = IS_MARKED;
            under_way = under_way - !last
        }
#endif
#ifdef DECREMENT_BEFORE_NOTE
        note();
#endif
#ifdef MARK_LATE
        MARK;
#endif
        if
        :: last -> end_flow()
        :: else
        fi;
        last = false;
        noted = false
    fi
}

/* ---- handlers ---- */

inline choose()
{
    atomic {
        if
        :: fails = true; failed++
        :: replies = true; replied++
        :: true
        fi;
        if
        :: true
#ifdef FAILED_EMITS
        :: hops + ROUND_OF_FLOW < LINKS -> emits = 1
        :: hops + ROUND_OF_FLOW < LINKS -> emits = 2
#else
        :: hops + ROUND_OF_FLOW < LINKS && !fails -> emits = 1
        :: hops + ROUND_OF_FLOW < LINKS && !fails -> emits = 2
#endif
        fi
    }
}

inline handle()
{
    choose();
    if
    :: sole -> settle_sole()
    :: else -> settle_counted()
    fi;
    atomic {
        fails = false;
        replies = false;
        sole = false;
        emits = 0;
        hops = 0;
        flow = 0
    }
}

proctype worker()
{
    byte flow, hops, emits, copy, k;
    bool sole, fails, replies, last, noted; /* noted: something may be noted in the flow whose last message was counted off */
    do
    :: true ->
end_wait:
        if
        :: links ? flow, hops, sole
        :: atomic { requests ? flow -> sole = true };
            begin_rounds()
        fi;
        handle()
    od
}

/* Sends each request when the one before is completed, and looks at the outcome. */
proctype client()
{
    byte flow;
    for (flow : 0 .. FLOWS - 1) {
        atomic {
            under_way = 1;
            requests ! flow
        }
        completed != NONE;
        atomic {
            assert(completion_flow == flow && under_way == 0 && empty(links));
            assert((completed == FAILED) == (failed > 0));
            assert((completed == TWO_REPLIED) == (failed == 0 && replied > 1));
            assert((completed == REPLY) == (failed == 0 && replied == 1));
            assert(completed != REPLY || reply == 1 + flow);
            completed = NONE;
            completion_flow = 0;
            reply = 0;
            failure = false;
            replied = 0;
            failed = 0;
            finished++
        }
    }
}

init {
    byte i;
    atomic {
        run client();
        for (i : 1 .. WORKERS) {
            run worker()
        }
        i = 0
    }
}
