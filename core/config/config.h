/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration: every effective value, where it came from, and what was odd on the way.
 *
 * Values come from layers; of two layers that set the same key of the same section, the higher one wins.
 * Lowest first: built-in default, vendor file, system files, drop-ins (by file name), user file, the file of
 * --config or GYRE_CONFIG, environment, command line, API. No file of the current directory is read unless it
 * is named.
 *
 * A section has a kind and, except [gyre], a name: [backend.cpu], [kernel.add], [queue.orders]. The section
 * named `default` of a kind gives what every other section of that kind does not set; what a named section
 * sets beats it, whichever layer either comes from. A kernel is matched by the name it was launched under, a
 * queue by the name it was opened with; the queue that comes with a kernel has the kernel's name.
 *
 * Which keys there are, with type, range, default and meaning, is said once: core/config/table.c.
 *
 * Threads: a loaded configuration never changes; any thread may read it. Nothing here blocks but load, which
 * reads files. Every pointer handed out lives until gyre_config_destroy.
 */
#ifndef GYRE_CORE_CONFIG_CONFIG_H
#define GYRE_CORE_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/config/table.h"
#include "gyre/status.h"

struct gyre_config;

/** What to load. Members left zero take the usual places. All strings are borrowed for the call. */
struct gyre_config_desc {
    const char *config_path; /* --config: must exist; NULL: GYRE_CONFIG of the environment, else none */
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
    const char *by; /* the path that masks it, else NULL */
};

/**
 * Reads all layers and checks every value. CONFIG with a sentence that names the place (FILE:LINE, variable
 * or setting) when a file cannot be read or parsed, or a value does not fit: then nothing takes effect, *out
 * is NULL. Unknown keys and sections become warnings; with `strict = true` in [gyre] they are errors.
 * EXHAUSTED without memory. Owner of *out: the caller. `desc` may be NULL.
 */
gyre_status gyre_config_load(const struct gyre_config_desc *desc, struct gyre_config **out);
/** Accepts NULL. */
void gyre_config_destroy(struct gyre_config *config);

/**
 * The effective value of a key, NULL when there is no such key. A `name` that no section has gets the values
 * of the section `default` of its kind; so does NULL. For [gyre], `name` is ignored.
 */
const struct gyre_config_value *gyre_config_find(const struct gyre_config *config,
                                                 enum gyre_section_kind kind, const char *name,
                                                 const char *key);

/* The same, as what the table says it is. A key that the table does not have gives false, 0, "". */
bool gyre_config_bool(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                      const char *key);
/** Integers, sizes in bytes, and the index of a choice in its row (0 for the first word). */
int64_t gyre_config_int(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                        const char *key);
/** A key in milliseconds, as nanoseconds. */
uint64_t gyre_config_ns(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                        const char *key);
const char *gyre_config_text(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                             const char *key);

/** Puts in front of an error where the value came from that it is about. OK, and a default, stay as they are. */
gyre_status gyre_config_blame(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                              const char *key, gyre_status status);

/** All effective values, ordered by kind, section (`default` first, then by name) and row of the table. */
const struct gyre_config_value *gyre_config_values(const struct gyre_config *config, size_t *count);
/** Those of one section, with the defaults it inherits; the section `default` when none has that name. */
const struct gyre_config_value *gyre_config_section(const struct gyre_config *config,
                                                    enum gyre_section_kind kind, const char *name,
                                                    size_t *count);
/** The names of the sections of a kind, sorted, without `default`. */
const char *const *gyre_config_names(const struct gyre_config *config, enum gyre_section_kind kind,
                                     size_t *count);
/** Whether a section is named so; every kind has a `default`. */
bool gyre_config_has_section(const struct gyre_config *config, enum gyre_section_kind kind, const char *name);
/** The origin of one value that the section itself sets; NULL: the section sets none. */
const char *gyre_config_place(const struct gyre_config *config, enum gyre_section_kind kind,
                              const char *name);

/** Whether anything is configured that would put checkpoints back: workers, or a journal. */
bool gyre_config_may_put_back(const struct gyre_config *config);

/** Sentences about what was ignored, with their place. */
const char *const *gyre_config_warnings(const struct gyre_config *config, size_t *count);
/** Every drop-in found, by file name, then by folder. */
const struct gyre_config_manifest *gyre_config_manifests(const struct gyre_config *config, size_t *count);

#endif
