/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the parts of an ELF file that shared_object.h needs: header, section table, dynamic symbols. Trusts nothing in the
 * file: it checks each offset and length, and reads with pread, never by mapping. Has no state.
 */
#include "core/loader/shared_object.h"
#include "core/base/error.h"
#include "gyre/lack.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The ELF header of the object that this code is in, by the linker's name. A file for this machine has the same
 * machine in it.
 */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

enum { SECTIONS_MAX = 65536, TABLE_MAX = 64 << 20 };

struct elf_file {
    const char *path;
    int descriptor;
    uint64_t size;
    ElfW(Ehdr) header;
    ElfW(Shdr) * sections;
    bool starved; /* there was no memory for a table of the file */
};

/*
 * Makes the error for a file that cannot be read. EXHAUSTED where this process lacks something: the file may be right
 * then.
 */
static gyre_status cannot_read(const struct elf_file *file, int error)
{
    return gyre_error_set(gyre_lack_status(error, GYRE_UNAVAILABLE), "plugin '%s' cannot be read: %s%s",
                          file->path, strerror(error), gyre_lack_remedy(error));
}

static bool read_at(const struct elf_file *file, uint64_t offset, void *bytes, uint64_t size)
{
    if (offset > file->size || size > file->size - offset)
        return false;
    for (uint64_t done = 0; done < size;) {
        ssize_t got =
            pread(file->descriptor, (char *)bytes + done, (size_t)(size - done), (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (uint64_t)got;
    }
    return true;
}

static void *read_table(struct elf_file *file, uint64_t offset, uint64_t size)
{
    if (size == 0 || size > TABLE_MAX || size > file->size)
        return NULL;
    void *table = malloc((size_t)size);
    file->starved = file->starved || !table;
    if (table && !read_at(file, offset, table, size)) {
        free(table);
        table = NULL;
    }
    return table;
}

static const char *machine_word(unsigned machine, char text[32])
{
    switch (machine) {
    case EM_386:
        return "x86, 32 bits";
    case EM_X86_64:
        return "x86-64";
    case EM_ARM:
        return "ARM, 32 bits";
    case EM_AARCH64:
        return "aarch64";
    case EM_RISCV:
        return "RISC-V";
    case EM_PPC64:
        return "POWER";
    case EM_S390:
        return "s390x";
    default:
        snprintf(text, 32, "ELF machine %u", machine);
        return text;
    }
}

static gyre_status check_header(const struct elf_file *file)
{
    const ElfW(Ehdr) *header = &file->header, *own = &__ehdr_start;
    char theirs[32], ours[32];
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "plugin '%s' is not an ELF file: expected a shared object, found a file that "
                              "begins with the bytes %02x %02x %02x %02x",
                              file->path, header->e_ident[0], header->e_ident[1], header->e_ident[2],
                              header->e_ident[3]);
    if (header->e_ident[EI_CLASS] != own->e_ident[EI_CLASS] ||
        header->e_ident[EI_DATA] != own->e_ident[EI_DATA] || header->e_machine != own->e_machine)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "plugin '%s' is built for another machine: expected %s, found %s: build it here", file->path,
            machine_word(own->e_machine, ours), machine_word(header->e_machine, theirs));
    if (header->e_type != ET_DYN)
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "plugin '%s' is an ELF file of type %u: expected a shared object (type %d)",
                              file->path, header->e_type, ET_DYN);
    return GYRE_OK;
}

/* Reads the bytes of a defined data symbol, which it finds through the symbol's section. */
static bool read_symbol(const struct elf_file *file, const ElfW(Sym) * symbol, void *bytes, size_t size)
{
    if (symbol->st_shndx >= file->header.e_shnum)
        return false;
    const ElfW(Shdr) *home = &file->sections[symbol->st_shndx];
    if (home->sh_type == SHT_NOBITS || symbol->st_value < home->sh_addr)
        return false;
    uint64_t inside = symbol->st_value - home->sh_addr;
    if (inside > home->sh_size || size > home->sh_size - inside)
        return false;
    return read_at(file, home->sh_offset + inside, bytes, size);
}

