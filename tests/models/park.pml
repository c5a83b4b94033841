/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parking: workers and callers sleep on futexes, and no wake-up is lost.
 *
 * Mirrors the park paths of backends/cpu (gyre_control_device.parked, gyre_control_doorbell.bell) and of
 * core/ring (gyre_queue_host.waiting, gyre_queue_device.bell).
 *
 * Modelled: store buffering. What a caller (a request), a worker (a reply) or the controller (the command)
 * stores may stay invisible for any time, while its author goes on and loads the flag of the other side.
 * Who wants to sleep counts itself in that flag, forces everybody's stores out (membarrier), loads the
 * bell, looks once more, and only then sleeps, and only if the bell still has the value it loaded. Who
 * published rings when the flag is not 0; the bell is incremented by an atomic operation with release
 * order, so a ring never overtakes what it announces. A STOP may come at any step; it rings like a message.
 *
 * With FENCES it is the other way round, as for sides that park at every turn (gyre_queue_host.parks,
 * gyre_control_command.parks): who publishes fences before it loads the flag, and the sleeper's own fence
 * is enough.
 *
 * With PROCESSES callers and workers share memory alone: a barrier forces out the stores of its own side only.
 * So who sleeps looks a second time, once, when whatever was on its way as it parked has arrived (a timeout,
 * gyre_park_until); who stores later finds the flag raised.
 *
 * Abstracted: the slots (slots.pml): a request is a count per caller, taken by one worker at a time;
 * spinning and yielding before parking are the looks that precede it.
 *
 * Invariants: every call returns, every worker leaves after STOP (deadlock check: nobody sleeps for ever),
 * each request is answered exactly once.
 *
 * Mutants (NO_BARRIER is also what happens when one side counts on the other's fence and the other does
 * not): NO_RECHECK_WORKER NO_RECHECK_CALLER NO_BARRIER_WORKER NO_BARRIER_CALLER BELL_AFTER_RECHECK_WORKER
 * BELL_AFTER_RECHECK_CALLER FLAG_BEFORE_PUBLISH STOP_WITHOUT_BELL WAKE_WITHOUT_BELL PLAIN_WAITING
 * WAKE_ONE_CALLER; of processes NO_SECOND_LOOK CLOCK_AFTER_LOOK
 */
#ifndef CALLERS
#define CALLERS 2 /* 1 or 2 */
#endif
#ifndef CALLS
#define CALLS 1 /* of each caller */
#endif
#ifndef WORKERS
#define WORKERS 1 /* 1 or 2 */
#endif

#define BELL_WRAP 16

#ifdef FENCES
#define NO_BARRIER_WORKER
#define NO_BARRIER_CALLER
#define FENCE(buffered) !(buffered)
#else
#define FENCE(buffered) skip
#endif

/* What is visible to everybody. */
byte requested[CALLERS], answered[CALLERS];
bool stopping, finished;

/* Store buffers: what its author has stored and nobody else sees yet. */
bool request_buffered[CALLERS];
bool reply_buffered[WORKERS];
byte reply_to[WORKERS];
bool stop_buffered;

/* The lines of the control region and of the queue. */
byte parked, bell;        /* workers that are or may be asleep; their futex word */
byte waiting, reply_bell; /* callers that are or may be asleep; their futex word */

/* Who sleeps in futex_wait. */
bool worker_asleep[WORKERS];
bool caller_asleep[CALLERS];

/* The device side's own: who may take what is decided by the claim (claims.pml). */
byte taken[CALLERS];
byte gone; /* workers that left */
byte returned; /* callers that are through */

