/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the tour; included by the handlers and by the host program. */
#ifndef TOUR_H
#define TOUR_H

#include <gyre/message.h>

#define SAMPLE(FIELD) FIELD(u32, channel) FIELD(f64, value)
GYRE_MESSAGE(sample, SAMPLE)
#define SCALED(FIELD) FIELD(f64, value)
GYRE_MESSAGE(scaled, SCALED)

/* What the handler `scale` reads beside its messages. */
#define GAINS(IN, INOUT) IN(f64, gain)

#define TOTALS(FIELD) FIELD(u64, count) FIELD(f64, sum)
GYRE_MESSAGE(totals, TOTALS)

#endif
