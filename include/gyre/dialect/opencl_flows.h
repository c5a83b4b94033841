/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the entry of an epoch does besides, for kernels that can be stages of a pipeline: it tells the handler of its flow
 * and its header, aims the ports at the places behind the reply, and notes how much was emitted. Included by
 * opencl_epoch.h. In files that are compiled without GYRE_STAGE all of it is empty.
 *
 * The host puts an epoch of such a kernel together from links and queues (gyre_cell_places in opencl_module.h).
 */
#ifndef GYRE_DIALECT_OPENCL_FLOWS_H
#define GYRE_DIALECT_OPENCL_FLOWS_H

#if GYRE_STAGE
#define GYRE_EPOCH_LINKS_       , const gyre_cell_places gyre_its_links_
#define GYRE_STAGE_MARK_(name_) GYRE_EXPORTED_TEXT_(gyre_stage_##name_, "stage")

GYRE_HELPER void gyre_flows_none_(gyre_context *gyre)
{
    gyre->origin = gyre->flow_id = 0;
    gyre->ports = 0;
    gyre->turn = gyre->again = gyre->token = 0;
    gyre->memory_size = 0;
    gyre->memory = 0;
}

/* Tells the handler which flow message i belongs to, and where its header and the memory of the flow are. */
GYRE_HELPER void gyre_flows_tell_(gyre_context *gyre, const gyre_epoch *epoch, const gyre_cell_places *links,
                                  const __global gyre_u8 *requests, __global gyre_u8 *replies, gyre_u32 i)
{
    const __global gyre_cell_flow *flow =
        (const __global gyre_cell_flow *)(requests + (gyre_u64)i * epoch->request_stride +
                                          links->flow_offset);
    gyre->origin = flow->origin;
    gyre->flow_id = flow->id;
    gyre->turn = flow->reserved[GYRE_CELL_TURN];
    gyre->token = flow->reserved[GYRE_CELL_TOKEN];
    gyre->again = 0;
    gyre->memory_size = links->memory_size;
    gyre->memory = flow->reserved[GYRE_CELL_MEMORY]
                       ? (__global void *)(replies + (gyre_u64)flow->reserved[GYRE_CELL_MEMORY] * 16)
                       : 0;
#if GYRE_HEADED
    gyre->header_size = flow->header_size;
    gyre->header = flow->header_size ? (const __global gyre_u8 *)(flow + 1) : 0;
#endif
}

/* Aims the ports at the places of message i. */
GYRE_HELPER void gyre_flows_aim_(gyre_opencl_port *ports, __constant gyre_u32 *most, gyre_u32 count,
                                 const gyre_epoch *epoch, const gyre_cell_places *links,
                                 __global gyre_u8 *replies, gyre_u32 i)
{
    __global gyre_u8 *cell = replies + (gyre_u64)i * epoch->reply_stride;
    for (gyre_u32 port = 0; port < count; port++) {
        ports[port].places = cell + links->places_offset[port];
        ports[port].stride = links->strides[port];
        ports[port].most = most[port];
        ports[port].emitted = 0;
    }
}

/*
 * Notes how much the handler of message i emitted, and, behind that, whether it wants to be called again. Called by the lane that
 * emits.
 */
GYRE_HELPER void gyre_flows_count_(const gyre_context *gyre, const gyre_opencl_port *ports, gyre_u32 count,
                                   const gyre_epoch *epoch, const gyre_cell_places *links,
                                   __global gyre_u8 *replies, gyre_u32 i)
{
    __global gyre_u32 *counts =
        (__global gyre_u32 *)(replies + (gyre_u64)i * epoch->reply_stride + links->counts_offset);
    for (gyre_u32 port = 0; port < count; port++)
        counts[port] = ports[port].emitted;
    counts[count] = gyre->again && !gyre->failed;
}

/*
 * Returns a number that ends the loop of a block whose message wants its handler to be called again: until then the block takes no
 * other one. All lanes see what lane 0 noted before their barrier. `ready`: the handler was called at all.
 */
GYRE_HELPER gyre_u32 gyre_flows_end_(gyre_u32 count, const gyre_epoch *epoch, const gyre_cell_places *links,
                                     const __global gyre_u8 *replies, gyre_u32 i, int ready)
{
    const __global gyre_u32 *counts =
        (const __global gyre_u32 *)(replies + (gyre_u64)i * epoch->reply_stride + links->counts_offset);
    return ready && counts[count] ? 0x40000000u : 0;
}

#define GYRE_FLOWS_NONE_(gyre) gyre_flows_none_(gyre)
#define GYRE_FLOWS_TELL_(gyre, epoch, requests, i)                                                           \
    gyre_flows_tell_((gyre), (epoch), &gyre_its_links_, (requests), gyre_its_replies_, (i))

/* The forms with ports, whose struct is `gyre_its_ports_` in the entry. */
#define GYRE_HAVE_TO_(ports_, gyre)                                                                          \
    ports_ gyre_its_ports_;                                                                                  \
    (gyre)->ports = &gyre_its_ports_
#define GYRE_AIM_TO_(ports_, epoch, replies, i)                                                              \
    gyre_flows_aim_((gyre_opencl_port *)&gyre_its_ports_, gyre_ports_most_##ports_, gyre_ports_of_##ports_,  \
                    (epoch), &gyre_its_links_, (replies), (i))
#define GYRE_COUNT_TO_(ports_, epoch, replies, i)                                                            \
    gyre_flows_count_(&gyre_its_context_, (const gyre_opencl_port *)&gyre_its_ports_,                        \
                      gyre_ports_of_##ports_, (epoch), &gyre_its_links_, (replies), (i))
/* Behind a message, in the loop of a lane alone, and in that of a block. */
#define GYRE_STOP_TO_(gyre)                                                                                  \
    if ((gyre)->again && !(gyre)->failed)                                                                    \
        break;
#define GYRE_END_TO_(ports_, at_, ready_)                                                                    \
    at_ |= gyre_flows_end_(gyre_ports_of_##ports_, &gyre_its_epoch_, &gyre_its_links_, gyre_its_replies_,    \
                           (at_), (ready_));
#define GYRE_CALL_TO_(name_, request, reply, state, scratch, buffers, gyre)                                  \
    gyre_handler_##name_((request), (reply), (state), (scratch), (buffers), (gyre), &gyre_its_ports_)
#else
#define GYRE_EPOCH_LINKS_
#define GYRE_STAGE_MARK_(name_)
#define GYRE_FLOWS_NONE_(gyre)                     ((void)0)
#define GYRE_FLOWS_TELL_(gyre, epoch, requests, i) ((void)0)
#endif

/* What only keyed actors do, before and behind the messages of an epoch (opencl_keyed.h). */
#define GYRE_BEGIN_NO_(name_, epoch, state, gyre) ((void)0)
#define GYRE_CLOSE_NO_(name_, gyre)               ((void)0)
#define GYRE_BEGIN_TO_(name_, epoch, state, gyre) ((void)0)
#define GYRE_CLOSE_TO_(name_, gyre)               ((void)0)

/* The forms without ports. */
#define GYRE_HAVE_NO_(ports_, gyre)               ((void)0)
#define GYRE_AIM_NO_(ports_, epoch, replies, i)   ((void)0)
#define GYRE_COUNT_NO_(ports_, epoch, replies, i) ((void)0)
#define GYRE_STOP_NO_(gyre)
#define GYRE_END_NO_(ports_, at_, ready_)
#define GYRE_CALL_NO_(name_, request, reply, state, scratch, buffers, gyre)                                  \
    gyre_handler_##name_((request), (reply), (state), (scratch), (buffers), (gyre))

#endif
