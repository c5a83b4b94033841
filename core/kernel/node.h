/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel as a node (a stage) of a pipeline: what core/links needs to know of it, and does with it. The pipeline itself, its
 * links and their memory are core/links.
 */
#ifndef GYRE_CORE_KERNEL_NODE_H
#define GYRE_CORE_KERNEL_NODE_H

#include "core/kernel/kernel.h"
#include "core/kernel/kernel_queue.h"
#include "gyre/link_layout.h"

/** What does not change while a kernel is a stage. Pointers are valid as long as the kernel. */
struct gyre_node_facts {
    const char *name;
    const gyre_kernel_record *record;
    struct gyre_dispatch *device;
    uint32_t blocks;
    uint32_t
        movers; /* blocks that take and send messages of links by themselves; 1: the device does it for all of them */
    bool by_threads; /* threads of a process, this one or a worker, move messages of links for the device */
    bool in_host;    /* links of this kernel lie in memory of this process */
    bool
        is_shared; /* and so do those to kernels of other devices of this process of which that is said (GYRE_LINKING_SHARED) */
    bool
        in_worker; /* the device is in a worker process, which sees links of this kernel in regions of this process */
    gyre_control_region *control_here; /* the control region, in this process */
    /* of a kernel in a worker process: as of its worker number `generation`, see gyre_node_find */
    uint64_t control; /* address of the control region, as the device sees it; 0: it has none yet */
    uint64_t generation;
};
struct gyre_node_facts gyre_node_facts_of(const gyre_kernel *kernel);

/** What a link needs of its target, which its device has or not, and with which a kernel is compiled or not. */
struct gyre_node_need {
    const char *before;       /* in front of each sentence: "level: ", or "" */
    uint32_t linking;         /* a bit of gyre_device_info.knows_links */
    const char *device_lacks; /* behind "runs on backend 'X', which " */
    bool is_left_out;         /* the kernel was compiled without */
    const char *build_lacks;  /* behind "was compiled without " */
    const char *stage;        /* the name of the GYRE_STAGE_WITH_... that it takes */
    const char *instead;      /* what else can be done */
};
/** Refuses a target that has not what is needed: UNIMPLEMENTED by its device, INVALID by how it was compiled. */
gyre_status gyre_node_check_need(const struct gyre_node_facts *facts, const struct gyre_node_need *need);
/** Finds out where the kernel's present worker sees the control region. Returns whether it had moved. Without a worker: 0. */
bool gyre_node_find(gyre_kernel *kernel, struct gyre_node_facts *facts);

/**
 * Makes the kernel a stage of a pipeline, which is a guest of the runtime; a release of the kernel ends it first. INVALID when the
 * kernel is a stage already; UNIMPLEMENTED for a kernel whose device knows no links, or that runs in a worker process where they
 * are not linked; CLOSED or LOST for one that does not run, or is being released.
 */
gyre_status gyre_node_join(gyre_kernel *kernel, struct gyre_runtime_guest *pipeline, const char *name);
/** The pipeline is listed as a guest. Until then a release of the kernel waits. */
void gyre_node_made(gyre_kernel *kernel);
/** The kernel is no stage any more. No block uses a table of links. */
void gyre_node_leave(gyre_kernel *kernel);

/**
 * Names the table of links that the kernel's blocks use from now on (0: none). Returns the command to obey, before they do. 0, and
 * nothing is named: the addresses in the table are those of another worker process than the present one.
 */
uint64_t gyre_node_wire(gyre_kernel *kernel, const struct gyre_node_facts *facts, uint64_t table);
/**
 * As gyre_node_wire, for a kernel whose worker process is another one since its blocks had a table: now they get to see the queues
 * that enter the pipeline, too. False: that worker died as well, or the kernel is lost.
 */
