/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines: kernels that send to kernels, for applications. The ports of a kernel (kernel.h, GYRE_PORTS) are joined to
 * other kernels by links; clients send requests to an entry, and each request gets exactly one completion, when
 * everything that it caused is settled.
 *
 *     [pipeline.words]          [link.words]
 *     entry = split             from = split.words
 *     answer = count            to = count
 *
 *     gyre_pipeline *words;
 *     gyre_pipeline_desc desc = {.size = sizeof desc, .name = "words"};
 *     gyre_pipeline_open(runtime, &desc, &words);
 *     gyre_queue *queue = gyre_pipeline_queue(words);
 *     gyre_call(queue, &line, sizeof line, &count, sizeof count, NULL, gyre_in_ms(100));
 *
 * Everything that a request causes is its flow. The completion of a request is
 *
 *     the reply        when exactly one handler of the flow replied, and none failed
 *     without a reply  when no handler replied, and none failed
 *     a failure        when a handler failed: the first failure counts; also when two handlers replied
 *
 * A topic is a port with several links: each of its subscribers gets every message. Links of one topic name it:
 *
 *     [topic.prices]            from = feed.tick           ; one port or several
 *     to = risk, book           taps = audit               ; flows wait for `to`, and not for `taps`
 *
 * A pool is a port, or several, with several targets of which any takes a message, so work goes to whoever has time for it. Links of
 * one pool name it:
 *
 *     [pool.work]               from = deal.jobs, solve.more
 *     members = solve, check    order = newest             ; its own work newest first, that of others oldest first
 *
 * Links are bounded: a full link holds its sender up, back to the client. Within a link the messages of one block of
 * the sender arrive in their order at a target of one block; at one of several blocks, those of equal keys do where the link is
 * shared by key. Links lie in memory of the kernels' device.
 *
 * Links may form cycles: `quota` limits how many messages of one request are alive, and `window` how many requests are under
 * way, so that a cycle is never full. A request that exceeds its quota fails (-16), and no other one does.
 *
 * A port may ask (kernel.h, ASK): the reply of the kernel that it leads to comes back to the kernel that asked, by a link that Gyre
 * adds. So asks form cycles, and need a quota. A request fails with -22 when nobody replied to it and an ask had no answer.
 *
 * Kernels of a pipeline may be on several devices and backends. Threads of this program carry what goes from one to another. Where
 * a device moves its messages by itself (CUDA), it is a part of such a pipeline: clients enter elsewhere, and a message that leads
 * into the part is settled with all that it causes there. A kernel is in one pipeline at most. The kernels of an open pipeline
 * cannot be terminated; they can be paused.
 *
 * Threads, deadlines and errors as in gyre.h. Stability: as gyre.h.
 */
#ifndef GYRE_PIPELINE_H
#define GYRE_PIPELINE_H

#include "gyre/gyre.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GYRE_PIPELINE_NAME_MAX = 64 }; /* bytes of names of pipelines, kernels and ports */

/**
 * gyre_launch_desc.stage: what a kernel is compiled with beside its handlers, so that pipelines may have it, as in GYRE_STAGE_COUNTED +
 * GYRE_STAGE_WITH_ASKS + GYRE_STAGE_WITH_ROUNDS. A kernel with ports, and one that a wiring section names, can be a stage without a
 * word; on a GPU others hold no trace of links.
 */
enum gyre_launch_stage {
    GYRE_STAGE_LINKED = 1,  /* a stage of a pipeline */
    GYRE_STAGE_COUNTED = 2, /* of a pipeline with a window or a quota, or a stage that sends to programs */
    /* what a GYRE_STAGE_COUNTED has besides: these are added to it */
    GYRE_STAGE_WITH_ASKS = 1,    /* kernels of its pipeline ask */
    GYRE_STAGE_WITH_POOL = 2,    /* it is a member of a pool */
    GYRE_STAGE_WITH_ROUNDS = 4,  /* its pipeline has rounds */
    GYRE_STAGE_WITH_LEVELS = 8,  /* links with levels lead to it */
    GYRE_STAGE_WITH_CHOICES = 16 /* a link leads to one of its types */
};

typedef struct gyre_pipeline gyre_pipeline;

