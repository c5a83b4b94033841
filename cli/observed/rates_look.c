/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at processes for rates (rates_look.h). */
#include "cli/observed/rates_look.h"

#include <string.h>

#include "gyre/waiting.h"

enum { NAP_MS = 20, SLOWEST_MS = 60000 };

int rates_look(const observed_source *source, observed_processes *processes, rates_table *table)
{
    observed_processes found;
    const int code = observed_open(source, &found);
    if (code != CLI_OK) {
        observed_finish(&found);
        return code;
    }
    const bool taken = rates_take(table, &found);
    observed_finish(processes);
    *processes = found;
    return taken ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

/* How long the slowest process takes between two looks at itself. */
static uint64_t slowest_ms(const observed_processes *processes)
{
    uint64_t slowest = 0;
    for (size_t i = 0; i < processes->count; i++) {
        const uint64_t every = processes->items[i].seen.head.every_ns / 1000000;
        if (strcmp(observed_life_word(&processes->items[i]), "lives") == 0 && every > slowest)
            slowest = every;
    }
    return slowest < SLOWEST_MS ? slowest : SLOWEST_MS;
}

int rates_look_twice(const observed_source *source, observed_processes *processes, rates_table *table,
                     bool (*nap)(void *context, uint64_t milliseconds), void *context)
{
    int code = rates_look(source, processes, table);
    const uint64_t until = gyre_clock_ns() + 3000000 * slowest_ms(processes);
    while (code == CLI_OK && rates_lack(table) && gyre_clock_ns() < until && nap(context, NAP_MS))
        code = rates_look(source, processes, table);
    return code;
}
