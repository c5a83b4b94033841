/* SPDX-License-Identifier: Apache-2.0 */
/* The record of power.h, for the two files that write and read it. */
#ifndef GYRE_TESTS_POWER_RECORD_H
#define GYRE_TESTS_POWER_RECORD_H

#include "power.h"

enum { CALLS_MAX = 1 << 17, BYTES_MAX = 64 << 20, FILES_MAX = 4096, NAMES_MAX = 8 };
enum { NAME_SIZE = 64, NO_FILE = -1, THE_FOLDER = -2, THE_PARENT = -3 };

enum power_kind { MADE_FOLDER, CREATED, RENAMED, REMOVED, WROTE, CUT, SYNCED, SYNC_FAILED, NOTED };

struct power_call_made {
    enum power_kind kind;
    int file; /* its number, or THE_FOLDER, THE_PARENT */
    char name[NAME_SIZE], new_name[NAME_SIZE];
    uint64_t offset, size; /* `offset` of a note is its number */
    uint64_t bytes;        /* where they are */
};

struct power_record {
    uint64_t call_count, byte_count, file_count;
    uint64_t base; /* calls that make what was there at the beginning */
    struct power_call_made calls[CALLS_MAX];
    unsigned char bytes[BYTES_MAX];
};

extern struct power_record *power_recorded;

/** Ends the program, with what was wrong. */
_Noreturn void power_end(const char *what);

/** Ends the program when it does not hold, with the reason. */
static inline void power_must(bool holds, const char *what)
{
    if (!holds)
        power_end(what);
}

#endif
