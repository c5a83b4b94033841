/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue table: queues are opened and closed while workers serve others.
 *
 * Mirrors write_entry in core/runtime/queue_table.c, unlink_queue in kernel_queue.c and read_table in
 * backends/cpu/cpu_worker.c.
 *
 * Modelled: an entry has an address, a first index and a serial, each of which becomes visible on its own.
 * Who opens a queue writes the address last and announces the entry by a command, but does not wait for it,
 * so the next opening may fall into a worker's reading of the table, which sees some words of the new
 * entry. Who closes a queue clears the address, announces that, waits until the worker obeyed, and frees
 * the queue; the entry is then used again. A worker that finds a known serial goes on where it was.
 *
 * Abstracted: one worker (several differ only in sharing what they serve: claims.pml); a queue is its
 * number, its messages are the indices from FIRST(queue) on.
 *
 * Invariants: a freed queue is never touched; every message of every queue is served exactly once, in
 * order; everybody comes to an end.
 *
 * Mutants: ADDRESS_NOT_LAST ADDRESS_NOT_FIRST_READ FREE_BEFORE_OBEYED
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

/* Ghosts. */
bool freed[QUEUES];
byte served[QUEUES];

/* Stores the words of an entry in every order that their memory order allows. */
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
    command++
}

inline close(queue, e)
{
    table[e].address = NOBODY;
    command++;
#ifndef FREE_BEFORE_OBEYED
    obeyed == command;
#endif
    freed[queue] = true
}

proctype host()
{
    byte stored;
    open(0, 0);
    open(1, 1);
    if
    :: served[0] == MESSAGES /* closed when all is answered, or at any time */
    :: true -> skip
    fi;
    close(0, 0);
    open(2, 0);
    served[1] == MESSAGES && served[2] == MESSAGES;
    close(1, 1);
    close(2, 0);
    stop = true
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
                :: else ->
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
        run host();
        run worker()
    }
}
