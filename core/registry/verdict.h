/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict (what a probe found out about a backend), and its form as text (verdict.c). The probing helper answers
 * with this text, and the text is remembered on disk. Has no state; any thread; nothing blocks.
 */
#ifndef GYRE_CORE_REGISTRY_VERDICT_H
#define GYRE_CORE_REGISTRY_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

enum {
    GYRE_VERDICT_TEXT_MAX = 8192,
    GYRE_VERDICT_BRIEFLY_S = 600, /* how long a verdict is remembered if its cause may pass */
};

/** What a probe found out about a backend. All numbers are int64_t so that one table describes the text form. */
struct gyre_verdict {
    int64_t status; /* a gyre_status; OK: the backend can start */
    char reason[1024];
    int64_t abi_major, abi_minor;
    char plugin_name[32], build[128];
    int64_t score, device_count;
    char vendor_library[256], summary[256], fingerprint[128], watch[512], notes[2048];
    int64_t probe_ns; /* how long the probe took */
    int64_t expires;  /* when the verdict expires, seconds since 1970; 0: never */
};

/** Makes the verdict that the backend cannot start, with its reason. A sentence that is too long is cut. */
void gyre_verdict_refuse(struct gyre_verdict *verdict, gyre_status status, const char *reason);

/** Writes the text form, NUL-terminated. Returns its length, or 0 when it does not fit. */
size_t gyre_verdict_write(const struct gyre_verdict *verdict, char *text, size_t size);

/** Reads the text form, which must have every key in order. False for any other text: then *verdict is undefined. */
bool gyre_verdict_read(const char *text, struct gyre_verdict *verdict);

#endif
