/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of a server that it starts, itself under the name `failing-server`: `failing_client LIVES BACKEND`. Each life
 * attaches, also under a name, exchanges messages and leaves, twice.
 */
#include "exchange.h"

#include <gyre/attach.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 100 };

static char folder[PATH_SIZE - 16], place[PATH_SIZE];

/* ---- the server ---- */

static gyre_runtime *runtime;
static gyre_kernel *plain, *chain;
static gyre_server *server;
static const char *backend;

static gyre_status open_runtime(void)
{
    char isolation[PATH_SIZE];
    const char *const settings[] = {isolation, "kernel.chain.checkpoints=true", NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .backend = backend, .settings = settings};
    snprintf(isolation, sizeof isolation, "backend.%s.isolation=process", backend);
    return gyre_open(&desc, &runtime);
}

static gyre_status launch(const char *name, gyre_kernel **out)
{
    const gyre_launch_desc desc = {.size = sizeof desc, .source = FAILED_KERNELS, .kernel = name};
    return gyre_launch(runtime, &desc, out);
}

static gyre_status launch_plain(void)
{
    return launch("plain", &plain);
}

static gyre_status launch_chain(void)
{
    return launch("chain", &chain);
}

static gyre_status serve(void)
{
    const gyre_serve_desc desc = {.size = sizeof desc, .path = place};
    return gyre_serve(runtime, &desc, &server);
}

/* Until its standard input ends. */
static int serve_all(void)
{
    static const struct step steps[] = {{"open", open_runtime},
                                        {"launch_plain", launch_plain},
                                        {"launch_chain", launch_chain},
                                        {"serve", serve}};
    char byte = 'r';
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!take_steps(steps, sizeof steps / sizeof steps[0]) || write(STDOUT_FILENO, &byte, 1) != 1)
        return 1;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    gyre_server_close(server);
    gyre_close(runtime);
    return 0;
}

static pid_t start_server(int *input)
{
    int to[2], from[2];
    char byte;
    if (pipe(to) != 0 || pipe(from) != 0)
        wrong("pipes for a server", 2, 0);
    const pid_t process = fork();
    if (process == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        close(from[0]);
        execl("/proc/self/exe", "failing-server", place, backend, (char *)NULL);
        _exit(2);
    }
    close(to[0]);
    close(from[1]);
    do
        if (read(from[0], &byte, 1) != 1)
            wrong("server that serves", 1, 0);
    while (byte != 'r' || !putchar('\n')); /* what it printed before */
    *input = to[1];
    return process;
}

/* ---- the client ---- */

static gyre_queue *nobodys, *named;
static failed_reply state;

static gyre_status attach(const char *kernel, const char *client, gyre_queue **queue)
{
    const gyre_attach_desc desc = {.size = sizeof desc,
                                   .path = place,
                                   .client = client,
                                   .request = GYRE_TYPE(failed_request),
                                   .reply = GYRE_TYPE(failed_reply)};
    return *queue ? GYRE_OK : gyre_attach(kernel, &desc, queue);
}

static gyre_status attach_nobody(void)
{
    return attach("plain", NULL, &nobodys);
}

static gyre_status attach_named(void)
{
    return attach("chain", "till", &named);
}

static gyre_status exchange_nobody(void)
{
    return exchange(nobodys, NULL, NULL);
}

static gyre_status exchange_named(void)
{
    return exchange(named, &state, NULL);
}

static gyre_status leave(void)
{
    gyre_queue_close(nobodys);
    gyre_queue_close(named);
    nobodys = named = NULL;
    return GYRE_OK;
}

int main(int argc, char **argv)
{
    static const struct step steps[] = {{"attach_nobody", attach_nobody},
                                        {"attach_named", attach_named},
                                        {"exchange_nobody", exchange_nobody},
                                        {"exchange_named", exchange_named},
                                        {"leave", leave},
                                        {"attach_nobody", attach_nobody},
                                        {"attach_named", attach_named},
                                        {"exchange_named", exchange_named},
                                        {"leave", leave}};
    int input, ended = 0;
    bool good = true;
    if (argc != 3)
        return 2;
    backend = argv[2];
    if (strcmp(argv[0], "failing-server") == 0) {
        snprintf(place, sizeof place, "%s", argv[1]);
        return serve_all();
    }
    snprintf(folder, sizeof folder, "/tmp/gyre-failing-XXXXXX");
    if (!mkdtemp(folder))
        return 2;
    snprintf(place, sizeof place, "%s/socket", folder);
    setvbuf(stdout, NULL, _IOLBF, 0);
    const pid_t process = start_server(&input);
    for (int i = 0; i < atoi(argv[1]) && good; i++)
        good = take_steps(steps, sizeof steps / sizeof steps[0]);
    (void)leave();
    close(input);
    if (waitpid(process, &ended, 0) != process || ended != 0)
        wrong("end of the server", 0, (uint64_t)ended);
    unlink(place);
    rmdir(folder);
    printf("life %s\n", good ? "good" : "failed");
    return !good;
}
