/* SPDX-License-Identifier: Apache-2.0 */
/* What runs on the machine (machine.h): a few threads with real code, and what has to hold. */
#ifndef GYRE_SIMULATION_SCENARIO_H
#define GYRE_SIMULATION_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

struct scenario {
    const char *name;
    void (*begin)(uint64_t variant); /* makes threads; `variant` follows from the seed */
    bool (*holds)(void); /* whether all is as it should be when the threads ended; it says what is not */
};

extern const struct scenario scenario_seat, scenario_lock, scenario_pool, scenario_stages, scenario_queue;

#endif
