/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker notes for those who trace the process (cpu_trace.c). */
#ifndef GYRE_CPU_TRACED_H
#define GYRE_CPU_TRACED_H

#include <stdbool.h>

#include "gyre/trace.h"

/** What a worker notes of the message that it handles. */
struct cpu_traced {
    gyre_trace *ring;       /* NULL: nobody traces */
    bool open;              /* `span` is of the message that is handled now */
    gyre_u32 apart;         /* messages of no request so far: they have no index by which some are noted */
    gyre_observe_span span; /* its link, ring and place are those that the message came by */
};

#endif
