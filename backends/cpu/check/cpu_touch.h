/* SPDX-License-Identifier: Apache-2.0 */
/* An access of a handler, as checks see it. */
#ifndef GYRE_CPU_TOUCH_H
#define GYRE_CPU_TOUCH_H

#include <stdint.h>

#include "gyre/dialect/cpu_watch.h"

struct cpu_touch {
    const gyre_cpu_range *range;
    const void *at;
    uint64_t size;
    uint32_t how; /* GYRE_TOUCH_... */
    const void *code;
    const void *
        older; /* a value that was there earlier, which an atomic load finds; NULL: it finds the latest one */
};

#endif