/** What a topic does while a subscriber has no room for a message. What a subscriber misses is counted (gyre_link_info.missed). */
typedef enum gyre_slow {
    GYRE_SLOW_WAIT = 0, /* holds the sender up, as a link does */
    GYRE_SLOW_DROP = 1, /* the subscriber misses the message: the flow goes on without it */
    GYRE_SLOW_CUT =
        2, /* the subscriber misses it, and every later message of the topic, until it leaves that */
    /**
     * The subscriber is a tap: it misses the message, and flows do not wait for those that it gets. What its handler replies is
     * thrown away, what it emits belongs to no flow either, and it sees no header and no flow id.
     */
    GYRE_SLOW_TAP = 3
} gyre_slow;

/** Which block of its target gets a message of a link. */
typedef enum gyre_share {
    GYRE_SHARE_ANY = 0, /* one that has time; of a keyed actor the one that owns the message's key */
    /**
     * The same one for all messages whose field gyre_link_desc.key is equal: they are handled one after the other, those of a
     * block of the sender in their order.
     */
    GYRE_SHARE_KEY = 1
} gyre_share;

/** In which order a member of a pool takes what it emitted to the pool itself. What others emitted is taken oldest first. */
typedef enum gyre_pool_order {
    /** The newest first: a tree is searched in depth, and few of its messages are alive at once. */
    GYRE_POOL_NEWEST_FIRST = 0,
    GYRE_POOL_OLDEST_FIRST = 1
} gyre_pool_order;

/** A link: from a port of one kernel to another kernel. */
typedef struct gyre_link_desc {
    size_t size;
    const char *name; /* for people; NULL: `from` */
    const char *from; /* "KERNEL.PORT" */
    /**
     * "KERNEL"; "KERNEL:TYPE" of one that takes several types (GYRE_PROTOCOL): the messages come as that one; "host": programs subscribe to it by `name` (subscribe.h); "nowhere": what is emitted is counted, and thrown
     * away.
     */
    const char *to;
    uint64_t
        capacity; /* messages that each block of the sender may have under way; a power of two; 0: Gyre chooses */
    /** NULL: the port has this link alone. Else the links of the port all name this topic, and each leads to another kernel. */
    const char *topic;
    gyre_slow slow; /* of a subscriber of a topic */
    gyre_share share;
    /**
     * With GYRE_SHARE_KEY: integers or an id128 of 64 bytes at most in the fixed part of the message, "account" or "order.account".
     * NULL: the key of the keyed actor that the link leads to.
     */
    const char *key;
    /** NULL: as `topic` says. Else the links of the port all name this pool, and each leads to a member, which any may take from. */
    const char *pool;
    gyre_pool_order order; /* of a pool; the same for all links of a port */
    /**
     * 0 to 3. A block of the target takes what came by a link of a higher level first, whatever waits on others; of 16 times that it takes
     * messages it begins once at the link whose turn it is, so none is left out for ever. Not of an outlet or a way to nowhere; on CUDA not of
     * a tap or a pool either, nor of a link to a member of a pool. All members of a pool have the same level.
     */
    uint32_t level;
} gyre_link_desc;

typedef struct gyre_pipeline_desc {
    size_t size;
    const char *name; /* [pipeline.NAME] configures what is 0 or NULL below */
    /** Kernels whose queues clients use. 0 entries: as configured. */
    const char *const *entries;
    size_t entry_count;
    /** Kernels that may answer: their replies complete requests. 0: as configured. */
    const char *const *answers;
    size_t answer_count;
    /** 0: the sections [link.NAME], [topic.NAME] and [pool.NAME] with a `from` of a kernel that the entries lead to. */
    const gyre_link_desc *links;
    size_t link_count;
    /** Not 0: every link gets its least capacity, to find what depends on room. */
    uint32_t links_tight;
    uint32_t
        window; /* requests that may be under way at once; 0: as configured, which may be: Gyre chooses */
    uint32_t
        quota; /* messages of one request that may be alive at once; needed by cycles; 0: as configured */
    /**
     * The kernel that begins rounds: it is called for a request, with a message of zeros and gyre_round (kernel.h), each time that all
     * messages of the request were handled and nobody has replied. NULL: as configured; "": none.
     */
    const char *rounds;
} gyre_pipeline_desc;

