/* SPDX-License-Identifier: Apache-2.0 */
/* Writes answers into info structs of an application, which may have been compiled with fewer members than this library
 * has. No state, any thread. */
#ifndef GYRE_CORE_BASE_INFO_GIVE_H
#define GYRE_CORE_BASE_INFO_GIVE_H

#include <stddef.h>
#include <string.h>

/**
 * Copies `answer`, of `size` bytes, into `info`, up to the size that the application's struct has. Both structs begin with
 * their size. The size in `info`, at least sizeof(size_t), stays unchanged, so that the struct may be passed again.
 */
static inline void gyre_info_give(void *info, const void *answer, size_t size)
{
    size_t known;
    memcpy(&known, info, sizeof known);
    memcpy((char *)info + sizeof known, (const char *)answer + sizeof known,
           (known < size ? known : size) - sizeof known);
}

#endif
