/* SPDX-License-Identifier: Apache-2.0 */
/* Loads transports (transport_plugin.h). No lock: what is loaded twice is the same library, which is never closed. */
#include "core/loader/transport_plugin.h"

#include <string.h>

#include "core/base/error.h"
#include "core/loader/loader.h"
#include "core/loader/shared_object.h"

/* The first members of gyre_transport_plugin, which no version moves, and which hold no pointer. */
struct transport_head {
    uint32_t magic;
    uint16_t abi_major, abi_minor;
    size_t size;
};
_Static_assert(offsetof(struct transport_head, size) == offsetof(gyre_transport_plugin, size), "same head");

static const struct {
    const char *name;
    size_t offset;
} slots[] = {{"open", offsetof(gyre_transport_ops, open)},
             {"close", offsetof(gyre_transport_ops, close)},
             {"append", offsetof(gyre_transport_ops, append)},
             {"read", offsetof(gyre_transport_ops, read)},
             {"last", offsetof(gyre_transport_ops, last)},
             {"wait", offsetof(gyre_transport_ops, wait)},
             {"purge", offsetof(gyre_transport_ops, purge)},
             {"record_get", offsetof(gyre_transport_ops, record_get)},
             {"record_put", offsetof(gyre_transport_ops, record_put)},
             {"record_list", offsetof(gyre_transport_ops, record_list)}};

static gyre_status judge_head(const char *path, const struct transport_head *head)
{
    if (head->magic != GYRE_TRANSPORT_MAGIC)
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "transport '%s' has a wrong magic number in %s: expected 0x%08x, found 0x%08x",
                              path, GYRE_TRANSPORT_SYMBOL, GYRE_TRANSPORT_MAGIC, head->magic);
    if (head->abi_major != GYRE_TRANSPORT_MAJOR || head->abi_minor > GYRE_TRANSPORT_MINOR)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "transport '%s' speaks transport ABI %u.%u, and this Gyre runs %u.0 to %u.%u: build it "
            "again with this Gyre's headers, or update Gyre",
            path, head->abi_major, head->abi_minor, GYRE_TRANSPORT_MAJOR, GYRE_TRANSPORT_MAJOR,
            GYRE_TRANSPORT_MINOR);
    if (head->size < sizeof(gyre_transport_plugin))
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "transport '%s' has a %s that is too small: expected at least %zu bytes, found %zu", path,
            GYRE_TRANSPORT_SYMBOL, sizeof(gyre_transport_plugin), head->size);
    return GYRE_OK;
}

static gyre_status judge_table(const char *path, const gyre_transport_plugin *table)
{
    const struct transport_head head = {table->magic, table->abi_major, table->abi_minor, table->size};
    gyre_status status = judge_head(path, &head);
    if (status != GYRE_OK)
        return status;
    if (!table->ops || !table->name)
        return gyre_error_set(GYRE_INCOMPATIBLE, "transport '%s' has no table of operations, or no name",
                              path);
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        void (*function)(void) = NULL;
        if (slots[i].offset + sizeof function <= table->ops->size)
            memcpy(&function, (const char *)table->ops + slots[i].offset, sizeof function);
        if (!function)
            return gyre_error_set(GYRE_INCOMPATIBLE, "transport '%s' lacks the required operation '%s'", path,
                                  slots[i].name);
    }
    return GYRE_OK;
}

static gyre_status judge_file(const char *path)
{
    struct transport_head head;
    enum gyre_elf_finding found;
    gyre_status status = gyre_elf_read_object(path, GYRE_TRANSPORT_SYMBOL, &head, sizeof head, &found);
    if (status != GYRE_OK)
        return status;
    if (found == GYRE_ELF_ABSENT)
        return gyre_error_set(GYRE_INCOMPATIBLE, "'%s' is no transport of Gyre: it exports no symbol '%s'",
                              path, GYRE_TRANSPORT_SYMBOL);
    return found == GYRE_ELF_FOUND ? judge_head(path, &head) : GYRE_OK;
}

gyre_status gyre_transport_load(const char *path, const gyre_transport_plugin **out)
{
    void *library = NULL, *symbol = NULL;
    *out = NULL;
    gyre_status status = judge_file(path);
    if (status == GYRE_OK)
        status = gyre_library_open(path, &library);
    if (status == GYRE_OK)
        status = gyre_library_symbol(library, GYRE_TRANSPORT_SYMBOL, &symbol);
    if (status == GYRE_OK)
        status = judge_table(path, symbol);
    if (status == GYRE_OK)
        *out = symbol;
    else
        gyre_library_close(library);
    return status;
}