/* Any store may become visible at any time. */
active proctype memory()
{
    byte i;
end_memory:
    do
    :: d_step { request_buffered[0] -> request_buffered[0] = false; requested[0]++ }
#if CALLERS > 1
    :: d_step { request_buffered[1] -> request_buffered[1] = false; requested[1]++ }
#endif
    :: d_step { reply_buffered[0] -> reply_buffered[0] = false; answered[reply_to[0]]++ }
#if WORKERS > 1
    :: d_step { reply_buffered[1] -> reply_buffered[1] = false; answered[reply_to[1]]++ }
#endif
    :: d_step { stop_buffered -> stop_buffered = false; stopping = true }
    od
}

#ifdef PROCESSES
#define REACHES(other_side) false
#else
#define REACHES(other_side) other_side
#endif

/* membarrier: a full barrier on every thread of the process that runs, the caller's included. */
inline barrier(of_callers, of_workers)
{
    d_step {
        for (k : 0 .. CALLERS - 1) {
            if
            :: of_callers && request_buffered[k] -> request_buffered[k] = false; requested[k]++
            :: else
            fi
        }
        for (k : 0 .. WORKERS - 1) {
            if
            :: of_workers && reply_buffered[k] -> reply_buffered[k] = false; answered[reply_to[k]]++
            :: else
            fi
        }
        if
        :: of_callers && stop_buffered -> stop_buffered = false; stopping = true
        :: else
        fi;
        k = 0
    }
}

/* All that was stored has arrived. */
#define ARRIVED                                                                                              \
    (!request_buffered[0] && !request_buffered[CALLERS - 1] && !reply_buffered[0] &&                         \
     !reply_buffered[WORKERS - 1] && !stop_buffered)

/* Until somebody wakes it, or the second look. */
inline sleep(asleep, looked)
{
    if
    :: !asleep
#if defined(PROCESSES) && !defined(NO_SECOND_LOOK)
    :: d_step { asleep && !looked && ARRIVED -> asleep = false; looked = true }
#endif
    fi
}

/* Between the look and the sleep: whoever reads the clock only here may take the look for a late one. */
inline read_clock(looked)
{
    if
    :: ARRIVED -> looked = true
    :: true
    fi
}

/*
 * Increments a bell once the author's own store is out, then wakes sleepers: a sender wakes one worker for
 * its one message, everybody else wakes all.
 */
inline ring_workers(buffered, all)
{
    FENCE(buffered);
    if
    :: parked > 0 ->
#ifndef WAKE_WITHOUT_BELL
        d_step {
            !buffered;
            bell = (bell + 1) % BELL_WRAP
        }
#endif
        atomic {
            if
            :: worker_asleep[0] -> worker_asleep[0] = false
            :: worker_asleep[WORKERS - 1] -> worker_asleep[WORKERS - 1] = false
            :: !worker_asleep[0] && !worker_asleep[WORKERS - 1]
            fi;
            worker_asleep[0] = worker_asleep[0] && !all;
            worker_asleep[WORKERS - 1] = worker_asleep[WORKERS - 1] && !all
        }
    :: else
    fi
}

inline ring_callers(buffered)
{
    FENCE(buffered);
    if
    :: waiting > 0 ->
        d_step {
            !buffered;
            reply_bell = (reply_bell + 1) % BELL_WRAP
        }
        d_step {
            for (k : 0 .. CALLERS - 1) {
                if
#ifdef WAKE_ONE_CALLER
                :: caller_asleep[k] -> caller_asleep[k] = false; break
#else
                :: caller_asleep[k] -> caller_asleep[k] = false
#endif
                :: else
                fi
            }
            k = 0
        }
    :: else
    fi
}

#define ANSWERED (answered[me] == n || finished)

