/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles of how long messages took, from the histograms of observation files. No state. */
#ifndef GYRE_CLI_OBSERVED_TIMES_H
#define GYRE_CLI_OBSERVED_TIMES_H

#include "cli/observed/observed.h"

/** The words of enum gyre_observe_time: "waited", "handled", "returned", "round_trip". */
extern const char *const times_words[GYRE_OBSERVE_TIMES];

/** How many messages a histogram has. */
uint64_t times_count(const gyre_observe_histogram *histogram);
/** The time that `share` (0 to 1) of the messages did not exceed, in seconds, to within 6.25 %; 0 without a message. */
double times_percentile(const gyre_observe_histogram *histogram, double share);
/** The mean, in seconds. */
double times_mean(const gyre_observe_histogram *histogram);
/** Takes what an earlier copy of the histogram had out of a later one. False, and the histogram stays, if it is no earlier copy. */
bool times_subtract(gyre_observe_histogram *histogram, const gyre_observe_histogram *earlier);
/** Writes a short length of time: "850 ns", "1.2 us", "14 ms", "3.0 s". */
const char *times_text(double seconds, char text[16]);

#endif
