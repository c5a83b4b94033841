/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a message as the header `traceparent` of HTTP has it (W3C Trace Context): for applications that take a request from the
 * web and send a message for it, or the other way round. The queue has to keep the header's `trace` (`header = trace`).
 *
 * The header of a message has the trace id alone, which says what belongs together; the id of the caller's span is for the caller's own
 * records. Any thread; no state.
 *
 * Stability: as gyre.h.
 */
#ifndef GYRE_TRACE_CONTEXT_H
#define GYRE_TRACE_CONTEXT_H

#include <stdio.h>
#include <string.h>

#include "gyre/types.h"

/** Bytes of a traceparent, with the end of the text. */
#define GYRE_TRACEPARENT_SIZE 56

/** A traceparent. */
typedef struct gyre_trace_context {
    gyre_u64 trace[2]; /* as in gyre_header: the first 16 digits, and the others */
    gyre_u64 parent;   /* the id of the caller's span */
    gyre_u8 flags;     /* 1: the caller records the trace */
} gyre_trace_context;

/* Reads `digits` small hexadecimal digits. -1: there is something else. */
static inline int gyre_trace_digits_(const char *text, int digits, gyre_u64 *out)
{
    static const char all[] = "0123456789abcdef";
    *out = 0;
    for (int i = 0; i < digits; i++) {
        const char *digit = text[i] ? strchr(all, text[i]) : (const char *)0;
        if (!digit)
            return -1;
        *out = *out << 4 | (gyre_u64)(digit - all);
    }
    return 0;
}

/**
 * Reads a traceparent: 00-TRACE-PARENT-FLAGS, with 32, 16 and 2 small hexadecimal digits; of a later version what it has in common with
 * version 00. Returns 0; -1, and *out is zeros: it is none, and W3C says to begin a new trace then.
 */
static inline int gyre_trace_read(const char *text, gyre_trace_context *out)
{
    gyre_u64 version = 0, flags = 0;
    const gyre_trace_context nothing = {{0, 0}, 0, 0};
    *out = nothing;
    const size_t length = strlen(text), whole = GYRE_TRACEPARENT_SIZE - 1;
    if (length < whole || gyre_trace_digits_(text, 2, &version) || version == 0xff ||
        (version == 0 ? length != whole : text[whole] && text[whole] != '-') || text[2] != '-' ||
        text[35] != '-' || text[52] != '-' || gyre_trace_digits_(text + 3, 16, &out->trace[0]) ||
        gyre_trace_digits_(text + 19, 16, &out->trace[1]) ||
        gyre_trace_digits_(text + 36, 16, &out->parent) || gyre_trace_digits_(text + 53, 2, &flags) ||
        (!out->trace[0] && !out->trace[1]) || !out->parent) {
        *out = nothing;
        return -1;
    }
    out->flags = (gyre_u8)flags;
    return 0;
}

/** Writes it as a traceparent of version 00. */
static inline void gyre_trace_text(const gyre_trace_context *context, char text[GYRE_TRACEPARENT_SIZE])
{
    snprintf(text, GYRE_TRACEPARENT_SIZE, "00-%016llx%016llx-%016llx-%02x",
             (unsigned long long)context->trace[0], (unsigned long long)context->trace[1],
             (unsigned long long)context->parent, (unsigned)context->flags);
}

#endif
