/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels that a compiled file declares (dialect/device_module.h), rebuilt from the texts that it carries, for all
 * backends of devices. No backend of its own: its source is compiled into each plugin that
 * needs it, and knows neither a vendor nor the form of a file.
 */
#ifndef GYRE_DEVICE_RECORDS_H
#define GYRE_DEVICE_RECORDS_H

#include <stdbool.h>

#include "gyre/backend.h"
#include "gyre/dialect/device_module.h"

/** A compiled file, by the functions that answer for it. Texts stay valid as long as the records made of them. */
struct device_file {
    const gyre_host *host;
    const char *path; /* for sentences */
    const void *self;
    /** The text PREFIX NAME, or NULL when there is none that ends. */
    const char *(*find_text)(const void *self, const char *prefix, const char *name);
    /** Size and alignment of a type; false when the file has none of that name. */
    bool (*find_layout)(const void *self, const char *name, gyre_u64 layout[2]);
};

/** The types that kernels of one file name. */
struct device_types;

/** The bytes that the file has under a kernel's name. */
struct device_bytes {
    const char *name;
    const void *start; /* may be NULL */
    size_t size;
};

/** NULL when there is no memory. */
struct device_types *device_types_create(void);

/** Accepts NULL. */
void device_types_release(struct device_types *types);

/** True for the name of a kernel's record in a file. */
bool device_record_named(const char *name);

/**
 * Fills in `seen`, and the members of `record` that do not depend on the device. The record's texts are those of `seen`
 * and of the file, its types belong to `types`. INCOMPATIBLE when the file is damaged or of another version.
 */
gyre_status device_record_read(const struct device_file *file, struct device_types *types,
                               const struct device_bytes *bytes, gyre_device_kernel *seen,
                               gyre_kernel_record *record);

/** Copies `own`, kernel `index` of `count`, as far as the caller knows records. NOT_FOUND when it is NULL. */
gyre_status device_record_tell(const gyre_host *host, const gyre_kernel_record *own, uint32_t count,
                               uint32_t index, gyre_kernel_record *out);

/** INCOMPATIBLE with a sentence: the file WHAT 'NAME'. */
gyre_status device_file_damaged(const struct device_file *file, const char *what, const char *name);

/** EXHAUSTED with a sentence. */
gyre_status device_file_no_memory(const struct device_file *file);

#endif
