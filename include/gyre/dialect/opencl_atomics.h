/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomics of the dialect as OpenCL C 1.2: one overload for each type and address space. Overloads are an extension of
 * compilers based on clang, as are all compilers in use today. Included by opencl.h.
 */
#ifndef GYRE_DIALECT_OPENCL_ATOMICS_H
#define GYRE_DIALECT_OPENCL_ATOMICS_H

#define GYRE_OVERLOAD_ static inline __attribute__((__overloadable__, __unused__))

/* parameters: name; type and address space of the pointer; OpenCL's function; the type that the function wants */
#define GYRE_ATOMIC_(name_, type_, space_, function_, as_)                                                   \
    GYRE_OVERLOAD_ gyre_##type_ gyre_atomic_##name_(space_ gyre_##type_ *pointer, gyre_##type_ value)        \
    {                                                                                                        \
        return (gyre_##type_)function_((volatile space_ gyre_##as_ *)pointer, (gyre_##as_)value);            \
    }
#define GYRE_ATOMICS_BASE_(type_, space_, prefix_, same_)                                                    \
    GYRE_ATOMIC_(add, type_, space_, prefix_##add, same_)                                                    \
    GYRE_ATOMIC_(sub, type_, space_, prefix_##sub, same_)                                                    \
    GYRE_ATOMIC_(exchange, type_, space_, prefix_##xchg, same_)                                              \
    GYRE_OVERLOAD_ gyre_##type_ gyre_atomic_compare_exchange(space_ gyre_##type_ *pointer,                   \
                                                             gyre_##type_ expected, gyre_##type_ desired)    \
    {                                                                                                        \
        return (gyre_##type_)prefix_##cmpxchg((volatile space_ gyre_##same_ *)pointer,                       \
                                              (gyre_##same_)expected, (gyre_##same_)desired);                \
    }                                                                                                        \
    GYRE_OVERLOAD_ gyre_##type_ gyre_atomic_load(const space_ gyre_##type_ *pointer)                         \
    {                                                                                                        \
        return *(const volatile space_ gyre_##type_ *)pointer;                                               \
    }                                                                                                        \
    GYRE_OVERLOAD_ void gyre_atomic_store(space_ gyre_##type_ *pointer, gyre_##type_ value)                  \
    {                                                                                                        \
        *(volatile space_ gyre_##type_ *)pointer = value;                                                    \
    }
#define GYRE_ATOMICS_EXTENDED_(type_, space_, prefix_, same_)                                                \
    GYRE_ATOMIC_(min, type_, space_, prefix_##min, type_)                                                    \
    GYRE_ATOMIC_(max, type_, space_, prefix_##max, type_)                                                    \
    GYRE_ATOMIC_(and, type_, space_, prefix_##and, same_)                                                    \
    GYRE_ATOMIC_(or, type_, space_, prefix_## or, same_)                                                     \
    GYRE_ATOMIC_(xor, type_, space_, prefix_## xor, same_)

GYRE_ATOMICS_BASE_(u32, __global, atomic_, u32)
GYRE_ATOMICS_BASE_(i32, __global, atomic_, u32)
GYRE_ATOMICS_BASE_(u32, __local, atomic_, u32)
GYRE_ATOMICS_BASE_(i32, __local, atomic_, u32)
GYRE_ATOMICS_EXTENDED_(u32, __global, atomic_, u32)
GYRE_ATOMICS_EXTENDED_(i32, __global, atomic_, u32)
GYRE_ATOMICS_EXTENDED_(u32, __local, atomic_, u32)
GYRE_ATOMICS_EXTENDED_(i32, __local, atomic_, u32)

/* The overload for a device without the extension: it exists so that its use gets an error sentence. */
#define GYRE_MISSING_(name_, type_, space_, extension_)                                                      \
    gyre_##type_                                                                                             \
        __attribute__((__overloadable__, __unavailable__("this device has no atomics on 64-bit integers: "   \
                                                         "it lacks the extension " extension_)))             \
        gyre_atomic_##name_(space_ gyre_##type_ *pointer, gyre_##type_ value);
#define GYRE_MISSING_BASE_(type_, space_)                                                                    \
    GYRE_MISSING_(add, type_, space_, "cl_khr_int64_base_atomics")                                           \
    GYRE_MISSING_(sub, type_, space_, "cl_khr_int64_base_atomics")                                           \
    GYRE_MISSING_(exchange, type_, space_, "cl_khr_int64_base_atomics")                                      \
    GYRE_MISSING_(store, type_, space_, "cl_khr_int64_base_atomics")
#define GYRE_MISSING_EXTENDED_(type_, space_)                                                                \
    GYRE_MISSING_(min, type_, space_, "cl_khr_int64_extended_atomics")                                       \
    GYRE_MISSING_(max, type_, space_, "cl_khr_int64_extended_atomics")                                       \
    GYRE_MISSING_(and, type_, space_, "cl_khr_int64_extended_atomics")                                       \
    GYRE_MISSING_(or, type_, space_, "cl_khr_int64_extended_atomics")                                        \
    GYRE_MISSING_(xor, type_, space_, "cl_khr_int64_extended_atomics")

#ifdef cl_khr_int64_base_atomics
GYRE_ATOMICS_BASE_(u64, __global, atom_, u64)
GYRE_ATOMICS_BASE_(i64, __global, atom_, u64)
GYRE_ATOMICS_BASE_(u64, __local, atom_, u64)
GYRE_ATOMICS_BASE_(i64, __local, atom_, u64)
#else
GYRE_MISSING_BASE_(u64, __global)
GYRE_MISSING_BASE_(i64, __global)
GYRE_MISSING_BASE_(u64, __local)
GYRE_MISSING_BASE_(i64, __local)
#endif
#ifdef cl_khr_int64_extended_atomics
GYRE_ATOMICS_EXTENDED_(u64, __global, atom_, u64)
GYRE_ATOMICS_EXTENDED_(i64, __global, atom_, u64)
GYRE_ATOMICS_EXTENDED_(u64, __local, atom_, u64)
GYRE_ATOMICS_EXTENDED_(i64, __local, atom_, u64)
#else
GYRE_MISSING_EXTENDED_(u64, __global)
GYRE_MISSING_EXTENDED_(i64, __global)
GYRE_MISSING_EXTENDED_(u64, __local)
GYRE_MISSING_EXTENDED_(i64, __local)
#endif

#define GYRE_ATOMIC_ADD_F32_(space_)                                                                         \
    GYRE_OVERLOAD_ gyre_f32 gyre_atomic_add_f32(space_ gyre_f32 *pointer, gyre_f32 value)                    \
    {                                                                                                        \
        volatile space_ gyre_u32 *bits = (volatile space_ gyre_u32 *)pointer;                                \
        gyre_u32 old = *bits, seen;                                                                          \
        while ((seen = atomic_cmpxchg(bits, old, as_uint(as_float(old) + value))) != old)                    \
            old = seen;                                                                                      \
        return as_float(old);                                                                                \
    }
GYRE_ATOMIC_ADD_F32_(__global)
GYRE_ATOMIC_ADD_F32_(__local)

#endif
