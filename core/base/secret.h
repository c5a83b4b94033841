/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers that nobody else knows: for hashes of keys, so that who chooses keys cannot choose those that collide. A tool that
 * repeats a run has them follow from a number, so that equal keys meet in the same block each time.
 */
#ifndef GYRE_CORE_BASE_SECRET_H
#define GYRE_CORE_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Fills in `size` bytes. False when the system has none. Any thread. */
bool gyre_secret_draw(void *bytes, size_t size);

/**
 * From now on secrets of this process follow from `seed`, and are none any more; 0: they are random again. For tools that check
 * handlers. No other thread draws meanwhile.
 */
void gyre_secret_follow(uint64_t seed);

#endif
