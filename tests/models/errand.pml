/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A relay that lends its turns to the workers of a kernel, and workers that go to sleep. No request is left lying.
 *
 * Mirrors gyre_errand_lend, gyre_errand_recall and leave in core/kernel/errand.c, take_turn and gyre_relay_lend in
 * core/attach/relay_lent.c, begin_looking, end_looking and park_worker in backends/cpu/workers/cpu_worker.c.
 *
 * Modelled: one client whose calls wait for their replies; the relay, which carries a request to the kernel's queue and wakes
 * the workers, or lends at any moment; workers that take a request from the queue, or a lent turn, or sleep at any moment. All
 * accesses to `open` and `looking` are sequentially consistent, so there are no store buffers here; errand->lock is a lock.
 *
 * Abstracted: how a worker that sleeps is woken by the queue's bell (park.pml), so it wakes when the queue has a request; the
 * relay's sleep at its own bell; its timer (SILENCE_NS), without which nothing may be lost either.
 *
 * Invariants: every call returns (deadlock check: the client waits for ever otherwise); who works holds the lock alone.
 *
 * Mutants: LEND_LOOKS_ONCE LEAVE_LOOKS_FIRST LEAVE_NOTHING RECALL_SILENT LEAVE_ALONE
 */
#ifndef WORKERS
#define WORKERS 1
#endif
#ifndef CALLS
#define CALLS 3
#endif

bool request, queued, reply;   /* the client's ring, the kernel's queue, and the reply */
bool open, owner;              /* gyre_errand.open; the relay lent */
bool owner_asleep;
bool locked;
byte looking = WORKERS;

inline take_lock() { atomic { !locked -> locked = true } }
inline give_lock() { locked = false }

inline recall()
{
    owner = false;
    open = false;
#ifndef RECALL_SILENT
    owner_asleep = false
#endif
}

active proctype client()
{
    byte calls = 0;
    do
    :: calls < CALLS ->
        request = true;
        atomic { reply -> reply = false };
        calls++
    :: calls == CALLS -> break
    od
}

active proctype relay()
{
end_relay:
    do
    :: atomic { request && !owner -> request = false; queued = true } /* a turn of its own */
    :: !owner -> /* lends */
#ifdef LEND_LOOKS_ONCE
        if
        :: looking > 0 ->
            take_lock();
            owner = true;
            open = true;
            owner_asleep = true;
            give_lock();
            !owner_asleep
        :: looking == 0
        fi
#else
        take_lock();
        owner = true;
        open = true;
        owner_asleep = true;
        if
        :: looking == 0 -> recall(); owner_asleep = false
        :: looking > 0
        fi;
        give_lock();
end_lent:
        !owner_asleep
#endif
    od
}

/* A worker without messages calls `run`, which only tries the lock. */
inline run_errand()
{
    atomic { !locked -> locked = true };
    if
    :: owner && request ->
        request = false;
        assert(!queued);
        queued = true
    :: !owner || !request
    fi;
    if
    :: owner -> recall() /* may be a stream */
    :: true
    fi;
    give_lock()
}

inline end_looking()
{
#ifdef LEAVE_LOOKS_FIRST
    seen = open;
    looking--;
#else
#ifdef LEAVE_ALONE
    seen = looking == 1;
    looking--;
    seen = seen && WORKERS == 1 && open;
#else
    atomic { looking--; seen = looking == 0 };
    seen = seen && open;
#endif
#endif
#ifndef LEAVE_NOTHING
    if
    :: seen ->
        take_lock();
        if
        :: owner && looking == 0 -> recall()
        :: !owner || looking > 0
        fi;
        give_lock()
    :: !seen
    fi
#endif
}

active [WORKERS] proctype worker()
{
    bool seen;
end_worker:
    do
    :: atomic { queued -> queued = false }; reply = true
    :: open -> run_errand()
    :: true -> /* parks */
        end_looking();
end_asleep:
        queued; /* the bell of the kernel's queue */
        looking++
    od
}
