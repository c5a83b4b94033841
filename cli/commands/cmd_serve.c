/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre serve: launches kernels and keeps them for other programs, until it is told to stop. The main thread takes signals; one
 * more thread takes them while the kernels drain. Everything that it opens belongs to the runtime, which it closes in the end.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calls/call_buffers.h"
#include "cli/calls/call_ends.h"
#include "cli/cli.h"
#include "cli/cluster/cluster_call.h"
#include "cli/base/notify.h"
#include "cli/open.h"
#include "cli/base/signals.h"
#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/threads.h"
#include "core/links/wiring_config.h"
#include "core/plan/devices_plan.h"
#include "gyre/attach.h"
#include "gyre/backend.h"
#include "gyre/pipeline.h"
#include "gyre/spread.h"
#include "gyre/waiting.h"

enum { DRAIN_DEFAULT_MS = 1000, SLICE_MS = 20 };

static const char HELP[] =
    "usage: gyre serve [FILE.gyre.c[:KERNEL]|NAME...] [OPTION...]\n"
    "\n"
    "Launches kernels and keeps them resident for other programs, which attach to them by name: gyre_attach in C,\n"
    "`gyre call --attach NAME` by hand. Each gets a queue of its own in shared memory, so that a message costs what\n"
    "it costs inside one program, and no client can touch another's. NAME is a pipeline of [pipeline.NAME], whose\n"
    "kernels are launched and linked, or a kernel whose source is configured in [kernel.NAME]; without any, all\n"
    "pipelines that are configured. Clients attach to PIPELINE, or PIPELINE/ENTRY, and subscribe to the topics that are\n"
    "told in brackets: `gyre subscribe PIPELINE/TOPIC`.\n"
    "A line on standard output tells when everything is ready.\n"
    "\n"
    "With an `app` in [cluster] the program is a member of that cluster instead (docs/cluster.md): it takes shards of one keyed\n"
    "kernel, and gives them back at its end.\n"
    "\n"
    "Ends at an interrupt, SIGTERM, or a hangup (unless nohup had that ignored): what was in the clients' queues by then\n"
    "is answered, as far as --drain allows, and the rest is told \"unhandled\". So may be what clients send in the moment\n"
    "until they hear of the end, and, of a kernel with checkpoints or a journal, what it has not taken from a client's\n"
    "queue yet. A second interrupt or SIGTERM, a moment after the first, ends that at once, as --drain 0 does.\n"
    "\n"
    "Options:\n"
    "  --socket PATH        where clients come in; default: gyre.socket, else $XDG_RUNTIME_DIR/gyre.sock\n"
    "  --drain MS           how long to answer what was sent before that; default 1000\n"
    "  --buffer NAME=FILE   bind a device buffer that holds the raw bytes of FILE, or pipe; for one kernel alone\n"
    "  --buffer NAME=zeros:N          ... one of N zero bytes\n"
    "  --output-buffer NAME=FILE      write the buffer to FILE in the end\n"
    "  and the options of every command: gyre help\n"
    "\n"
    "Who may attach: gyre.socket_access (owner, group, everyone). How many: gyre.clients_max.\n"
    "\n"
    "The log on standard error has a line, with the time in UTC, for each client that comes, goes, is lost or refused,\n"
    "and why; gyre.log_level = warning leaves these out.\n"
    "\n"
    "A service manager that listens (NOTIFY_SOCKET, as systemd does for Type=notify) is told READY, STATUS and STOPPING,\n"
    "and with WATCHDOG_USEC twice in that time WATCHDOG, as long as every kernel works: no handler hangs, none is lost.\n"
    "\n"
    "Example, in two terminals in a checkout:\n"
    "  gyre serve examples/command/scale.gyre.c\n"
    "  gyre call --attach scale '{\"value\":20.5,\"factor\":2}'\n";

enum { PIPE_WAIT_MS = 10000, SAME_SIGNAL_MS = 250 };
#define STATUS_EVERY_NS UINT64_C(5000000000)

struct serving {
    cli_context *cli;
    const char *socket;
    uint64_t drain_ms;
    gyre_runtime *runtime;
    gyre_server *server;
    gyre_kernel **kernels; /* launched, in the order of the operands */
    size_t kernel_count;
    gyre_pipeline **pipelines; /* opened, and their names */
    const char **names;
    size_t pipeline_count;
    atomic_bool hurried; /* a second signal came: pipelines drain no longer */
    uint64_t *cut;       /* for each kernel: requests that a second signal left; then those the drain left */
    atomic_bool drained; /* the drain is over: a second signal has no effect any more */
    cli_list buffer_specs, output_specs; /* NAME=FILE */
    call_buffers buffers;
    notify manager; /* the service manager */
};

