/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object behind gyre_pipeline: nodes (kernels), links between them, and the queues of its entries.
 *
 * Lock: pipeline->lock for `entries`, `subscribers` and the tables of nodes, and for everything while the pipeline is opened or
 * closed. Of stages and links, more may come while it is open, and links are replaced (change.c). A visitor (lend.h) keeps it
 * from being freed. Order: pipeline->lock, kernel->lock, runtime->lock.
 */
#ifndef GYRE_CORE_LINKS_PIPELINE_H
#define GYRE_CORE_LINKS_PIPELINE_H

#include <pthread.h>

#include "core/kernel/node.h"
#include "core/links/link_key.h"
#include "core/links/link_store.h"
#include "core/links/wiring_config.h"
#include "gyre/pipeline.h"

struct gyre_subscriber;
struct gyre_outlets;
struct gyre_pipeline_part;

enum {
    GYRE_NODES_MAX = 64,
    GYRE_LINKS_MAX =
        GYRE_WIRING_LINKS_MAX + 3 * GYRE_NODES_MAX * GYRE_PORTS_MAX, /* with those that Gyre adds */
    GYRE_NODE_NOWHERE = -1
};

/** A table of links in the device's memory, for the blocks of one node. */
struct gyre_node_table {
    struct gyre_node_table *next; /* among those that were replaced */
    struct gyre_link_store store;
    int node;
    uint64_t command; /* of one that was replaced: its blocks use it until they obeyed this command */
    uint64_t turn;    /* of one that was replaced: which change replaced it */
};

/** A kernel of the pipeline. */
struct gyre_node {
    gyre_kernel *kernel;
    struct gyre_node_facts facts;
    bool enters, answers;
    bool joined;
    bool
        is_apart; /* of a pipeline of several devices: links of this one lie in memory that only its home reaches */
    struct gyre_dispatch *home;      /* one device stands for all that reach each other's memory (homes.h) */
    struct gyre_pipeline_part *part; /* of one that is apart: the part of its home, from gyre_parts_plan on */
    uint32_t memory;                 /* where its part of a flow's memory begins */
    bool reached;                    /* wiring.c: an entry leads to it */
    struct gyre_node_table *table;   /* what its blocks use now; NULL: none */
};

/** A link: from a port of a node to another node. A port that leads to a topic, or a pool, has one for each subscriber or member. */
struct gyre_link {
    char name[128];
    char topic[GYRE_PIPELINE_NAME_MAX]; /* "": the port has this link alone */
    char pool[GYRE_PIPELINE_NAME_MAX];  /* "": any block of `to` alone takes what the port emits */
    gyre_pool_order order;
    bool is_outlet; /* only programs subscribe to the topic; it has the name of the link */
    gyre_slow slow;
    struct gyre_wiring_place place; /* where its settings stand */
    int from, to;                   /* nodes; to: perhaps GYRE_NODE_NOWHERE */
    uint32_t port;
    gyre_port_record
        sends; /* what the port emits; of answers: with the name of the port that asks for them */
    const gyre_type *answer;  /* of one that asks: the type of the answers; else NULL */
    enum gyre_link_talk talk; /* asks.h */
    uint32_t
        back; /* of one that asks: the port of its target that answers; of answers: the port that asks for them */
    uint32_t stride;
    uint64_t capacity;
    uint32_t level;  /* gyre_link_desc.level */
    uint32_t choice; /* the number of its type among those that `to` takes; 0: it takes one (link_choice.h) */
    struct gyre_link_key key; /* whose blocks get which messages (link_key.h) */
    bool is_in_cycle;         /* its sender waits for room that it makes itself, in the end */
    /* in the pipeline's memory: one ring for each mover of `from`, and their slots; a window for each ring and mover of `to` */
    uint64_t rings, slots, windows;
    uint64_t times; /* and, where messages are timed, a gyre_link_times for each ring (link_times.h) */
    uint64_t
        gate; /* of a subscriber that may be cut off: where its gyre_link_gate lies; links of one subscriber share it */
    uint64_t bytes;
    uint32_t observed; /* its record in the observation file; 0: none. observed.c, as of the pipeline */
    /* of a link that came while the pipeline was open, or is on another device: where it lies; else in the pipeline's memory */
    struct gyre_link_store own;
    struct gyre_link_store
        credits; /* of one that leads to another device: gyre_link_ring.credit, on the sender's */
    bool is_own; /* Gyre's: room for what is emitted to a topic on which nobody waits */
    bool
        retired; /* its port leads elsewhere since the change `turn`: its target takes what is left in the rings */
    bool dropped; /* and has taken it: no table has the link since `turn` */
    uint64_t turn;
};

