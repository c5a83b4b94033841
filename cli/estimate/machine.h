/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs, as they were measured: constants from which `gyre estimate` computes. machine.c says where each comes from. No state.
 */
#ifndef GYRE_CLI_ESTIMATE_MACHINE_H
#define GYRE_CLI_ESTIMATE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/** What messages of a size cost without a handler that does anything. */
typedef struct machine_ring {
    double bytes;      /* of request and reply together */
    double message_ns; /* of a stream through one queue and one block */
    double call_ns;    /* of one call alone, host to host */
} machine_ring;

enum { MACHINE_RINGS = 6 };

typedef struct machine {
    const char *name, *title, *architecture;
    double clock_ghz;
    uint32_t units;                   /* multiprocessors */
    uint32_t schedulers;              /* of a multiprocessor: each begins one instruction a clock */
    uint32_t block_lanes;             /* of a lane kernel's block */
    double bus_gbytes;                /* each way, all queues together */
    double first_cache, second_cache; /* bytes */
    /* clocks */
    double chain;       /* from an instruction to the next one of the same group */
    double actor_chain; /* the same of an actor, whose group is alone on its multiprocessor */
    double issue;       /* of a scheduler, an instruction of a group, where several groups have some */
    double turn;        /* instructions that a turn of a loop takes besides, which ends by what it computed */
    double actor_near;  /* as `near`, of an actor, whose reads and writes are in each other's way */
    double near, middle, far; /* from an access to its value: of the first cache, the second, the memory */
    double sector;            /* of a multiprocessor, a sector of 32 bytes that a group asks for */
    double far_sector;        /* so many more for one that comes from beyond the second cache */
    double
        local; /* of a multiprocessor, an access of a group to local memory by an index of each lane's own */
    double even; /* the same by an index that all lanes share */
    double barrier, conflict;
    double function_barriers; /* a function of the block takes as long as so many barriers besides its two */
    double function_alone; /* the same of a block of one group, whose lanes need not wait for another one */
    double atomic;         /* of one lane, on a word that others change, too */
    double more_blocks;    /* how much longer the ring takes for each further block that is at work */
    double
        blocks_call_ns; /* a call alone of a small message takes this much longer when there are several blocks */
    double failing_group_ns; /* of a message, where a lane of each group fails */
    double failing_block_ns; /* of a message of a block that fails */
    double failing_actor_ns; /* of a message of an actor that fails */
    double further_read;     /* an access to the scratch beside one that a group waits for */
    double several_touches;  /* how many accesses of a group are under way at once */
    machine_ring lane[MACHINE_RINGS], block[MACHINE_RINGS],
        actor[MACHINE_RINGS]; /* by bytes; unused ones are 0 at the end */
} machine;

/** The GPU of that name; NULL: there is none. */
const machine *machine_find(const char *name);
/** The names of all, ended by NULL. */
const char *const *machine_names(size_t *count);

/** What messages of `bytes` cost: between two measured sizes by the logarithm. */
machine_ring machine_ring_at(const machine_ring *rings, double bytes);

#endif
