/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets (secret.h). No lock: the number that they follow from is set before anything is opened. */
#include "core/base/secret.h"

#include <string.h>
#include <sys/random.h>

static uint64_t followed; /* 0: secrets are random */

static uint64_t next_number(void)
{
    uint64_t number =
        __atomic_add_fetch(&followed, UINT64_C(0x9e3779b97f4a7c15), __ATOMIC_RELAXED); /* splitmix64 */
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

bool gyre_secret_draw(void *bytes, size_t size)
{
    unsigned char *at = bytes;
    if (!__atomic_load_n(&followed, __ATOMIC_RELAXED))
        return getrandom(bytes, size, 0) == (ssize_t)size;
    for (size_t part; size > 0; at += part, size -= part) {
        const uint64_t number = next_number();
        part = size < sizeof number ? size : sizeof number;
        memcpy(at, &number, part);
    }
    return true;
}

void gyre_secret_follow(uint64_t seed)
{
    __atomic_store_n(&followed, seed, __ATOMIC_RELAXED);
}
