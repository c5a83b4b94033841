/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads plugins and other libraries (loader.h). No other file of the core calls dlopen. One lock, for the list of
 * loaded plugins; it is held over dlopen so that two threads get the same plugin. Must not call any operation of a
 * plugin.
 */
#include "core/loader/loader.h"
#include "core/base/error.h"
#include "core/loader/shared_object.h"
#include "gyre/lack.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

struct gyre_plugin {
    struct gyre_plugin *next;
    void *library;
    const gyre_backend_plugin *table;
    pthread_mutex_t lock;
};

/*
 * The first members of gyre_backend_plugin, which no version moves. They hold no pointer, so they are right before
 * relocation.
 */
struct plugin_head {
    uint32_t magic;
    uint16_t abi_major, abi_minor;
    size_t size;
};
_Static_assert(offsetof(struct plugin_head, size) == offsetof(gyre_backend_plugin, size), "same head");

struct slot {
    const char *name;
    size_t offset;
};

#define SLOT(member)                                                                                         \
    {                                                                                                        \
#member, offsetof(gyre_backend_ops, member)                                                          \
    }
static const struct slot required_slots[] = {
    SLOT(probe),       SLOT(device_open),   SLOT(device_close),  SLOT(device_info),
    SLOT(compile),     SLOT(module_load),   SLOT(module_kernel), SLOT(module_release),
    SLOT(queue_alloc), SLOT(queue_release), SLOT(memory_alloc),  SLOT(memory_release),
    SLOT(transfer),    SLOT(launch),        SLOT(wait),          SLOT(release),
};
#undef SLOT

static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gyre_plugin *loaded;

/* ---- judging ---- */

gyre_status gyre_plugin_judge_version(const char *path, uint16_t major, uint16_t minor, uint16_t core_major,
                                      uint16_t core_minor)
{
    if (major == core_major && minor <= core_minor)
        return GYRE_OK;
    int plugin_is_newer = major > core_major || (major == core_major && minor > core_minor);
    return gyre_error_set(
        GYRE_INCOMPATIBLE,
        "plugin '%s' speaks backend ABI %u.%u, which is too %s: this Gyre runs %u.0 to %u.%u: %s", path,
        major, minor, plugin_is_newer ? "new" : "old", core_major, core_major, core_minor,
        plugin_is_newer ? "update Gyre, or build the plugin for this one"
                        : "build the plugin again with this Gyre's headers");
}

static gyre_status judge_head(const char *path, const struct plugin_head *head)
{
    if (head->magic != GYRE_ABI_MAGIC)
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "plugin '%s' has a wrong magic number in %s: expected 0x%08x, found 0x%08x",
                              path, GYRE_BACKEND_SYMBOL, GYRE_ABI_MAGIC, head->magic);
    gyre_status status =
        gyre_plugin_judge_version(path, head->abi_major, head->abi_minor, GYRE_ABI_MAJOR, GYRE_ABI_MINOR);
    if (status != GYRE_OK)
        return status;
    if (head->size < sizeof(gyre_backend_plugin))
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "plugin '%s' has a %s that is too small: expected at least %zu bytes, found %zu: "
            "set its size to sizeof(gyre_backend_plugin)",
            path, GYRE_BACKEND_SYMBOL, sizeof(gyre_backend_plugin), head->size);
    return GYRE_OK;
}

static gyre_status judge_file(const char *path)
{
    struct plugin_head head;
    enum gyre_elf_finding found;
    gyre_status status = gyre_elf_read_object(path, GYRE_BACKEND_SYMBOL, &head, sizeof head, &found);
    if (status != GYRE_OK)
        return status;
    if (found == GYRE_ELF_ABSENT)
        return gyre_error_set(GYRE_INCOMPATIBLE, "'%s' is not a Gyre plugin: it exports no symbol '%s'", path,
                              GYRE_BACKEND_SYMBOL);
    return found == GYRE_ELF_FOUND ? judge_head(path, &head) : GYRE_OK;
}

static int is_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length > 0 && length < 32 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

static gyre_status judge_slots(const char *path, const gyre_backend_ops *ops)
{
    for (size_t i = 0; i < sizeof required_slots / sizeof required_slots[0]; i++) {
        void (*function)(void) = NULL;
        const struct slot *slot = &required_slots[i];
        if (slot->offset + sizeof function <= ops->size)
            memcpy(&function, (const char *)ops + slot->offset, sizeof function);
        if (!function)
            return gyre_error_set(GYRE_INCOMPATIBLE,
                                  "plugin '%s' lacks the required operation '%s' in its table of %zu bytes",
                                  path, slot->name, ops->size);
    }
    return GYRE_OK;
}

static gyre_status judge_table(const char *path, const gyre_backend_plugin *table)
{
    const struct plugin_head head = {table->magic, table->abi_major, table->abi_minor, table->size};
    gyre_status status = judge_head(path, &head);
    if (status != GYRE_OK)
        return status;
    if (!is_name(table->name))
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "plugin '%s' has no usable name: expected 1 to 31 of a-z, 0-9, '-' and '_'",
                              path);
    if (!table->ops)
        return gyre_error_set(GYRE_INCOMPATIBLE, "plugin '%s' has no table of operations", path);
    return judge_slots(path, table->ops);
}

bool gyre_plugin_read_abi(const char *path, uint16_t *abi_major, uint16_t *abi_minor)
{
    struct plugin_head head;
    enum gyre_elf_finding found;
    if (gyre_elf_read_object(path, GYRE_BACKEND_SYMBOL, &head, sizeof head, &found) != GYRE_OK ||
        found != GYRE_ELF_FOUND || head.magic != GYRE_ABI_MAGIC)
        return false;
    *abi_major = head.abi_major;
    *abi_minor = head.abi_minor;
    return true;
}

