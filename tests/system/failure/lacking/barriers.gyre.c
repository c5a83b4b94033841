/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two block kernels that were made up. PoCL 3.1's optimizer makes the second one wrong, in this company: most words of its
 * replies are 0. Nothing is wrong with it.
 */
#include <gyre/kernel.h>
#include "barriers.h"

GYRE_BLOCK_KERNEL(few_barriers, barriers_message, barriers_message, barriers_message)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    i32 keep[40];
    u32 total = 0;
    for (u32 i = lane; i < 40; i += lanes)
        scratch->v[i] = request->v[i];
    for (u32 i = lane; i < 7; i += lanes)
        scratch->w[i] = request->w[i];
    gyre_barrier(gyre);
    total ^= gyre_block_broadcast_u32(gyre, (u32)scratch->v[lane % 40], 2);
    gyre_barrier(gyre);
    total += gyre_block_min_u32(gyre, lane < 40 ? (u32)scratch->v[lane % 40] : 4000000000u);
    gyre_barrier(gyre);
    if (lane == 0)
        for (u32 i = 0; i < 1; i++)
            scratch->w[i] += total + i;
    gyre_barrier(gyre);
    for (u32 i4 = 0; i4 < 3; i4++) {
        total ^= gyre_block_broadcast_u32(gyre, (u32)scratch->v[lane % 40], 3);
        gyre_barrier(gyre);
        for (u32 i = lane; i < 7; i += lanes)
            scratch->w[i] ^= (u32)scratch->v[i + 30];
        gyre_barrier(gyre);
    }
    for (u32 i = lane; i < 40; i += lanes)
        reply->v[i] = scratch->v[i];
    for (u32 i = lane; i < 7; i += lanes)
        reply->w[i] = scratch->w[i];
    if (lane == 0) {
        reply->n = total;
        reply->q = request->q + total;
    }
    (void)keep;
    return GYRE_REPLY;
}

GYRE_BLOCK_KERNEL(many_barriers, barriers_message, barriers_message, barriers_message)
{
    const u32 lane = gyre_lane(gyre), lanes = gyre_lane_count(gyre);
    i32 keep[40];
    u32 total = 0;
    for (u32 i = lane; i < 40; i += lanes)
        scratch->v[i] = request->v[i];
    for (u32 i = lane; i < 7; i += lanes)
        scratch->w[i] = request->w[i];
    gyre_barrier(gyre);
    for (u32 i = lane; i < 40; i += lanes)
        keep[i] = scratch->v[39 - i];
    gyre_barrier(gyre);
    for (u32 i = lane; i < 40; i += lanes)
        scratch->v[i] = keep[i];
    gyre_barrier(gyre);
    if (request->n == 0)
        return gyre_fail(gyre, 35, "all");
    for (u32 i = lane; i < 7; i += lanes)
        scratch->w[i] ^= (u32)scratch->v[i + 10];
    gyre_barrier(gyre);
    for (u32 i24 = 0; i24 < 3; i24++) {
        for (u32 i25 = 0; i25 < 2; i25++) {
            for (u32 i = lane; i < 40; i += lanes)
                keep[i] = scratch->v[(i * 3 + 1) % 40];
            gyre_barrier(gyre);
            for (u32 i = lane; i < 40; i += lanes)
                scratch->v[i] = keep[i];
            gyre_barrier(gyre);
            for (u32 i = lane; i < 7; i += lanes)
                scratch->w[i] ^= (u32)scratch->v[i + 30];
            gyre_barrier(gyre);
        }
    }
    for (u32 i = lane; i < 40; i += lanes)
        scratch->v[i] = (i32)((u32)scratch->v[i] * 2u + 52u + (u32)request->v[i]);
    gyre_barrier(gyre);
    for (u32 i = lane; i < 40; i += lanes)
        keep[i] = scratch->v[i];
    gyre_barrier(gyre);
    for (u32 i = lane; i < 40; i += lanes)
        scratch->v[i] = keep[i];
    gyre_barrier(gyre);
    for (u32 i = lane; i < 40; i += lanes)
        scratch->v[i] = (i32)((u32)scratch->v[i] * 1u + 48u + (u32)request->v[(i * 3 + 9) % 40]);
    gyre_barrier(gyre);
    for (u32 i = lane; i < 40; i += lanes)
        reply->v[i] = scratch->v[i];
    for (u32 i = lane; i < 7; i += lanes)
        reply->w[i] = scratch->w[i];
    if (lane == 0) {
        reply->n = total;
        reply->q = request->q + total;
    }
    (void)keep;
    return GYRE_REPLY;
}