/* Launches the kernel on each of the devices that are configured for it. */
static gyre_status launch_spread(struct serving *serving, const gyre_launch_desc *launch)
{
    gyre_spread *spread;
    const gyre_spread_desc desc = {.size = sizeof desc, .launch = launch};
    if (launch->binding_count)
        return gyre_error_set(
            GYRE_INVALID,
            "--buffer: the kernel is on several devices, and a buffer lies on one; bind buffers in "
            "a program of your own (gyre_spread_launch)");
    const gyre_status status = gyre_spread_launch(serving->runtime, &desc, &spread);
    for (uint32_t i = 0; status == GYRE_OK && i < gyre_spread_count(spread); i++)
        serving->kernels[serving->kernel_count++] = gyre_spread_part(spread, i);
    return status;
}

static gyre_status launch_kernel(struct serving *serving, const char *operand)
{
    gyre_launch_desc desc = cli_launch(serving->cli, operand);
    desc.bindings = serving->buffers.bindings;
    desc.binding_count = serving->buffers.bound_count;
    if (gyre_devices_are_several(gyre_runtime_config(serving->runtime), &desc))
        return launch_spread(serving, &desc);
    gyre_status status = gyre_launch(serving->runtime, &desc, &serving->kernels[serving->kernel_count]);
    serving->kernel_count += status == GYRE_OK;
    return status;
}

static gyre_status open_pipeline(struct serving *serving, const char *name)
{
    const gyre_pipeline_desc desc = {.size = sizeof desc, .name = name};
    const gyre_status status =
        gyre_pipeline_open(serving->runtime, &desc, &serving->pipelines[serving->pipeline_count]);
    serving->names[serving->pipeline_count] = name;
    serving->pipeline_count += status == GYRE_OK;
    return status;
}

/* Whether it is the kernel of that name, or on one of its devices: NAME#DEVICE. */
static bool is_part_of(const char *kernel, const char *name)
{
    const size_t length = strcspn(kernel, "#");
    return strlen(name) == length && strncmp(kernel, name, length) == 0;
}

static bool is_served(const struct serving *serving, const char *name)
{
    if (gyre_pipeline_find(serving->runtime, name))
        return true;
    gyre_kernel_info kernel = {.size = sizeof kernel};
    for (size_t i = 0; i < serving->kernel_count; i++)
        if (gyre_kernel_info_get(serving->kernels[i], &kernel) == GYRE_OK && is_part_of(kernel.name, name))
            return true;
    return false;
}

/* Whether a kernel runs by that name, a stage of a pipeline included. */
static bool is_running(const struct serving *serving, const char *name)
{
    const bool runs = gyre_kernel_find(serving->runtime, name) != NULL;
    gyre_error_clear();
    return runs || is_served(serving, name);
}

/* Whether the section itself sets the key, and to something. */
static bool asks_for(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                     const char *key)
{
    const struct gyre_config_value *value = gyre_config_find(config, kind, name, key),
                                   *of_all = gyre_config_find(config, kind, NULL, key);
    return value && value->number && !(of_all && strcmp(value->origin, of_all->origin) == 0);
}

/*
 * Warns about sections that promise to keep something, checkpoints or a journal, for a name that no served kernel has: a copied
 * configuration keeps nothing then, and nothing else says so. A queue's section may be for clients that attach to KERNEL/QUEUE.
 */
static void warn_of_others(const struct serving *serving, enum gyre_section_kind kind, const char *key)
{
    const struct gyre_config *config = gyre_runtime_config(serving->runtime);
    const bool is_queue = kind == GYRE_SECTION_QUEUE;
    size_t count = 0;
    const char *const *names = gyre_config_names(config, kind, &count);
    for (size_t i = 0; i < count; i++) {
        const struct gyre_config_value *value = gyre_config_find(config, kind, names[i], key);
        const bool is_known = is_queue ? is_served(serving, names[i]) : is_running(serving, names[i]);
        if (asks_for(config, kind, names[i], key) && !is_known)
            cli_error(CLI_OK, "warning: %s: %s = %s of [%s.%s] is for no kernel that is served here%s",
                      value->origin, key, value->text, is_queue ? "queue" : "kernel", names[i],
                      is_queue ? ", and counts only for clients that attach to KERNEL/QUEUE" : "");
    }
}

