/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of teller.gyre.c, kept by checkpoints and journals, and their clients. */
#ifndef GYRE_TESTS_TELLERS_H
#define GYRE_TESTS_TELLERS_H

#include "lives.h"
#include "parties.h"
#include "teller.h"

/** A runtime with workers whose teller has checkpoints and a journal, and whose clerk has a journal. */
gyre_runtime *open_keeping(void);
gyre_kernel *launch_teller(gyre_runtime *runtime, const char *kernel);
/** Attaches at the meeting place, with a name (NULL: none). */
gyre_status try_attach(const char *kernel, const char *name, gyre_queue **queue);
gyre_queue *attach_as(const char *kernel, const char *name);
teller_reply ask(gyre_queue *queue, teller_request request);
/** What an account says that took every number up to `number` once and in order. */
void require_account(teller_reply reply, uint64_t number);

#endif