/* ---- libraries ---- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

/* The sentence of glibc when it cannot map a library. It does not say why: memory is short, or a right is missing. */
static const char unmapped[] = "failed to map segment from shared object";

/*
 * The errno for what this process lacks, by dlopen's sentence, because dlopen does not set errno. 0: it lacks
 * nothing.
 */
static int lack_in(const char *words)
{
    return ends_with(words, unmapped) || ends_with(words, "out of memory") ? ENOMEM : gyre_lack_in(words);
}

/*
 * Writes a name of the file that no earlier call gave: "//" and "/." before the last part stand for bits of a number. Returns `path`
 * where that name has no room.
 */
static const char *name_anew(const char *path, char *name, size_t size)
{
    enum { BITS = 24 };
    static uint32_t names;
    const uint32_t number = __atomic_add_fetch(&names, 1, __ATOMIC_RELAXED);
    const char *last = strrchr(path, '/');
    size_t length = (size_t)(last - path);
    if (strlen(path) + (size_t)2 * BITS >= size)
        return path;
    memcpy(name, path, length);
    for (unsigned bit = 0; bit < BITS; bit++) {
        name[length++] = '/';
        name[length++] = number >> bit & 1 ? '.' : '/';
    }
    memcpy(name + length, last, strlen(last) + 1);
    return name;
}

/*
 * Opens the file that is at the path now. dlopen returns a library that it loaded by the same name, though another file may have
 * taken its place since. Under a name that it does not know, it compares files.
 */
static void *open_present(const char *path)
{
    char name[PATH_MAX];
    void *known = strchr(path, '/') ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
    if (!known)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *library = dlopen(name_anew(path, name, sizeof name), RTLD_NOW | RTLD_LOCAL);
    dlclose(known);
    return library;
}

gyre_status gyre_library_open(const char *path, void **out)
{
    *out = open_present(path);
    if (*out)
        return GYRE_OK;
    struct statvfs system;
    const char *words = dlerror();
    if (strchr(path, '/') && statvfs(path, &system) == 0 && (system.f_flag & ST_NOEXEC))
        return gyre_error_set(
            GYRE_UNAVAILABLE,
            "cannot load '%s': its file system is mounted without the right to run programs "
            "(noexec): name another place (TMPDIR is that of compiles, cache_dir in [gyre] "
            "that of compiled kernels, plugin_dir that of plugins)",
            path);
    if (!words)
        words = "no reason given";
    const int lack = lack_in(words);
    return gyre_error_set(
        lack ? GYRE_EXHAUSTED : GYRE_UNAVAILABLE, "cannot load '%s': %s%s", path, words,
        ends_with(words, unmapped)
            ? "; there is too little memory for it (ulimit -v), or it may not be run (noexec)"
            : gyre_lack_remedy(lack));
}

gyre_status gyre_library_symbol(void *library, const char *name, void **out)
{
    *out = dlsym(library, name);
    return *out ? GYRE_OK : gyre_error_set(GYRE_NOT_FOUND, "the library has no symbol '%s'", name);
}

void gyre_library_close(void *library)
{
    if (library)
        dlclose(library);
}

/* ---- plugins ---- */

/* Puts a plugin into the list of loaded plugins. Takes over the reference to `library`. Under loaded_lock. */
static gyre_status keep(const char *path, void *library, const gyre_backend_plugin *table,
                        struct gyre_plugin **out)
{
    struct gyre_plugin *plugin = calloc(1, sizeof *plugin);
    if (!plugin) {
        dlclose(library);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for plugin '%s'", path);
    }
    plugin->library = library;
    plugin->table = table;
    pthread_mutex_init(&plugin->lock, NULL);
    plugin->next = loaded;
    loaded = plugin;
    *out = plugin;
    return GYRE_OK;
}

/* Loads a plugin, or finds it in the list of loaded plugins. Under loaded_lock. */
static gyre_status load_locked(const char *path, struct gyre_plugin **out)
{
    void *library, *symbol;
    gyre_status status = gyre_library_open(path, &library);
    if (status != GYRE_OK)
        return gyre_error_add(status, "plugin '%s'", path);
    for (struct gyre_plugin *known = loaded; known; known = known->next)
        if (known->library == library) {
            dlclose(library); /* the reference of the first load keeps the library loaded */
            *out = known;
            return GYRE_OK;
        }
    status = gyre_library_symbol(library, GYRE_BACKEND_SYMBOL, &symbol);
    if (status != GYRE_OK)
        status = gyre_error_set(GYRE_INCOMPATIBLE, "'%s' is not a Gyre plugin: it exports no symbol '%s'",
                                path, GYRE_BACKEND_SYMBOL);
    else
        status = judge_table(path, symbol);
    if (status != GYRE_OK) {
        dlclose(library);
        return status;
    }
    return keep(path, library, symbol, out);
}

gyre_status gyre_plugin_load(const char *path, struct gyre_plugin **out)
{
    *out = NULL;
    gyre_status status = judge_file(path);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&loaded_lock);
    status = load_locked(path, out);
    pthread_mutex_unlock(&loaded_lock);
    return status;
}

const gyre_backend_plugin *gyre_plugin_table(const struct gyre_plugin *plugin)
{
    return plugin->table;
}

void gyre_plugin_lock(struct gyre_plugin *plugin)
{
    pthread_mutex_lock(&plugin->lock);
}

void gyre_plugin_unlock(struct gyre_plugin *plugin)
{
    pthread_mutex_unlock(&plugin->lock);
}
