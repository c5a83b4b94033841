/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks into a shared object's file without loading it, so that a wrong one is refused before any of its code
 * (constructors included) has run. Threads: any. Blocks: for the reads.
 */
#ifndef GYRE_CORE_LOADER_ELF_H
#define GYRE_CORE_LOADER_ELF_H

#include <stddef.h>
#include "gyre/status.h"

enum gyre_elf_finding {
    GYRE_ELF_FOUND,   /* the symbol's bytes were read */
    GYRE_ELF_ABSENT,  /* the file exports no such object */
    GYRE_ELF_UNKNOWN, /* the file carries no section table to look in: only loading can tell */
};

/**
 * Checks that the file is an ELF shared object for the machine and word size of this program, and reads the
 * first `size` bytes of the exported object `symbol` as they are in the file: numbers are right, pointers are
 * not relocated yet. *found is what the lookup gave. NOT_FOUND when there is no such file, INCOMPATIBLE with
 * a sentence when it is not for this machine or damaged, EXHAUSTED when there is no memory or no descriptor to look.
 */
gyre_status gyre_elf_read_object(const char *path, const char *symbol, void *bytes, size_t size,
                                 enum gyre_elf_finding *found);

#endif
