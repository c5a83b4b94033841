/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry lists the backends (of the configuration and of the plugin folder; each is a candidate), finds out for
 * each whether it can start on this machine (its verdict), and chooses one (registry.c).
 *
 * No plugin is loaded or probed before a caller asks for its verdict. The probe runs in a child process (the helper
 * gyre-probe), so a plugin that crashes or hangs costs only a sentence. The verdict is remembered on disk until the
 * plugin, its parameters or the driver change (core/registry/memory.h). A verdict whose cause may pass is remembered
 * for some minutes at most (probe.h). This process loads a plugin only to open a device (core/dispatch). Threads:
 * any; a caller waits while another caller's verdict about the same backend is being made.
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
    const char *name;    /* <name> of the section [backend.<name>], or of the file gyre-<name>.so */
    const char *library; /* absolute path of the plugin */
    const char *origin;  /* file:line that named it; "" when it only lies in the plugin folder */
    bool enabled;        /* false where the backend's section says enabled = false */
    int priority;
    bool isolated;                    /* isolation = process: the backend runs in a worker process */
    bool standby;                     /* isolated: a second worker stands by */
    bool replaced;                    /* isolated: a worker that dies is replaced (restart_limit) */
    bool alone;                       /* in a worker only: the probe found the device that is opened */
    bool built;                       /* the plugin was built or exists; if not, `reason` tells why */
    uint64_t worker_timeout_ns;       /* isolated: the timeout of the worker's operations */
    const gyre_parameter *parameters; /* the keys of its section that are for the plugin */
    size_t parameter_count;

    /* The verdict: filled in by gyre_registry_judge and gyre_registry_choose. */
    bool judged;
    bool remembered;    /* the verdict is from the disk, or held (held.h): the plugin was not run */
    gyre_status status; /* OK: the backend can start here */
    const char *reason; /* why it cannot start: one sentence */
    uint16_t abi_major, abi_minor; /* 0.0 when unknown */
    const char *plugin_name;       /* the plugin's own name; "" when the plugin was never read */
    const char *build; /* the plugin's version and build, for people; "" when the plugin was never read */
    int score;
    uint32_t device_count;
    const char *vendor_library; /* the vendor's library in use and its version; may be "" */
    const char *summary;        /* one line for people */
    const char *fingerprint;    /* the identity of the driver, as the plugin tells it */
    const char *notes;          /* further findings of the plugin, separated by "; "; may be "" */
    uint64_t probe_ns;          /* how long the probe took, when it ran */
    int64_t expires;            /* when the verdict expires, seconds since 1970; 0: never */
};

/**
 * Lists the backends that `config` names and the backends in the plugin folder (the setting gyre.plugin_dir, else
 * the folder beside the library). `config` must outlive the registry. CONFIG when a section is wrong.
 * Owner of *out: the caller, until gyre_registry_destroy.
 */
gyre_status gyre_registry_create(const struct gyre_config *config, struct gyre_registry **out);
/** Frees the registry. Accepts NULL. Loaded plugins stay loaded. */
void gyre_registry_destroy(struct gyre_registry *registry);

/** The number of candidates. They are in order of name. */
size_t gyre_registry_count(const struct gyre_registry *registry);
/** The candidate `index`, which must be below the count. Returns the same address on every call. */
const struct gyre_candidate *gyre_registry_at(const struct gyre_registry *registry, size_t index);

/** NOT_FOUND, with the nearest name, when no candidate has the name, which is not "auto" either. Probes nothing. */
gyre_status gyre_registry_check_name(const struct gyre_registry *registry, const char *name_or_auto);

/**
 * Finds out whether a candidate can start: from a remembered verdict, or by a probe of at most gyre.probe_timeout_ms.
 * Returns the candidate's status. A status other than OK comes with its reason on the error stack. Blocks for the
 * probe.
 */
gyre_status gyre_registry_judge(struct gyre_registry *registry, size_t index);

/** Lets the next judgement of a candidate run its plugin, even if a verdict is remembered. */
void gyre_registry_forget(struct gyre_registry *registry, size_t index);

/**
 * Call when this process has opened a device of the candidate, which must be of this registry. The candidate's
 * verdict then stays until the process ends, for all registries (core/registry/held.h).
 */
void gyre_registry_hold(struct gyre_registry *registry, const struct gyre_candidate *candidate);

/**
 * Chooses a backend by name. "auto" (or NULL) chooses the best backend that can start: the one with the highest
 * priority, then with the highest score, then the first by name. `why` receives a sentence for people. A named
 * backend that cannot start is an error with its reason: no other backend takes its place. NOT_FOUND, with the
 * nearest name, when no backend has the name. UNAVAILABLE when "auto" finds no backend that can start. EXHAUSTED when
 * this process lacks memory or descriptors to judge the named backend. *out is NULL after a failure.
 */
gyre_status gyre_registry_choose(struct gyre_registry *registry, const char *name_or_auto,
                                 const struct gyre_candidate **out, char *why, size_t why_size);

#endif
