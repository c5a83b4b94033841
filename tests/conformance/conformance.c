/* SPDX-License-Identifier: Apache-2.0 */
/* The runner of the conformance suite: one case a process. */
#include "conformance.h"
#include "../patience.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gyre/ring_layout.h>

static const struct conformance_case *const groups[] = {
    lifecycle_cases,   message_cases,  call_cases,       kernel_cases,      queue_cases,    refusal_cases,
    overtaking_cases,  handle_cases,   timing_cases,     shard_cases,       header_cases,   bridged_cases,
    behaviour_cases,   level_cases,    typed_cases,      query_cases,       span_cases,     large_span_cases,
    name_cases,        device_cases,   wait_cases,       link_cases,        link_end_cases, link_pause_cases,
    link_key_cases,    topic_cases,    subscriber_cases, change_cases,      cycle_cases,    ask_cases,
    observation_cases, round_cases,    link_level_cases, link_choice_cases, pool_cases,     keyed_cases,
    keyed_port_cases,  reminder_cases, spread_cases,     collect_cases,     far_link_cases, grid_cases};
enum { GROUPS = sizeof groups / sizeof groups[0], NOT_HERE = 77 };

void require_(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: required: %s\n  last error: %s\n", file, line, what, gyre_error_text());
    exit(EXIT_FAILURE);
}

void require_sentence_(const char *part, const char *file, int line)
{
    if (strstr(gyre_error_text(), part))
        return;
    fprintf(stderr, "%s:%d: the sentence lacks '%s'\n  it says: %s\n", file, line, part, gyre_error_text());
    exit(EXIT_FAILURE);
}

void not_on_this_machine(const char *what)
{
    printf("not on this machine: %s\n", what);
    exit(NOT_HERE);
}

const char *kernel_path(const char *file)
{
    static char path[4096];
    const char *folder = getenv("GYRE_TEST_KERNELS"); /* where the suite was moved to */
    snprintf(path, sizeof path, "%s/%s", folder ? folder : CONFORMANCE_KERNELS, file);
    return path;
}

/*
 * Which of so many backends the next kernel gets: one after the other. With GYRE_TEST_DRAW any of them, and the first one for each
 * twelfth kernel, which is the entry of a random graph.
 */
static unsigned next_place(unsigned count)
{
    static unsigned turn;
    const unsigned now = turn++;
    if (!getenv("GYRE_TEST_DRAW"))
        return now % count;
    return now % 12 ? (now * 2654435761u >> 7) % count : 0;
}

/*
 * Chooses where the next kernel runs. GYRE_TEST_BACKENDS=cpu,opencl:1,...: kernels are spread over these backends and devices, so
 * that those of a pipeline are of several.
 */
static void choose_backend(gyre_launch_desc *desc)
{
    static char names[256];
    char *rest = names, *found = names;
    const char *list = getenv("GYRE_TEST_BACKENDS");
    unsigned count = 1;
    if (!list)
        return;
    for (const char *at = list; *at; at++)
        count += *at == ',';
    snprintf(names, sizeof names, "%s", list);
    for (unsigned left = next_place(count) + 1; left; left--)
        found = strsep(&rest, ",");
    desc->backend = strsep(&found, ":");
    desc->device = found ? (uint32_t)atoi(found) : 0;
}

gyre_launch_desc launch_desc(const struct conformance *test, const char *file, const char *kernel)
{
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = kernel_path(file), .kernel = kernel, .backend = test->backend};
    choose_backend(&desc);
    return desc;
}

gyre_kernel *launch(struct conformance *test, const char *file, const char *kernel)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, file, kernel);
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

gyre_kernel_info info_of(gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    return info;
}

gyre_queue_stats stats_of(gyre_queue *queue)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    must(gyre_queue_stats_get(queue, &stats));
    return stats;
}

uint64_t call_word(gyre_queue *queue, uint64_t word)
{
    words_1 request = {{word}}, reply = {{0}};
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    return reply.w[0];
}

