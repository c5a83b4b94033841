/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real code of rings, seats and sleeps under a weak memory (machine.h).
 *
 *     memory [FIRST_SEED [SEEDS]]
 *     memory mutants [SEEDS [PLACE]]
 *
 * The first seed that breaks something is printed, and the program ends with 10; the seed alone repeats the run. `mutants` changes the code at one place after the other
 * (sites.h), and prints for each mutant the seed that finds it, or that none of so many does; PLACE has those of
 * one place alone, as they are printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"
#include "scenario.h"
#include "sites.h"

enum { BROKEN = 10, MUTANT_SECONDS = 20, MUTANT_SLEEPS_SECONDS = 120 };

static bool run(const struct scenario *scenario, uint64_t seed)
{
    machine_begin(seed);
    scenario->begin(seed);
    return machine_run() && scenario->holds();
}

/* Runs the seeds. Returns the one that breaks something; UINT64_MAX: none does. */
static uint64_t find(const struct scenario *scenario, uint64_t first, uint64_t count)
{
    for (uint64_t seed = first; seed < first + count; seed++)
        if (!run(scenario, seed))
            return seed;
    return UINT64_MAX;
}

/* Ends the process after so much time of a processor, however many other programs there are; later if it sleeps. */
static void limit_time(void)
{
    const struct itimerval limit = {.it_value = {.tv_sec = MUTANT_SECONDS}};
    if (setitimer(ITIMER_PROF, &limit, NULL) != 0)
        abort();
    alarm(MUTANT_SLEEPS_SECONDS);
}

/* In a process of its own, whose memory a mutant may ruin. It prints the place, the change, and the seed. */
static void try_mutant(const struct scenario *scenario, unsigned number, uint64_t seeds)
{
    char change[64];
    uint64_t seed = 0;
    int ends[2], status = 0;
    if (pipe(ends) != 0)
        abort();
    fflush(stdout);
    const pid_t process = fork();
    if (process == 0) {
        if (!freopen("/dev/null", "w", stdout))
            abort();
        limit_time();
        sites_mutate(number);
        seed = find(scenario, 0, seeds);
        if (write(ends[1], &seed, sizeof seed) != sizeof seed)
            abort();
        _exit(0);
    }
    close(ends[1]);
    const bool told = read(ends[0], &seed, sizeof seed) == sizeof seed;
    close(ends[0]);
    waitpid(process, &status, 0);
    sites_describe(number, change, sizeof change);
    printf("%p | %s | ", sites_at(number), change);
    if (!told)
        printf("ends the process\n");
    else if (seed == UINT64_MAX)
        printf("not found\n");
    else
        printf("seed %" PRIu64 "\n", seed);
}

/* `place`: of which place; 0: of all. */
static int try_mutants(const struct scenario *scenario, uint64_t seeds, uint64_t place)
{
    if (find(scenario, 0, seeds) != UINT64_MAX)
        return EXIT_FAILURE;
    const unsigned count = sites_count_mutants();
    for (unsigned i = 0; i < count; i++)
        if (!place || place == (uintptr_t)sites_at(i))
            try_mutant(scenario, i, seeds);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const struct scenario *const scenario = &GYRE_SCENARIO;
    const bool mutates = argc > 1 && strcmp(argv[1], "mutants") == 0;
    const uint64_t first = argc > 1 && !mutates ? strtoull(argv[1], NULL, 10) : 0;
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    if (mutates)
        return try_mutants(scenario, count, argc > 3 ? strtoull(argv[3], NULL, 0) : 0);
    const uint64_t seed = find(scenario, first, count);
    if (seed != UINT64_MAX)
        printf("%s: seed %" PRIu64 " breaks it\n", scenario->name, seed);
    else
        printf("%s: %" PRIu64 " seeds\n", scenario->name, count);
    return seed == UINT64_MAX ? EXIT_SUCCESS : BROKEN;
}
