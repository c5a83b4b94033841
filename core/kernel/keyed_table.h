/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole table of a keyed actor (gyre/keyed_layout.h), to be kept elsewhere and put back into another kernel of the same handler: its
 * bytes decide also which key leaves a full table, so two kernels that go on from the same table do the same. Threads: any.
 */
#ifndef GYRE_CORE_KERNEL_KEYED_TABLE_H
#define GYRE_CORE_KERNEL_KEYED_TABLE_H

#include "core/kernel/kernel.h"
#include "gyre/keyed_layout.h"

/** What a keyed actor is; borrowed from the kernel. */
struct gyre_keyed_about {
    const char *kernel, *key; /* its own name, and the field that is the key */
    const gyre_type *request, *reply, *state;
    uint64_t table_size; /* bytes of its table */
};
/** Tells what a keyed actor is. INVALID as gyre_keyed_table_supported. */
gyre_status gyre_keyed_about_get(const gyre_kernel *kernel, struct gyre_keyed_about *out);
/** CONFIG, and a sentence, when the kernel is configured to keep its state in this machine, with checkpoints or a journal. */
gyre_status gyre_keyed_table_check_settings(const gyre_kernel *kernel);

/** INVALID, and a sentence, unless a kernel is a keyed actor whose table can be kept elsewhere: one without reminders and buffers. */
gyre_status gyre_keyed_table_supported(const gyre_kernel *kernel);
/** Copies the table while the kernel stands at a message boundary. `size`: gyre_kernel_state_size. Fails as gyre_kernel_state_read. */
gyre_status gyre_keyed_table_read(gyre_kernel *kernel, void *table, size_t size);
/**
 * Puts a table back into a kernel that is not active. INCOMPATIBLE, and a sentence, when it is that of another kernel, or when its
 * numbers do not fit each other: blocks believe them. LOST when the worker process dies meanwhile.
 */
gyre_status gyre_keyed_table_write(gyre_kernel *kernel, const void *table, size_t size);
/** Whether the parts of a table with this head, which is good, may be given to a block: every number in them is in range. */
bool gyre_keyed_table_is_whole(const gyre_keyed_table *head, const unsigned char *table);

#endif