/** A queue through which clients use the pipeline. */
struct gyre_pipeline_entry {
    gyre_queue *queue; /* NULL: the entry is free */
    int node;
    struct gyre_link_store flows;
    bool hidden; /* no block takes its requests once all blocks of its kernel obeyed `command` */
    uint64_t command;
    bool dropped; /* tables do not have it since the change `turn` */
    uint64_t turn;
    bool orphaned; /* nobody got the queue, because a handler did not return: it goes when that has */
    bool stuck;    /* the device died: it goes with the pipeline */
    bool repeats;  /* the pipeline alone sends by it: what came by others at this node is handled again so */
    bool is_led;   /* what came by it since the last checkpoint is handled again (kept.h) */
};

/** What its stages keep outlives their worker process (kept.h). */
struct gyre_pipeline_keep {
    gyre_kernel *
        leader; /* NULL: no stage has checkpoints, or nothing would put them back. Constant while the pipeline is listed */
    gyre_queue *journal; /* the entry that has a journal; NULL: none. Constant as `leader` is */
    bool holds;          /* senders of its queues wait. Under the lock */
    bool gathered;       /* a checkpoint waits for its journal. Under `saving` */
    bool by_keeper;      /* requests are handled again in the thread of the worker's keeper. Under the lock */
    pthread_mutex_t saving; /* one checkpoint at a time; before pipeline->lock */
};

struct gyre_pipeline {
    struct gyre_runtime_guest guest; /* first: the runtime closes the pipeline before its kernels */
    gyre_runtime *runtime;
    char name[GYRE_PIPELINE_NAME_MAX];
    pthread_mutex_t lock;

    struct gyre_node nodes[GYRE_NODES_MAX];
    int node_count;
    struct gyre_link links[GYRE_LINKS_MAX];
    int link_count;

    uint32_t window, quota; /* as gyre_pipeline_info has them */
    bool has_rounds;        /* rounds.h */
    uint32_t window_most;   /* 0: no links form a cycle */
    uint64_t admission; /* where the gyre_link_admission lies in the memory of links; in use with a window */

    struct gyre_node_table *replaced; /* tables that a block may use yet */
    uint64_t turn;                    /* how often tables were replaced */

    uint32_t memory_size;         /* bytes of memory of a flow at all nodes */
    uint64_t serial;              /* gyre_flow_head.serial */
    struct gyre_dispatch *device; /* of the first node */
    bool is_mixed; /* nodes have several homes: links and flows lie in memory of this process */
    bool
        is_far; /* nodes are on several devices, which have one home: links and flows lie in memory of these */
    struct gyre_link_store wires; /* rings, slots and windows of all links */
    uint64_t wires_address, wires_size;
    struct gyre_kernel_face faces[GYRE_NODES_MAX]; /* of nodes that clients enter by: how queues see them */
    gyre_kernel_record records[GYRE_NODES_MAX];

    struct gyre_subscriber *subscribers; /* subscriber.h */
    struct gyre_pipeline_keep keep;

    struct gyre_pipeline_part *parts; /* those of its kernels that are apart, home by home */
    struct gyre_pipeline *whole;      /* of the pipeline of a part: the one that it is a part of */
    struct gyre_outlets *outlets;     /* of the pipeline of a part */

    struct gyre_pipeline_entry entries[GYRE_ENTRIES_MAX];
    int entry_count; /* the entries from here on are free */
    bool shut;       /* no more queues are opened */
    bool closing;    /* the end has begun: entries are not taken back one by one any more */
    bool withdrawn;  /* no table names the links any more; a handler may not have returned since */

    uint32_t
        observed; /* under runtime->lock while the pipeline is listed; nobody else's business before and after */

    uint32_t
        visitors; /* atomic: who keeps it from being freed; falls under runtime->lock, grows under it or `lock` */
    pthread_cond_t left; /* a visitor left; with runtime->lock */
};

/** Whether its links lie in memory of this process, and a device in a worker that moves messages by itself reaches them across its bus. */
static inline bool gyre_pipeline_is_across_bus(const gyre_pipeline *pipeline)
{
    return pipeline->nodes[0].facts.in_worker && !pipeline->nodes[0].facts.by_threads;
}

/**
 * Whether blocks complete requests of the entry with the care that gyre_queue_slots.foreign names, though its ring is the program's own: where
 * messages leave the pipeline, since who sees a completion sees them; and where a repeater completes for other programs. Under the lock.
 */
static inline bool gyre_pipeline_needs_care(const gyre_pipeline *pipeline,
                                            const struct gyre_pipeline_entry *entry)
{
    bool is_lent = false;
    for (int i = 0; i < pipeline->entry_count && entry->repeats; i++)
        is_lent |= pipeline->entries[i].queue && gyre_foreign_of(pipeline->entries[i].queue)->lent;
    return is_lent || (pipeline->outlets && gyre_pipeline_is_across_bus(pipeline));
}

