/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every macro of the dialect that takes names, used once. The user's names end in _mine, so that test_expansions.sh can
 * tell them from Gyre's in what the preprocessor makes of this. It is never compiled: the arguments have no types.
 */
#include <gyre/kernel.h>
/* from here on, words are the user's */
#line 1 "USER"
typedef struct scratch_mine {
    u32 field0_mine;
} scratch_mine;
#define LIST_PLAIN_MINE(FIELD) FIELD(u32, field1_mine) FIELD(u64, field2_mine[3])
GYRE_MESSAGE(plain_mine, LIST_PLAIN_MINE)
#define LIST_TAIL_MINE(FIELD) FIELD(utf8, field3_mine) FIELD(plain_mine, field4_mine[2])
GYRE_MESSAGE_TAIL(tail_mine, LIST_TAIL_MINE, 100)
GYRE_SPAN(span_mine, tail_mine)
GYRE_OPTIONAL(optional_mine, plain_mine)
GYRE_WIRE(plain_mine, "form=packed")
#define LIST_PROTOCOL_MINE(TAKES) TAKES(plain_mine, tail_mine) TAKES(tail_mine, gyre_none)
GYRE_PROTOCOL(protocol_mine, LIST_PROTOCOL_MINE)
#define LIST_BUFFERS_MINE(IN, INOUT) IN(f32, buffer1_mine) INOUT(plain_mine, buffer2_mine)
GYRE_BUFFERS(buffers_mine, LIST_BUFFERS_MINE)
#define LIST_PORTS_MINE(PORT) PORT(plain_mine, port1_mine, 8) PORT(tail_mine, port2_mine, 1)
GYRE_PORTS(ports_mine, LIST_PORTS_MINE)
GYRE_CONSTANT u32 table_mine[1] = {1};
GYRE_HELPER u32 helper_mine(u32 argument_mine)
{
    return argument_mine;
}
GYRE_KERNEL(kernel1_mine, plain_mine, tail_mine)
{
    return GYRE_REPLY;
}
GYRE_KERNEL_WITH(kernel2_mine, plain_mine, tail_mine, plain_mine, buffers_mine)
{
    return GYRE_REPLY;
}
GYRE_BLOCK_KERNEL(kernel3_mine, plain_mine, tail_mine, scratch_mine)
{
    return GYRE_REPLY;
}
GYRE_BLOCK_KERNEL_WITH(kernel4_mine, plain_mine, tail_mine, scratch_mine, plain_mine, buffers_mine)
{
    return GYRE_REPLY;
}
GYRE_ACTOR(kernel5_mine, plain_mine, tail_mine, plain_mine)
{
    return GYRE_REPLY;
}
GYRE_ACTOR_WITH(kernel6_mine, plain_mine, tail_mine, plain_mine, buffers_mine)
{
    return GYRE_REPLY;
}
GYRE_KERNEL_TO(kernel13_mine, plain_mine, tail_mine, ports_mine)
{
    gyre_emit(c_mine, port1_mine);
    gyre_hop(c_mine);
    gyre_flow_id(c_mine);
    return GYRE_NO_REPLY;
}
GYRE_KERNEL_TO_WITH(kernel14_mine, plain_mine, tail_mine, ports_mine, plain_mine, buffers_mine)
{
    return GYRE_REPLY;
}
GYRE_BLOCK_KERNEL_TO(kernel15_mine, plain_mine, tail_mine, ports_mine, scratch_mine)
{
    return GYRE_REPLY;
}
GYRE_BLOCK_KERNEL_TO_WITH(kernel16_mine, plain_mine, tail_mine, ports_mine, scratch_mine, plain_mine,
                          buffers_mine)
{
    return GYRE_REPLY;
}
GYRE_ACTOR_TO(kernel17_mine, plain_mine, tail_mine, ports_mine, plain_mine)
{
    return GYRE_REPLY;
}
GYRE_ACTOR_TO_WITH(kernel18_mine, plain_mine, tail_mine, ports_mine, plain_mine, buffers_mine)
{
    return GYRE_REPLY;
}
#ifndef GYRE_WIRED
GYRE_KERNEL_OF_TO(kernel19_mine, LIST_PROTOCOL_MINE, ports_mine)
GYRE_KERNEL_OF_TO_WITH(kernel20_mine, LIST_PROTOCOL_MINE, ports_mine, plain_mine, buffers_mine)
GYRE_BLOCK_KERNEL_OF_TO(kernel21_mine, LIST_PROTOCOL_MINE, ports_mine, scratch_mine)
GYRE_BLOCK_KERNEL_OF_TO_WITH(kernel22_mine, LIST_PROTOCOL_MINE, ports_mine, scratch_mine, plain_mine,
                             buffers_mine)