bool gyre_node_wire_again(gyre_kernel *kernel, const struct gyre_node_facts *facts, uint64_t table);
/** Whether the kernel is a stage of a pipeline. Under the lock. */
static inline bool gyre_node_is_stage(const gyre_kernel *kernel)
{
    return kernel->node.pipeline != NULL;
}
/** The pipeline of the kernel, only to be compared; NULL: it is in none. Takes the lock. */
const void *gyre_node_pipeline(gyre_kernel *kernel);
/** Whether a block of the kernel was at a message of the flow of request `index` of entry `number` when its worker died. */
bool gyre_node_was_at(const gyre_kernel *kernel, uint32_t number, uint64_t index);
/** Whether the kernel is a stage whose handler keeps something, has no checkpoints, and begins anew after a death (on_loss). */
bool gyre_node_begins_anew(gyre_kernel *kernel);
/** Tells the log that it does. */
void gyre_node_tell_anew(const gyre_kernel *kernel);
/** Whether the kernel's blocks wait for gyre_node_wire_again. Not while the kernel waits for a worker. */
bool gyre_node_awaits_wires(gyre_kernel *kernel);
/** Visits the pipeline that the kernel is a stage of, unless it is not listed, and has it wire those of its stages anew that are
 * on the kernel's device. `by_keeper`: in the
 * thread of the worker's keeper, which others wait for. */
gyre_status gyre_node_revive_pipeline(gyre_kernel *kernel, bool by_keeper);
/** Visits the pipeline that the kernel is a stage of, and has it take a checkpoint of its stages. AGAIN: it is not listed. */
gyre_status gyre_node_save_pipeline(gyre_kernel *kernel, uint64_t deadline_ns);
/** Gives the blocks a command that changes nothing: they read the table of queues. Returns the command, before they obey. */
uint64_t gyre_node_tell(gyre_kernel *kernel);
/** Waits until every block obeyed, or is gone with its worker process. TIMEOUT when a handler does not return within stop_timeout_ms. */
gyre_status gyre_node_await(gyre_kernel *kernel);
/** Whether every block obeyed the command, or is gone with its worker process, which stays so. Waits for nothing. */
bool gyre_node_obeyed(gyre_kernel *kernel, uint64_t command);

/**
 * Opens a queue that enters the pipeline (`lent`: see gyre_kernel_add_entry). The pipeline owns it, until gyre_node_close_entry.
 * gyre_queue_find does not find it until gyre_node_show_entry: a request that comes before all blocks know the entry would be
 * handled outside its flow.
 */
gyre_status gyre_node_open_entry(gyre_kernel *kernel, const struct gyre_kernel_face *face,
                                 const gyre_queue_desc *desc, const char *section,
                                 struct gyre_queue_options *lent, gyre_queue **out);
/** All blocks know the entry: clients may find its queue. */
void gyre_node_show_entry(gyre_queue *queue);
/** Tells who looks into blocks by which number their pipeline knows the entry. */
void gyre_node_number_entry(gyre_queue *queue, uint32_t number);
/** Tells blocks where the requests of the queue lie, and their completions go. */
void gyre_node_describe_entry(const gyre_queue *queue, gyre_link_entry *entry);
/** Hides the queue from the blocks, which obey at the next gyre_node_wire. */
void gyre_node_hide_entry(gyre_queue *queue);
void gyre_node_close_entry(gyre_queue *queue);
/** Makes every call on the queue return, and leaves its memory to a block that may use it for ever. */
void gyre_node_abandon_entry(gyre_queue *queue);
/** As gyre_node_leave, for a kernel whose memory a block of another stage may use for ever: its release frees nothing. */
void gyre_node_leave_used(gyre_kernel *kernel);
/** Visits the kernel, which is a node: it is not freed before gyre_kernel_leave. */
void gyre_node_hold(gyre_kernel *kernel);
/** The pipeline is among the runtime's guests again: a release of the kernel that waits for its end may end it itself. */
void gyre_node_listed(gyre_kernel *kernel);

/** INVALID, with the call's name, while the kernel is a stage of a pipeline. Under kernel->lock. */
gyre_status gyre_node_check_free(const gyre_kernel *kernel, const char *call);
/** Closes the pipeline that the kernel is a stage of, if it is of one. The kernel joins no other one afterwards. */
void gyre_node_end(gyre_kernel *kernel);

#endif
