/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backends that could be used: what the configuration names and what lies in the plugin folder, whether
 * each can start on this machine, and which one to take.
 *
 * Nothing is loaded or probed before somebody asks for its verdict. A probe runs in a child process (the
 * helper gyre-probe), so a plugin that crashes or hangs costs one sentence; its verdict is remembered on disk
 * until the plugin, its parameters or the driver change (core/registry/memory.h), and where its cause may pass
 * for some minutes at most (probe.h). This process loads a plugin only to open a device (core/dispatch).
 * Threads: any; a verdict in the making blocks others who ask for the same one.
 */
#ifndef GYRE_CORE_REGISTRY_REGISTRY_H
#define GYRE_CORE_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "gyre/backend.h"

struct gyre_config;
struct gyre_registry;

/** One backend. Everything it points to lives as long as the registry. Strings are never NULL. */
struct gyre_candidate {
    const char *name;    /* of the section [backend.<name>], or of the file gyre-<name>.so */
    const char *library; /* absolute path of the plugin */
    const char *origin;  /* file:line that named it; "" when it only lies in the plugin folder */
    bool enabled;        /* its section does not say enabled = false */
    int priority;
    bool isolated;                    /* isolation = process: it runs in a worker process */
    bool standby;                     /* ... and another one stands by */
    bool replaced;                    /* ... and a worker that dies is (restart_limit) */
    bool alone;                       /* in such a worker: of a device that the probe found */
    bool built;                       /* or its plugin exists; `reason` tells why it was not built */
    uint64_t worker_timeout_ns;       /* of such a worker's operations */
    const gyre_parameter *parameters; /* of its section, for the plugin */
    size_t parameter_count;

    /* The verdict; right after gyre_registry_judge or gyre_registry_choose. */
    bool judged;
    bool remembered;               /* it came from the disk, or is held: the plugin was not run */
    gyre_status status;            /* OK: it can start here */
    const char *reason;            /* when it cannot: one sentence */
    uint16_t abi_major, abi_minor; /* 0.0 when unknown */
    const char *plugin_name;       /* the plugin's own name, "" when it was never read; also build */
    const char *build;             /* its version and build, for people */
    int score;
    uint32_t device_count;
    const char *vendor_library; /* the vendor's library in use and its version; may be "" */
    const char *summary;        /* one line for people */
    const char *fingerprint;    /* the plugin's word for the driver's identity */
    const char *notes;          /* what else it found, sentences separated by "; "; may be "" */
    uint64_t probe_ns;          /* how long the probe took, when it ran */
    int64_t expires;            /* seconds since 1970 after which it is not remembered; 0: never */
};

/**
 * Lists the backends that `config` names and those in the plugin folder (the setting gyre.plugin_dir, else
 * the folder beside the library). `config` must outlive the registry. CONFIG when a section is wrong.
 * Owner of *out: the caller, until gyre_registry_destroy.
 */
gyre_status gyre_registry_create(const struct gyre_config *config, struct gyre_registry **out);
/** Accepts NULL. Plugins that were loaded stay loaded. */
void gyre_registry_destroy(struct gyre_registry *registry);

/** In order of name. */
size_t gyre_registry_count(const struct gyre_registry *registry);
/** The address is the same on every call; `index` below the count. */
const struct gyre_candidate *gyre_registry_at(const struct gyre_registry *registry, size_t index);

/**
 * Finds out whether a candidate can start: remembered, or by a probe of at most gyre.probe_timeout_ms.
 * Returns its status, with its reason on the error stack when that is not OK. Blocks for the probe.
 */
gyre_status gyre_registry_judge(struct gyre_registry *registry, size_t index);

/** Makes the next judgement of a candidate run the plugin, whatever is remembered. */
void gyre_registry_forget(struct gyre_registry *registry, size_t index);

/**
 * A device of the candidate, which is of this registry, was opened in this process: the verdict stays until
 * the process ends, for all registries (core/registry/held.h).
 */
void gyre_registry_hold(struct gyre_registry *registry, const struct gyre_candidate *candidate);

/**
 * Chooses by name, or the best for "auto" (also NULL): highest score + priority among those that can start;
 * equals in order of name. `why` receives a sentence for people. A backend chosen by name that cannot start
 * is an error with its reason: there is no fallback. For a name that does not exist: NOT_FOUND and the
 * nearest one. UNAVAILABLE when `auto` finds none, EXHAUSTED when this process lacks what it takes to look at a
 * named one. *out is NULL after a failure.
 */
gyre_status gyre_registry_choose(struct gyre_registry *registry, const char *name_or_auto,
                                 const struct gyre_candidate **out, char *why, size_t why_size);

#endif