/* The names of what is served, as "scale, orders". Names that find no room are left out. */
static const char *list_served(const struct serving *serving, char *text, size_t size)
{
    const char *separator = "";
    size_t used = 0;
    gyre_kernel_info kernel = {.size = sizeof kernel};
    text[0] = '\0';
    for (size_t i = 0; i < serving->kernel_count + serving->pipeline_count && used < size; i++) {
        const bool is_kernel = i < serving->kernel_count;
        if (is_kernel && gyre_kernel_info_get(serving->kernels[i], &kernel) != GYRE_OK)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", separator,
                                 is_kernel ? kernel.name : serving->names[i - serving->kernel_count]);
        separator = ", ";
    }
    return text;
}

/* Warns of sections of kernels that are for this server alone, and for no kernel of it. warn_of_others tells of the rest. */
static void warn_of_kernels(const struct serving *serving)
{
    const struct gyre_config *config = gyre_runtime_config(serving->runtime);
    size_t count = 0;
    char served[512];
    const char *const *names = gyre_config_names(config, GYRE_SECTION_KERNEL, &count);
    for (size_t i = 0; i < count; i++) {
        const char *place = gyre_config_place(config, GYRE_SECTION_KERNEL, names[i]);
        if (place && cli_is_own_place(serving->cli, place) && !is_running(serving, names[i]) &&
            !cli_is_configured(config, names[i]) &&
            !asks_for(config, GYRE_SECTION_KERNEL, names[i], "checkpoints"))
            cli_error(CLI_OK, "warning: %s: [kernel.%s] is for no kernel that is served here; served are: %s",
                      place, names[i], list_served(serving, served, sizeof served));
    }
}

/* Warns of pipelines that nobody can attach to. They may be fed by others of this server, or by a cycle of their own. */
static void warn_of_pipelines(const struct serving *serving)
{
    for (size_t i = 0; i < serving->pipeline_count; i++)
        if (gyre_pipeline_check_attachable(serving->pipelines[i]) != GYRE_OK)
            cli_error(CLI_OK, "warning: %s", gyre_error_text());
    gyre_error_clear();
}

/* Prints the topics and outlets of a pipeline, which programs subscribe to: " (prices, alerts)". */
static void print_topics(const gyre_pipeline *pipeline)
{
    gyre_link_info link = {.size = sizeof link}, before = {.size = 0};
    const char *separator = " (";
    for (size_t i = 0; gyre_pipeline_link(pipeline, i, &link) == GYRE_OK; i++) {
        const char *name = strcmp(link.to, GYRE_WIRING_HOST) == 0 ? link.name : link.topic;
        if (name[0] && strcmp(name, before.name) != 0) {
            printf("%s%s", separator, name);
            separator = ", ";
            snprintf(before.name, sizeof before.name, "%s", name);
        }
    }
    gyre_error_clear();
    fputs(separator[0] == ',' ? ")" : "", stdout);
}

static void tell_ready(const struct serving *serving)
{
    gyre_server_info info = {.size = sizeof info};
    gyre_kernel_info kernel = {.size = sizeof kernel};
    gyre_server_info_get(serving->server, &info);
    printf("serving at %s:", info.path);
    for (size_t i = 0; i < serving->kernel_count; i++)
        if (gyre_kernel_info_get(serving->kernels[i], &kernel) == GYRE_OK)
            printf("%s %s on %s", i ? "," : "", kernel.name, kernel.backend);
    for (size_t i = 0; i < serving->pipeline_count; i++) {
        printf("%s pipeline %s", i || serving->kernel_count ? "," : "", serving->names[i]);
        print_topics(serving->pipelines[i]);
    }
    putchar('\n');
    fflush(stdout);
}

/*
 * Blocks the signals that end the program in every thread, so that the main thread takes them with sigwait. A hangup that is
 * ignored (nohup) ends nothing. Ignores SIGPIPE, so that a log without a reader neither cuts clients off nor skips the end.
 */
static sigset_t block_signals(void)
{
    sigset_t ends;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    if (!cli_signal_is_ignored(SIGHUP))
        sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    return ends;
}

