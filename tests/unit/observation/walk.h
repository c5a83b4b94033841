/* SPDX-License-Identifier: Apache-2.0 */
/* Reads everything that an observation file says, for tests of readers: whatever is in the file, each text ends. */
#ifndef GYRE_TESTS_OBSERVATION_WALK_H
#define GYRE_TESTS_OBSERVATION_WALK_H

#include <string.h>

#include "core/observation/observed.h"

/** Returns how many entries were found; 0 also when a text does not end in its room, or a block is busy for more than the time. */
static inline size_t walk_observed(const struct gyre_observed *seen)
{
    size_t found = 0;
    gyre_observe_record record;
    gyre_observe_trouble trouble;
    gyre_observe_event event;
    for (uint32_t i = 0; i < gyre_observed_records(seen); i++) {
        if (gyre_observed_record(seen, i, &record)) {
            found++;
            if (!memchr(record.name, 0, sizeof record.name) ||
                !memchr(record.detail, 0, sizeof record.detail))
                return 0;
        }
        gyre_observe_block block;
        for (uint32_t place = 0;
             record.kind == GYRE_OBSERVE_KERNEL && gyre_observed_block(seen, i, &place, &block);) {
            found++;
            if (block.share > GYRE_OBSERVE_WHOLE)
                return 0;
        }
        for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++) {
            gyre_observe_histogram times;
            found += gyre_observed_histogram(seen, i, (enum gyre_observe_time)time, &times);
        }
        for (uint32_t word = 0; word < 2 * GYRE_OBSERVE_WORDS; word++)
            found += gyre_observed_value(seen, i, word) == UINT64_C(0x123456789);
    }
    for (uint32_t i = 0; i < gyre_observed_troubles(seen); i++) {
        if (!gyre_observed_trouble(seen, i, &trouble))
            continue;
        found++;
        if (!memchr(trouble.text, 0, sizeof trouble.text))
            return 0;
    }
    for (uint64_t i = gyre_observed_first_event(seen); i <= seen->head.events; i++) {
        if (!gyre_observed_event(seen, i, &event))
            continue;
        found++;
        if (!memchr(event.text, 0, sizeof event.text))
            return 0;
    }
    for (uint32_t place = 0; place < gyre_observed_spans(seen); place++) {
        gyre_observe_span span;
        uint64_t number;
        found += gyre_observed_span(seen, place, &span, &number);
    }
    return found + 1;
}

#endif