/**
 * Joins kernels to a pipeline. Launches the kernels that are configured and not launched yet. Everything is checked before
 * anything is joined. NOT_FOUND (or CONFIG, with the place of the setting that names it) for a kernel that is neither launched nor
 * configured; INVALID (or CONFIG, with the place) for ports that lead nowhere, types that differ, kernels that are asked and do not
 * reply, kernels that no entry leads to, answers of
 * different types, a cycle without a quota, one whose links do not hold `window` times `quota` messages, or one that a tap leads
 * into; UNIMPLEMENTED for kernels of a backend without links, for topics, pools and cycles on one
 * without these, and for what kernels of a device that moves its messages by itself cannot have beside those of other devices. Kernels
 * that it launched stay launched, also after a failure. Owner of *out: the caller,
 * until gyre_pipeline_close or the runtime's close.
 */
GYRE_API gyre_status gyre_pipeline_open(gyre_runtime *runtime, const gyre_pipeline_desc *desc,
                                        gyre_pipeline **out);

/** The queue of the first entry, which the pipeline opened; NULL when `pipeline` is. The pipeline owns it. */
GYRE_API gyre_queue *gyre_pipeline_queue(gyre_pipeline *pipeline);

/**
 * Opens another queue: to the entry of that name; NULL: the first one. Its requests have the type of the entry, its
 * replies that of the answers. The settings of a queue that it cannot have (durability, wire, layout = bridged) are
 * refused with CONFIG. A pipeline
 * has at most 64 queues, with those of attached programs (attach.h). INVALID: its stages have checkpoints in a worker process, and its
 * entries no `timing`, so that nobody knows in which order requests of several queues were taken. Owner of *out: the pipeline, gyre_pipeline_close closes it.
 */
GYRE_API gyre_status gyre_pipeline_queue_open(gyre_pipeline *pipeline, const char *entry,
                                              const gyre_queue_desc *desc, gyre_queue **out);

/**
 * Takes no more requests, and waits until all flows are settled or the deadline. Taps belong to no flow: gyre_link_info.waiting
 * tells what is on its way to one. TIMEOUT when some are not: *left (may be NULL) says how many requests. The pipeline stays
 * open.
 */
GYRE_API gyre_status gyre_pipeline_drain(gyre_pipeline *pipeline, uint64_t deadline_ns, uint64_t *left);

/**
 * Closes the pipeline: takes no more requests, waits until all flows are settled or the deadline, and takes the links
 * apart. Requests that are not settled by then are completed as UNHANDLED, and calls that wait return CLOSED. The kernels stay. A
 * stage that is paused settles nothing, so name a deadline. TIMEOUT when a handler does not return: the pipeline is still there,
 * moves no messages any more, and can be closed again. Accepts NULL.
 */
GYRE_API gyre_status gyre_pipeline_close(gyre_pipeline *pipeline, uint64_t deadline_ns);

