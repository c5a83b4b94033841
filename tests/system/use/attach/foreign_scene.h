/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server whose clients write into what they share with it, and what its memory holds that no client may see or change:
 * server and clients are forked from one program, so that they have the same addresses.
 *
 * ATTACH_BACKEND: elsewhere than on the CPU. ATTACH_ATTACK_S: attacks last so many seconds; without it for 400 ms, and up to
 * two seconds until enough requests of attackers were handled.
 */
#ifndef GYRE_TESTS_FOREIGN_SCENE_H
#define GYRE_TESTS_FOREIGN_SCENE_H

#include "foreign.h"
#include "parties.h"

#define SECRET         UINT64_C(0x5ec4e75ec4e70000)
#define CANARY         UINT64_C(0xca4a47ca4a470000)
#define ATTACH_KERNELS KERNELS "/system/use/attach/"

enum { GUARDED = 64, SLOTS = 8, REGIONS_MAX = 64, SKIPPED = 77, SETTINGS = 4, SHORT_MS = 400 };

/* Written by the server alone, and only there other than 0. */
extern volatile uint64_t canaries[GUARDED], secrets[GUARDED];

enum kind { ASKS, LITTLES, BOTHS };

struct scene {
    const char *file, *kernel;
    enum kind kind;
    bool isolated;
    bool pipeline; /* `kernel` is the name of one, of the stages in `file` */
    const char
        *first; /* of a pipeline first.out -> nothing_last; NULL: the stages are foreign_first and so on */
    const char *settings[SETTINGS];
    size_t header; /* bytes */
};
extern struct scene scene;

/** How long an attack lasts: as the environment says. */
long attack_ms(long otherwise);
/** Requests are kept in a journal, and relayed. */
void keep_in_a_journal(void);
/** A party that serves the scene. It is forked first, and has no client's memory; clients have none of the server's. */
party start_server(void);
/** Until it is told to end; it must not find that somebody wrote into its memory. */
void end_server(const party *server);
/** Serves one client, until that has ended well. */
void serve_scene(void (*client)(const party *self));
/** The same, of a kernel in nothing.gyre.c. */
void serve_one(const char *kernel, void (*client)(const party *self));
gyre_queue *attach_scene(uint64_t capacity);

#endif
