/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a cubin without trusting it: the file may be cut or damaged, and its parts need not be aligned. Keeps
 * no state.
 */
#include "backends/cuda/compile/cuda_elf.h"

#include <stdio.h>
#include <string.h>

static bool is_inside(const struct cuda_elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset;
}

static bool read_section(const struct cuda_elf *elf, size_t index, Elf64_Shdr *section)
{
    uint64_t offset = elf->header.e_shoff + (uint64_t)index * sizeof *section;
    if (index >= elf->header.e_shnum || !is_inside(elf, offset, sizeof *section))
        return false;
    memcpy(section, elf->bytes + offset, sizeof *section);
    return section->sh_type == SHT_NOBITS || is_inside(elf, section->sh_offset, section->sh_size);
}

/* The string at `offset` of a string table, or NULL when the string does not end within the table. */
static const char *string_at(const struct cuda_elf *elf, const Elf64_Shdr *table, uint64_t offset)
{
    if (table->sh_type != SHT_STRTAB || offset >= table->sh_size)
        return NULL;
    const char *text = (const char *)elf->bytes + table->sh_offset + offset;
    return memchr(text, 0, table->sh_size - offset) ? text : NULL;
}

static bool find_section(const struct cuda_elf *elf, const char *name, Elf64_Shdr *section)
{
    for (size_t i = 0; i < elf->header.e_shnum; i++) {
        const char *found =
            read_section(elf, i, section) ? string_at(elf, &elf->section_names, section->sh_name) : NULL;
        if (found && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

static bool read_header(const void *bytes, size_t size, Elf64_Ehdr *header)
{
    if (size < sizeof *header)
        return false;
    memcpy(header, bytes, sizeof *header);
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_shentsize == sizeof(Elf64_Shdr) &&
           header->e_shoff <= size && header->e_phoff <= size &&
           (uint64_t)header->e_phnum * header->e_phentsize <= size - header->e_phoff;
}

bool cuda_elf_open(struct cuda_elf *elf, const void *bytes, size_t size)
{
    *elf = (struct cuda_elf){.bytes = bytes, .size = size};
    if (!read_header(bytes, size, &elf->header) ||
        !read_section(elf, elf->header.e_shstrndx, &elf->section_names) ||
        !find_section(elf, ".symtab", &elf->symbols) || elf->symbols.sh_type != SHT_SYMTAB ||
        !read_section(elf, elf->symbols.sh_link, &elf->symbol_names))
        return false;
    elf->symbol_count = elf->symbols.sh_size / sizeof(Elf64_Sym);
    return true;
}

bool cuda_elf_symbol(const struct cuda_elf *elf, size_t index, struct cuda_elf_symbol *symbol)
{
    Elf64_Sym raw;
    Elf64_Shdr section;
    if (index >= elf->symbol_count)
        return false;
    memcpy(&raw, elf->bytes + elf->symbols.sh_offset + index * sizeof raw, sizeof raw);
    *symbol = (struct cuda_elf_symbol){.name = string_at(elf, &elf->symbol_names, raw.st_name),
                                       .index = index,
                                       .size = raw.st_size,
                                       .is_function = ELF64_ST_TYPE(raw.st_info) == STT_FUNC};
    if (!symbol->name)
        return false;
    if (read_section(elf, raw.st_shndx, &section) && section.sh_type != SHT_NOBITS &&
        raw.st_value <= section.sh_size && raw.st_size <= section.sh_size - raw.st_value)
        symbol->value = elf->bytes + section.sh_offset + raw.st_value;
    return true;
}

bool cuda_elf_find(const struct cuda_elf *elf, const char *name, struct cuda_elf_symbol *symbol)
{
    for (size_t i = 0; i < elf->symbol_count; i++)
        if (cuda_elf_symbol(elf, i, symbol) && strcmp(symbol->name, name) == 0)
            return true;
    return false;
}

/* ---- the assembler's notes: .nv.info is a list of {format, attribute, size or value, bytes} ---- */

enum {
    FORMAT_SIZED = 4,
    ATTRIBUTE_FRAME_SIZE = 0x11,
    ATTRIBUTE_STACK_SIZE = 0x12,
    ATTRIBUTE_REGISTERS = 0x2f
};

struct note {
    uint8_t format, attribute;
    uint16_t size; /* size of the bytes that follow when the format is FORMAT_SIZED */
};

static void take_note(const struct note *note, const uint8_t *content, size_t symbol,
                      struct cuda_elf_function *function)
{
    uint32_t words[2]; /* symbol number, value */
    if (note->format != FORMAT_SIZED || note->size != sizeof words)
        return;
    memcpy(words, content, sizeof words);
    if (words[0] != symbol)
        return;
    if (note->attribute == ATTRIBUTE_REGISTERS)
        function->registers = words[1];
    if (note->attribute == ATTRIBUTE_FRAME_SIZE)
        function->frame_size = words[1];
    if (note->attribute == ATTRIBUTE_STACK_SIZE)
        function->stack_size = words[1];
}

bool cuda_elf_function(const struct cuda_elf *elf, const char *name, struct cuda_elf_function *function)
{
    struct cuda_elf_symbol symbol;
    Elf64_Shdr notes, shared;
    char section[256];
    *function = (struct cuda_elf_function){0};
    if (!cuda_elf_find(elf, name, &symbol) || !symbol.is_function)
        return false;
    snprintf(section, sizeof section, ".nv.shared.%s", name);
    if (find_section(elf, section, &shared))
        function->shared_size = (uint32_t)shared.sh_size;
    if (!find_section(elf, ".nv.info", &notes) || notes.sh_type == SHT_NOBITS)
        return true;
    const uint8_t *at = elf->bytes + notes.sh_offset, *end = at + notes.sh_size;
    while ((size_t)(end - at) >= sizeof(struct note)) {
        struct note note;
        memcpy(&note, at, sizeof note);
        at += sizeof note;
        const size_t size = note.format == FORMAT_SIZED ? note.size : 0;
        if (size > (size_t)(end - at))
            break;
        take_note(&note, at, symbol.index, function);
        at += size;
    }
    return true;
}
