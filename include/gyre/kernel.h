/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * The kernel dialect: for handler authors. One text compiles as C11 (CPU), CUDA C++ (NVRTC) and OpenCL C.
 *
 *     #include <gyre/kernel.h>
 *     #include "vector_add.h"
 *
 *     GYRE_KERNEL(vector_add, add_request, add_reply)
 *     {
 *         for (u32 i = 0; i < 25; i++)
 *             reply->sum[i] = request->a[i] + request->b[i];
 *         return GYRE_REPLY;
 *     }
 *
 * A handler is called once for each request. Its parameters: `request` (read only), `reply` (fill it and
 * return GYRE_REPLY; bytes that were not written are unspecified), `gyre` (the context that the functions
 * below take), and, as far as the kernel declares them, `state`, `scratch` and `buffers`. Forms:
 *
 *     lane    GYRE_KERNEL(name, request, reply)
 *             GYRE_KERNEL_WITH(name, request, reply, state, buffers)
 *             One message a lane, many at once and in no order: shared state needs atomics.
 *
 *     block   GYRE_BLOCK_KERNEL(name, request, reply, scratch)
 *             GYRE_BLOCK_KERNEL_WITH(name, request, reply, scratch, state, buffers)
 *             All lanes of a block run the handler for the same message, with barriers and a shared `scratch`.
 *             The result is lane 0's, or the failure of the lowest lane that failed.
 *
 *     grid    GYRE_GRID_KERNEL(name, request, reply, scratch)
 *             GYRE_GRID_KERNEL_WITH(name, request, reply, scratch, state, buffers)
 *             All lanes of all blocks run the handler for the same message, and meet at `gyre_grid_barrier(gyre)`. The scratch is
 *             a block's own. The result is that of lane 0 of block 0, or the failure of the lowest lane of the lowest block that
 *             failed.
 *
 *     actor   GYRE_ACTOR(name, request, reply, state)
 *             GYRE_ACTOR_WITH(name, request, reply, state, buffers)
 *             One lane in one block: messages one after the other, in the order of each queue.
 *
 *     keyed   GYRE_KEYED_ACTOR(name, request, reply, state, key)
 *             An actor for each value of the request's field `key`: messages of equal keys one after the other, each with the
 *             state of its key; other keys in other blocks. `gyre_forget(gyre)` lets the message's key leave.
 *             GYRE_KEYED_ACTOR_LIVES, with the same arguments, says when keys come and go:
 *                 GYRE_BORN(name) { state->limit = request->limit; }        a key's first message
 *                 GYRE_PASSIVE(name) { return GYRE_LEAVES; }                no room for another key; or GYRE_STAYS
 *             GYRE_KEYED_ACTOR_REMINDED, with the same arguments, handles what `gyre_remind(gyre, ns)` asks for, that long later:
 *                 GYRE_REMINDED(name) { state->open = 0; }                  a key's reminder, `reminder`; `gyre_unremind(gyre)`
 *             GYRE_KEYED_ACTOR_LIVES_REMINDED has all three.
 *             docs/keyed.md
 *
 * A kernel that takes several message types has a handler for each; their parameters are those of its form:
 *
 *     GYRE_ACTOR_OF(desk, DESK, ledger)               also GYRE_KERNEL_OF(name, LIST) and
 *     GYRE_HANDLER(desk, deposit, balance)            GYRE_BLOCK_KERNEL_OF(name, LIST, scratch); each also _WITH,
 *     {                                               with state and buffers at the end as above
 *         reply->cents = state->cents += request->cents;
 *         return GYRE_REPLY;
 *     }
 *
 * DESK is the list that GYRE_PROTOCOL was given (message.h). In a file a type has one handler. A handler that asks and
 * changes nothing is written GYRE_QUERY(desk, memo, memo_seen): its state and buffers are const, a journal does not
 * hold its requests, and none is handled again from a checkpoint on.
 *
 * Write gyre_none where a kernel has no reply, scratch, state or buffers. A scratch may be any struct; request, reply
 * and state are messages. State is zero at launch unless the host gives other bytes. A state has neither a tail nor parts:
 * it keeps a text in an array of u8 (gyre_string_store).
 *
 *     #define RANK_BUFFERS(IN, INOUT) IN(f32, weights) INOUT(f32, ranks)
 *     GYRE_BUFFERS(rank_buffers, RANK_BUFFERS)
 *
 * declares at most 8 device buffers that the host binds by name: `buffers->weights[i]`, `buffers->weights_count`.
 *
 *     #define SPLIT_PORTS(PORT) PORT(word, words, 8) PORT(line_error, errors, 1)
 *     GYRE_PORTS(split_ports, SPLIT_PORTS)
 *     GYRE_KERNEL_TO(split, line, gyre_none, split_ports)
 *
 * declares a kernel with two ports, outputs that lead to other kernels: the type of a port's messages, its name, and how
 * many one call may emit (1 to 4096). A kernel has at most 8 ports. Its handler has them as the parameter `ports`, and
 * `gyre_emit(gyre, words)` gives the place of the next message. The other forms:
 *
 *     GYRE_KERNEL_TO_WITH(name, request, reply, ports, state, buffers)
 *     GYRE_BLOCK_KERNEL_TO(name, request, reply, ports, scratch), lane 0 emits
 *     GYRE_BLOCK_KERNEL_TO_WITH(name, request, reply, ports, scratch, state, buffers)
 *     GYRE_GRID_KERNEL_TO(name, request, reply, ports, scratch), lane 0 of block 0 emits
 *     GYRE_GRID_KERNEL_TO_WITH(name, request, reply, ports, scratch, state, buffers)
 *     GYRE_ACTOR_TO(name, request, reply, ports, state)
 *     GYRE_ACTOR_TO_WITH(name, request, reply, ports, state, buffers)
 *     GYRE_KEYED_ACTOR_TO(name, request, reply, ports, state, key), and GYRE_KEYED_ACTOR_LIVES_TO, GYRE_KEYED_ACTOR_REMINDED_TO and
 *     GYRE_KEYED_ACTOR_LIVES_REMINDED_TO with the same arguments; their hooks emit nothing. On the CPU and OpenCL
 *     GYRE_KERNEL_OF_TO(name, LIST, ports), GYRE_BLOCK_KERNEL_OF_TO(name, LIST, ports, scratch),
 *     GYRE_ACTOR_OF_TO(name, LIST, ports, state), each also _WITH; a handler that emits: GYRE_HANDLER_TO
 *
 * A port may ask: the kernel that it leads to answers by its reply, which comes back as a message of this kernel. The kernel takes it as a request: of its one type, or of one of its protocol.
 *
 *     #define DESK_PORTS(PORT, ASK) PORT(word, words, 8) ASK(order, offer, shop, 2)
 *     GYRE_PORTS_WITH_ASKS(desk_ports, DESK_PORTS)
 *
 * A message with a field of type gyre_handle names a device buffer of the host's choice:
 *
 *     u64 count;
 *     const GYRE_GLOBAL f32 *values = gyre_open(gyre, f32, &request->values, &count);
 *
 * gives the address and the number of elements that the handle covers; NULL and 0, with the message failed, when
 * the buffer was freed, is another device's, or does not hold what the handle says. The address is valid until the
 * handler returns.
 *
 * A state of an earlier type, which a journal holds, becomes the present one by the names of its fields; where that is not
 * enough, the file says how, in
 *
 *     GYRE_MIGRATE(account_v1, account)
 *     {
 *         state->cents = before->euros * 100;
 *     }
 *
 * `before` is the state in the journal, `state` the launch's initial one (zero unless the host gives other bytes).
 * docs/kernels.md
 *
 * Pointers: `request`, `reply`, `state` and `buffers` point to GYRE_GLOBAL memory, `scratch` points to GYRE_SHARED
 * memory; a helper function that takes such a pointer says so (`GYRE_HELPER f32 sum(const GYRE_GLOBAL f32 *x)`).
 * Constant tables are GYRE_CONSTANT. Helper functions are GYRE_HELPER.
 *
 * Messages whose parts change in size are declared with GYRE_MESSAGE_TAIL; dialect/parts.h has the functions that
 * handlers use on them. A file that declares any includes <gyre/kernel.h> first.
 *
 * Not in the dialect: recursion, allocation, function pointers, stdio, vendor headers, variable-length
 * arrays. The check stage refuses each with file, line and reason. docs/kernels.md shows every construct with
 * an example.
 *
 * Stability: sources compile unchanged within a major version.
 */
