/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that die: each life is a forked child that uses Gyre, the parent never does. What the child wants
 * its parent and the next life to know is in shared memory.
 */
#ifndef GYRE_TESTS_LIVES_H
#define GYRE_TESTS_LIVES_H

#include <stdatomic.h>

#include "workers.h"

/** Kept across lives. */
struct ledger {
    uint64_t sent;     /* requests that a send accepted */
    uint64_t durable;  /* requests that were acknowledged as durable */
    uint64_t received; /* completions that were received and checked */
    uint64_t seed, lives, offered;
    atomic_bool at_work;         /* the life took over what those before it left */
    crash_state models[1 << 16]; /* what fragile_actor keeps behind each request */
};
extern struct ledger *ledger;

/** A folder for journals and the ledger; both gone at the end. */
void begin_lives(void);
const char *journal_folder(void);
/** The next lives find their journals in folder `to`; those before are removed. */
void move_journals(const char *to);
/** The only journal there; of what the kernel `kernel` and its main queue wrote. */
void journal_path(const char *kernel, char *path, size_t size);

/** Runs `life` in a child; kills it after so many microseconds (0: waits for its end, which must be good). */
void live(void (*life)(void), unsigned kill_after_us);
/** As `live`, but the time runs from when the life is `at_work`: however slow the machine, it gets that far. */
void live_at_work(void (*life)(void), unsigned kill_after_us);

/** A runtime with journals; `settings` NULL-terminated. */
gyre_runtime *open_durable(bool isolated, const char *const *settings);
/** Ends the program as skipped where the backend has no device. */
void need_backend(const char *name);
/** The number that request `index` carries. */
uint64_t number_of(uint64_t index);
/** Receives the next completion, which must be the reply of an undisturbed run to request `index`. */
void receive_right(gyre_queue *queue, uint64_t index);
void send_right(gyre_queue *queue, uint64_t index, uint32_t fault);
gyre_recovered recovered_of(const gyre_queue *queue);

/** Whether the kernel's state is what the ledger's model was after `count` requests. Pauses the kernel for that. */
void require_state_of(gyre_kernel *kernel, uint64_t count);

#endif
