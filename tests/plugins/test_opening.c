/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend that takes long to be probed, or to open its device, holds up those who want that device and nobody
 * else: meanwhile a kernel is launched on another backend, answers, and ends. Those who want it get the same
 * device, opened once; where opening fails for the first of them, the next one tries for himself. A worker process
 * that hangs there is not tried again.
 */
#include "gyre/gyre.h"
#include "tally.h"
#include "../patience.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ASKERS = 3, PATIENCE_MS = 100000 };

static const char plain_library[] = "backend.plain.library=" GYRE_CPU_PLUGIN;
static const char slow_library[] = "backend.slow.library=" GYRE_TEST_PLUGINS "slow.so";

struct scene {
    const char *slow;    /* the operation that takes long */
    const char *setting; /* one more, with which the first device_open fails, say; NULL: none */
    int opens;           /* how often that operation is called */
    int failures;        /* askers who get no device */
    char folder[32], gate[48], reached[48];
    gyre_runtime *runtime;
};

struct asker {
    struct scene *scene;
    gyre_status status;
    char text[256];
};

static int problems;

static void expect(int condition, const struct scene *scene, const char *what)
{
    if (condition)
        return;
    problems++;
    fprintf(stderr, "slow %s, %s: %s: %s\n", scene->slow, scene->setting ? scene->setting : "nothing else",
            what, gyre_error_text());
}

static void open_scene(struct scene *scene)
{
    char cache[64], slow[64], gate[96], reached[96];
    strcpy(scene->folder, "/tmp/gyre-test-XXXXXX");
    if (!mkdtemp(scene->folder))
        abort();
    snprintf(scene->gate, sizeof scene->gate, "%s/gate", scene->folder);
    snprintf(scene->reached, sizeof scene->reached, "%s/reached", scene->folder);
    snprintf(cache, sizeof cache, "cache_dir=%s", scene->folder);
    snprintf(slow, sizeof slow, "backend.slow.slow=%s", scene->slow);
    snprintf(gate, sizeof gate, "backend.slow.gate=%s", scene->gate);
    snprintf(reached, sizeof reached, "backend.slow.reached=%s", scene->reached);
    const char *const settings[] = {"check=off",
                                    "remember_probes=false",
                                    "probe_timeout_ms=200000",
                                    cache,
                                    plain_library,
                                    "backend.plain.compiler_options=-O1",
                                    slow_library,
                                    slow,
                                    gate,
                                    reached,
                                    "backend.slow.worker_timeout_ms=500",
                                    scene->setting,
                                    NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .settings = settings};
    expect(gyre_open(&desc, &scene->runtime) == GYRE_OK, scene, "gyre_open");
}

static void close_scene(struct scene *scene)
{
    char command[64];
    gyre_close(scene->runtime);
    snprintf(command, sizeof command, "rm -rf %s", scene->folder);
    expect(system(command) == 0, scene, command);
}

/* How often the slow operation was called. */
static int count_reached(const struct scene *scene)
{
    struct stat info;
    return stat(scene->reached, &info) == 0 ? (int)info.st_size : 0;
}

static void *ask(void *argument)
{
    struct asker *asker = argument;
    gyre_buffer *buffer = NULL;
    asker->status = gyre_buffer_alloc(asker->scene->runtime, "slow", 0, 64, &buffer);
    if (asker->status == GYRE_OK)
        asker->status = gyre_buffer_free(buffer);
    snprintf(asker->text, sizeof asker->text, "%s", gyre_error_text());
    return NULL;
}

/* A whole life of a kernel on the backend that is quick, as long as the other one is under way. */
static void use_the_other(struct scene *scene)
{
    gyre_buffer *buffers[2] = {NULL, NULL};
    gyre_kernel *kernel = NULL;
    tally_number request = {21}, reply = {0};
    expect(gyre_buffer_alloc(scene->runtime, "plain", 0, 64, &buffers[0]) == GYRE_OK &&
               gyre_buffer_alloc(scene->runtime, "plain", 0, 64, &buffers[1]) == GYRE_OK,
           scene, "a buffer of the other backend");
    const gyre_binding_name bindings[] = {{"weights", buffers[0]}, {"counts", buffers[1]}};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = GYRE_TEST_KERNEL,
                                   .backend = "plain",
                                   .request = GYRE_TYPE(tally_number),
                                   .reply = GYRE_TYPE(tally_number),
                                   .bindings = bindings,
                                   .binding_count = 2};
    expect(gyre_launch(scene->runtime, &desc, &kernel) == GYRE_OK, scene, "a launch on the other backend");
    expect(kernel && gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply,
                               NULL, gyre_in_ms(patiently(PATIENCE_MS))) == GYRE_OK,
           scene, "a call of the other backend's kernel");
    expect(reply.value == 21, scene, "its reply is wrong");
    gyre_kernel_release(kernel);
    expect(gyre_buffer_free(buffers[0]) == GYRE_OK && gyre_buffer_free(buffers[1]) == GYRE_OK, scene, "free");
}

static void open_gate(const struct scene *scene)
{
    int descriptor = open(scene->gate, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    expect(descriptor >= 0, scene, "cannot make the gate");
    close(descriptor);
}

static void check_askers(const struct scene *scene, const struct asker askers[ASKERS])
{
    int failures = 0;
    for (int i = 0; i < ASKERS; i++) {
        failures += askers[i].status != GYRE_OK;
        expect(askers[i].status == GYRE_OK || strstr(askers[i].text, "the first device_open is refused"),
               scene, askers[i].text);
    }
    expect(failures == scene->failures, scene, "the number of askers without a device");
    expect(count_reached(scene) == scene->opens, scene, "how often the slow operation was called");
}

static void play(struct scene *scene)
{
    struct asker askers[ASKERS];
    pthread_t threads[ASKERS];
    open_scene(scene);
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (struct asker){.scene = scene};
        if (pthread_create(&threads[i], NULL, ask, &askers[i]) != 0)
            abort();
    }
    for (uint64_t waited = 0; count_reached(scene) == 0 && waited < patiently(PATIENCE_MS); waited++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    use_the_other(scene);
    open_gate(scene);
    for (int i = 0; i < ASKERS; i++)
        pthread_join(threads[i], NULL);
    check_askers(scene, askers);
    close_scene(scene);
}

/* Whoever waits for a worker that hangs waits once, and is told what it was. */
static void play_hang(void)
{
    struct scene scene = {.slow = "device_open", .setting = "backend.slow.isolation=process"};
    struct asker asker = {.scene = &scene};
    open_scene(&scene);
    ask(&asker);
    expect(asker.status == GYRE_LOST && strstr(asker.text, "did not answer 'device_open' in time"), &scene,
           asker.text);
    expect(count_reached(&scene) == 1, &scene, "a hang was tried again");
    close_scene(&scene);
}

int main(void)
{
    static struct scene scenes[] = {
        {.slow = "probe", .opens = 1},
        {.slow = "device_open", .opens = 1},
        {.slow = "device_open", .setting = "backend.slow.refuses=once", .opens = 2, .failures = 1}};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes && problems == 0; i++)
        play(&scenes[i]);
    play_hang();
    printf("%d problems\n", problems);
    return problems != 0;
}
