/* SPDX-License-Identifier: Apache-2.0 */
/* Runs random graphs (graphs.h). */
#include "graphs.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/links.h"

/* What a flow comes to. */
struct fate {
    uint64_t failures, replies;
    uint64_t reply; /* of the last handler that replied */
};

static void foresee(const struct graph *graph, uint32_t node, uint64_t seed, uint32_t depth,
                    struct fate *fate)
{
    if (token_fails(seed, node)) { /* what it emitted does not count */
        fate->failures++;
        return;
    }
    if (token_replies(seed, node)) {
        fate->replies++;
        fate->reply = token_mix(seed, node);
    }
    for (uint32_t port = 0; port < 2; port++)
        for (uint32_t i = 0; i < token_count(seed, node, port, depth); i++)
            for (uint32_t j = 0; j < graph->counts[node][port]; j++)
                foresee(graph, graph->targets[node][port][j], token_seed(seed, node, port, i), depth + 1,
                        fate);
}

static void check_fate(const struct fate *fate, const gyre_completion *completion, const token *reply)
{
    if (fate->failures || fate->replies > 1)
        require(completion->outcome == GYRE_HANDLER_FAILED &&
                completion->failure_code == (fate->failures ? TOKEN_FAILURE : -18));
    else if (fate->replies)
        require(completion->outcome == GYRE_REPLIED && reply->seed == fate->reply);
    else
        require(completion->outcome == GYRE_NOT_REPLIED);
}

uint64_t graph_draw(uint64_t *random, uint64_t below)
{
    *random = token_mix(*random, below);
    return *random % below;
}

/* ---- a worker process that dies ---- */

static size_t read_text(const char *pid, const char *file, char text[512])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, file);
    FILE *opened = fopen(path, "re");
    const size_t length = opened ? fread(text, 1, 511, opened) : 0;
    if (opened)
        fclose(opened);
    text[length] = '\0';
    return length;
}

/* Whether the process is a worker of this program. The guard has a worker's name until it takes its own. */
static bool is_own_worker(const char *pid)
{
    char text[512];
    long parent = 0;
    read_text(pid, "stat", text);
    const char *end = strrchr(text, ')');
    if (!strstr(text, "(gyre-worker)") || !end || sscanf(end + 1, " %*c %ld", &parent) != 1 ||
        parent != (long)getpid())
        return false;
    const size_t length = read_text(pid, "cmdline", text);
    return !memmem(text, length, "guard", 5);
}

/* Kills the worker process of this program, if there is one this very moment, at one of GYRE_TEST_KILLS calls. Returns how many. */
static uint64_t kill_at_times(uint64_t *random)
{
    uint64_t kills = 0;
    const char *one_in = getenv("GYRE_TEST_KILLS");
    if (!one_in || graph_draw(random, strtoull(one_in, NULL, 10)) != 0)
        return 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *process; processes && (process = readdir(processes));)
        if (process->d_name[0] >= '1' && process->d_name[0] <= '9' && is_own_worker(process->d_name))
            kills += kill((pid_t)strtol(process->d_name, NULL, 10), SIGKILL) == 0;
    if (processes)
        closedir(processes);
    return kills;
}

/* ---- flows ---- */

void graph_run(struct conformance *test, const struct graph *graph, gyre_pipeline *pipeline, uint64_t seed,
               uint64_t flows)
{
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    const char *fewer = getenv("GYRE_TEST_FLOWS");
    uint64_t sent = 0, random = seed, kills = 0;
    if (fewer)
        flows = strtoull(fewer, NULL, 10);
    for (uint64_t received = 0; received < flows; received++) {
        token reply;
        gyre_completion completion;
        struct fate fate = {0};
        for (; sent < flows; sent++) {
            const token request = {.seed = token_mix(seed, sent)};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        kills += kill_at_times(&random);
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.index == received);
        foresee(graph, 0, token_mix(seed, completion.index), 0, &fate);
        check_fate(&fate, &completion, &reply);
    }
    require(kills || !getenv("GYRE_TEST_KILLS"));
    must(gyre_pipeline_close(pipeline, soon()));
    for (uint32_t i = 0; i < GRAPH_NODES; i++) {
        char name[16];
        snprintf(name, sizeof name, "node%u", i);
        gyre_kernel_release(gyre_kernel_find(test->runtime, name));
    }
}

void graph_for_seeds(struct conformance *test, uint64_t usual,
                     void (*run)(struct conformance *test, uint64_t seed))
{
    const char *given = getenv("GYRE_TEST_SEED"), *times = getenv("GYRE_TEST_SEEDS");
    const uint64_t first = given ? strtoull(given, NULL, 10) : 1,
                   count = times ? strtoull(times, NULL, 10) : usual;
    for (uint64_t seed = first; seed < first + count; seed++) {
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        run(test, seed);
    }
}
