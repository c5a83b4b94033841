/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-width scalars for every dialect: host C11 and C++17, CUDA C++ through NVRTC, OpenCL C.
 *
 * The other public headers include it; nobody needs to include it directly. NVRTC and OpenCL have no <stdint.h>, and
 * device code includes no vendor header, so Gyre has this file. Stability: frozen.
 */
#ifndef GYRE_TYPES_H
#define GYRE_TYPES_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define GYRE_DIALECT_OPENCL 1
#include "gyre/dialect/opencl_names.h"
typedef char gyre_i8;
typedef uchar gyre_u8;
typedef short gyre_i16;
typedef ushort gyre_u16;
typedef int gyre_i32;
typedef uint gyre_u32;
typedef long gyre_i64;
typedef ulong gyre_u64;
#elif defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define GYRE_DIALECT_CUDA 1
typedef signed char gyre_i8;
typedef unsigned char gyre_u8;
typedef short gyre_i16;
typedef unsigned short gyre_u16;
typedef int gyre_i32;
typedef unsigned int gyre_u32;
typedef long long gyre_i64;
typedef unsigned long long gyre_u64;
#else
#define GYRE_DIALECT_C 1
#include <stddef.h>
#include <stdint.h>
typedef int8_t gyre_i8;
typedef uint8_t gyre_u8;
typedef int16_t gyre_i16;
typedef uint16_t gyre_u16;
typedef int32_t gyre_i32;
typedef uint32_t gyre_u32;
typedef int64_t gyre_i64;
typedef uint64_t gyre_u64;
#endif
typedef float gyre_f32;
#if !defined(GYRE_DIALECT_OPENCL) || defined(cl_khr_fp64) || defined(__opencl_c_fp64)
typedef double gyre_f64;
#define GYRE_HAS_F64 1
#endif

#endif