/*
 * Runs in the thread that waits for a second SIGINT or SIGTERM, which makes the main thread give its drain up. A signal that
 * comes within SAME_SIGNAL_MS counts as the first signal again, because `timeout` sends a signal to the program and to its
 * group.
 */
static void *cut_short(void *argument)
{
    struct serving *serving = argument;
    int signal_number;
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    const uint64_t second_ns = gyre_in_ms(SAME_SIGNAL_MS);
    do {
        sigwait(&ends, &signal_number);
    } while (gyre_clock_ns() < second_ns && !atomic_load(&serving->drained));
    atomic_store(&serving->hurried, true);
    for (size_t i = 0; i < serving->kernel_count && !atomic_load(&serving->drained); i++)
        gyre_kernel_terminate(serving->kernels[i], GYRE_NO_WAIT, &serving->cut[i]);
    return NULL;
}

/* Drains the pipelines until the deadline or a second signal, and closes them. Returns how many requests were left. */
static uint64_t drain_pipelines(struct serving *serving, uint64_t deadline, int *code)
{
    uint64_t unhandled = 0;
    for (size_t i = 0; i < serving->pipeline_count; i++) {
        uint64_t left = 0;
        gyre_status status = GYRE_TIMEOUT;
        while (status == GYRE_TIMEOUT && gyre_clock_ns() < deadline && !atomic_load(&serving->hurried)) {
            const uint64_t slice = gyre_in_ms(SLICE_MS);
            status = gyre_pipeline_drain(serving->pipelines[i], slice < deadline ? slice : deadline, &left);
        }
        if (status == GYRE_TIMEOUT)
            gyre_pipeline_drain(serving->pipelines[i], GYRE_NO_WAIT, &left);
        unhandled += left;
        gyre_error_clear();
        const int closed = cli_fail_unless_ok(gyre_pipeline_close(serving->pipelines[i], GYRE_NO_WAIT));
        *code = *code == CLI_OK ? closed : *code;
    }
    return unhandled;
}

/* Drains the kernels. If the thread for a second signal cannot be started, a drain takes as long as --drain says. left[i]: the
 * unhandled requests of kernel i; *of_pipelines: those of all pipelines. */
static int drain_all(struct serving *serving, uint64_t *left, uint64_t *of_pipelines)
{
    const uint64_t deadline = gyre_in_ms(serving->drain_ms);
    pthread_t second;
    const bool heard = gyre_thread_need(&second, cut_short, serving, "for a second signal") == GYRE_OK;
    int code = CLI_OK;
    gyre_error_clear();
    *of_pipelines = drain_pipelines(serving, deadline, &code);
    for (size_t i = 0; i < serving->kernel_count; i++) {
        int ended = cli_fail_unless_ok(gyre_kernel_terminate(serving->kernels[i], deadline, &left[i]));
        code = code == CLI_OK ? ended : code;
    }
    atomic_store(&serving->drained, true);
    if (heard) {
        pthread_kill(second, SIGINT);
        pthread_join(second, NULL);
    }
    return code;
}

static void tell_end(const gyre_server_info *info, uint64_t unhandled)
{
    char refused[64] = "", left[64] = "";
    if (info->refused)
        snprintf(refused, sizeof refused, ", refused %" PRIu64, info->refused);
    if (unhandled)
        snprintf(left, sizeof left, ", left %" PRIu64 " request%s unhandled", unhandled,
                 gyre_text_plural(unhandled));
    cli_error(CLI_OK, "served %" PRIu64 " client%s%s%s", info->admitted, gyre_text_plural(info->admitted),
              refused, left);
}

/* Ends the kernels, and prints the end. The server closes afterwards, because clients learn of the end from their kernels. */
static int stop_serving(struct serving *serving)
{
    gyre_server_info info = {.size = sizeof info};
    uint64_t unhandled = 0, *left = serving->cut + serving->kernel_count;
    gyre_server_info_get(serving->server, &info);
    const int code = drain_all(serving, left, &unhandled);
    /* a terminate of a kernel that has ended already reports 0 unhandled requests: the larger count is the right one */
    for (size_t i = 0; i < serving->kernel_count; i++)
        unhandled += left[i] > serving->cut[i] ? left[i] : serving->cut[i];
    tell_end(&info, unhandled);
    return code;
}

static bool is_pipeline(const struct serving *serving, const char *operand)
{
    return gyre_config_has_section(gyre_runtime_config(serving->runtime), GYRE_SECTION_PIPELINE, operand);
}

