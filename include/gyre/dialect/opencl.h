/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dialect as OpenCL C 1.2. Included by kernel.h.
 *
 * f64 needs cl_khr_fp64, atomics on 64-bit integers need cl_khr_int64_base_atomics and, for min, max, and, or
 * and xor, cl_khr_int64_extended_atomics. Without the extension a kernel that uses such a type or function
 * does not compile, and an error sentence says why.
 *
 * OpenCL has two limits: a barrier that not all lanes of a block meet is undefined, not reported; and there is no
 * clock, but gyre_time_ns reads the clock of some devices (opencl_functions.h).
 */
#ifndef GYRE_DIALECT_OPENCL_H
#define GYRE_DIALECT_OPENCL_H

#ifdef GYRE_HAS_F64
#if __OPENCL_C_VERSION__ < 120 && defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#else
typedef float f64
    __attribute__((__unavailable__("this device has no f64: it lacks the extension cl_khr_fp64")));
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#ifdef cl_khr_int64_extended_atomics
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif
#pragma OPENCL FP_CONTRACT OFF

#ifdef GYRE_OPENCL_STAY /* kernels that stay are no stages of pipelines */
#undef GYRE_STAGE
#define GYRE_STAGE 0
#endif

#define GYRE_GLOBAL    __global
#define GYRE_SHARED    __local
#define GYRE_CONSTANT  __constant
#define GYRE_LITERAL_  __constant
#define GYRE_RESTRICT_ restrict
#define GYRE_HELPER    static inline __attribute__((__unused__))

#include "gyre/dialect/opencl_math.h"

GYRE_HELPER gyre_u32 gyre_claim_u32_(__global gyre_u32 *counter, gyre_u32 count)
{
    return atomic_add(counter, count);
}

#define GYRE_HEADER_LOAD_(gyre, type_, offset_) (*(const __global type_ *)((gyre)->header + (offset_)))

#include "gyre/dialect/device.h"
#include "gyre/dialect/opencl_functions.h"
#include "gyre/dialect/opencl_atomics.h"

/*
 * A kernel's record is an item that the kernel gyre_describe copies out, because the host cannot read constants. No
 * macro here takes a variable number of arguments: OpenCL C has no such macros, and NVIDIA's compiler refuses them.
 */
#define GYRE_RECORD_(name_) __constant gyre_device_kernel gyre_kernel_##name_
#define GYRE_DESCRIBE_(name_)                                                                                \
    GYRE_ITEM_(gyre_kernel_##name_, 0, 0, &gyre_kernel_##name_, sizeof(gyre_device_kernel))

#include "gyre/dialect/opencl_epoch.h"
#if GYRE_KEYED
#include "gyre/dialect/opencl_keyed.h"
#endif

#endif
