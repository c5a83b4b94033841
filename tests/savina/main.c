/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Savina's actor benchmarks (Imam and Sarkar, 2014) and Skynet as pipelines of Gyre: the handlers are in kernels/, messages.c,
 * trees.c, work.c, numbers.c, shared.c, shops.c, filter_bank.c and quicksort.c wire them. Each run checks its result; sizes are Savina's own, or small ones for the test suite.
 *
 * Where Gyre is another thing than an actor system, a benchmark is another one, too:
 *
 * - fork-join: the sixty workers are the subscribers of a topic
 * - thread ring: fifty kernels with two actors each, since a pipeline has 64 kernels at most
 * - big: the senders are one actor with the state of each; those that are pinged are keys of a keyed actor
 * - bank: accounts are keys; the teller asks the first account and then the second one, a hundred transfers at once
 * - fibonacci, skynet, queens: nodes are messages, not actors; an actor adds the leaves, not each node its children
 *
 * - chameneos, dictionary, philosophers: creatures, workers and philosophers are states of one actor; words are keys
 *
 * - bounded buffer: what a producer or a consumer comes to travels with its message; one actor is the buffer
 * - sleeping barber, cigarette smokers: customers and smokers are states of one actor, which smokes by messages to itself
 * - filter bank: a kernel for each delay, filter and sampler of the eight channels; the actors between them are none
 * - quicksort: a message is a range of a buffer, which is sorted in place, not copied into a result
 * - counting, fork-join, sieve, radix sort, filter bank: the client feeds the first actor, a request for each 64 messages
 *
 * Those that need pools with stealing or barriers cannot be: A* search, NQueens by priority, successive over-relaxation.
 *
 * With --test the program ends with 77 where the backend cannot start.
 *
 * --kernels has at most so many kernels of a kind: workers, bits, members of the ring, and for the filter bank five a channel.
 *
 * --size has so much in place of Savina's own. The column 'wired' has the seconds that it took to compile, to launch and to join the kernels, which are no
 * part of the others.
 *
 * usage: savina [--small] [--size N] [--json] [--test] [--backend NAME] [--kernels N] [--repeat N] [NAME...]
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs.h"

static const struct benchmark {
    const char *name;
    void (*run)(struct run *run);
    uint64_t size, small;
    const char *unit;
    bool has_cycles; /* links that lead back, and a quota */
} benchmarks[] = {
    {"ping_pong", run_ping_pong, 40000, 200, "balls", true},
    {"counting", run_counting, 1000000, 5000, "increments", false},
    {"fork_join", run_fork_join, 10000, 100, "messages to each of 60", false},
    {"thread_ring", run_thread_ring, 100000, 1000, "hops", true},
    {"big", run_big, 20000, 20, "pings of each of 120", false},
    {"bank", run_bank, 50000, 500, "transfers", false},
    {"sieve", run_sieve, 100000, 10000, "numbers", false},
    {"queens", run_queens, 12, 8, "rows", true},
    {"fibonacci", run_fibonacci, 25, 12, "th number", true},
    {"skynet", run_skynet, 1000000, 1000, "leaves", true},
    {"logistic_map", run_logistic, 25000, 200, "terms of ten series", false},
    {"radix_sort", run_radix, 100000, 500, "numbers, 60 bits", false},
    {"trapezoid", run_trapezoid, 10000000, 10000, "pieces", false},
    {"chameneos", run_chameneos, 200000, 500, "meetings of 100", true},
    {"dictionary", run_dictionary, 10000, 100, "uses by each of 20", false},
    {"philosophers", run_philosophers, 10000, 20, "meals of each of 20", false},
    {"bounded_buffer", run_bounded_buffer, 1000, 20, "items of each of 40", true},
    {"sleeping_barber", run_barber, 5000, 200, "customers", true},
    {"smokers", run_smokers, 1000, 100, "rounds of 200 smokers", true},
    {"filter_bank", run_filter_bank, 34816, 272, "values, eight channels", false},
    {"quicksort", run_quicksort, 1000000, 5000, "numbers", true},
};
enum { BENCHMARKS = sizeof benchmarks / sizeof *benchmarks };

struct options {
    const char *backend;
    bool small, json, is_test;
    uint32_t repeat, kernels;
    uint64_t size; /* not 0: in place of the benchmarks' own */
    const char *const *names;
    int name_count;
};

static void note_time(struct run *run, uint64_t start_ns)
{
    run->wired = (double)(start_ns - run->wiring.began_ns) / 1e9;
    run->seconds = (double)(gyre_now_ns() - start_ns) / 1e9;
    run->messages = wiring_messages(&run->wiring);
}

total run_measure(struct run *run, task request, gyre_kernel *tell)
{
    total told;
    const uint64_t start_ns = gyre_now_ns();
    wiring_call(&run->wiring, request, tell, &told);
    note_time(run, start_ns);
    return told;
}

total run_feed(struct run *run, task request, uint64_t count)
{
    total told;
    const uint64_t start_ns = gyre_now_ns();
    wiring_feed(&run->wiring, request, count, &told);
    note_time(run, start_ns);
    return told;
}

void run_found(struct run *run, uint64_t found, uint64_t expected)
{
    run->right = found == expected;
    snprintf(run->result, sizeof run->result, "%" PRIu64, found);
    if (!run->right)
        fprintf(stderr, "savina: %" PRIu64 " was expected, found %" PRIu64 "\n", expected, found);
}

