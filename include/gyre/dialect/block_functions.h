/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The block functions under the names that kernel.h lists. Each calls the dialect's own function and adds the place of
 * the call. The dialects include this file and define GYRE_PLACE_, which distinguishes one barrier from another.
 */
#ifndef GYRE_DIALECT_BLOCK_FUNCTIONS_H
#define GYRE_DIALECT_BLOCK_FUNCTIONS_H

#define gyre_block_sum_u32(gyre, value) gyre_block_sum_u32_((gyre), (value), GYRE_PLACE_)
#define gyre_block_sum_i32(gyre, value) gyre_block_sum_i32_((gyre), (value), GYRE_PLACE_)
#define gyre_block_sum_u64(gyre, value) gyre_block_sum_u64_((gyre), (value), GYRE_PLACE_)
#define gyre_block_sum_i64(gyre, value) gyre_block_sum_i64_((gyre), (value), GYRE_PLACE_)
#define gyre_block_sum_f32(gyre, value) gyre_block_sum_f32_((gyre), (value), GYRE_PLACE_)
#define gyre_block_sum_f64(gyre, value) gyre_block_sum_f64_((gyre), (value), GYRE_PLACE_)
#define gyre_block_min_u32(gyre, value) gyre_block_min_u32_((gyre), (value), GYRE_PLACE_)
#define gyre_block_min_i32(gyre, value) gyre_block_min_i32_((gyre), (value), GYRE_PLACE_)
#define gyre_block_min_u64(gyre, value) gyre_block_min_u64_((gyre), (value), GYRE_PLACE_)
#define gyre_block_min_i64(gyre, value) gyre_block_min_i64_((gyre), (value), GYRE_PLACE_)
#define gyre_block_min_f32(gyre, value) gyre_block_min_f32_((gyre), (value), GYRE_PLACE_)
#define gyre_block_min_f64(gyre, value) gyre_block_min_f64_((gyre), (value), GYRE_PLACE_)
#define gyre_block_max_u32(gyre, value) gyre_block_max_u32_((gyre), (value), GYRE_PLACE_)
#define gyre_block_max_i32(gyre, value) gyre_block_max_i32_((gyre), (value), GYRE_PLACE_)
#define gyre_block_max_u64(gyre, value) gyre_block_max_u64_((gyre), (value), GYRE_PLACE_)
#define gyre_block_max_i64(gyre, value) gyre_block_max_i64_((gyre), (value), GYRE_PLACE_)
#define gyre_block_max_f32(gyre, value) gyre_block_max_f32_((gyre), (value), GYRE_PLACE_)
#define gyre_block_max_f64(gyre, value) gyre_block_max_f64_((gyre), (value), GYRE_PLACE_)
#define gyre_block_broadcast_u32(gyre, value, from)                                                          \
    gyre_block_broadcast_u32_((gyre), (value), (from), GYRE_PLACE_)
#define gyre_block_broadcast_i32(gyre, value, from)                                                          \
    gyre_block_broadcast_i32_((gyre), (value), (from), GYRE_PLACE_)
#define gyre_block_broadcast_u64(gyre, value, from)                                                          \
    gyre_block_broadcast_u64_((gyre), (value), (from), GYRE_PLACE_)
#define gyre_block_broadcast_i64(gyre, value, from)                                                          \
    gyre_block_broadcast_i64_((gyre), (value), (from), GYRE_PLACE_)
#define gyre_block_broadcast_f32(gyre, value, from)                                                          \
    gyre_block_broadcast_f32_((gyre), (value), (from), GYRE_PLACE_)
#define gyre_block_broadcast_f64(gyre, value, from)                                                          \
    gyre_block_broadcast_f64_((gyre), (value), (from), GYRE_PLACE_)

#endif
