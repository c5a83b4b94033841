/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frees names that PoCL takes. PoCL renames OpenCL's functions by macros such as `#define length _cl_length`. A name
 * that is a common word must be free for fields of messages, because their declarations are read as text. Included by
 * types.h, before any field.
 */
#ifndef GYRE_DIALECT_OPENCL_NAMES_H
#define GYRE_DIALECT_OPENCL_NAMES_H

#undef CLANG_MAJOR
#undef FP_ILOGB0
#undef FP_ILOGBNAN
#undef IMG_RO_AQ
#undef IMG_RW_AQ
#undef IMG_WO_AQ
#undef INTTYPE
#undef abs
#undef all
#undef any
#undef clamp
#undef cross
#undef degrees
#undef distance
#undef dot
#undef fract
#undef length
#undef logb
#undef mad
#undef max
#undef min
#undef mix
#undef nan
#undef normalize
#undef prefetch
#undef radians
#undef remainder
#undef rotate
#undef select
#undef shuffle
#undef sign
#undef step

#endif
