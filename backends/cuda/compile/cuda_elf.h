/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a cubin, which is a 64-bit little-endian ELF file: its symbols, their initial values, and the
 * assembler's notes about functions. Checks every offset against the size of the file. Returned pointers lead
 * into the file's bytes. Private to this folder; keeps no state.
 */
#ifndef GYRE_CUDA_ELF_H
#define GYRE_CUDA_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cuda_elf {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr header;
    Elf64_Shdr symbols, symbol_names, section_names;
    size_t symbol_count;
};

struct cuda_elf_symbol {
    const char *name;
    size_t index;
    const void *value; /* NULL: the file has no value, as for a zeroed variable */
    size_t size;
    bool is_function;
};

/** What the assembler noted about a function; 0 where it noted nothing. */
struct cuda_elf_function {
    uint32_t registers, frame_size; /* of a thread; the frame is in local memory */
    uint32_t stack_size;            /* the frame with those of all functions that it may call; 0: not known */
    /* static shared memory of a block, including the bytes that the system reserves */
    uint32_t shared_size;
};

bool cuda_elf_open(struct cuda_elf *elf, const void *bytes, size_t size);
/** Reads symbol number `index`. False when the symbol is damaged. */
bool cuda_elf_symbol(const struct cuda_elf *elf, size_t index, struct cuda_elf_symbol *symbol);
/** Finds the symbol with that name. False when there is none. */
bool cuda_elf_find(const struct cuda_elf *elf, const char *name, struct cuda_elf_symbol *symbol);
bool cuda_elf_function(const struct cuda_elf *elf, const char *name, struct cuda_elf_function *function);

#endif
