/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of a keyed actor (gyre/keyed_layout.h), seen from the host: how large it is, how it begins, whether one that was
 * saved fits, and the state of one of its keys.
 */
#ifndef GYRE_CORE_KERNEL_KEYED_H
#define GYRE_CORE_KERNEL_KEYED_H

#include "core/kernel/kernel.h"
#include "core/types/key.h"
#include "gyre/keyed.h"
#include "gyre/keyed_layout.h"

/** Bytes of a table. */
#define GYRE_KEYED_TABLE_MAX (UINT64_C(64) << 30)

/** A keyed actor's table and its key. Constant after it was made. */
struct gyre_keyed {
    gyre_keyed_table table; /* the head as a launch writes it */
    struct gyre_message_key key;
    void *initial; /* the state that new keys begin with; NULL: zero bytes */
};

/** Fills in the shape of a table for its keys, key_size and state_size; `reminds`: keys have reminders. No state. */
void gyre_keyed_plan(gyre_keyed_table *table, bool reminds);
/** Notes which clock the times of the table's reminders are of. */
void gyre_keyed_clock(gyre_keyed_table *table);
/**
 * Plans the table: `keys` of [kernel.NAME], the record's key and state. `initial`: the state that new keys begin with, or NULL.
 * CONFIG when the table is larger than a state may be, EXHAUSTED.
 */
gyre_status gyre_keyed_create(const gyre_kernel *kernel, const void *initial, struct gyre_keyed **out);
/** Accepts NULL. */
void gyre_keyed_destroy(struct gyre_keyed *keyed);

static inline bool gyre_kernel_is_keyed(const gyre_kernel *kernel)
{
    return kernel->record->form == GYRE_FORM_KEYED;
}

/**
 * Whether keys are reminded by the times at which requests were sent, in place of the clock: where checkpoints are kept, so that a
 * replay reminds between the same requests. Then the host has to announce times (gyre_keyed_tick).
 */
static inline bool gyre_keyed_has_ticks(const gyre_kernel *kernel)
{
    return kernel->record->reminds && gyre_kernel_setting(kernel, "checkpoints");
}

struct gyre_queue_options;
/** Plans a queue of such a kernel. CONFIG when its messages do not say when they were sent, or are handled in another order. */
gyre_status gyre_keyed_plan_queue(const gyre_kernel *kernel, const char *section,
                                  struct gyre_queue_options *options);
/**
 * Announces the time to the kernel's queue if the kernel runs and a key is to be reminded. Returns whether that may become necessary.
 * Takes the kernel's lock, and the queue's producer lock inside.
 */
bool gyre_keyed_tick(gyre_kernel *kernel);

/**
 * What has to be added to times that count from the start of the machine at which `saved`, a table of keys, was kept, so that they
 * count from the present start. 0 for other kernels, and without reminders.
 */
uint64_t gyre_keyed_clock_shift(const gyre_kernel *kernel, const unsigned char *saved);
/** INCOMPATIBLE when the reminders of a table of this shape that was saved are damaged: a block would believe their numbers. */
gyre_status gyre_keyed_check_reminders(const gyre_kernel *kernel, const unsigned char *saved);
/** Moves the times of a table that was saved, and checked, to the present start of the machine. */
void gyre_keyed_shift(const gyre_kernel *kernel, unsigned char *saved);

/** Bytes of what the handler keeps: its state, or the table of its keys. */
static inline uint64_t gyre_kernel_state_size(const gyre_kernel *kernel)
{
    return kernel->memory.state_size;
}

/** Writes an empty table into the kernel's state memory. */
gyre_status gyre_keyed_write(const gyre_kernel *kernel);

/**
 * INCOMPATIBLE, and a sentence, when the state that an earlier run saved is a table which this kernel, as it is configured now,
 * cannot go on with. OK for other kernels.
 */
gyre_status gyre_keyed_check_saved(const gyre_kernel *kernel, const unsigned char *saved);

/** Reads the state of a key while the kernel stands. NOT_FOUND when no message of this key came, or the key left. */
gyre_status gyre_keyed_read(const gyre_kernel *kernel, const void *key, void *state);

/** The bytes of a key from a text (gyre_message_key_parse), and how many. INVALID when the kernel has no keys. */
gyre_status gyre_keyed_parse(const gyre_kernel *kernel, const char *text,
                             unsigned char bytes[GYRE_KEYED_KEY_MAX], size_t *size);
/** INVALID, and a sentence, unless the kernel is a keyed actor with a key of `size` bytes. */
gyre_status gyre_keyed_check_key(const gyre_kernel *kernel, size_t size);

#endif
