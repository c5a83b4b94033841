/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a pipeline: another one is announced while blocks use the old one, which is freed when all of them obeyed.
 *
 * Mirrors gyre_link_memory_distribute, gyre_link_memory_let_go, gyre_link_memory_withdraw (core/links/link_memory.c),
 * gyre_pipeline_make and take_apart (core/links/pipeline.c), gyre_entries_open (core/links/entries.c), gyre_node_wire (core/kernel/node.c), obey_command, park_worker and leave_park
 * (backends/cpu/workers/cpu_worker.c), cpu_links_read (backends/cpu/links/cpu_links.c).
 *
 * Modelled: two kernels. Requests come to kernel 0, which sends each on to kernel 1. A table is announced to a kernel by its
 * address, then a new command; a block reads both at different times. Table 1 knows no entry, table 2 knows entry queue 1.
 * The host makes the pipeline (table 1), opens the entry (the queue's place becomes visible to kernel 0 at once; table 2
 * for both; a client gets the queue when all obeyed), and takes the pipeline apart (the queue is hidden, no table), when its
 * request was answered, or before. A wait may end with a timeout, as long as a block did not obey: then what the block may use
 * is not freed. Another thread pauses kernel 1 and lets it run again. A paused block sleeps; it
 * looks into its table once more as it wakes (leave_park), before it obeys.
 *
 * Abstracted: one block a kernel; the queue's own memory (table.pml); who sleeps is always woken (park.pml); rings and flows.
 *
 * Invariants: no block looks into a freed table, no table is freed twice; a request that kernel 0 handles, and a message that
 * kernel 1 handles, are of an entry that the block's table knows; everybody comes to an end (deadlock check).
 *
 * Mutants: FREE_BEFORE_OBEYED PAUSED_KEEPS_TABLE SHOWN_EARLY ACKNOWLEDGE_FIRST COMMAND_FIRST AWAIT_ONE TIMEOUT_FREES
 * MAKE_FREES
 */
#define KERNELS 2
#define TABLES  2
#define NONE    0

#define KNOWS_ENTRY(table) ((table) == 2)

/* The control regions. An odd command is PAUSE. */
byte address[KERNELS], command[KERNELS], obeyed[KERNELS];
byte verb[KERNELS]; /* the host's own: the last command's */
bool queue_visible; /* in kernel 0's table of queues */

/* The kernels' locks, under which commands are written. */
bool locked[KERNELS];
#define LOCK(k)   atomic { !locked[k] -> locked[k] = true }
#define UNLOCK(k) locked[k] = false

bool freed[1 + TABLES]; /* table NONE is never freed */
bool shown;             /* a client may find the queue */
bool request, message;  /* on their way to kernel 0, to kernel 1 */
bool answered, over, control_over;

/* ---- the host ---- */

/* A new command with a verb; commands grow. */
inline order(k, which)
{
    d_step {
        verb[k] = which;
        command[k] = (command[k] / 2 + 1) * 2 + which
    }
}

inline wire(k, table)
{
    LOCK(k);
#ifdef COMMAND_FIRST
    order(k, verb[k]);
    address[k] = table;
#else
    address[k] = table;
    order(k, verb[k]);
#endif
    awaited[k] = command[k];
    UNLOCK(k)
}

/* Waits until the block obeyed this command or a later one; a timeout may come before. */
inline await(k)
{
    if
    :: obeyed[k] >= awaited[k]
    :: obeyed[k] < awaited[k] -> timed_out = true
    fi
}

inline announce(table)
{
    timed_out = false;
    wire(0, table);
    wire(1, table);
#ifndef FREE_BEFORE_OBEYED
    await(0);
#ifndef AWAIT_ONE
    if
    :: !timed_out -> await(1)
    :: else
    fi
#endif
#endif
}

inline free_table(table)
{
    d_step {
        assert(!freed[table] || table == NONE);
        freed[table] = table != NONE
    }
}

/* Names the table; the one before is freed. After a timeout it stays for ever. */
inline distribute(table)
{
    announce(table);
#ifdef TIMEOUT_FREES
    free_table(current);
#else
    if
    :: !timed_out -> free_table(current)
    :: else
    fi;
#endif
    current = table
}

inline take_apart()
{
    queue_visible = false;
    announce(NONE);
    if
    :: !timed_out -> free_table(current)
    :: else /* its memory stays behind */
    fi
}

proctype host()
{
    byte current, awaited[KERNELS];
    bool timed_out;
    distribute(1);
    if
    :: timed_out -> /* not made */
#ifdef MAKE_FREES
        free_table(current)
#else
        take_apart()
#endif
    :: else ->
        queue_visible = true;
#ifdef SHOWN_EARLY
        shown = true;
#endif
        distribute(2);
        if
        :: timed_out
        :: else ->
            shown = true;
            if
            :: answered /* closed when all is answered, or at any time */
            :: true
            fi
        fi;
        take_apart()
    fi;
    over = true
}

/* Pauses kernel 1 and lets it run again, at any time. */
proctype controller()
{
    LOCK(1);
    order(1, 1);
    UNLOCK(1);
    LOCK(1);
    order(1, 0);
    UNLOCK(1);
    control_over = true
}

proctype client()
{
    if
    :: shown -> request = true
    :: over
    fi
}

/* ---- the kernels ---- */

inline look_into_table()
{
    assert(!freed[table])
}

inline obey()
{
    /* as it wakes: takes back that it was starved, in the rings that its table names */
    look_into_table();
    seen = command[me];
#ifdef ACKNOWLEDGE_FIRST
    obeyed[me] = seen;
#endif
    if
    :: seen % 2 == 0 ->
        queue = queue_visible;
        table = address[me]
#ifdef PAUSED_KEEPS_TABLE
    :: else
#else
    :: else -> table = address[me]
#endif
    fi;
#ifndef ACKNOWLEDGE_FIRST
    obeyed[me] = seen
#endif
}

proctype kernel(byte me)
{
    byte seen, table;
    bool queue;
    do
    :: seen != command[me] -> obey()
    :: seen == command[me] && seen % 2 == 0 && me == 0 && queue && request ->
        assert(KNOWS_ENTRY(table)); /* else it is handled as a request of no pipeline */
        look_into_table();
        request = false;
        message = true
    :: seen == command[me] && seen % 2 == 0 && me == 1 && table != NONE && message ->
        assert(KNOWS_ENTRY(table)); /* else its flow is nowhere */
        look_into_table();
        message = false;
        answered = true
    :: seen == command[me] && over && control_over -> break
    od
}

init {
    atomic {
        run host();
        run controller();
        run client();
        run kernel(0);
        run kernel(1)
    }
}
