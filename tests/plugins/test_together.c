/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several backends open at once in one runtime, used by several threads: two configured backends that are the
 * CPU plugin, one of them under the checking plugin, so that the contract lines are checked while kernels are
 * launched, called, paused, terminated and released side by side. Lines of a plugin obey the configured
 * level.
 */
#include "gyre/gyre.h"
#include "tally.h"
#include "../patience.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 12 };

struct user {
    gyre_runtime *runtime;
    const char *backend;
    int number;
    int problems;
};

static atomic_int violations, debug_lines;

static void listen(void *context, int level, const char *text)
{
    (void)context;
    if (level == 4 && strcmp(text, "checking: a device is open") == 0)
        atomic_fetch_add(&debug_lines, 1);
    if (strncmp(text, "contract:", 9) == 0) {
        atomic_fetch_add(&violations, 1);
        fprintf(stderr, "%s\n", text);
    }
}

static int is_fine(struct user *user, gyre_status status, const char *what)
{
    if (status == GYRE_OK)
        return 1;
    user->problems++;
    fprintf(stderr, "%s, user %d: %s: %s\n", user->backend, user->number, what, gyre_error_text());
    return 0;
}

static void exchange(struct user *user, gyre_kernel *kernel)
{
    for (uint64_t i = 1; i <= 20; i++) {
        tally_number request = {i}, reply = {0};
        if (is_fine(user,
                    gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                              gyre_in_ms(patiently(10000))),
                    "call") &&
            reply.value != i * (i + 1) / 2) {
            user->problems++;
            fprintf(stderr, "%s: a wrong reply\n", user->backend);
        }
    }
}

static void use_kernel(struct user *user, gyre_buffer *buffers[2], int round)
{
    char name[32];
    gyre_kernel *kernel;
    gyre_kernel_info info = {.size = sizeof info};
    const gyre_binding_name bindings[] = {{"weights", buffers[0]}, {"counts", buffers[1]}};
    snprintf(name, sizeof name, "tally-%d-%d", user->number, round);
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = GYRE_TEST_KERNEL,
                                   .name = name,
                                   .backend = user->backend,
                                   .request = GYRE_TYPE(tally_number),
                                   .reply = GYRE_TYPE(tally_number),
                                   .bindings = bindings,
                                   .binding_count = 2};
    if (!is_fine(user, gyre_launch(user->runtime, &desc, &kernel), "launch"))
        return;
    exchange(user, kernel);
    if (is_fine(user, gyre_kernel_info_get(kernel, &info), "info") &&
        strcmp(info.backend, user->backend) != 0)
        is_fine(user, GYRE_INTERNAL, "the kernel is on another backend");
    is_fine(user, gyre_kernel_deactivate(kernel, gyre_in_ms(patiently(10000))), "deactivate");
    is_fine(user, gyre_kernel_activate(kernel, gyre_in_ms(patiently(10000))), "activate");
    if (round % 2)
        is_fine(user, gyre_kernel_terminate(kernel, gyre_in_ms(patiently(10000)), NULL), "terminate");
    gyre_kernel_release(kernel);
}

static void *use_backend(void *argument)
{
    struct user *user = argument;
    for (int round = 0; round < ROUNDS; round++) {
        gyre_buffer *buffers[2] = {NULL, NULL};
        if (is_fine(user, gyre_buffer_alloc(user->runtime, user->backend, 0, 64, &buffers[0]), "alloc") &&
            is_fine(user, gyre_buffer_alloc(user->runtime, user->backend, 0, 64, &buffers[1]), "alloc"))
            use_kernel(user, buffers, round);
        is_fine(user, gyre_buffer_free(buffers[0]), "free");
        is_fine(user, gyre_buffer_free(buffers[1]), "free");
    }
    return NULL;
}

static gyre_status open_runtime(const char *cache, const char *level, gyre_runtime **out)
{
    char cache_dir[256], log_level[32];
    snprintf(cache_dir, sizeof cache_dir, "cache_dir=%s", cache);
    snprintf(log_level, sizeof log_level, "log_level=%s", level);
    const char *const settings[] = {"check=off",
                                    cache_dir,
                                    log_level,
                                    "backend.plain.library=" GYRE_CPU_PLUGIN,
                                    "backend.plain.compiler_options=-O1",
                                    "backend.checked.library=" GYRE_TEST_PLUGINS "checking.so",
                                    "backend.checked.checks=" GYRE_CPU_PLUGIN,
                                    "backend.checked.compiler_options=-O1",
                                    NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .settings = settings, .log = listen};
    return gyre_open(&desc, out);
}

/* Several threads, two backends, one runtime; returns how many problems there were. */
static int use_together(gyre_runtime *runtime)
{
    static const char *const backends[] = {"plain", "checked"};
    struct user users[THREADS];
    pthread_t threads[THREADS];
    int problems = 0;
    for (int i = 0; i < THREADS; i++) {
        users[i] = (struct user){runtime, backends[i % 2], i, 0};
        if (pthread_create(&threads[i], NULL, use_backend, &users[i]) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        problems += users[i].problems;
    }
    return problems;
}

/* Opens the checked device with another level: its line of level debug arrives, or does not. */
static int hear(const char *cache, const char *level, int expected)
{
    gyre_runtime *runtime;
    gyre_buffer *buffer;
    atomic_store(&debug_lines, 0);
    gyre_status status = open_runtime(cache, level, &runtime);
    if (status == GYRE_OK)
        status = gyre_buffer_alloc(runtime, "checked", 0, 64, &buffer);
    gyre_close(runtime);
    if (status == GYRE_OK && atomic_load(&debug_lines) == expected)
        return 0;
    fprintf(stderr, "log_level=%s: %d lines of level debug, expected %d: %s\n", level,
            atomic_load(&debug_lines), expected, gyre_error_text());
    return 1;
}

int main(void)
{
    char cache[] = "/tmp/gyre-test-XXXXXX", command[64];
    gyre_runtime *runtime;
    if (!mkdtemp(cache) || open_runtime(cache, "warning", &runtime) != GYRE_OK) {
        fprintf(stderr, "cannot start: %s\n", gyre_error_text());
        return 1;
    }
    int problems = use_together(runtime);
    gyre_close(runtime);
    problems += hear(cache, "debug", 1) + hear(cache, "info", 0);
    snprintf(command, sizeof command, "rm -rf %s", cache);
    problems += system(command) != 0;
    printf("%d kernels on 2 backends, %d problems, %d violations of the contract\n", THREADS * ROUNDS,
           problems, atomic_load(&violations));
    return problems || atomic_load(&violations);
}
