/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a probe found out, and its form as text: what the helper answers and what is remembered on disk.
 * No state; any thread; nothing blocks.
 */
#ifndef GYRE_CORE_REGISTRY_VERDICT_H
#define GYRE_CORE_REGISTRY_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

enum {
    GYRE_VERDICT_TEXT_MAX = 8192,
    GYRE_VERDICT_BRIEFLY_S = 600, /* how long a verdict is remembered whose cause may pass */
};

/** Numbers are all int64_t so that one table describes the text form. */
struct gyre_verdict {
    int64_t status; /* a gyre_status; OK: the backend can start */
    char reason[1024];
    int64_t abi_major, abi_minor;
    char plugin_name[32], build[128];
    int64_t score, device_count;
    char vendor_library[256], summary[256], fingerprint[128], watch[512], notes[2048];
    int64_t probe_ns; /* how long the probe took */
    int64_t expires;  /* seconds since 1970 after which it must not be remembered; 0: never */
};

/** A verdict of "no" with its sentence, which is cut when it is too long. */
void gyre_verdict_refuse(struct gyre_verdict *verdict, gyre_status status, const char *reason);

/** Writes the text form, NUL-terminated; returns its length, or 0 when it does not fit. */
size_t gyre_verdict_write(const struct gyre_verdict *verdict, char *text, size_t size);

/** Reads the text form, every key of it in order. False, with *verdict undefined, for anything else. */
bool gyre_verdict_read(const char *text, struct gyre_verdict *verdict);

#endif