GYRE_ACTOR_OF_TO(kernel23_mine, LIST_PROTOCOL_MINE, ports_mine, plain_mine)
GYRE_ACTOR_OF_TO_WITH(kernel24_mine, LIST_PROTOCOL_MINE, ports_mine, plain_mine, buffers_mine)
GYRE_HANDLER_TO(kernel24_mine, plain_mine, tail_mine)
{
    return GYRE_REPLY;
}
GYRE_KERNEL_OF(kernel7_mine, LIST_PROTOCOL_MINE)
GYRE_KERNEL_OF_WITH(kernel8_mine, LIST_PROTOCOL_MINE, plain_mine, buffers_mine)
GYRE_BLOCK_KERNEL_OF(kernel9_mine, LIST_PROTOCOL_MINE, scratch_mine)
GYRE_BLOCK_KERNEL_OF_WITH(kernel10_mine, LIST_PROTOCOL_MINE, scratch_mine, plain_mine, buffers_mine)
GYRE_ACTOR_OF(kernel11_mine, LIST_PROTOCOL_MINE, plain_mine)
GYRE_ACTOR_OF_WITH(kernel12_mine, LIST_PROTOCOL_MINE, plain_mine, buffers_mine)
GYRE_HANDLER(kernel12_mine, plain_mine, tail_mine)
{
    gyre_items(plain_mine, a_mine, b_mine);
    gyre_writable(plain_mine, a_mine, b_mine);
    gyre_get(c_mine, plain_mine, a_mine, b_mine, d_mine);
    gyre_set(c_mine, plain_mine, a_mine, b_mine, d_mine, e_mine);
    gyre_new(c_mine, plain_mine, a_mine, b_mine);
    gyre_copy(c_mine, plain_mine, a_mine, b_mine, d_mine);
    gyre_new_text(c_mine, a_mine, b_mine);
    gyre_new_in(c_mine, plain_mine, a_mine, b_mine, d_mine, e_mine);
    gyre_has(a_mine);
    gyre_cut(c_mine, plain_mine, a_mine, b_mine, d_mine);
    gyre_begin(a_mine);
    gyre_open(c_mine, plain_mine, a_mine, b_mine);
    gyre_fail(c_mine, a_mine, b_mine);
    gyre_assert(c_mine, a_mine);
    gyre_log(c_mine, a_mine, b_mine);
    gyre_barrier(c_mine);
    gyre_block_sum_u32(c_mine, a_mine);
    gyre_block_broadcast_f32(c_mine, a_mine, b_mine);
    gyre_atomic_add(a_mine, b_mine);
    gyre_atomic_min(a_mine, b_mine);
    gyre_atomic_exchange(a_mine, b_mine);
    gyre_atomic_compare_exchange(a_mine, b_mine, d_mine);
    gyre_atomic_load(a_mine);
    gyre_atomic_store(a_mine, b_mine);
    gyre_atomic_add_f32(a_mine, b_mine);
    return GYRE_REPLY;
}
GYRE_QUERY(kernel12_mine, tail_mine, gyre_none)
{
    return GYRE_NO_REPLY;
}
#endif
GYRE_EXPORT_KERNELS_