/* ---- entries.c ---- */

/** How a queue to an entry is made. */
struct gyre_entry_wish {
    const gyre_queue_desc *desc;
    const char *section;                 /* [queue.SECTION] configures it */
    struct gyre_queue_options *lent;     /* as gyre_kernel_add_entry has it; NULL: it is this program's */
    const struct gyre_kept_stages *kept; /* it may have a journal, which holds what these keep; else NULL */
    bool repeats;                        /* the pipeline alone sends by it */
    bool is_first;                       /* nobody finds it before gyre_keep_begin has prepared it */
};

/** The first node that clients enter by. */
int gyre_entries_first(const gyre_pipeline *pipeline);
/** Opens a queue and tells all nodes of it, before a client can send into it. Under the lock. */
gyre_status gyre_entries_open(gyre_pipeline *pipeline, int node, const struct gyre_entry_wish *wish,
                              gyre_queue **out);

/* ---- wiring.c ---- */

/** Finds the kernels and ports that the wiring names, and checks the whole graph. Launches nothing and joins nothing. */
gyre_status gyre_wiring_resolve(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring);

/** Resolves and checks one link, and adds it. The kernel that it leads to may be a new node, which is visited. */
gyre_status gyre_wiring_add(gyre_pipeline *pipeline, const gyre_link_desc *given,
                            const struct gyre_wiring_place *place);
/**
 * Gives the port of a topic's link rings to emit into, unless a subscriber that is waited for has some. Whether it added a link.
 */
bool gyre_wiring_add_rings(gyre_pipeline *pipeline, const struct gyre_link *link);

/* ---- link_memory.c ---- */

/** Chooses the capacities of links, and makes their memory. EXHAUSTED, INVALID. */
gyre_status gyre_link_memory_create(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring);
/** Makes memory of its own for a link that comes while the pipeline is open. EXHAUSTED, INVALID. */
gyre_status gyre_link_memory_add(gyre_pipeline *pipeline, struct gyre_link *link);
void gyre_link_memory_destroy(gyre_pipeline *pipeline);
/** Frees what a link has to itself. No block knows it. */
void gyre_link_memory_release(struct gyre_link *link);
/** Makes the table of flows of an entry. EXHAUSTED. */
gyre_status gyre_link_memory_flows(gyre_pipeline *pipeline, struct gyre_pipeline_entry *entry);
/** Whether every request of a lent entry, which blocks do not take from any more, is settled. */
gyre_status gyre_link_memory_settled(const gyre_pipeline *pipeline, const struct gyre_pipeline_entry *entry,
                                     bool *settled);
/**
 * Gives every node a new table of links, and frees the old ones when all blocks obeyed. Under the lock. TIMEOUT when a handler does
 * not return within stop_timeout_ms: then the new tables count all the same, and gyre_link_memory_let_go frees the old ones later.
 */
gyre_status gyre_link_memory_distribute(gyre_pipeline *pipeline);
/**
 * Of a pipeline in a worker process, when all its kernels run in another one: empties all links, begins all flows anew, and shows the
 * kernels the links and the queues of entries. Under the lock. LOST when a kernel does not run (again); EXHAUSTED.
 */
gyre_status gyre_link_memory_renew(gyre_pipeline *pipeline);
/**
 * Frees the replaced tables that no block uses any more. Returns whether none is left of those that the change number `turn`
 * (pipeline->turn) or an earlier one replaced. Under the lock.
 */
bool gyre_link_memory_let_go(gyre_pipeline *pipeline, uint64_t turn);
/** Takes the tables away from all nodes, if any were announced. TIMEOUT when a handler does not return: then blocks may use
 * the links. */
gyre_status gyre_link_memory_withdraw(gyre_pipeline *pipeline);
/** What the rings of a link say; and, of a link in a cycle, what they have room for, as gyre_link_info tells it. */
struct gyre_link_counts {
    uint64_t room, section, held;
    uint64_t address; /* of its first ring, as the device sees it */
    uint64_t sent, waiting, missed, stolen;
    uint32_t takers; /* of a pool: blocks of all members */
    bool is_cut;
};
/** How many flows are under way; 0 without a window. */
uint32_t gyre_link_memory_under_way(const gyre_pipeline *pipeline);
/** Reads the rings of a link, and its gate. */
gyre_status gyre_link_memory_count(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                   struct gyre_link_counts *counts);
/** Adds how long its messages waited (link_times.h), without a wait for the device (gyre_link_store_peek). */
gyre_status gyre_link_memory_times(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                   gyre_observe_histogram *out);
/** The counts without a wait for the device (gyre_link_store_peek). */
gyre_status gyre_link_memory_peek(const gyre_pipeline *pipeline, const struct gyre_link *link,
                                  struct gyre_link_counts *counts);

#endif
