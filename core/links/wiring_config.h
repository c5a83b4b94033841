/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completes the descriptor of a pipeline from the sections [pipeline.NAME], [link.NAME], [topic.NAME] and [pool.NAME] of the
 * configuration, and keeps the place of each setting, so that an error can name it.
 *
 * Threads: one at a time. Names are copies, and live until gyre_wiring_config_destroy; places live as long as the configuration.
 */
#ifndef GYRE_CORE_LINKS_WIRING_CONFIG_H
#define GYRE_CORE_LINKS_WIRING_CONFIG_H

#include "core/config/config.h"
#include "core/config/pool.h"
#include "gyre/pipeline.h"

/** The word of `to` for a port whose messages are thrown away. */
#define GYRE_WIRING_NOWHERE "nowhere"
/** The word of `to` for an outlet: a port whose messages programs may subscribe to. */
#define GYRE_WIRING_HOST "host"

/** Where the settings of a link stand: "FILE:LINE", a text of the configuration. NULL: the application gave the link. */
struct gyre_wiring_place {
    const char *from, *to, *capacity, *share, *key,
        *level; /* from capacity on: NULL as well when it is a default */
};

enum { GYRE_WIRING_LINKS_MAX = 512 }; /* links of one pipeline */

struct gyre_wiring_config {
    gyre_pipeline_desc desc;         /* nothing of it is left to the configuration any more */
    struct gyre_wiring_place *links; /* a place for each of desc.links */
    const char *entry, *answer, *window, *quota,
        *rounds; /* the places of these settings; NULL: the application gave them, or they are not set */
    struct gyre_pool pool;
};

/**
 * Fills in what `given` leaves to the configuration: entries and answers of [pipeline.NAME], `links_tight`, and the links. The
 * links of the configuration are the sections [link.NAME], in the order of their names, whose `from` is a kernel that the entries
 * lead to, then those of the sections [topic.NAME] and [pool.NAME]: one for each port and
 * subscriber, or member. Names of links are the names of their
 * sections; a link that the application gave without a name is called as its topic, as its pool, or as its `from`.
 *
 * NOT_FOUND when the entries are left to a section that does not exist. CONFIG with the place for settings that are no wiring:
 * no entry, a link without `from` or `to`, a `from` without a port, one whose kernel has no section [kernel.NAME] and is not
 * launched. INVALID for the same in what the application gave; CONFIG or INVALID for two links that begin at one port. EXHAUSTED.
 *
 * `runtime` NULL: which kernels are launched is not known, and each name of a kernel will do. Owner of *out: the caller.
 */
gyre_status gyre_wiring_config_create(const struct gyre_config *config, gyre_runtime *runtime,
                                      const gyre_pipeline_desc *given, struct gyre_wiring_config **out);
/** Checks every section [pipeline.NAME] as gyre_wiring_config_create does, without a runtime. */
gyre_status gyre_wiring_config_check(const struct gyre_config *config);
/** Accepts NULL. */
void gyre_wiring_config_destroy(struct gyre_wiring_config *wiring);

/**
 * Adds the place of a setting (NULL: none) to the error about it, and returns its status: CONFIG in place of INVALID and NOT_FOUND. OK stays
 * OK.
 */
gyre_status gyre_wiring_blame(const char *place, gyre_status status);

/** The length of the kernel's name in "KERNEL.PORT"; the port begins behind the dot. 0: `from` is no such text. */
size_t gyre_wiring_kernel_length(const char *from);
/** The length of the kernel's name in "KERNEL" or "KERNEL:TYPE"; the type begins behind the colon. */
size_t gyre_wiring_target_length(const char *to);

#endif
