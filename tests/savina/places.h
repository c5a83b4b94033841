/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks need of a backend, and which backend lacks what: the one list of what runs where. */
#ifndef SAVINA_PLACES_H
#define SAVINA_PLACES_H

enum savina_need {
    NEEDS_TOPICS = 1,
    NEEDS_CYCLES = 2, /* links that lead back, and a quota */
    NEEDS_ASKS = 4,
    NEEDS_KEYED = 8, /* links that end at a keyed actor */
};

/* Why the backend does not run a benchmark with these needs; NULL: it does. */
const char *places_lack(const char *backend, unsigned needs);

#endif