/* clang-format on */
#ifndef GYRE_KERNEL_H
#define GYRE_KERNEL_H

#include "gyre/message.h"
#include "gyre/ring_layout.h"

/** The values that a handler returns. */
typedef int gyre_result;
#define GYRE_REPLY    1
#define GYRE_NO_REPLY 2
/* GYRE_MORE, of kernels with ports: called again with the same message (see below) */
#define GYRE_FAILED 3 /* only through `return gyre_fail(...)` or after a failed gyre_assert */
/* Failure codes: a handler's own are 0 and up; those below 0 are Gyre's (ring_layout.h, GYRE_FAILURE_...). */

#if defined(GYRE_DIALECT_CUDA)
#include "gyre/dialect/cuda.h"
#elif defined(GYRE_DIALECT_OPENCL)
#include "gyre/dialect/opencl.h"
#else
#include "gyre/dialect/c11.h"
#endif
#include "gyre/dialect/parts.h"
#include "gyre/dialect/strings.h"
#include "gyre/dialect/decimal.h"
#include "gyre/dialect/choices.h"
#ifdef GYRE_WIRED
#include "gyre/dialect/wired.h"
#endif

/* clang-format off */
/*
 * Every dialect offers:
 *
 *   gyre_result gyre_fail(gyre, i32 code, "text")    the request failed; code (0 and up) and text reach the sender
 *   int gyre_assert(gyre, condition)                 the condition; when false the request is failed with its text
 *   void gyre_log(gyre, "text", i64 value)           a line in the host's log
 *   u64 gyre_time_ns(gyre)                           a clock that does not go backwards
 *   u32 gyre_lane(gyre), gyre_lane_count(gyre), gyre_block(gyre), gyre_block_count(gyre)
 *
 * In block kernels, called by all lanes alike (in others they fail the message):
 *
 *   void gyre_barrier(gyre)
 *   T gyre_block_sum_T(gyre, T value), gyre_block_min_T, gyre_block_max_T    T of u32 i32 u64 i64 f32 f64; folded
 *                                                    neighbours first, then pairs of pairs, on every backend
 *   T gyre_block_broadcast_T(gyre, T value, u32 from_lane)
 *
 * In grid kernels, called by all lanes of all blocks alike (in others the check stage refuses it, and it fails the message):
 *
 *   void gyre_grid_barrier(gyre)                     what any lane stored before it in state, buffers and reply, all see after it.
 *                                                    A block that misses it fails the message (-3)
 *   u32 gyre_grid_lane(gyre), gyre_grid_lane_count(gyre)     numbers of lanes, over all blocks; in every form
 *
 * On buffers that messages name (gyre_handle):
 *
 *   T *gyre_open(gyre, T, const gyre_handle *handle, u64 *count)     GYRE_GLOBAL; in every form
 *
 * In kernels with ports, and in helpers with a parameter `ports`:
 *
 *   T *gyre_emit(gyre, port)       GYRE_GLOBAL; the place of the port's next message, which leaves when the handler has
 *                                  returned and did not fail; NULL when the call has emitted the most. Its bytes are
 *                                  unspecified; a message with a tail is empty
 *
 * In pipelines; elsewhere both are 0:
 *
 *   u32 gyre_hop(gyre)             how many links the message came by; 0: a client sent it
 *   u64 gyre_flow_id(gyre)         a number that all messages have that one request of a client caused, and no others
 *
 * In kernels with ports:
 *
 *   return GYRE_MORE               what was emitted leaves, and the handler is called again with the same message, once there is
 *                                  room for as much again. In a block kernel all lanes return it alike
 *   u32 gyre_turn(gyre)            how often the handler was called with this message before
 *
 *   T *gyre_ask(gyre, port, u32 token)
 *                                  as gyre_emit, of a port declared with ASK. The token, any number but 0, comes back with the answer
 *   u32 gyre_token(gyre)           in every kernel: the token of the ask whose answer the message is; 0: it is no answer
 *   u32 gyre_round(gyre)           in the kernel that begins the rounds of its pipeline (pipeline.h): which round begins now, from 1 on,
 *                                  with a request of zeros; 0: the message is one of a client or of a link
 *
 * Memory of a flow at a kernel: GYRE_FLOW(join, partial), at file scope, gives the kernel
 * `join`, which may be one without ports, a `partial` for each request of a client:
 *
 *   GYRE_GLOBAL partial *flow = gyre_flow(gyre, join);
 *
 * All bytes are zero at the first message of the flow, and the memory goes with the flow. It is as shared as a state: of a
 * kernel of several blocks, several may handle messages of one flow. Outside of a pipeline each message has zeros.
 *
 * On state, buffers and scratch (relaxed; each returns the old value; T of u32 i32 u64 i64, chosen by the pointer):
 *
 *   T gyre_atomic_add(pointer, value), _sub, _min, _max, _and, _or, _xor, _exchange
 *   T gyre_atomic_compare_exchange(pointer, expected, desired)
 *   T gyre_atomic_load(pointer), void gyre_atomic_store(pointer, value)
 *   f32 gyre_atomic_add_f32(pointer, value)
 *
 * Bits:  gyre_popcount_u32/_u64, gyre_clz_u32/_u64 and gyre_ctz_u32/_u64 (of 0: the width),
 *        gyre_rotl_u32/_u64(x, n), gyre_bits_from_f32, gyre_f32_from_bits, gyre_bits_from_f64, gyre_f64_from_bits
 * Math:  C's names: sqrtf fabsf floorf ceilf truncf roundf fminf fmaxf fmaf sinf cosf tanf asinf acosf atanf atan2f
 *        expf exp2f logf log2f log10f powf fmodf hypotf cbrtf tanhf sinhf coshf, and without f for f64.
 *        Nothing is contracted: + - * / and sqrt give equal bits on every backend.
 */
/* clang-format on */

#endif