void sleep_ms(long milliseconds)
{
    const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

void send_word(gyre_queue *queue, uint64_t word, const gyre_header *header)
{
    const words_1 request = {{word}};
    must(gyre_send_with(queue, &request, sizeof request, header, NULL, soon()));
}

gyre_completion receive_word(gyre_queue *queue, uint64_t *word)
{
    gyre_completion completion;
    words_1 reply = {{0}};
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    *word = reply.w[0];
    return completion;
}

void require_expired(const gyre_completion *completion)
{
    require(completion->outcome == GYRE_HANDLER_FAILED && completion->failure_code == GYRE_FAILURE_EXPIRED);
    require(strstr(completion->failure_text, "deadline") != NULL);
}

void require_dead(gyre_queue *queue, uint64_t dead, uint64_t lost)
{
    const gyre_queue_stats stats = stats_of(queue);
    require(stats.dead_letters == dead && stats.dead_letters_lost == lost);
}

uint64_t soon(void)
{
    return gyre_in_ms(patiently(20000));
}

/* Lines of the plugin that checks the contract lines of backend.h (tests/plugins/checking.c), from any
 * thread. */
static atomic_int violations;

static pthread_mutex_t log_lock =
    PTHREAD_MUTEX_INITIALIZER; /* of the case's log; backends log from any thread */

static void keep_log(void *context, int level, const char *text)
{
    struct conformance *test = context;
    (void)level;
    if (strncmp(text, "contract:", 9) == 0) {
        atomic_fetch_add(&violations, 1);
        fprintf(stderr, "%s\n", text);
    }
    pthread_mutex_lock(&log_lock);
    size_t used = strlen(test->log);
    snprintf(test->log + used, sizeof test->log - used, "%s\n", text);
    pthread_mutex_unlock(&log_lock);
}

bool has_logged(struct conformance *test, const char *text)
{
    pthread_mutex_lock(&log_lock);
    bool found = strstr(test->log, text) != NULL;
    pthread_mutex_unlock(&log_lock);
    return found;
}

static int list_cases(void)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct conformance_case *one = groups[g]; one->name; one++)
            puts(one->name);
    return EXIT_SUCCESS;
}

static const struct conformance_case *find_case(const char *name)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct conformance_case *one = groups[g]; one->name; one++)
            if (!strcmp(one->name, name))
                return one;
    return NULL;
}

/* "cuda" in GYRE_REQUIRE=cpu,cuda: then "not on this machine" is a failure. */
static bool is_required(const char *backend)
{
    const char *list = getenv("GYRE_REQUIRE");
    size_t length = strlen(backend);
    while (list && *list) {
        size_t word = strcspn(list, ",");
        if ((word == length && !strncmp(list, backend, length)) || (word == 3 && !strncmp(list, "all", 3)))
            return true;
        list += word + (list[word] == ',');
    }
    return false;
}

static int not_here(const char *backend)
{
    printf("not on this machine: %s\n", gyre_error_text());
    return is_required(backend) ? EXIT_FAILURE : NOT_HERE;
}

static int run_case(const struct conformance_case *one, const char *backend)
{
    static struct conformance test;
    static const char *const settings[] = {"log_level=info", NULL};
    gyre_open_desc open = {
        .size = sizeof open, .settings = settings, .backend = backend, .log = keep_log, .log_context = &test};
    gyre_backend_choice choice = {.size = sizeof choice};
    test.backend = backend;
    must(gyre_open(&open, &test.runtime));
    gyre_status status = gyre_backend_choose(test.runtime, backend, &choice);
    if (status == GYRE_UNAVAILABLE)
        return not_here(backend);
    require(status == GYRE_OK);
    one->run(&test);
    gyre_close(test.runtime);
    return atomic_load(&violations) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--list"))
        return list_cases();
    const struct conformance_case *one = argc == 3 ? find_case(argv[2]) : NULL;
    if (!one) {
        fprintf(stderr, "usage: gyre_conformance BACKEND CASE, or --list for the cases\n");
        return 2;
    }
    return run_case(one, argv[1]);
}
