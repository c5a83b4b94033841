/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose worker process is killed in the midst of messages: `failing_life LIVES BACKEND`. The kernel `forgets`
 * keeps what no checkpoint has, so it is lost, and launched again because its `on_loss` says so.
 */
#include "exchange.h"
#include "../../../patience.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETTING_SIZE = 128, BYTES = 8192 };

static const char *backend;
static gyre_runtime *runtime;
static gyre_kernel *plain, *chain, *forgets;
static gyre_queue *second;
static gyre_buffer *buffer;
static failed_reply state;
static uint32_t relaunches;

static void log_line(void *context, int level, const char *text)
{
    (void)context;
    printf("log %d %s\n", level, text);
}

static gyre_status open_runtime(void)
{
    char isolation[SETTING_SIZE];
    const char *const settings[] = {isolation, "kernel.chain.checkpoints=true", "kernel.forgets.on_loss=one",
                                    NULL};
    const gyre_open_desc desc = {
        .size = sizeof desc, .backend = backend, .log = log_line, .settings = settings};
    snprintf(isolation, sizeof isolation, "backend.%s.isolation=process", backend);
    return gyre_open(&desc, &runtime);
}

static gyre_status launch(const char *kernel, const char *name, gyre_kernel **out)
{
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = FAILED_KERNELS,
                                   .kernel = kernel,
                                   .name = name,
                                   .request = GYRE_TYPE(failed_request),
                                   .reply = GYRE_TYPE(failed_reply)};
    return *out ? GYRE_OK : gyre_launch(runtime, &desc, out);
}

static gyre_status launch_plain(void)
{
    return launch("plain", NULL, &plain);
}

static gyre_status launch_chain(void)
{
    return launch("chain", NULL, &chain);
}

static gyre_status launch_forgets(void)
{
    return launch("chain", "forgets", &forgets);
}

static gyre_status alloc_buffer(void)
{
    return buffer ? GYRE_OK : gyre_buffer_alloc(runtime, NULL, 0, BYTES, &buffer);
}

static gyre_status move_bytes(void)
{
    char bytes[BYTES], back[BYTES];
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (char)(i * 31 % 127);
    gyre_status status = gyre_buffer_upload(buffer, 0, bytes, sizeof bytes);
    if (status == GYRE_OK)
        status = gyre_buffer_download(buffer, 0, back, sizeof back);
    if (status == GYRE_OK && memcmp(bytes, back, sizeof bytes) != 0)
        wrong("bytes of a buffer", 0, 1);
    return status;
}

static gyre_status free_buffer(void)
{
    gyre_status status = gyre_buffer_free(buffer);
    buffer = status == GYRE_OK ? NULL : buffer;
    return status;
}

static gyre_status open_second(void)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = 64};
    return second ? GYRE_OK : gyre_queue_open(plain, &desc, &second);
}

static gyre_status use_descriptor(void)
{
    struct pollfd ready = {.events = POLLIN};
    const failed_request request = {5};
    failed_reply reply;
    gyre_status status = gyre_queue_descriptor(second, &ready.fd);
    if (status == GYRE_OK)
        status = gyre_send(second, &request, sizeof request, NULL, gyre_in_ms(patiently(PATIENCE_MS)));
    if (status != GYRE_OK)
        return status;
    if (poll(&ready, 1, PATIENCE_MS) != 1 ||
        gyre_receive(second, &reply, sizeof reply, NULL, GYRE_NO_WAIT) != GYRE_OK)
        wrong("readiness of a descriptor", 1, 0);
    return GYRE_OK;
}

static void close_second(void)
{
    gyre_queue_close(second);
    second = NULL;
}

/* ---- the worker ---- */

/* Whether it is the worker of this process. */
static bool is_worker(const char *process)
{
    char path[300], text[512];
    char *name;
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    name = strstr(text, "(gyre-worker) ");
    return name && sscanf(name, "(gyre-worker) %*c %d", &parent) == 1 && parent == getpid();
}

static void kill_worker(void)
{
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));)
        if (is_worker(entry->d_name))
            kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
    if (processes)
        closedir(processes);
    relaunches++;
}

