/* SPDX-License-Identifier: Apache-2.0 */
/* Implements gyre_clock_ns of gyre.h: the clock of deadlines, for applications. */
#include "gyre/gyre.h"
#include "gyre/waiting.h"

uint64_t gyre_now_ns(void)
{
    return gyre_clock_ns();
}

uint64_t gyre_in_ms(uint64_t milliseconds)
{
    uint64_t now = gyre_clock_ns();
    return milliseconds > (GYRE_FOREVER - now) / 1000000 ? GYRE_FOREVER : now + milliseconds * 1000000;
}
