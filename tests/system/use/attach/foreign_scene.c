/* SPDX-License-Identifier: Apache-2.0 */
/* The server of foreign_scene.h. */
#include "foreign_scene.h"

#include <gyre/pipeline.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile uint64_t canaries[GUARDED], secrets[GUARDED];
struct scene scene;

long attack_ms(long otherwise)
{
    const char *seconds = getenv("ATTACH_ATTACK_S");
    return seconds ? atol(seconds) * 1000 : otherwise;
}

static void check_guarded(void)
{
    for (uint64_t i = 0; i < GUARDED; i++) {
        require(canaries[i] == (CANARY | i));
        require(secrets[i] == (SECRET | i));
    }
}

/* A worker that dies is one that could be made to. */
static void hear_log(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    require(!strstr(text, "died"));
}

static gyre_runtime *open_scene(void)
{
    const char *settings[SETTINGS + 3] = {"gyre.check=off", "log_level=info",
                                          scene.isolated ? "backend.cpu.isolation=process"
                                                         : "backend.cpu.isolation=none"};
    const char *backend = getenv("ATTACH_BACKEND");
    gyre_runtime *runtime = NULL;
    for (size_t i = 0; i < SETTINGS - 1; i++)
        settings[3 + i] = scene.settings[i];
    gyre_open_desc open = {
        .size = sizeof open, .settings = settings, .backend = backend ? backend : "cpu", .log = hear_log};
    if (gyre_open(&open, &runtime) == GYRE_UNAVAILABLE && backend)
        _Exit(SKIPPED); /* not on this machine */
    require(runtime != NULL);
    return runtime;
}

static gyre_kernel *launch_stage(gyre_runtime *runtime, const char *kernel, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = scene.file, .kernel = kernel, .blocks = blocks};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

/* foreign_first -> foreign_last, with a tally beside it. */
static void open_stages(gyre_runtime *runtime)
{
    static const char *const first = "foreign_first", *const last = "foreign_last";
    static const gyre_link_desc links[] = {
        {.size = sizeof *links, .from = "foreign_first.asks", .to = "foreign_last"},
        {.size = sizeof *links, .from = "foreign_first.counts", .to = "foreign_tally"}};
    gyre_pipeline *pipeline = NULL;
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = scene.kernel,
                                     .entries = &first,
                                     .entry_count = 1,
                                     .answers = &last,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = 2};
    launch_stage(runtime, first,
                 2); /* which take requests side by side, by a word that the client can write */
    launch_stage(runtime, last, 2);
    launch_stage(runtime, "foreign_tally", 1);
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
}

/* Rings as short as can be, so that their places are used again soon. */
static void open_two_stages(gyre_runtime *runtime)
{
    static const char *const last = "nothing_last";
    char from[64];
    gyre_pipeline *pipeline = NULL;
    snprintf(from, sizeof from, "%s.out", scene.first);
    const gyre_link_desc link = {.size = sizeof link, .from = from, .to = last};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = scene.kernel,
                                     .entries = &scene.first,
                                     .entry_count = 1,
                                     .answers = &last,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1,
                                     .links_tight = true};
    launch_stage(runtime, scene.first, 1);
    const gyre_launch_desc stage = {
        .size = sizeof stage, .source = scene.file, .kernel = last, .blocks = 1, .stage = 1};
    gyre_kernel *launched = NULL;
    must(gyre_launch(runtime, &stage, &launched));
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
}

static void serve(const party *self)
{
    for (uint64_t i = 0; i < GUARDED; i++) {
        canaries[i] = CANARY | i;
        secrets[i] = SECRET | i;
    }
    gyre_kernel *kernel = NULL;
    gyre_runtime *runtime = open_scene();
    if (scene.pipeline && scene.first)
        open_two_stages(runtime);
    else if (scene.pipeline)
        open_stages(runtime);
    else
        kernel = launch_stage(runtime, scene.kernel, 0);
    gyre_server *server = serve_at_place(runtime);
    party_say(self, 'r');
    for (struct pollfd told = {.fd = self->told, .events = POLLIN}; poll(&told, 1, 1) == 0;)
        check_guarded();
    gyre_server_close(server);
    if (scene.pipeline)
        must(gyre_pipeline_close(gyre_pipeline_find(runtime, scene.kernel), soon()));
    else
        must(gyre_kernel_terminate(kernel, soon(), NULL));
    check_guarded();
    gyre_close(runtime);
}

gyre_queue *attach_scene(uint64_t capacity)
{
    gyre_queue *queue = NULL;
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place(), .capacity = capacity};
    must(gyre_attach(scene.kernel, &desc, &queue));
    return queue;
}

party start_server(void)
{
    char word = 0;
    party server = party_start(serve);
    if (read(server.said, &word, 1) != 1)
        exit(party_end(&server) == SKIPPED ? SKIPPED : EXIT_FAILURE);
    return server;
}

void end_server(const party *server)
{
    party_tell(server, 'e');
    require(party_end(server) == 0);
}

void serve_scene(void (*client)(const party *self))
{
    party server = start_server();
    party asking = party_start(client);
    party_tell(&asking, 'e');
    require(party_end(&asking) == 0);
    end_server(&server);
}

void serve_one(const char *kernel, void (*client)(const party *self))
{
    scene.file = ATTACH_KERNELS "nothing.gyre.c";
    scene.kernel = kernel;
    serve_scene(client);
}

void keep_in_a_journal(void)
{
    static char journals[128];
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", getenv("CRASH_FOLDER"));
    scene.settings[0] = "queue.default.durability=journal";
    scene.settings[1] = journals;
    scene.settings[2] = "kernel.default.checkpoints=true";
}
