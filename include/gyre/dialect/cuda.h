/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dialect as CUDA C++ through NVRTC. Included by kernel.h. Includes no vendor header: NVRTC knows all
 * names used here by itself, and the vendor's headers would take most of a second for each kernel file.
 *
 * Compile with --fmad=false where replies must be equal to the CPU's bit by bit.
 */
#ifndef GYRE_DIALECT_CUDA_H
#define GYRE_DIALECT_CUDA_H

#define GYRE_GLOBAL
#define GYRE_SHARED
#define GYRE_LITERAL_
#define GYRE_RESTRICT_ __restrict__
#define GYRE_CONSTANT  static __device__ __constant__ const
#define GYRE_HELPER    static __device__ inline
/* A template without parameters of meaning: the compiler compiles the function only where something calls it. */
#define GYRE_LATE_ template <int = 0> GYRE_HELPER

GYRE_HELPER gyre_u32 gyre_claim_u32_(gyre_u32 *counter, gyre_u32 count)
{
    return atomicAdd(counter, count);
}

/*
 * Parts are functions that all kernels have in common. They run once a run of messages or once an order, not once a
 * message. Compiling their text takes longer than compiling a handler. So it is compiled once (the unit defines
 * GYRE_CUDA_PARTS) and linked to each kernel, which GYRE_CUDA_LINKED compiles without the text. If there is no linker,
 * each kernel compiles its own copy.
 */
#if defined(GYRE_CUDA_PARTS) || defined(GYRE_CUDA_LINKED)
#define GYRE_PART_ extern "C" __device__
#elif defined(GYRE_STAGE) && GYRE_STAGE
#define GYRE_PART_ static __device__ __noinline__ /* files of stages often have many kernels */
#else
#define GYRE_PART_ GYRE_HELPER
#endif

/*
 * For a function in a part that only one warp calls. It is not inlined: all threads of a caller save the registers
 * that a part uses, so a part should use few.
 */
#ifdef GYRE_CUDA_PARTS
#define GYRE_APART_ static __device__ __noinline__
#else
#define GYRE_APART_ GYRE_HELPER
#endif
/*
 * Used at the start of a part, for its parameters: accesses through the pointer then need not find out where it
 * points. (Not for pointers that were loaded: NVRTC 13.0 then drops the accesses.)
 */
#define GYRE_IN_SHARED_(pointer) __builtin_assume(__isShared(pointer))

/*
 * Reads a word of a header. Headers lie in the host's memory, where they change, so they are read past the caches. In
 * another program's queue handlers read a copy of the header (gyre_header_take_).
 */
GYRE_HELPER gyre_u64 gyre_header_u64_(const gyre_u8 *at)
{
    gyre_u64 value;
    asm volatile("ld.relaxed.sys.global.u64 %0,[%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}
#define GYRE_HEADER_LOAD_(gyre, type_, offset_)                                                              \
    ((type_)(((gyre)->header_taken ? (gyre)->header_taken[(offset_) / 8]                                     \
                                   : gyre_header_u64_((gyre)->header + (offset_) / 8 * 8)) >>                \
             (offset_) % 8 * 8))

#include "gyre/dialect/device.h"
#include "gyre/dialect/cuda_functions.h"

/*
 * Ends the generated unit: nothing is left to export, because each kernel's record and entry stand beside the kernel.
 */
#define GYRE_EXPORT_KERNELS_

#define GYRE_RECORD_(name_) extern "C" __device__ gyre_device_kernel gyre_kernel_##name_
#define GYRE_DESCRIBE_(name_)

#include "gyre/dialect/cuda_resident.h"

#endif
