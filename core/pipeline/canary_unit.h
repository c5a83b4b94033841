/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two handlers in one unit: the text that a canary runs, in which a kernel gives some of its messages to the handler of another file, and
 * counts what both of them did (core/change/canary.c). It is a text of the dialect, so every backend compiles it.
 */
#ifndef GYRE_CORE_PIPELINE_CANARY_UNIT_H
#define GYRE_CORE_PIPELINE_CANARY_UNIT_H

#include "core/pipeline/source.h"
#include "gyre/backend.h"

/** The kernel of the unit that calls both handlers. */
#define GYRE_CANARY_KERNEL "gyre_canary"

/** What the unit is made of besides the new file, which is the source of the build. */
struct gyre_canary_unit {
    const char *text,
        *path; /* of the file whose handler works: as it was compiled, whatever its file says now */
    char folder[PATH_MAX]; /* of that file, for what it includes */
    const char *kernel;    /* the kernel of that file */
    const char *next;      /* the kernel of the new file */
    uint64_t handler;      /* gyre_build_handler of the one that works; 0: unknown */
    uint32_t share, of;    /* the new handler gets `share` of `of` messages, or keys */
};

/** The type of the state in which such a kernel counts, when it is no keyed actor. */
#define GYRE_CANARY_STATE "gyre_canary_counts"

/** What it counts there. Messages that the old handler got: seen - next_handled. */
struct gyre_canary_counts {
    uint64_t seen, failed, next_handled, next_failed;
    uint64_t handled_ns, next_handled_ns; /* 0 in a kernel without `timing` */
};

/**
 * Puts the unit's text in the place of the new file's. UNIMPLEMENTED, with a sentence, for kernels that cannot have a canary, INCOMPATIBLE
 * when what the two include would mean another thing for one of them (canary_included.h). Keyed actors count in gyre_keyed_part.
 */
gyre_status gyre_canary_compose(const struct gyre_canary_unit *unit, struct gyre_source *source);

#endif
