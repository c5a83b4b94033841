/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What handlers call, as OpenCL C: time, bits, barriers and block functions. Included by opencl.h.
 */
#ifndef GYRE_DIALECT_OPENCL_FUNCTIONS_H
#define GYRE_DIALECT_OPENCL_FUNCTIONS_H

/*
 * OpenCL C has no clock. What devices have instead: NVIDIA's timer in nanoseconds, and the counter of a
 * processor, which `tick_rate` (nanoseconds a tick, times 2^56) turns into nanoseconds since `time_ns`.
 * Elsewhere the time stands still within a batch.
 */
#if defined(__x86_64__) && !defined(__NV_CL_C_VERSION)
/*
 * No compiler takes both ways: to clang 14 the builtin's `long long` has 128 bits, and PoCL of clang 16 dies
 * of the assembler's line.
 */
GYRE_HELPER gyre_u64 gyre_ticks_(void)
{
#if __clang_major__ >= 16
    return (gyre_u64)__builtin_readcyclecounter();
#else
    gyre_u32 low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (gyre_u64)high << 32 | low;
#endif
}
#endif

GYRE_HELPER gyre_u64 gyre_time_ns(const gyre_context *gyre)
{
#if defined(__NV_CL_C_VERSION)
    gyre_u64 now;
    (void)gyre;
    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#elif defined(__x86_64__)
    if (gyre->tick_rate == 0)
        return gyre->time_ns;
    return gyre->time_ns + mul_hi((gyre_ticks_() - gyre->ticks) << 8, gyre->tick_rate);
#else
    return gyre->time_ns;
#endif
}

GYRE_HELPER void gyre_place_(gyre_context *gyre)
{
    gyre->lane = (gyre_u32)get_local_id(0);
    gyre->lane_count = (gyre_u32)get_local_size(0);
    gyre->block = (gyre_u32)get_group_id(0);
    gyre->block_count = (gyre_u32)get_num_groups(0);
}

/* ---- buffers that messages name ---- */

GYRE_HELPER gyre_control_handle gyre_handle_entry_(const __global gyre_control_handle *table, gyre_u32 slot)
{
    return table[slot];
}

GYRE_HELPER __global void *gyre_handle_at_(gyre_u64 address)
{
    return (__global void *)(size_t)address;
}

/* ---- bits ---- */

GYRE_HELPER gyre_u32 gyre_popcount_u32(gyre_u32 x)
{
    return popcount(x);
}

GYRE_HELPER gyre_u32 gyre_popcount_u64(gyre_u64 x)
{
    return (gyre_u32)popcount(x);
}

GYRE_HELPER gyre_u32 gyre_clz_u32(gyre_u32 x)
{
    return clz(x);
}

GYRE_HELPER gyre_u32 gyre_clz_u64(gyre_u64 x)
{
    return (gyre_u32)clz(x);
}

/* OpenCL C has no ctz before 2.0: the bits below the lowest set one, counted */
GYRE_HELPER gyre_u32 gyre_ctz_u32(gyre_u32 x)
{
    return popcount(~x & (x - 1));
}

GYRE_HELPER gyre_u32 gyre_ctz_u64(gyre_u64 x)
{
    return (gyre_u32)popcount(~x & (x - 1));
}

GYRE_HELPER gyre_u32 gyre_bits_from_f32(gyre_f32 value)
{
    return as_uint(value);
}

GYRE_HELPER gyre_f32 gyre_f32_from_bits(gyre_u32 bits)
{
    return as_float(bits);
}

#ifdef GYRE_HAS_F64
GYRE_HELPER gyre_u64 gyre_bits_from_f64(gyre_f64 value)
{
    return as_ulong(value);
}

GYRE_HELPER gyre_f64 gyre_f64_from_bits(gyre_u64 bits)
{
    return as_double(bits);
}
#endif

/* ---- barriers and block functions ---- */

/* Unconditional, as OpenCL wants it. */
GYRE_HELPER void gyre_barrier(gyre_context *gyre)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (!gyre->in_block)
        gyre_fail_(gyre, GYRE_FAILURE_BARRIER, "barriers are for block kernels");
}

GYRE_HELPER void gyre_together_(void)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

GYRE_HELPER gyre_u32 gyre_block_end_(gyre_context *gyre, __global gyre_slot *out, int result,
                                     gyre_u32 reply_size)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (gyre->failed)
        atomic_min(&gyre->shared->first_failed, gyre_failure_rank_(gyre));
    barrier(CLK_LOCAL_MEM_FENCE);
    return gyre_block_complete_(gyre, out, result, reply_size);
}

/*
 * Neighbours first, then pairs of pairs: the order of all dialects. Every 32nd lane folds 32 cells, then lane
 * 0 folds theirs: no barrier stands in a loop, which compilers for CPUs would take long to unroll.
 */
#define GYRE_FOLD_(name_, type_, combine_)                                                                   \
    GYRE_HELPER void name_##_cells_(__local gyre_##type_ *cells, gyre_u32 count, gyre_u32 stride)            \
    {                                                                                                        \
        for (gyre_u32 step = 1; step < count; step *= 2)                                                     \
            for (gyre_u32 i = 0; i + step < count; i += 2 * step)                                            \
                cells[i * stride] = combine_(cells[i * stride], cells[(i + step) * stride]);                 \
    }                                                                                                        \
    GYRE_HELPER gyre_##type_ name_(gyre_context *gyre, gyre_##type_ value)                                   \
    {                                                                                                        \
        __local gyre_##type_ *cells = (__local gyre_##type_ *)gyre->shared->cells;                           \
        const gyre_u32 lane = gyre->lane, count = gyre->lane_count;                                          \
        cells[lane] = value;                                                                                 \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        if (lane % 32 == 0)                                                                                  \
            name_##_cells_(cells + lane, count - lane < 32 ? count - lane : 32, 1);                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        if (lane == 0)                                                                                       \
            name_##_cells_(cells, (count + 31) / 32, 32);                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        value = cells[0];                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        return value;                                                                                        \
    }

#define GYRE_FOLDS_(type_, sum_, lesser_, greater_)                                                          \
    GYRE_FOLD_(gyre_block_sum_##type_, type_, sum_)                                                          \
    GYRE_FOLD_(gyre_block_min_##type_, type_, lesser_)                                                       \
    GYRE_FOLD_(gyre_block_max_##type_, type_, greater_)                                                      \
    GYRE_HELPER gyre_##type_ gyre_block_broadcast_##type_(gyre_context *gyre, gyre_##type_ value,            \
                                                          gyre_u32 from_lane)                                \
    {                                                                                                        \
        __local gyre_##type_ *cells = (__local gyre_##type_ *)gyre->shared->cells;                           \
        if (gyre->lane == from_lane)                                                                         \
            cells[0] = value;                                                                                \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        value = cells[0];                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        return value;                                                                                        \
    }
GYRE_FOLDS_(u32, GYRE_SUM_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(i32, GYRE_SUM_I32_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(u64, GYRE_SUM_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(i64, GYRE_SUM_I64_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(f32, GYRE_SUM_, GYRE_LESSER_F_, GYRE_GREATER_F_)
#ifdef GYRE_HAS_F64
GYRE_FOLDS_(f64, GYRE_SUM_, GYRE_LESSER_F_, GYRE_GREATER_F_)
#endif

#endif
