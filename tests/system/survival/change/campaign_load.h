/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load for kernels that are swapped, moved and tried while it runs (change_campaign.c): several queues, a thread each, and every reply is
 * checked when it comes. What has to be true of all replies together is checked at the end.
 */
#ifndef GYRE_TESTS_CAMPAIGN_LOAD_H
#define GYRE_TESTS_CAMPAIGN_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <gyre/gyre.h>

/** What kind of handlers a kernel has, and so how its replies are checked. */
enum load_kind {
    LOAD_LEDGER, /* an actor that numbers its messages (ledger.h) */
    LOAD_QUOTE,  /* a lane kernel without a state (quote.h) */
    LOAD_KEYED   /* a keyed actor, with a state for each account (quote.h) */
};

enum { LOAD_QUEUES = 3, LOAD_ACCOUNTS = 96 };

struct load;

struct load_desc {
    enum load_kind kind;
    const char *name, *socket_path; /* the kernel's name at the server there */
    bool is_durable;                /* the kernel has a journal */
};

/** Sends to the kernel through LOAD_QUEUES queues, some of which are those of clients. */
struct load *load_begin(gyre_kernel *kernel, const struct load_desc *how);
/** Another call from the calling thread, whose reply has to be that of `version`; of the version with the mistake it may fail. */
void load_expect_version(struct load *load, uint64_t version);
/** How many replies came. Any thread. */
uint64_t load_answered(const struct load *load);
/** Ends the threads, and checks that nothing was lost or doubled. Returns how many messages were sent. */
uint64_t load_end(struct load *load);
/** Compares what the kernel keeps with what was answered. Behind load_end; also for a kernel that was launched anew from its journal. */
void load_check_kept(const struct load *load, gyre_kernel *kernel);
/** Sends what a ledger was sent to another ledger that nobody disturbs, and compares each reply and the two states. */
void load_check_undisturbed(const struct load *load, gyre_kernel *kernel, gyre_kernel *undisturbed);
void load_free(struct load *load);

#endif