static gyre_status await_relaunch(void)
{
    gyre_kernel_info info = {.size = sizeof info};
    for (uint64_t i = 0; i < patiently(PATIENCE_MS) && info.relaunches < relaunches; i++) {
        usleep(1000);
        gyre_kernel_info_get(forgets, &info);
    }
    if (info.relaunches < relaunches)
        wrong("times that a lost kernel was launched again", relaunches, info.relaunches);
    failed_reply fresh = {0};
    return exchange(gyre_kernel_queue(forgets), &fresh, NULL);
}

static gyre_status exchange_plain(void)
{
    return exchange(gyre_kernel_queue(plain), NULL, NULL);
}

static gyre_status exchange_plain_and_kill(void)
{
    return exchange(gyre_kernel_queue(plain), NULL, kill_worker);
}

static gyre_status exchange_chain(void)
{
    return exchange(gyre_kernel_queue(chain), &state, NULL);
}

static gyre_status exchange_chain_and_kill(void)
{
    return exchange(gyre_kernel_queue(chain), &state, kill_worker);
}

static gyre_status exchange_second(void)
{
    return exchange(second, NULL, NULL);
}

/* ---- kernels come and go ---- */

static gyre_status checkpoint(void)
{
    return gyre_kernel_checkpoint(chain, gyre_in_ms(patiently(PATIENCE_MS)));
}

static gyre_status pause_chain(void)
{
    return gyre_kernel_deactivate(chain, gyre_in_ms(patiently(PATIENCE_MS)));
}

static gyre_status read_state(void)
{
    failed_reply found = {0};
    gyre_status status = gyre_kernel_state_read(chain, &found, sizeof found);
    if (status == GYRE_OK && (found.count != state.count || found.check != state.check))
        wrong("state", state.count, found.count);
    return status;
}

static gyre_status resume_chain(void)
{
    return gyre_kernel_activate(chain, gyre_in_ms(patiently(PATIENCE_MS)));
}

static gyre_status terminate_plain(void)
{
    return gyre_kernel_terminate(plain, gyre_in_ms(patiently(PATIENCE_MS)), NULL);
}

static gyre_status relaunch_plain(void)
{
    return gyre_kernel_relaunch(plain);
}

static const struct step steps[] = {
    {"open", open_runtime},
    {"alloc_buffer", alloc_buffer},
    {"launch_plain", launch_plain},
    {"launch_chain", launch_chain},
    {"launch_forgets", launch_forgets},
    {"move_bytes", move_bytes},
    {"exchange_plain", exchange_plain},
    {"exchange_chain", exchange_chain},
    {"open_second", open_second},
    {"exchange_second", exchange_second},
    {"use_descriptor", use_descriptor},
    {"checkpoint", checkpoint},
    {"exchange_plain_and_kill", exchange_plain_and_kill},
    {"await_relaunch", await_relaunch},
    {"exchange_chain", exchange_chain},
    {"exchange_chain_and_kill", exchange_chain_and_kill},
    {"await_relaunch", await_relaunch},
    {"exchange_second", exchange_second},
    {"pause_chain", pause_chain},
    {"read_state", read_state},
    {"resume_chain", resume_chain},
    {"exchange_chain", exchange_chain},
    {"terminate_plain", terminate_plain},
    {"relaunch_plain", relaunch_plain},
    {"exchange_plain", exchange_plain},
    {"move_bytes", move_bytes},
    {"free_buffer", free_buffer},
};

static bool live(void)
{
    state = (failed_reply){0};
    relaunches = 0;
    const bool good = take_steps(steps, sizeof steps / sizeof steps[0]);
    close_second();
    gyre_close(runtime);
    runtime = NULL;
    plain = chain = forgets = NULL;
    buffer = NULL;
    return good;
}

int main(int argc, char **argv)
{
    bool good = argc == 3;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!good)
        return 2;
    backend = argv[2];
    for (int i = 0; i < atoi(argv[1]) && good; i++)
        good = live();
    printf("life %s\n", good ? "good" : "failed");
    return !good;
}
