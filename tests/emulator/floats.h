/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point numbers as bits of registers. Private to the files ops_*.c. */
#ifndef GYRE_TESTS_EMULATOR_FLOATS_H
#define GYRE_TESTS_EMULATOR_FLOATS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float f32_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t bits_of_f32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t bits_of_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Arithmetic of a device gives one NaN for all. */
static inline uint64_t result_f32(float value)
{
    return value != value ? UINT64_C(0x7fffffff) : bits_of_f32(value);
}

static inline uint64_t result_f64(double value)
{
    return value != value ? UINT64_C(0xfff8000000000000) : bits_of_f64(value);
}

static inline float flush(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}

#endif
