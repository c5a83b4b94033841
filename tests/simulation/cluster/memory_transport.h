/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport in memory, behind the table of a plugin (gyre/transport.h), with whatever its contract lets happen: an operation is refused, its
 * acknowledgement is lost or late, what was not acknowledged takes place later or a second time, a block is shown late, a process is cut off,
 * and what is read is damaged for a while. It tells the model of everything that takes place.
 */
#ifndef GYRE_TESTS_CLUSTER_MEMORY_TRANSPORT_H
#define GYRE_TESTS_CLUSTER_MEMORY_TRANSPORT_H

#include "fibers.h"
#include "gyre/transport.h"

/** How the transport fares; the test's own to change at any time. */
struct transport_faults {
    uint32_t rate; /* of so many operations in a thousand something is not as it should be; 0: of none */
    uint32_t rate_of_members; /* and of those on records of members; 0: as of all */
    uint64_t latency_ns;      /* most of the time that half an operation takes */
    uint64_t late_ns;         /* and most of the time that late things are late */
    uint64_t reach_ns;        /* when an operation is given up */
    uint64_t away_ns; /* no log takes a block for so long, from the next one of replies on; records do */
    uint64_t away_since_ns, away_until_ns; /* and when that is; 0: not yet */
    bool begins;                           /* blocks can be under way: append_begin */
    bool remembers_ids;                    /* a block whose id is there already is dropped */
    bool counts_together; /* blocks of all logs are numbered together, as a stream of a server numbers them */
};
extern struct transport_faults transport_faults;
/** Whether every change is printed. */
extern bool memory_transport_tells;

/** What a process cannot do for a while. */
enum { CUT_READS = 1, CUT_WRITES = 2 };
struct link_cut {
    uint64_t until_ns;
    uint32_t what;
};

extern const gyre_transport_plugin memory_transport;

void memory_transport_begin(void);
/** How the connections of a process fare; `cut` is read in each operation. The process's `user` is not touched. */
void memory_transport_watch(const struct process *process, const struct link_cut *cut);
/** What is read of a log or record is damaged now and then, until that time. Nothing when there is none of that name. */
void memory_transport_damage(const char *name, uint64_t until_ns);
/** Changes a byte for good. False when there is none of that name, or it is empty. */
bool memory_transport_spoil(const char *name, uint64_t byte);
/** Appends a block that nobody of the cluster wrote. */
void memory_transport_put_foreign(const char *log, const void *bytes, size_t size);

/** How many appends of a shard's owner to that log of replies have failed in a row, as it sees them; *since_ns: when the first of them began. */
uint64_t memory_transport_failures(const char *log, uint32_t shard, uint64_t *since_ns);

/* What the transport tells, as it takes place; the model's. */

void model_appended(const char *log, uint64_t number, const unsigned char *bytes, size_t size);
void model_recorded(const char *name, const unsigned char *bytes, size_t size);
void model_purged(const char *log, uint64_t below, uint64_t last);

#endif
