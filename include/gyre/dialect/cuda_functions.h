/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of kernel.h for handlers, as CUDA C++, except the functions that device.h has. Included by cuda.h. The
 * math functions are the compiler's own.
 */
#ifndef GYRE_DIALECT_CUDA_FUNCTIONS_H
#define GYRE_DIALECT_CUDA_FUNCTIONS_H

GYRE_HELPER gyre_u64 gyre_time_ns(const gyre_context *)
{
    gyre_u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

GYRE_HELPER void gyre_place_(gyre_context *gyre)
{
    gyre->lane = threadIdx.x;
    gyre->lane_count = blockDim.x;
    gyre->block = blockIdx.x;
    gyre->block_count = gridDim.x;
}

/* ---- buffers ---- */

/*
 * Called before a message of a kernel with bound buffers is handled. The handler then sees the bytes that the host put
 * into the buffers before it sent the message, as for buffers that messages name. The first buffer stands at the start
 * of `buffers`. The loaded value decides whether to sleep for no time, so that the value has a use. Of an acquire
 * whose value is not used, ptxas (13.0) drops the load, and keeps the instruction that empties the cache under a
 * predicate that nothing sets.
 */
GYRE_HELPER void gyre_mark_buffers_(const void *buffers)
{
    const void *first;
    memcpy(&first, buffers, sizeof first);
    if (first)
        asm volatile("{ .reg .u32 byte; .reg .pred used; ld.acquire.gpu.global.u8 byte,[%0];"
                     " setp.eq.u32 used,byte,255; @used nanosleep.u32 0; }" ::"l"(first)
                     : "memory");
}

#if GYRE_STAGE
/* Not 0: a handler of this block has asked for a buffer that a message names. A word of the block's memory. */
GYRE_HELPER volatile gyre_u32 *gyre_opened_()
{
    __shared__ gyre_u32 opened;
    return &opened;
}
#define GYRE_NOTE_OPENED_() (*gyre_opened_() = 1)
#else
#define GYRE_NOTE_OPENED_() ((void)0)
#endif

/*
 * Reads an entry of the table of buffers, which is host memory: past the caches, id first. A kernel that stays may
 * have cache lines of an earlier buffer in its multiprocessor's cache. Only an acquire drops these lines, so the id is
 * read by an acquire.
 */
GYRE_HELPER gyre_control_handle gyre_handle_entry_(const gyre_control_handle *table, gyre_u32 slot)
{
    const volatile gyre_control_handle *there = table + slot;
    gyre_control_handle entry;
    GYRE_NOTE_OPENED_();
    asm volatile("ld.acquire.sys.global.u64 %0,[%1];" : "=l"(entry.id) : "l"(&there->id) : "memory");
    entry.address = there->address;
    entry.size = there->size;
    return entry;
}

GYRE_HELPER void *gyre_handle_at_(gyre_u64 address)
{
    return (void *)address;
}

/* ---- bits ---- */

GYRE_HELPER gyre_u32 gyre_popcount_u32(gyre_u32 x)
{
    return (gyre_u32)__popc(x);
}

GYRE_HELPER gyre_u32 gyre_popcount_u64(gyre_u64 x)
{
    return (gyre_u32)__popcll(x);
}

GYRE_HELPER gyre_u32 gyre_clz_u32(gyre_u32 x)
{
    return (gyre_u32)__clz((int)x);
}

GYRE_HELPER gyre_u32 gyre_clz_u64(gyre_u64 x)
{
    return (gyre_u32)__clzll((long long)x);
}

GYRE_HELPER gyre_u32 gyre_ctz_u32(gyre_u32 x)
{
    return x ? (gyre_u32)__ffs((int)x) - 1 : 32;
}

GYRE_HELPER gyre_u32 gyre_ctz_u64(gyre_u64 x)
{
    return x ? (gyre_u32)__ffsll((long long)x) - 1 : 64;
}

GYRE_HELPER gyre_u32 gyre_bits_from_f32(gyre_f32 value)
{
    return __float_as_uint(value);
}

GYRE_HELPER gyre_f32 gyre_f32_from_bits(gyre_u32 bits)
{
    return __uint_as_float(bits);
}

GYRE_HELPER gyre_u64 gyre_bits_from_f64(gyre_f64 value)
{
    return (gyre_u64)__double_as_longlong(value);
}

GYRE_HELPER gyre_f64 gyre_f64_from_bits(gyre_u64 bits)
{
    return __longlong_as_double((long long)bits);
}

/* ---- barriers and block functions ---- */

/*
 * A barrier of all lanes that whole warps need not reach at once. With __syncthreads, which needs that, lanes of a
 * warp that have parted would wait for ever.
 */
GYRE_HELPER void gyre_together_()
{
#if GYRE_POOLS
    if (blockDim.x <=
        32) { /* lanes of one warp need no barrier of the block, which takes longer when they have parted */
        __syncwarp(blockDim.x == 32 ? 0xffffffffu : (1u << blockDim.x) - 1);
        return;
    }
#endif
    asm volatile("barrier.sync 0;" ::: "memory");
}

/*
 * Returns whether all lanes are here, at one place; fails the lane's message if not. Lanes that have returned go on
 * meeting barriers, in gyre_block_end_, so that nobody waits for ever. They have noted after how many barriers they
 * returned, so that the others know that they are not here. Lane 0 leaves its place in one of two words in turn:
 * nobody reads a word any more when it is written again, two barriers later.
 */
GYRE_HELPER int gyre_meet_(gyre_context *gyre, gyre_u32 place)
{
    if (!gyre->in_block) {
        gyre_fail_(gyre, GYRE_FAILURE_BARRIER, "barriers are for block kernels");
        return 0;
    }
    volatile gyre_block_shared *shared = gyre->shared;
    const gyre_u32 turn = gyre->barrier_turn++;
    if (gyre->lane == 0)
        shared->place[turn & 1] = place;
    gyre_together_();
    if (shared->first_return > turn && shared->place[turn & 1] == place)
        return 1;
    gyre_fail_(gyre, GYRE_FAILURE_BARRIER, "the lanes of a block met different barriers");
    return 0;
}

/* Does what gyre_meet_ does, with one answer for all lanes, because the code behind it needs all lanes. */
GYRE_HELPER int gyre_meet_alike_(gyre_context *gyre, gyre_u32 place)
{
    volatile gyre_block_shared *shared = gyre->shared;
    const gyre_u32 turn = gyre->barrier_turn;
    const int met = gyre_meet_(gyre, place);
    if (!gyre->in_block)
        return 0;
    if (!met)
        shared->parted = turn;
    gyre->barrier_turn++;
    gyre_together_();
    return shared->parted != turn;
}

/* Meets barriers until all lanes have returned: all lanes meet the same number of barriers. */
GYRE_HELPER void gyre_wait_for_returns_(gyre_context *gyre)
{
    volatile gyre_block_shared *shared = gyre->shared;
    gyre_u32 met = gyre->barrier_turn;
    if (met == 0) { /* no barrier was met: of the lanes that return together, one notes it for all */
        if ((threadIdx.x & 31) == (gyre_u32)__ffs((int)__activemask()) - 1)
            atomicMin(&gyre->shared->first_return, 0u);
    } else {
        atomicMin(&gyre->shared->first_return, met);
        atomicMax(&gyre->shared->last_return, met);
    }
    atomicAdd(&gyre->shared->returned, 1u);
    do {
        gyre_together_();
        met++;
    } while (shared->returned < gyre->lane_count || shared->last_return >= met);
}

GYRE_HELPER gyre_u32 gyre_block_end_(gyre_context *gyre, gyre_slot *out, int result, gyre_u32 reply_size)
{
    gyre_wait_for_returns_(gyre);
    if (gyre->failed)
        atomicMin(&gyre->shared->first_failed, gyre_failure_rank_(gyre));
    gyre_together_();
    return gyre_block_complete_(gyre, out, result, reply_size);
}

/*
 * Folds values: neighbours first, then pairs of pairs, the order of all dialects. Warps fold by shuffles, which is
 * safe once all lanes have met. Their results meet in the cells, where the first warp folds them.
 */
template <typename T, typename F>
GYRE_HELPER T gyre_fold_(gyre_context *gyre, T value, gyre_u32 place, F combine)
{
    if (!gyre_meet_alike_(gyre, place))
        return value;
    const gyre_u32 count = gyre->lane_count, lane = gyre->lane, warp = lane / 32, in_warp = lane % 32;
    const gyre_u32 present = count - warp * 32 < 32 ? count - warp * 32 : 32;
    const gyre_u32 mask = present == 32 ? 0xffffffffu : (1u << present) - 1;
    for (gyre_u32 step = 1; step < 32; step *= 2) {
        const T other = __shfl_down_sync(mask, value, step);
        if (in_warp + step < present)
            value = combine(value, other);
    }
    if (count <= 32)
        return __shfl_sync(mask, value, 0);
    T *cells = (T *)gyre->shared->cells;
    if (in_warp == 0)
        cells[warp] = value;
    gyre_together_();
    if (warp == 0) {
        const gyre_u32 warps = (count + 31) / 32;
        value = cells[in_warp < warps ? in_warp : 0];
        for (gyre_u32 step = 1; step < 32; step *= 2) {
            const T other = __shfl_down_sync(0xffffffffu, value, step);
            if (in_warp + step < warps)
                value = combine(value, other);
        }
        if (lane == 0)
            cells[32] = value;
    }
    gyre_together_();
    return cells[32];
}

template <typename T>
GYRE_HELPER T gyre_broadcast_(gyre_context *gyre, T value, gyre_u32 from_lane, gyre_u32 place)
{
    if (!gyre_meet_alike_(gyre, place))
        return value;
    T *cells = (T *)gyre->shared->cells;
    if (gyre->lane == from_lane)
        cells[32] = value;
    gyre_together_();
    return cells[32];
}

#define GYRE_PLACE_        ((gyre_u32)__LINE__)
#define gyre_barrier(gyre) ((void)gyre_meet_((gyre), GYRE_PLACE_))

#define GYRE_FOLD_(name_, type_, combine_)                                                                   \
    GYRE_LATE_ gyre_##type_ gyre_block_##name_##_##type_##_(gyre_context *gyre, gyre_##type_ value,          \
                                                            gyre_u32 place)                                  \
    {                                                                                                        \
        return gyre_fold_(                                                                                   \
            gyre, value, place,                                                                              \
            [](gyre_##type_ a, gyre_##type_ b) -> gyre_##type_ { return combine_(a, b); });                  \
    }
#define GYRE_FOLDS_(type_, sum_, lesser_, greater_)                                                          \
    GYRE_FOLD_(sum, type_, sum_)                                                                             \
    GYRE_FOLD_(min, type_, lesser_)                                                                          \
    GYRE_FOLD_(max, type_, greater_)                                                                         \
    GYRE_LATE_ gyre_##type_ gyre_block_broadcast_##type_##_(gyre_context *gyre, gyre_##type_ value,          \
                                                            gyre_u32 from_lane, gyre_u32 place)              \
    {                                                                                                        \
        return gyre_broadcast_(gyre, value, from_lane, place);                                               \
    }
GYRE_FOLDS_(u32, GYRE_SUM_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(i32, GYRE_SUM_I32_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(u64, GYRE_SUM_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(i64, GYRE_SUM_I64_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(f32, GYRE_SUM_, GYRE_LESSER_F_, GYRE_GREATER_F_)
GYRE_FOLDS_(f64, GYRE_SUM_, GYRE_LESSER_F_, GYRE_GREATER_F_)

#include "gyre/dialect/block_functions.h"

/* ---- atomics ---- */

/* Defines the atomics of a type. `same_` is the unsigned type of the same size, in which signed numbers wrap alike. */
#define GYRE_ATOMICS_(type_, same_)                                                                          \
    GYRE_LATE_ gyre_##type_ gyre_atomic_add(gyre_##type_ *pointer, gyre_##type_ value)                       \
    {                                                                                                        \
        return (gyre_##type_)atomicAdd((gyre_##same_ *)pointer, (gyre_##same_)value);                        \
    }                                                                                                        \
    GYRE_LATE_ gyre_##type_ gyre_atomic_sub(gyre_##type_ *pointer, gyre_##type_ value)                       \
    {                                                                                                        \
        return (gyre_##type_)atomicAdd((gyre_##same_ *)pointer, (gyre_##same_)0 - (gyre_##same_)value);      \
    }                                                                                                        \
    GYRE_LATE_ gyre_##type_ gyre_atomic_min(gyre_##type_ *pointer, gyre_##type_ value)                       \
    {                                                                                                        \
        return atomicMin(pointer, value);                                                                    \
    }                                                                                                        \
    GYRE_LATE_ gyre_##type_ gyre_atomic_max(gyre_##type_ *pointer, gyre_##type_ value)                       \
    {                                                                                                        \
        return atomicMax(pointer, value);                                                                    \
    }                                                                                                        \
    GYRE_LATE_ gyre_##type_ gyre_atomic_and(gyre_##type_ *pointer, gyre_##type_ value)                       \
    {                                                                                                        \
        return (gyre_##type_)atomicAnd((gyre_##same_ *)pointer, (gyre_##same_)value);                        \
    }                                                                                                        \
    GYRE_LATE_ gyre_##type_ gyre_atomic_or(gyre_##type_ *pointer, gyre_##type_ value)                        \
    {                                                                                                        \
        return (gyre_##type_)atomicOr((gyre_##same_ *)pointer, (gyre_##same_)value);                         \
    }                                                                                                        \
    GYRE_LATE_ gyre_##type_ gyre_atomic_xor(gyre_##type_ *pointer, gyre_##type_ value)                       \
    {                                                                                                        \
        return (gyre_##type_)atomicXor((gyre_##same_ *)pointer, (gyre_##same_)value);                        \
    }                                                                                                        \
    GYRE_LATE_ gyre_##type_ gyre_atomic_exchange(gyre_##type_ *pointer, gyre_##type_ value)                  \
    {                                                                                                        \
        return (gyre_##type_)atomicExch((gyre_##same_ *)pointer, (gyre_##same_)value);                       \
    }                                                                                                        \
    GYRE_LATE_ gyre_##type_ gyre_atomic_compare_exchange(gyre_##type_ *pointer, gyre_##type_ expected,       \
                                                         gyre_##type_ desired)                               \
    {                                                                                                        \
        return (gyre_##type_)atomicCAS((gyre_##same_ *)pointer, (gyre_##same_)expected,                      \
                                       (gyre_##same_)desired);                                               \
    }                                                                                                        \
    GYRE_LATE_ gyre_##type_ gyre_atomic_load(const gyre_##type_ *pointer)                                    \
    {                                                                                                        \
        return *(const volatile gyre_##type_ *)pointer;                                                      \
    }                                                                                                        \
    GYRE_LATE_ void gyre_atomic_store(gyre_##type_ *pointer, gyre_##type_ value)                             \
    {                                                                                                        \
        *(volatile gyre_##type_ *)pointer = value;                                                           \
    }
GYRE_ATOMICS_(u32, u32)
GYRE_ATOMICS_(i32, u32)
GYRE_ATOMICS_(u64, u64)
GYRE_ATOMICS_(i64, u64)

GYRE_HELPER gyre_f32 gyre_atomic_add_f32(gyre_f32 *pointer, gyre_f32 value)
{
    return atomicAdd(pointer, value);
}

#endif
