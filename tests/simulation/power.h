/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loss of power, for tests: what a program does to the files of one folder is recorded, and from the record any
 * state is made that a file system may leave when the power fails between two of these calls.
 *
 * What a file system is taken to promise, and no more: bytes are there once fsync of their file returned, a
 * name once fsync of its folder did. Until then each sector (512 bytes) is as it was, or as any write since
 * left it, independently of its neighbours; where nothing was, it is zero or anything; the length is any that
 * the file had; names change in the order in which they were changed, up to any point. An fsync that fails
 * leaves a part of the bytes on the disk, and the next one says nothing of the rest.
 *
 * Programs that include it are linked with --wrap for the calls of power.c. Calls go to the real files too, but
 * for fsync. One recording at a time; threads: any. The record is shared memory, so a parent can read what its
 * child did.
 */
#ifndef GYRE_TESTS_POWER_H
#define GYRE_TESTS_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum power_call { POWER_WRITE, POWER_SYNC, POWER_RENAME };

/**
 * Records what happens to the files of `folder`, an absolute path, from now on; what is there is on the disk.
 * The folder need not exist; its parent is there.
 */
void power_record(const char *folder);
/** Calls are not recorded any more. */
void power_stop(void);
/** Whether a call fails with EIO; NULL: none does. Kept until it is set anew. */
void power_let_fail(bool (*function)(enum power_call call));
/** Notes a number between two calls; numbers do not decrease. */
void power_note(uint64_t number);

/** Calls that were recorded. */
uint64_t power_calls(void);
/** The last number that was noted before the first `calls` of them were over; 0: none. */
uint64_t power_noted(uint64_t calls);
/** Makes folder `into`, which must not exist, what may be left if the power fails behind so many calls. */
void power_fail(uint64_t calls, uint64_t seed, const char *into);

#endif
