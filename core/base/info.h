/* SPDX-License-Identifier: Apache-2.0 */
/* Answers in structs of the caller, which may know fewer members than this library. No state, any thread. */
#ifndef GYRE_CORE_BASE_INFO_H
#define GYRE_CORE_BASE_INFO_H

#include <stddef.h>
#include <string.h>

/**
 * Copies `answer`, `size` bytes, into an info as far as its caller knows it. Both begin with a size; the
 * info's, at least that of a size_t, stays as the caller set it, so the same struct may be passed again.
 */
static inline void gyre_info_give(void *info, const void *answer, size_t size)
{
    size_t known;
    memcpy(&known, info, sizeof known);
    memcpy((char *)info + sizeof known, (const char *)answer + sizeof known,
           (known < size ? known : size) - sizeof known);
}

#endif