/* Loads the buffers. Refuses buffers with several kernels, because nothing says which kernel a buffer is for. */
static int load_buffers(struct serving *serving)
{
    const cli_list none = {0};
    const bool one = serving->cli->operands.count == 1;
    if (serving->buffer_specs.count &&
        (serving->cli->operands.count == 0 || (one && is_pipeline(serving, serving->cli->operands.items[0]))))
        return cli_usage_error(serving->cli,
                               "--buffer: a pipeline's kernels take none; bind buffers in a program "
                               "of your own (gyre_serve)");
    if (serving->buffer_specs.count && !one)
        return cli_usage_error(serving->cli,
                               "--buffer: expected one kernel with it, found %zu: serve the others "
                               "at a --socket of their own",
                               serving->cli->operands.count);
    int code = call_buffers_name(&serving->buffers, serving->cli, &serving->buffer_specs, &none);
    if (code == CLI_OK)
        code = call_buffers_check_outputs(&serving->buffers, serving->cli, &serving->output_specs);
    if (code == CLI_OK)
        code = call_buffers_load(&serving->buffers, serving->cli, serving->runtime, 0,
                                 &(input_wait){.ms = PIPE_WAIT_MS}, &serving->buffer_specs, &none);
    return code;
}

/* What is served: the operands, or every pipeline that is configured. */
static const char *const *choose_names(const struct serving *serving, size_t *count)
{
    const cli_list *operands = &serving->cli->operands;
    *count = operands->count;
    return operands->count
               ? operands->items
               : gyre_config_names(gyre_runtime_config(serving->runtime), GYRE_SECTION_PIPELINE, count);
}

static int open_all(struct serving *serving)
{
    size_t count;
    int code = CLI_OK;
    const char *const *names = choose_names(serving, &count);
    if (count == 0)
        return cli_usage_error(serving->cli, "expected at least one kernel, or a [pipeline.NAME] in the "
                                             "configuration");
    serving->kernels = calloc(count * GYRE_SPREAD_DEVICES_MAX, sizeof(gyre_kernel *));
    serving->cut = calloc(2 * count * GYRE_SPREAD_DEVICES_MAX, sizeof(uint64_t));
    serving->pipelines = calloc(count, sizeof(gyre_pipeline *));
    serving->names = calloc(count, sizeof(char *));
    if (!serving->kernels || !serving->cut || !serving->pipelines || !serving->names)
        return cli_error(CLI_FAILED, "out of memory");
    for (size_t i = 0; code == CLI_OK && i < count; i++) {
        notify_status(&serving->manager, "launching %s, %zu of %zu", names[i], i + 1, count);
        code = cli_fail_unless_device(serving->runtime, is_pipeline(serving, names[i])
                                                            ? open_pipeline(serving, names[i])
                                                            : launch_kernel(serving, names[i]));
    }
    return code;
}

/* Watches for a handler that ends the server: a handler in this process can, from the moment when a journal is replayed. */
static void watch_ends(void)
{
    call_ends_watch(
        "; start it with isolation = process (--set backend.cpu.isolation=process), so that a worker process "
        "ends in its place, and with checkpoints, or on_loss, the kernel goes on");
}

/*
 * Tells the service manager how the kernels fare. It gets no WATCHDOG=1 while a kernel hangs or nobody works for it, so that it
 * starts the service anew where that lasts.
 */
static void tell_pulse(struct serving *serving)
{
    struct gyre_runtime_pulse pulse;
    gyre_server_info info = {.size = sizeof info};
    if (gyre_runtime_pulse_get(serving->runtime, &pulse) != GYRE_OK ||
        (serving->server && gyre_server_info_get(serving->server, &info) != GYRE_OK)) {
        gyre_error_clear();
        return;
    }
    if (pulse.ill[0]) {
        notify_status(&serving->manager, "kernel '%s' is %s", pulse.ill,
                      gyre_kernel_health_word(pulse.health));
        return;
    }
    notify_status(&serving->manager,
                  "%" PRIu32 " kernel%s, %" PRIu32 " client%s; %" PRIu64 " messages handled, %" PRIu64
                  " wait",
                  pulse.kernels, gyre_text_plural(pulse.kernels), info.attached,
                  gyre_text_plural(info.attached), pulse.handled, pulse.queued);
    if (serving->manager.watchdog_ns)
        notify_state(&serving->manager, "WATCHDOG=1");
}

