/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a shared object's file without loading it (shared_object.c), so that a wrong file is refused before any of its code,
 * constructors included, has run. Threads: any. Blocks: for the reads.
 */
#ifndef GYRE_CORE_LOADER_SHARED_OBJECT_H
#define GYRE_CORE_LOADER_SHARED_OBJECT_H

#include <stddef.h>
#include "gyre/status.h"

enum gyre_elf_finding {
    GYRE_ELF_FOUND,   /* the symbol's bytes were read */
    GYRE_ELF_ABSENT,  /* the file exports no such object */
    GYRE_ELF_UNKNOWN, /* the file has no section table to search: only loading can tell */
};

/**
 * Checks that the file is an ELF shared object for the machine and word size of this program. Then reads the first
 * `size` bytes of the exported object `symbol` as they are in the file: numbers are right, pointers are not relocated
 * yet. *found: the result of the search for the symbol. NOT_FOUND when there is no such file. INCOMPATIBLE with a
 * sentence when the file is damaged or not for this machine. EXHAUSTED without the memory or descriptor to read it.
 */
gyre_status gyre_elf_read_object(const char *path, const char *symbol, void *bytes, size_t size,
                                 enum gyre_elf_finding *found);

#endif