void run_found_value(struct run *run, double found, double expected, double tolerance)
{
    run->right = fabs(found - expected) <= tolerance * fabs(expected);
    snprintf(run->result, sizeof run->result, "%.9f", found);
    if (!run->right)
        fprintf(stderr, "savina: %.17g was expected, found %.17g\n", expected, found);
}

void run_agrees(struct run *run, double found, double expected, double tolerance)
{
    if (fabs(found - expected) <= tolerance * fabs(expected))
        return;
    run->right = false;
    fprintf(stderr, "savina: %.17g was expected beside, found %.17g\n", expected, found);
}

uint32_t run_kernels(const struct run *run, uint32_t kernels)
{
    return run->kernels && run->kernels < kernels ? run->kernels : kernels;
}

static void print_row(const struct benchmark *benchmark, const struct run *run, bool json, bool first)
{
    const double rate = run->seconds > 0 ? (double)run->messages / run->seconds : 0;
    if (json)
        printf("%s\n  {\"name\": \"%s\", \"size\": %" PRIu64
               ", \"result\": %s, \"right\": %s, \"wired\": %.6f, \"seconds\": %.6f, \"messages\": %" PRIu64
               ", \"per_second\": %.0f}",
               first ? "" : ",", benchmark->name, run->size, run->result, run->right ? "true" : "false",
               run->wired, run->seconds, run->messages, rate);
    else
        printf("%-15s %9" PRIu64 " %-23s %14s %9.4f %11.0f %7.3f%s\n", benchmark->name, run->size,
               benchmark->unit, run->result, run->seconds, rate, run->wired, run->right ? "" : "  WRONG");
    fflush(stdout);
}

/* The quickest of so many runs, unless one is wrong. */
static struct run run_best(const struct benchmark *benchmark, const struct options *options)
{
    struct run best = {0};
    for (uint32_t i = 0; i < options->repeat; i++) {
        struct run run = {.backend = options->backend,
                          .kernels = options->kernels,
                          .size = options->size    ? options->size
                                  : options->small ? benchmark->small
                                                   : benchmark->size};
        benchmark->run(&run);
        if (i == 0 || !run.right || run.seconds < best.seconds)
            best = run;
        if (!run.right)
            break;
    }
    return best;
}

static bool is_wanted(const struct benchmark *benchmark, const struct options *options)
{
    for (int i = 0; i < options->name_count; i++)
        if (strcmp(options->names[i], benchmark->name) == 0)
            return true;
    return options->name_count == 0;
}

static int run_all(const struct options *options)
{
    int wrong = 0;
    bool first = true;
    if (options->json)
        printf("[");
    else
        printf("%-49s %14s %9s %11s %7s\n", "benchmark", "result", "seconds", "messages/s", "wired");
    for (int i = 0; i < BENCHMARKS; i++) {
        if (!is_wanted(&benchmarks[i], options))
            continue;
        wiring_expect(options->is_test, benchmarks[i].has_cycles);
        const struct run run = run_best(&benchmarks[i], options);
        print_row(&benchmarks[i], &run, options->json, first);
        wrong += !run.right;
        first = false;
    }
    if (options->json)
        printf("\n]\n");
    return wrong ? 1 : 0;
}

static void refuse(const char *what, const char *found)
{
    fprintf(stderr, "savina: %s, found '%s'\nnames:", what, found);
    for (int i = 0; i < BENCHMARKS; i++)
        fprintf(stderr, " %s", benchmarks[i].name);
    fprintf(
        stderr,
        "\nusage: savina [--small] [--size N] [--json] [--test] [--backend NAME] [--kernels N] [--repeat N] [NAME...]\n");
    exit(2);
}

static void check_names(const struct options *options)
{
    for (int i = 0; i < options->name_count; i++) {
        bool known = false;
        for (int k = 0; k < BENCHMARKS; k++)
            known |= strcmp(options->names[i], benchmarks[k].name) == 0;
        if (!known)
            refuse("the name of a benchmark is expected", options->names[i]);
    }
}

static struct options read_options(int argc, char **argv)
{
    struct options options = {.repeat = 1};
    int at = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--small") == 0)
            options.small = true;
        else if (strcmp(argv[at], "--json") == 0)
            options.json = true;
        else if (strcmp(argv[at], "--test") == 0)
            options.is_test = true;
        else if (strcmp(argv[at], "--backend") == 0 && at + 1 < argc)
            options.backend = argv[++at];
        else if (strcmp(argv[at], "--size") == 0 && at + 1 < argc)
            options.size = strtoull(argv[++at], NULL, 10);
        else if (strcmp(argv[at], "--kernels") == 0 && at + 1 < argc)
            options.kernels = (uint32_t)strtoul(argv[++at], NULL, 10);
        else if (strcmp(argv[at], "--repeat") == 0 && at + 1 < argc)
            options.repeat = (uint32_t)strtoul(argv[++at], NULL, 10);
        else
            refuse("an option with its value is expected", argv[at]);
    }
    if (options.repeat == 0 || options.repeat > 1000)
        refuse("--repeat expects a number from 1 to 1000", argv[at - 1]);
    options.names = (const char *const *)(argv + at);
    options.name_count = argc - at;
    check_names(&options);
    return options;
}

int main(int argc, char **argv)
{
    const struct options options = read_options(argc, argv);
    return run_all(&options);
}
