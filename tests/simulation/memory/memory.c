/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real code of rings, seats and sleeps under a weak memory (machine.h).
 *
 *     memory SCENARIO [FIRST_SEED [SEEDS]]
 *
 * The first seed that breaks something is printed; it alone repeats the run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "scenario.h"

int main(int argc, char **argv)
{
    static const struct scenario *const all[] = {GYRE_SCENARIOS};
    const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
    const struct scenario *chosen = NULL;
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, argv[1]) == 0)
            chosen = all[i];
    if (!chosen) {
        fprintf(stderr, "usage: memory SCENARIO [FIRST_SEED [SEEDS]]; scenarios:");
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            fprintf(stderr, " %s", all[i]->name);
        fprintf(stderr, "\n");
        return EXIT_FAILURE;
    }
    for (uint64_t seed = first; seed < first + count; seed++) {
        machine_begin(seed);
        chosen->begin(seed);
        if (!machine_run() || !chosen->holds()) {
            printf("%s: seed %" PRIu64 " of %" PRIu64 " to %" PRIu64 " breaks it\n", chosen->name, seed, first,
                   first + count - 1);
            return EXIT_FAILURE;
        }
    }
    printf("%s: %" PRIu64 " seeds\n", chosen->name, count);
    return EXIT_SUCCESS;
}
