/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers and block functions as OpenCL C. Included by opencl_functions.h.
 *
 * With GYRE_OPENCL_SOLO each block has one lane, which has no other lane to meet, so a file holds no barrier.
 * Platforms for processors turn the code between barriers into loops over the lanes, and PoCL's compiler makes errors
 * in that.
 */
#ifndef GYRE_DIALECT_OPENCL_BLOCK_H
#define GYRE_DIALECT_OPENCL_BLOCK_H

GYRE_HELPER void gyre_need_block_(gyre_context *gyre)
{
    if (!gyre->in_block)
        gyre_fail_(gyre, GYRE_FAILURE_BARRIER, "barriers are for block kernels");
}

/* The one block of a grid kernel meets itself. */
#define gyre_grid_barrier(gyre) (gyre_barrier(gyre), gyre_need_grid_(gyre))
GYRE_HELPER void gyre_need_grid_(gyre_context *gyre)
{
    if (gyre->in_block != GYRE_IN_GRID_)
        gyre_fail_(gyre, GYRE_FAILURE_BARRIER, "grid barriers are for grid kernels");
}

#ifdef GYRE_OPENCL_SOLO

GYRE_HELPER void gyre_barrier(gyre_context *gyre)
{
    gyre_need_block_(gyre);
}

GYRE_HELPER void gyre_together_(void)
{
}

#define GYRE_FOLD_(name_, type_, combine_)                                                                   \
    GYRE_HELPER gyre_##type_ name_(gyre_context *gyre, gyre_##type_ value)                                   \
    {                                                                                                        \
        gyre_need_block_(gyre);                                                                              \
        return value;                                                                                        \
    }
#define GYRE_BROADCAST_(type_)                                                                               \
    GYRE_HELPER gyre_##type_ gyre_block_broadcast_##type_(gyre_context *gyre, gyre_##type_ value,            \
                                                          gyre_u32 from_lane)                                \
    {                                                                                                        \
        (void)from_lane;                                                                                     \
        gyre_need_block_(gyre);                                                                              \
        return value;                                                                                        \
    }

#else

/* The barrier of kernel.h. It stands under no condition, as OpenCL demands. */
GYRE_HELPER void gyre_barrier(gyre_context *gyre)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    gyre_need_block_(gyre);
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
 * Folds values: neighbours first, then pairs of pairs, the order of all dialects. Every 32nd lane folds 32 cells, then
 * lane 0 folds the results. No barrier stands in a loop, because compilers for CPUs would take long to unroll it.
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
#define GYRE_BROADCAST_(type_)                                                                               \
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

#endif

#define GYRE_FOLDS_(type_, sum_, lesser_, greater_)                                                          \
    GYRE_FOLD_(gyre_block_sum_##type_, type_, sum_)                                                          \
    GYRE_FOLD_(gyre_block_min_##type_, type_, lesser_)                                                       \
    GYRE_FOLD_(gyre_block_max_##type_, type_, greater_)                                                      \
    GYRE_BROADCAST_(type_)
GYRE_FOLDS_(u32, GYRE_SUM_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(i32, GYRE_SUM_I32_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(u64, GYRE_SUM_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(i64, GYRE_SUM_I64_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_FOLDS_(f32, GYRE_SUM_, GYRE_LESSER_F_, GYRE_GREATER_F_)
#ifdef GYRE_HAS_F64
GYRE_FOLDS_(f64, GYRE_SUM_, GYRE_LESSER_F_, GYRE_GREATER_F_)
#endif

#endif
