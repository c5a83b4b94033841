/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue table: queues are opened and closed while workers serve others.
 *
 * Mirrors write_entry in core/kernel/queue_table.c, unlink_queue in kernel_queue.c and read_table in
 * backends/cpu/workers/cpu_worker.c.
 *
 * Modelled: an entry has an address, a first index and a serial, each of which becomes visible on its own.
 * Who opens a queue writes the address last and announces the entry by a command, but does not wait for it,
 * so the next opening may fall into a worker's reading of the table, which sees some words of the new
 * entry. Who closes a queue clears the address, announces that, waits until the worker obeyed, and frees
 * the queue; the entry is then used again. The kernel's lock is not held during that wait: a second thread that
 * opens a queue meanwhile finds the entry taken. A worker that finds a known serial goes on where it was.
 *
 * Abstracted: one worker (several differ only in sharing what they serve: claims.pml); a queue is its
 * number, its messages are the indices from FIRST(queue) on.
 *
 * Invariants: a freed queue is never touched, nor one with another's words; every message of every queue is served exactly once, in
 * order; everybody comes to an end.
 *
 * Mutants: ADDRESS_NOT_LAST ADDRESS_NOT_FIRST_READ FREE_BEFORE_OBEYED REUSE_BEFORE_OBEYED
 */
#define ENTRIES  2
#define QUEUES   3
#define MESSAGES 2 /* of each queue */
#define NOBODY   0
#define FIRST(queue) ((queue) * 10)

typedef entry_t {
    byte address; /* NOBODY or 1 + queue */
    byte first;
    byte serial
}
entry_t table[ENTRIES];
byte command, obeyed;
bool stop;

/* The host's own: which entries are some queue's, and the kernel's lock. */
bool taken[ENTRIES], locked;
#define LOCK   atomic { !locked -> locked = true }
#define UNLOCK locked = false

/* Ghosts. */
bool freed[QUEUES];
byte served[QUEUES];

/* Under the lock: stores the words of an entry in every order that their memory order allows. */
inline open(queue, e)
{
    stored = 0;
    do
    :: d_step {
        !(stored & 1);
        table[e].first = FIRST(queue);
        stored = stored | 1
    }
    :: d_step {
        !(stored & 2);
        table[e].serial = 1 + queue;
        stored = stored | 2
    }
    :: d_step {
#ifdef ADDRESS_NOT_LAST
        !(stored & 4);
#else
        stored == 3;
#endif
        table[e].address = 1 + queue;
        stored = stored | 4
    }
    :: stored == 7 -> break
    od;
    command++;
    UNLOCK
}

inline close(queue, e)
{
    LOCK;
    table[e].address = NOBODY;
#ifdef REUSE_BEFORE_OBEYED
    taken[e] = false;
#endif
    command++;
    announced = command;
    UNLOCK;
#ifndef FREE_BEFORE_OBEYED
    obeyed >= announced;
#endif
    d_step {
        freed[queue] = true;
#ifndef REUSE_BEFORE_OBEYED
        taken[e] = false
#endif
    }
}

proctype host()
{
    byte stored, announced;
    LOCK;
    open(0, 0);
    LOCK;
    open(1, 1);
    if
    :: served[0] == MESSAGES /* closed when all is answered, or at any time */
    :: true -> skip
    fi;
    close(0, 0);
    served[1] == MESSAGES && served[2] == MESSAGES;
    close(1, 1);
    close(2, 0);
    stop = true
}

/* Another thread, which opens a queue as soon as it finds an entry. */
proctype opener()
{
    byte stored;
    atomic { !locked && !taken[0] -> locked = true; taken[0] = true }
    open(2, 0)
}

/* One message of the queue in an entry; the device finds it as long as it is not beyond what was sent. */
inline serve(k)
{
    seen == command && region[k] != NOBODY && next[k] < FIRST(region[k] - 1) + MESSAGES;
    d_step {
        assert(!freed[region[k] - 1]);
        assert(next[k] == FIRST(region[k] - 1) + served[region[k] - 1]);
        served[region[k] - 1]++;
        next[k]++
    }
}

proctype worker()
{
    byte e, seen, address, first, serial;
    byte region[ENTRIES], known[ENTRIES], next[ENTRIES];
    do
    :: seen != command ->
        seen = command;
        for (e : 0 .. ENTRIES - 1) {
#ifdef ADDRESS_NOT_FIRST_READ
            first = table[e].first;
            serial = table[e].serial;
            address = table[e].address;
#else
            address = table[e].address;
            first = table[e].first;
            serial = table[e].serial;
#endif
            d_step {
                if
                :: region[e] == address && known[e] == serial
                :: else -> /* it looks into the region at once, where the other words say */
                    assert(address == NOBODY || (first == FIRST(address - 1) && serial == address));
                    region[e] = address;
                    known[e] = serial;
                    next[e] = first
                fi
            }
        }
        e = 0;
        address = 0;
        first = 0;
        serial = 0;
        obeyed = seen
    :: seen == command && stop -> break
    :: serve(0)
    :: serve(1)
    od
}

init {
    atomic {
        taken[0] = true;
        taken[1] = true;
        run host();
        run opener();
        run worker()
    }
}