proctype caller(byte me)
{
    byte n, seen, copy, k;
    bool looked; /* the second time */
    do
    :: n == CALLS || finished -> break
    :: n < CALLS && !finished ->
        n++;
#ifdef FLAG_BEFORE_PUBLISH
        ring_workers(false, false);
        request_buffered[me] = true;
#else
        request_buffered[me] = true;
        ring_workers(request_buffered[me], false);
#endif
        do
        :: ANSWERED -> break
        :: else ->
#ifdef PLAIN_WAITING
            copy = waiting;
            waiting = copy + 1;
#else
            waiting++;
#endif
#ifndef NO_BARRIER_CALLER
            barrier(true, REACHES(true));
#endif
            do
            :: true ->
#ifndef BELL_AFTER_RECHECK_CALLER
                seen = reply_bell;
#endif
                if
#ifndef NO_RECHECK_CALLER
                :: ANSWERED -> break
                :: else
#else
                :: looked -> break
                :: else -> looked = true
#endif
                fi;
#ifdef BELL_AFTER_RECHECK_CALLER
                seen = reply_bell;
#endif
#ifdef CLOCK_AFTER_LOOK
                read_clock(looked);
#endif
                atomic {
                    if
                    :: reply_bell == seen -> caller_asleep[me] = true
                    :: else
                    fi
                }
                sleep(caller_asleep[me], looked)
            od;
            looked = false;
#ifdef PLAIN_WAITING
            copy = waiting;
            waiting = copy - 1;
            copy = 0;
#else
            waiting--;
#endif
            seen = 0
        od;
        !request_buffered[me] /* the next call goes through the send lock, a barrier */
    od;
    returned++
}

#define PENDING_0 (requested[0] > taken[0])
#if CALLERS > 1
#define PENDING_1 (requested[1] > taken[1])
#else
#define PENDING_1 false
#endif

inline answer(whom)
{
    !reply_buffered[me]; /* a store buffer of one entry */
    d_step {
        reply_to[me] = whom;
        reply_buffered[me] = true
    }
    ring_callers(reply_buffered[me])
}

proctype worker(byte me)
{
    byte seen, k;
    bool looked; /* the second time */
    do
    :: stopping -> break
    :: atomic { !stopping && PENDING_0 -> taken[0]++ } answer(0)
#if CALLERS > 1
    :: atomic { !stopping && PENDING_1 -> taken[1]++ } answer(1)
#endif
    :: !stopping && !PENDING_0 && !PENDING_1 ->
        parked++;
#ifndef NO_BARRIER_WORKER
        barrier(REACHES(true), true);
#endif
        do
        :: true ->
#ifndef BELL_AFTER_RECHECK_WORKER
            seen = bell;
#endif
            if
#ifndef NO_RECHECK_WORKER
            :: stopping || PENDING_0 || PENDING_1 -> break
            :: else
#else
            :: looked -> break
            :: else -> looked = true
#endif
            fi;
#ifdef BELL_AFTER_RECHECK_WORKER
            seen = bell;
#endif
#ifdef CLOCK_AFTER_LOOK
            read_clock(looked);
#endif
            atomic {
                if
                :: bell == seen -> worker_asleep[me] = true
                :: else
                fi
            }
            sleep(worker_asleep[me], looked)
        od;
        looked = false;
        parked--;
        seen = 0
    od;
    !reply_buffered[me];
    gone++
}

/*
 * Terminates at any moment, or only after the last call returned, so that no STOP can heal a lost wake-up.
 * What no worker took is completed by the host, which always rings.
 */
proctype controller()
{
    byte k;
    if
    :: skip
    :: true -> returned == CALLERS
    fi;
    stop_buffered = true;
#ifndef STOP_WITHOUT_BELL
    ring_workers(stop_buffered, true);
#endif
    gone == WORKERS;
    finished = true;
    d_step {
        reply_bell = (reply_bell + 1) % BELL_WRAP;
        for (k : 0 .. CALLERS - 1) {
            caller_asleep[k] = false;
            assert(answered[k] <= requested[k] && answered[k] == taken[k])
        }
        k = 0
    }
}

init {
    byte i;
    atomic {
        for (i : 0 .. CALLERS - 1) {
            run caller(i)
        }
        for (i : 0 .. WORKERS - 1) {
            run worker(i)
        }
        run controller();
        i = 0
    }
}