/** A link, as it is. */
typedef struct gyre_link_info {
    size_t size;
    char name[128];
    char from[GYRE_PIPELINE_NAME_MAX], port[GYRE_PIPELINE_NAME_MAX];
    char to[GYRE_PIPELINE_NAME_MAX]; /* "nowhere": its messages are thrown away; "host": programs subscribe */
    char type[GYRE_PIPELINE_NAME_MAX];
    uint64_t type_hash;
    uint32_t most; /* messages that one call may emit */
    uint32_t
        rings; /* one for each block of the sender; one in all where the host moves its messages (OpenCL) */
    uint64_t capacity; /* of each ring */
    uint64_t bytes;    /* memory of all rings */
    uint64_t
        sent; /* messages that were emitted since it leads there, or since the pipeline's worker process began; of a subscriber: those that it did not miss;
                 of a member of a pool: those that it took */
    uint64_t waiting;                   /* messages under way now; of a pool: those of all members */
    char topic[GYRE_PIPELINE_NAME_MAX]; /* "": it is no subscriber of a topic */
    uint32_t slow;                      /* a gyre_slow */
    uint32_t is_cut;                    /* not 0: the subscriber was cut off */
    uint64_t missed;                    /* messages that the subscriber missed; as `sent` */
    /*
     * of a link in a cycle: how many messages of the cycle each ring has room for whatever happens, which is its capacity less
     * `section`, `held` and `most`; 0: it is in no cycle
     */
    uint64_t room;
    uint64_t section; /* room that comes back at once, and may be in use for one message */
    uint64_t held;    /* messages that blocks of the target took, and give back together */
    /*
     * 0: a link; 1: its messages ask (ASK in kernel.h); 2: Gyre's own, which leads the answers of the port `port` back; 3: Gyre's own, by
     * which the kernel, when it handled the last message of a round, has the next one begin
     */
    uint32_t talk;
    char answer[GYRE_PIPELINE_NAME_MAX]; /* of one that asks: the type of the answers */
    char key[128]; /* the field whose value decides which block handles a message; "": any block may */
    char pool[GYRE_PIPELINE_NAME_MAX]; /* "": it leads to no pool */
    uint32_t order;                    /* a gyre_pool_order */
    uint32_t takers;                   /* blocks of all members of the pool */
    uint64_t stolen; /* of a member: messages that it took and that another block of a member had emitted */
    /* 1: its ends are on different devices, and threads of this program carry its messages */
    uint32_t through_host;
    uint32_t level;                  /* gyre_link_desc.level */
    char as[GYRE_PIPELINE_NAME_MAX]; /* the type of `to` as which the messages come; "": it takes one */
} gyre_link_info;

/** Describes link number `index`, in the order of the pipeline; NOT_FOUND past the last one. */
GYRE_API gyre_status gyre_pipeline_link(const gyre_pipeline *pipeline, size_t index, gyre_link_info *info);

/** A pipeline, as it is. */
typedef struct gyre_pipeline_info {
    size_t size;
    uint32_t window;    /* requests that may be under way at once; 0: as many as the queues hold */
    uint32_t quota;     /* messages of one request that may be alive at once; 0: any number */
    uint32_t under_way; /* requests that are under way now; 0 without a window */
    uint32_t narrowest; /* of a pipeline with a cycle: the number of the link that allows the fewest */
    uint32_t
        window_most; /* the largest window that the cycles allow, room of that link / quota; 0: there is no cycle */
} gyre_pipeline_info;

/** Tells the limits of the pipeline and what is under way: fills in the members of *info that its size covers. */
GYRE_API gyre_status gyre_pipeline_info_get(const gyre_pipeline *pipeline, gyre_pipeline_info *info);

/* ---- links that change while the pipeline is open ---- */

/*
 * A kernel that is named here is one of the pipeline's, or one that is launched on the same device, without ports: it becomes a
 * stage then, and answers if the kernel that it replaces does. Kernels stay stages until the pipeline is closed. Each call is
 * INVALID for what would be refused when a pipeline is opened, and for links that would form a cycle; UNIMPLEMENTED on a device
 * that moves messages by itself (CUDA); CLOSED for a pipeline that takes no more requests; TIMEOUT when a handler does not
 * return, or the deadline passes: then the change counts all the same, and what it left is freed later. Otherwise a call that
 * fails has changed nothing. Nothing is lost or handled twice.
 */

/**
 * Has a link lead to another kernel, or "nowhere". Waits until the old one is done with the messages that it had. `link`: its name,
 * as gyre_link_info has it; not that of a topic or an outlet. Its counts begin again.
 */
GYRE_API gyre_status gyre_link_retarget(gyre_pipeline *pipeline, const char *link, const char *to,
                                        uint64_t deadline_ns);
/**
 * Adds a kernel to the subscribers of a topic. Of `desc`, `topic`, `to`, `slow`, `capacity` and `level` count; `from` is NULL: all that
 * send to it.
 */
GYRE_API gyre_status gyre_link_open(gyre_pipeline *pipeline, const gyre_link_desc *desc);
/** Takes a kernel off the subscribers of a topic, and waits until it is done with the messages that it had. */
GYRE_API gyre_status gyre_link_close(gyre_pipeline *pipeline, const char *topic, const char *kernel,
                                     uint64_t deadline_ns);

/** Returns the pipeline of that name, or NULL. */
GYRE_API gyre_pipeline *gyre_pipeline_find(gyre_runtime *runtime, const char *name);

#ifdef __cplusplus
}
#endif
#endif
