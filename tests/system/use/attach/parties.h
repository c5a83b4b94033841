/* SPDX-License-Identifier: Apache-2.0 */
/* Servers and clients for the tests of attaching, in this process or in one of their own. */
#ifndef GYRE_TESTS_ATTACH_PARTIES_H
#define GYRE_TESTS_ATTACH_PARTIES_H

#include <gyre/attach.h>
#include <sys/uio.h>

#include "workers.h"

/** A program of its own, forked before this one opened anything. */
typedef struct party {
    pid_t process;
    int said, told; /* pipes from it and to it */
} party;

/** Starts `run` in a process, which exits with 0 when it returns. */
party party_start(void (*run)(const party *self));
/** By the party: says a byte, waits for one. */
void party_say(const party *self, char word);
char party_wait(const party *self);
/** By its parent: waits for a byte from it, says one. */
char party_hear(const party *other);
void party_tell(const party *other, char word);
/** By its parent: stops it, and returns when none of its threads runs any more. */
void party_stop(const party *other);
/** Waits for its end; the exit status, or 128 and the signal. */
int party_end(const party *other);

/** The socket of this test, in a folder of its own. */
const char *meeting_place(void);
/** A runtime with an unisolated CPU backend and settings (NULL:
 * none); kernels `fragile` of so many blocks. */
gyre_runtime *open_plain(const char *const *settings);
gyre_server *serve_at_place(gyre_runtime *runtime);
gyre_queue *attach_fragile(void);
/** A call with this number, whose reply must be right. */
void call_right(gyre_queue *queue, uint64_t number);
/** `count` requests from `first` on, sent in a window and received in order; each reply must be right. */
void stream_right(gyre_queue *queue, uint64_t first, uint64_t count);
uint32_t attached_now(gyre_server *server);
/**
 * Gyre's memory that this process can write: mappings whose name says so. A forked party has its parent's, too. Returns how many
 * regions it wrote to `out`.
 */
size_t writable_regions(struct iovec *out, size_t most);

#endif
