/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and links of one benchmark, from nothing to an open pipeline. Every failure ends the program with a sentence. */
#ifndef SAVINA_WIRING_H
#define SAVINA_WIRING_H

#include <stdbool.h>
#include <stdint.h>

#include <gyre/keyed.h>
#include <gyre/pipeline.h>

#include "savina.h"

enum { WIRING_STAGES_MAX = 64, WIRING_LINKS_MAX = 256, WIRING_NAME_MAX = 48, WIRING_BINDINGS_MAX = 2 };

struct wiring {
    gyre_runtime *runtime;
    const char *backend; /* NULL: as configured */
    gyre_pipeline *pipeline;
    uint64_t began_ns; /* since then kernels were compiled and launched */
    char names[WIRING_STAGES_MAX][WIRING_NAME_MAX];
    const char *answers[WIRING_STAGES_MAX];
    gyre_kernel *kernels[WIRING_STAGES_MAX];
    size_t stages, answer_count;
    /* of the kernel that is launched next */
    const total *state; /* NULL: zeros */
    gyre_binding_name bindings[WIRING_BINDINGS_MAX];
    size_t binding_count;
    char from[WIRING_LINKS_MAX][WIRING_NAME_MAX], to[WIRING_LINKS_MAX][WIRING_NAME_MAX];
    gyre_link_desc links[WIRING_LINKS_MAX];
    size_t link_count;
};

/* Ends the program with what the last call says unless `status` is OK. */
void must(gyre_status status);
/*
 * Before all else. Kernels of a pipeline with a quota are compiled for it. In a test the program ends with 77 where the backend cannot start.
 */
void wiring_expect(bool is_test, bool has_quota);
/* Opens a runtime with this backend (NULL: as configured) and one more setting, which may be NULL. */
void wiring_begin(struct wiring *wiring, const char *backend, const char *setting);
/* Launches a kernel of kernels/FILE under a name; the first one is the entry. `number` is appended unless it is below 0. */
gyre_kernel *wiring_stage(struct wiring *wiring, const char *file, const char *kernel, const char *name,
                          int number);
/* The kernel that is launched next has a buffer of this name, with so many bytes of zeros. */
gyre_buffer *wiring_buffer(struct wiring *wiring, const char *name, uint64_t size);
/* The kernel that is launched next has a buffer of this name, which others may have, too. */
void wiring_bind(struct wiring *wiring, const char *name, gyre_buffer *buffer);
/* The kernel that was launched last may answer. */
void wiring_answers(struct wiring *wiring);
/* Joins the port "KERNEL.PORT" to a kernel. */
gyre_link_desc *wiring_link(struct wiring *wiring, const char *from, const char *to);
/* The same with numbers behind both kernels, from and to, which are left out where they are below 0. */
gyre_link_desc *wiring_link_between(struct wiring *wiring, const char *from, int from_number,
                                    const char *port, const char *to, int to_number);
/* Opens the pipeline; one request at a time, of which at most `quota` messages are alive (0: there is no cycle). */
void wiring_open(struct wiring *wiring, uint32_t quota);
/* Sends a request, and waits for its completion. *out is the reply, or that of `tell` where nobody replies (may be NULL). */
void wiring_call(struct wiring *wiring, task request, gyre_kernel *tell, total *out);
/*
 * Sends `request` for each SAVINA_BATCH of `count` messages, with `number` of the first one, and waits for all. *out is the reply
 * that one of them has.
 */
void wiring_feed(struct wiring *wiring, task request, uint64_t count, total *out);
/* Messages that all links have carried. */
uint64_t wiring_messages(const struct wiring *wiring);
void wiring_end(struct wiring *wiring);

#endif
