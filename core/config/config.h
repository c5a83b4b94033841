/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the configuration: every effective value, its origin (the file and line, or the variable, that set it), and warnings.
 *
 * Values come from layers; of two layers that set the same key of the same section, the higher one wins.
 * Lowest first: built-in default, vendor file, system files, drop-ins (by file name), user file, the file of
 * --config or GYRE_CONFIG, environment, command line, API. No file of the current directory is read unless it
 * is named.
 *
 * A section has a kind and, except [gyre], a name: [backend.cpu], [kernel.add], [queue.orders], [link.words]. The section
 * named `default` of a kind gives the values that another section of that kind does not set. A value in a named section
 * beats the value in `default`, whichever layers they come from. A kernel uses the section with the name that it was
 * launched under, a queue the section with the name that it was opened with. The main queue of a kernel has the kernel's
 * name.
 *
 * core/config/table.c lists all keys, with type, range, default and meaning.
 *
 * Threads: a loaded configuration never changes; any thread may read it. Only gyre_config_load blocks, because it reads
 * files. Every pointer that these functions return lives until gyre_config_destroy.
 */
#ifndef GYRE_CORE_CONFIG_CONFIG_H
#define GYRE_CORE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/config/table.h"
#include "gyre/status.h"

struct gyre_config;

/** What to load. A member that is zero means the usual place. All strings are borrowed for the call. */
struct gyre_config_desc {
    const char *
        config_path; /* --config, or that of gyre_open: must exist; NULL: GYRE_CONFIG of the environment, else none */
    /* NULL-terminated "section.key=value", or "key=value" of [gyre]; NULL: none. `api` beats everything. */
    const char *const *command_line, *const *api;
    const char *const *environment; /* NULL-terminated "NAME=value"; NULL: the process's own */
    const char *system_folder;      /* holds gyre.ini and plugins.d; NULL: /etc/gyre */
    const char *home; /* holds plugins, plugins.d and the vendor's gyre.ini; NULL: gyre_place_home() */
};

/** One effective value. */
struct gyre_config_value {
    enum gyre_section_kind kind;
    const char *section; /* "gyre", "queue.orders" */
    const char *name;    /* "orders"; "" for [gyre] */
    const char *key;
    const char *text;   /* as configured; paths are absolute */
    const char *origin; /* "default", "FILE:LINE", "environment NAME", "command line", "api" */
    int64_t number;     /* bool: 0 or 1; integer, size in bytes, milliseconds; choice: index; else 0 */
    const struct gyre_config_row *row; /* NULL: a key that only the backend knows, always text */
};

/** Whether a drop-in file was read, and why not. */
enum gyre_manifest_state {
    GYRE_MANIFEST_READ = 1,
    GYRE_MANIFEST_MASKED = 2,  /* a later folder has a file of that name: `by` */
    GYRE_MANIFEST_DISABLED = 3 /* a link to the null device */
};

/** A drop-in file: "plugins.d/cpu.ini" of one of the drop-in folders. */
struct gyre_config_manifest {
    const char *path, *folder, *file; /* path is folder/file */
    enum gyre_manifest_state state;
    const char *by; /* the path of the file that masks this one, else NULL */
};

/**
 * Reads all layers and checks every value. CONFIG with a sentence that names the place (FILE:LINE, variable
 * or setting) when a file cannot be read or parsed, or a value does not fit: then nothing takes effect, *out
 * is NULL. Unknown keys and sections become warnings; with `strict = true` in [gyre] they are errors.
 * EXHAUSTED without memory. Owner of *out: the caller. `desc` may be NULL.
 */
gyre_status gyre_config_load(const struct gyre_config_desc *desc, struct gyre_config **out);
/** Frees a configuration. Accepts NULL. */
void gyre_config_destroy(struct gyre_config *config);

/**
 * The effective value of a key; NULL when there is no such key. If no section has the name `name`, or it is NULL, the value
 * of the section `default` of the kind. For [gyre], `name` is ignored.
 */
const struct gyre_config_value *gyre_config_find(const struct gyre_config *config,
                                                 enum gyre_section_kind kind, const char *name,
                                                 const char *key);

/* gyre_config_bool, _int, _ns, _text: the effective value of a key, converted to its type. A key that the table of keys
 * (table.c) does not have gives false, 0 or "". */
bool gyre_config_bool(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                      const char *key);
/** The value of an integer, a size in bytes, or the number of a choice among the words of its row (0 for the first). */
int64_t gyre_config_int(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                        const char *key);
/** The value of a key in milliseconds, in nanoseconds. */
uint64_t gyre_config_ns(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                        const char *key);
const char *gyre_config_text(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                             const char *key);

/** Adds to the thread's error the origin of the value that the error is about. Does nothing when `status` is OK or the value
 * is a default. Returns `status`. */
gyre_status gyre_config_blame(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                              const char *key, gyre_status status);

/** All effective values, ordered by kind, section (`default` first, then by name) and row of the table. */
const struct gyre_config_value *gyre_config_values(const struct gyre_config *config, size_t *count);
/** All values of one section, including the defaults that it inherits. The values of `default` when no section has that
 * name. */
const struct gyre_config_value *gyre_config_section(const struct gyre_config *config,
                                                    enum gyre_section_kind kind, const char *name,
                                                    size_t *count);
/** The names of the sections of a kind, sorted, without `default`. */
const char *const *gyre_config_names(const struct gyre_config *config, enum gyre_section_kind kind,
                                     size_t *count);
/** Whether a section of the kind has this name. Every kind has a section `default`. */
bool gyre_config_has_section(const struct gyre_config *config, enum gyre_section_kind kind, const char *name);
/** The origin of one of the values that the section itself sets; NULL: the section sets no value. */
const char *gyre_config_place(const struct gyre_config *config, enum gyre_section_kind kind,
                              const char *name);

/**
 * Whether the backend runs in a worker process: its own section decides, else any pipeline that asks for it and whose entries may run
 * on the backend, as far as the configuration tells.
 */
bool gyre_config_isolates(const struct gyre_config *config, const char *backend);
/** Whether workers (isolation = process) or a journal are configured. Only these put a kernel's checkpoints back. */
bool gyre_config_may_put_back(const struct gyre_config *config);

/** The warnings: sentences about settings that were ignored, with their place. */
const char *const *gyre_config_warnings(const struct gyre_config *config, size_t *count);
/** Every drop-in file that was found, ordered by file name, then by folder. */
const struct gyre_config_manifest *gyre_config_manifests(const struct gyre_config *config, size_t *count);

#endif
