/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a key that its sender may overwrite meanwhile: what was read counts only if a look afterwards shows that it was not. So
 * ThreadSanitizer is not asked here, and its memcpy is avoided, which asks.
 */
#ifndef GYRE_CPU_KEY_COPY_H
#define GYRE_CPU_KEY_COPY_H

#include <string.h>

#include "gyre/types.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CPU_UNDER_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define CPU_UNDER_TSAN 1
#endif

#ifdef CPU_UNDER_TSAN
__attribute__((__no_sanitize_thread__, __noinline__, __unused__)) static void
cpu_key_copy(unsigned char *key, const unsigned char *from, gyre_u32 size)
{
    for (gyre_u32 i = 0; i < size; i++)
        key[i] = ((const volatile unsigned char *)from)[i];
}
#else
static inline void cpu_key_copy(unsigned char *key, const unsigned char *from, gyre_u32 size)
{
    memcpy(key, from, size);
}
#endif

#endif
