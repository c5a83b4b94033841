/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of memory: for each word of 4 bytes the last four accesses, and whether a new access races with one of
 * them. Two accesses race when they touch the same byte, at least one writes, not both are atomic, and nothing orders
 * them:
 *
 *   - Within a message, lanes are ordered by barriers: accesses of different lanes in the same phase (between the same
 *     two barriers) race. Lanes of different blocks are ordered by barriers of the grid (cpu_lanes_phase_of).
 *   - Between messages, an earlier message is ordered when its handler had returned before the later request was seen
 *     in its ring. `since` is the first message for which that is not so. `follows` may know of others that are ordered.
 *
 * A new access replaces an access that is ordered before it, or the oldest one, so a race may be missed and none is
 * told falsely. Not thread-safe: the caller has a lock.
 */
#ifndef GYRE_CPU_SHADOW_H
#define GYRE_CPU_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** An access that is about to happen. `address` may be any number that stands for the byte. */
struct cpu_access {
    uint64_t address, size;
    uint64_t message, since; /* 1 and up; `since` is at most `message` */
    uint32_t phase;
    uint32_t lane;        /* below 1024 */
    uint32_t block_lanes; /* lanes of a block, where a message has several blocks; 0: it has one */
    bool write, atomic;
    const void *code;
    /* whether an earlier message from `since` on is ordered all the same; NULL: none is */
    bool (*follows)(const void *who, uint64_t message);
    const void *who;
};

/** The earlier access of a race. */
struct cpu_earlier {
    uint64_t address; /* the first byte that both touch */
    uint64_t message;
    uint32_t lane;
    bool write, atomic;
    const void *code;
};

struct cpu_shadow_page;

/** All zero: an empty history. */
struct cpu_shadow {
    struct cpu_shadow_page **table; /* open addressing by page number */
    size_t size, used;
    struct cpu_shadow_page *latest;
    uint32_t turn;
    bool full; /* there was no memory for a page: accesses there are not compared */
};

/**
 * Notes the access, unless it was noted already (the same lane, place and bytes in the same phase). True when it races with an
 * earlier one, which is described in *earlier.
 */
bool cpu_shadow_note(struct cpu_shadow *shadow, const struct cpu_access *access, struct cpu_earlier *earlier);

void cpu_shadow_free(struct cpu_shadow *shadow);

#endif