/* Searches one dynamic symbol table. */
static enum gyre_elf_finding search(struct elf_file *file, const ElfW(Shdr) * table, const char *name,
                                    void *bytes, size_t size)
{
    enum gyre_elf_finding found = GYRE_ELF_UNKNOWN;
    if (table->sh_link >= file->header.e_shnum || table->sh_entsize != sizeof(ElfW(Sym)))
        return found;
    const ElfW(Shdr) *words = &file->sections[table->sh_link];
    ElfW(Sym) *symbols = read_table(file, table->sh_offset, table->sh_size);
    char *strings = read_table(file, words->sh_offset, words->sh_size);
    size_t length = strlen(name) + 1;
    if (!symbols || !strings)
        goto done;
    found = GYRE_ELF_ABSENT;
    for (size_t i = 0; i < table->sh_size / sizeof *symbols && found == GYRE_ELF_ABSENT; i++) {
        const ElfW(Sym) *symbol = &symbols[i];
        if (symbol->st_shndx == SHN_UNDEF || symbol->st_name > words->sh_size ||
            length > words->sh_size - symbol->st_name || memcmp(strings + symbol->st_name, name, length) != 0)
            continue;
        found = read_symbol(file, symbol, bytes, size) ? GYRE_ELF_FOUND : GYRE_ELF_UNKNOWN;
    }
done:
    free(symbols);
    free(strings);
    return found;
}

static enum gyre_elf_finding find_object(struct elf_file *file, const char *name, void *bytes, size_t size)
{
    enum gyre_elf_finding found = GYRE_ELF_UNKNOWN;
    const ElfW(Ehdr) *header = &file->header;
    if (header->e_shentsize != sizeof(ElfW(Shdr)) || header->e_shnum >= SECTIONS_MAX - 1)
        return found;
    file->sections = read_table(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof(ElfW(Shdr)));
    for (size_t i = 0; file->sections && i < header->e_shnum && found == GYRE_ELF_UNKNOWN; i++)
        if (file->sections[i].sh_type == SHT_DYNSYM)
            found = search(file, &file->sections[i], name, bytes, size);
    free(file->sections);
    file->sections = NULL;
    return found;
}

static gyre_status open_file(struct elf_file *file)
{
    struct stat info;
    /* O_NONBLOCK: the open of a pipe returns at once */
    file->descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->descriptor < 0 && (errno == ENOENT || errno == ENOTDIR))
        return gyre_error_set(GYRE_NOT_FOUND, "plugin '%s' does not exist", file->path);
    if (file->descriptor < 0 || fstat(file->descriptor, &info) != 0)
        return cannot_read(file, errno);
    if (!S_ISREG(info.st_mode))
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "plugin '%s' is not a file: expected a shared object, found a %s", file->path,
                              S_ISDIR(info.st_mode) ? "folder" : "device or pipe");
    file->size = (uint64_t)info.st_size;
    if (!read_at(file, 0, &file->header, sizeof file->header))
        return gyre_error_set(GYRE_INCOMPATIBLE, "plugin '%s' is not an ELF file: it is only %llu bytes long",
                              file->path, (unsigned long long)file->size);
    return check_header(file);
}

gyre_status gyre_elf_read_object(const char *path, const char *symbol, void *bytes, size_t size,
                                 enum gyre_elf_finding *found)
{
    struct elf_file file = {.path = path, .descriptor = -1};
    *found = GYRE_ELF_UNKNOWN;
    gyre_status status = open_file(&file);
    if (status == GYRE_OK)
        *found = find_object(&file, symbol, bytes, size);
    if (file.starved) {
        *found = GYRE_ELF_UNKNOWN;
        status = cannot_read(&file, ENOMEM);
    }
    if (file.descriptor >= 0)
        close(file.descriptor);
    return status;
}
