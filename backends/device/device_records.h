/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rebuilds the descriptions of the kernels in a compiled file (dialect/device_module.h) from the texts that
 * the file carries, for all backends of devices. This folder is no backend: its source is compiled into each
 * plugin that needs it, and knows neither a vendor nor the form of a file.
 */
#ifndef GYRE_DEVICE_RECORDS_H
#define GYRE_DEVICE_RECORDS_H

#include <stdbool.h>

#include "gyre/backend.h"
#include "gyre/dialect/device_module.h"

/**
 * A compiled file, as functions that answer for it. Its texts stay valid as long as the records made from
 * them.
 */
struct device_file {
    const gyre_host *host;
    const char *path; /* for error sentences */
    const void *self;
    /** Returns the text PREFIX NAME, or NULL when there is no such text or it does not end. */
    const char *(*find_text)(const void *self, const char *prefix, const char *name);
    /** Finds size and alignment of a type; false when the file has no type of that name. */
    bool (*find_layout)(const void *self, const char *name, gyre_u64 layout[2]);
    /** Finds the numbers that each port of the ports `name` has as its `most`; NULL: this device knows no ports. */
    bool (*find_most)(const void *self, const char *name, gyre_u32 *most, uint32_t count);
};

/** The types that the kernels of one file name. */
struct device_types;

/** The bytes that the file has under a kernel's name. */
struct device_bytes {
    const char *name;
    const void *start; /* may be NULL */
    size_t size;
};

/** Makes an empty set of types; NULL when there is no memory. */
struct device_types *device_types_create(void);

/** Frees the types. Accepts NULL. */
void device_types_release(struct device_types *types);

/** Whether `name` is the name of a kernel's record in a file. */
bool device_record_named(const char *name);

/**
 * Fills in `seen`, and the members of `record` that do not depend on the device. `seen` and the file own the
 * record's texts; `types` owns its types. INCOMPATIBLE when the file is damaged or of another version.
 */
gyre_status device_record_read(const struct device_file *file, struct device_types *types,
                               const struct device_bytes *bytes, gyre_device_kernel *seen,
                               gyre_kernel_record *record);

/**
 * Copies `own`, which describes kernel `index` of `count`, as far as the caller knows its members. NOT_FOUND
 * when `own` is NULL.
 */
gyre_status device_record_tell(const gyre_host *host, const gyre_kernel_record *own, uint32_t count,
                               uint32_t index, gyre_kernel_record *out);

/** Returns INCOMPATIBLE with a sentence: the file WHAT 'NAME', for example the file has no 'NAME'. */
gyre_status device_file_damaged(const struct device_file *file, const char *what, const char *name);

/** Returns EXHAUSTED with a sentence. */
gyre_status device_file_no_memory(const struct device_file *file);

#endif
