/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of kernel.h for handlers, as OpenCL C: time, bits, and buffers that messages name. Included by opencl.h.
 */
#ifndef GYRE_DIALECT_OPENCL_FUNCTIONS_H
#define GYRE_DIALECT_OPENCL_FUNCTIONS_H

/*
 * The clock for gyre_time_ns. OpenCL C has no clock. NVIDIA's devices have a timer in nanoseconds. Processors have a
 * counter, which `tick_rate` (nanoseconds a tick, times 2^56) turns into nanoseconds since `time_ns`. On other devices
 * the time stands still within a batch.
 */
#if defined(__x86_64__) && !defined(__NV_CL_C_VERSION)
/*
 * Reads a processor's counter. No compiler takes both forms: for clang 14 the builtin's `long long` has 128 bits, and
 * PoCL with clang 16 dies of the assembler line.
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

/* OpenCL C has no ctz before 2.0: this counts the bits below the lowest set bit */
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

#include "gyre/dialect/opencl_block.h"

#endif
