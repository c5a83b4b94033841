/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a cubin, which is a 64-bit little-endian ELF file: symbols, their initial values, and what the
 * assembler notes about functions. Everything is checked against the bytes at hand; pointers lead into them.
 * Private to this folder; no state.
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
    const void *value; /* NULL: none in the file, as of zeroed variables */
    size_t size;
    bool is_function;
};

/** The assembler's notes about a function; 0 where it noted nothing. */
struct cuda_elf_function {
    uint32_t registers, frame_size; /* of a thread; the frame is in local memory */
    uint32_t shared_size;           /* static, of a block, with what the system reserves */
};

bool cuda_elf_open(struct cuda_elf *elf, const void *bytes, size_t size);
/** Symbol `index`; false when it is damaged. */
bool cuda_elf_symbol(const struct cuda_elf *elf, size_t index, struct cuda_elf_symbol *symbol);
/** The symbol of that name; false when there is none. */
bool cuda_elf_find(const struct cuda_elf *elf, const char *name, struct cuda_elf_symbol *symbol);
bool cuda_elf_function(const struct cuda_elf *elf, const char *name, struct cuda_elf_function *function);

#endif