/* Waits for a signal that ends the program, and tells the service manager how it is meanwhile. */
static void await_end(struct serving *serving, const sigset_t *ends)
{
    const uint64_t half = serving->manager.watchdog_ns / 2;
    const uint64_t every = half && half < STATUS_EVERY_NS ? half : STATUS_EVERY_NS;
    const struct timespec nap = {(time_t)(every / 1000000000), (long)(every % 1000000000)};
    int signal_number;
    if (!notify_is_heard(&serving->manager)) {
        sigwait(ends, &signal_number);
        return;
    }
    notify_state(&serving->manager, "READY=1");
    do
        tell_pulse(serving);
    while (sigtimedwait(ends, NULL, &nap) < 0); /* its time is over, or another signal came */
    notify_state(&serving->manager, "STOPPING=1");
    notify_status(&serving->manager, "answering what was sent, for %" PRIu64 " ms at most",
                  serving->drain_ms);
}

struct member_ending {
    struct serving *serving;
    const sigset_t *ends;
};

/* Behind it a further signal ends the program at once, and others take the shards after their lease. */
static void await_member_end(void *context)
{
    const struct member_ending *ending = context;
    await_end(ending->serving, ending->ends);
    pthread_sigmask(SIG_UNBLOCK, ending->ends, NULL);
}

/* With an `app` in [cluster] the program is a member of it, and nobody attaches. */
static int serve_cluster(struct serving *serving, const sigset_t *ends)
{
    struct member_ending ending = {serving, ends};
    const cli_list *operands = &serving->cli->operands;
    if (operands->count != 1 || serving->buffer_specs.count || serving->output_specs.count || serving->socket)
        return cli_usage_error(serving->cli,
                               "[cluster] has an `app`, so this is a member of a cluster: expected one keyed "
                               "kernel, and no --buffer and no --socket");
    return cluster_serve(serving->cli, serving->runtime, operands->items[0], await_member_end, &ending);
}

static int serve_clients(struct serving *serving)
{
    const sigset_t ends = block_signals();
    gyre_serve_desc desc = {.size = sizeof desc, .path = serving->socket};
    watch_ends();
    if (gyre_config_text(gyre_runtime_config(serving->runtime), GYRE_SECTION_CLUSTER, NULL, "app")[0])
        return serve_cluster(serving, &ends);
    int code = load_buffers(serving);
    if (code == CLI_OK)
        code = open_all(serving);
    gyre_runtime_preset_log_level(serving->runtime,
                                  GYRE_LOG_INFO); /* logs the coming and going of clients, but no launch */
    if (code == CLI_OK)
        code = cli_fail_unless_ok(gyre_serve(serving->runtime, &desc, &serving->server));
    if (code != CLI_OK)
        return code;
    warn_of_kernels(serving);
    warn_of_others(serving, GYRE_SECTION_KERNEL, "checkpoints");
    warn_of_others(serving, GYRE_SECTION_QUEUE, "durability");
    warn_of_pipelines(serving);
    tell_ready(serving);
    await_end(serving, &ends);
    code = stop_serving(serving);
    return code == CLI_OK ? call_buffers_save(&serving->buffers, &serving->output_specs) : code;
}

static int run(cli_context *cli)
{
    struct serving serving = {.cli = cli, .drain_ms = DRAIN_DEFAULT_MS};
    const cli_option options[] = {
        {"--socket", .text = &serving.socket},
        {"--drain", .number = &serving.drain_ms, .max = UINT32_MAX},
        {"--buffer", .list = &serving.buffer_specs},
        {"--output-buffer", .list = &serving.output_specs},
        {0},
    };
    notify_begin(&serving.manager);
    if (cli_parse(cli, options)) {
        if ((cli->exit_code = cli_fail_unless_ok(cli_open_for_others(cli, &serving.runtime))) == CLI_OK)
            cli->exit_code = serve_clients(&serving);
    }
    gyre_server_close(serving.server);
    gyre_close(serving.runtime);
    call_ends_forget();
    notify_end(&serving.manager);
    free(serving.kernels);
    free(serving.cut);
    free(serving.pipelines);
    free(serving.names);
    call_buffers_finish(&serving.buffers);
    cli_list_finish(&serving.buffer_specs);
    cli_list_finish(&serving.output_specs);
    return cli->exit_code;
}

const cli_command cli_command_serve = {"serve", "keep kernels for other programs to attach to", HELP, run};
