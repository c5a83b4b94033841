/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What words held before, for the check `order`. Atomic operations of handlers are relaxed, so a message that loads a word may find a
 * value that was there before another message wrote it, as long as nothing orders that message before its own:
 *
 *   - a message never finds a value that is older than one that it found or wrote itself;
 *   - an operation that changes the word finds the latest value;
 *   - what a message wrote that is ordered before this one, it finds, or something later.
 *
 * Which of the values that are allowed it finds follows from the seed. The last four values of a word are kept, of so many words at
 * once; a word that is forgotten has its latest value alone. Not thread-safe: the caller has the lock of the device's checks.
 */
#ifndef GYRE_CPU_STALE_H
#define GYRE_CPU_STALE_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/cpu/check/cpu_touch.h"

struct cpu_stale;

/** Who touches a word: message `number`; those from `since` on are not ordered before it, except where `follows` says so. */
struct cpu_stale_message {
    uint64_t number, since;
    bool (*follows)(const void *who, uint64_t message); /* NULL: none of them is */
    const void *who;
};

/** NULL without memory. */
struct cpu_stale *cpu_stale_create(uint64_t seed);
void cpu_stale_free(struct cpu_stale *stale);

/**
 * A message is about to touch memory. Returns NULL, or an older value that its atomic load finds in place of the latest one, which stays
 * where it is until the next call.
 */
const void *cpu_stale_touch(struct cpu_stale *stale, const struct cpu_stale_message *message,
                            const struct cpu_touch *touch);

#endif
