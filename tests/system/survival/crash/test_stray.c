/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The crash campaign on any device: a stateless kernel and an actor with checkpoints, in one worker process,
 * which dies again and again of bad addresses, endless loops and SIGKILL. No reply may be lost, doubled or
 * wrong, and the actor's state is that of a run in which nothing happened.
 *
 *     test_stray BACKEND [FAULTS [SEED [fenced|plain [SETTING...]]]]
 *
 * One reply may be what it would not be without faults, and is counted: that of a request which itself stores
 * to memory that is not there and reads it back, if it has exactly the value that it stored. A GPU hands it
 * that out of its cache, and tells of the store late (docs/reliability.md). With `fenced`, kernels are
 * compiled with GYRE_FENCED, and not even that may happen, nor to the actor.
 *
 * Kernels: $CRASH_KERNEL_FILE, else those of the source tree. Exit code 77 where the backend cannot start.
 * What is chosen comes from the seed, which is printed; when faults happen is up to the machine.
 */
#include "workers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stray.h"

#include "tests/random.h"
#include "../../../patience.h"

enum { WINDOW = 400, FAULTS = 20, ONE_FAULT_IN = 400, KILL_IN = 60, SKIP = 77, SETTINGS_MAX = 32 };
#define FAR      (UINT64_C(1) << 40)
#define APART    64 /* words between two requests' own places out there, so that none finds another's store */
#define SOON_NS  UINT64_C(10000000)  /* within this a fault has to be met, or it does not happen */
#define LOOP_NS  UINT64_C(700000000) /* longer than the budget of a handler */
#define PATIENCE UINT64_C(30000)     /* ms */

struct line {
    gyre_queue *queue;
    gyre_kernel *kernel;
    stray_request window[WINDOW];
    uint64_t sent, received;
    stray_state model;
    bool actor;
};

static struct {
    uint64_t random, numbers, kills, device_ns, escaped;
    bool fenced;
    struct line lines[2];
} campaign;

static uint64_t draw(uint64_t below)
{
    return random_below(&campaign.random, below);
}

static stray_request choose_request(const struct line *line, bool faults)
{
    stray_request request = {.number = ++campaign.numbers};
    request.far = FAR + request.number * APART;
    if (draw(ONE_FAULT_IN) != 0 || !faults || !campaign.device_ns)
        return request;
    request.fault = STRAY_READ + (uint32_t)draw(STRAY_READ_BACK);
    if (request.fault == STRAY_READ_BACK && line->actor && !campaign.fenced)
        request.fault = STRAY_WRITE; /* its state would keep the value, until the device stops */
    request.until_ns = campaign.device_ns + (request.fault == STRAY_LOOP ? LOOP_NS : SOON_NS);
    return request;
}

static void send_some(struct line *line, uint64_t count, bool faults)
{
    for (; count > 0 && line->sent - line->received < WINDOW; count--) {
        stray_request request = choose_request(line, faults);
        line->window[line->sent++ % WINDOW] = request;
        must(gyre_send(line->queue, &request, sizeof request, NULL, gyre_in_ms(patiently(PATIENCE))));
    }
}

/* What came is told: whether the reply is another request's, or a faulting handler's own. */
static void require_reply(const stray_request *request, const stray_reply *reply, uint64_t number,
                          uint64_t check)
{
    if (reply->number != number || reply->check != check)
        fprintf(
            stderr,
            "request %llu (fault %u): expected %llu %llx, found %llu %llx, handled %lld ns before its fault ends\n",
            (unsigned long long)request->number, request->fault, (unsigned long long)number,
            (unsigned long long)check, (unsigned long long)reply->number, (unsigned long long)reply->check,
            (long long)(request->until_ns - reply->now_ns));
    require(reply->number == number && reply->check == check);
}

/* Stored where no memory is, and read back before the device stopped. */
static bool has_escaped(const stray_request *request, const stray_reply *reply)
{
    return !campaign.fenced && request->fault == STRAY_READ_BACK && reply->now_ns < request->until_ns &&
           reply->number == request->number && reply->check == mixed(request->number) + request->far;
}

static void check(struct line *line, const stray_request *request, const stray_reply *reply)
{
    if (line->actor) {
        line->model.count++;
        line->model.hash = mixed(line->model.hash + request->number);
        require_reply(request, reply, line->model.count, line->model.hash);
    } else if (has_escaped(request, reply)) {
        campaign.escaped++;
    } else {
        require_reply(request, reply, request->number, mixed(request->number));
    }
    if (reply->now_ns > campaign.device_ns)
        campaign.device_ns = reply->now_ns;
}

static void receive_some(struct line *line, uint64_t count)
{
    for (; count > 0 && line->received < line->sent; count--) {
        stray_reply reply = {0};
        gyre_completion completion;
        must(gyre_receive(line->queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(PATIENCE))));
        if (completion.outcome != GYRE_REPLIED)
            fprintf(stderr, "request %llu (fault %u) is not replied to: outcome %d, code %d, '%s'\n",
                    (unsigned long long)line->received, line->window[line->received % WINDOW].fault,
                    (int)completion.outcome, completion.failure_code, completion.failure_text);
        require(completion.index == line->received && completion.outcome == GYRE_REPLIED);
        check(line, &line->window[line->received++ % WINDOW], &reply);
    }
}

static uint64_t restarts(void)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(campaign.lines[1].kernel, &info));
    return info.restarts;
}

static void launch(gyre_runtime *runtime, struct line *line, const char *kernel)
{
    const char *file = getenv("CRASH_KERNEL_FILE");
    gyre_buffer *near = NULL;
    must(gyre_buffer_alloc(runtime, NULL, 0, 4096, &near));
    gyre_binding_name binding = {"near", near};
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = file ? file : STRAY_KERNELS,
                             .kernel = kernel,
                             .bindings = &binding,
                             .binding_count = 1};
    must(gyre_launch(runtime, &desc, &line->kernel));
    line->queue = gyre_kernel_queue(line->kernel);
}

static void require_state(void)
{
    stray_state state;
    const struct line *line = &campaign.lines[1];
    must(gyre_kernel_deactivate(line->kernel, gyre_in_ms(patiently(PATIENCE))));
    must(gyre_kernel_state_read(line->kernel, &state, sizeof state));
    require(state.count == line->model.count && state.hash == line->model.hash);
}

static void run(gyre_runtime *runtime, uint64_t faults)
{
    launch(runtime, &campaign.lines[0], "strays");
    launch(runtime, &campaign.lines[1], "stray_actor");
    campaign.lines[1].actor = true;
    while (restarts() < faults) {
        struct line *sends = &campaign.lines[draw(2)], *receives = &campaign.lines[draw(2)];
        send_some(sends, draw(100), true);
        if (draw(KILL_IN) == 0)
            campaign.kills += kill_worker();
        receive_some(receives, draw(110));
    }
    for (int i = 0; i < 2; i++) {
        receive_some(&campaign.lines[i], UINT64_MAX);
        send_some(&campaign.lines[i], 100, false);
        receive_some(&campaign.lines[i], UINT64_MAX);
    }
    require_state();
}

static void print_line(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "log: %s\n", text);
}

/* What the campaign needs of the configuration, for any backend. */
static gyre_runtime *open_runtime(const char *backend, char **more)
{
    char isolation[96], limit[96];
    const char *settings[SETTINGS_MAX] = {
        isolation,
        limit, /* where others use the device, too, workers die of that more often */
        "log_level=error",
        "gyre.check=off",
        "kernel.default.handler_budget_ms=200",
        "kernel.default.poison_limit=100",
        "kernel.stray_actor.checkpoints=true",
        "kernel.strays.checkpoints=true",
        "kernel.default.checkpoint_ms=50",
        campaign.fenced ? "kernel.default.options=-DGYRE_FENCED=1" : NULL,
        NULL};
    gyre_runtime *runtime = NULL;
    gyre_open_desc open = {.size = sizeof open, .settings = settings, .backend = backend, .log = print_line};
    snprintf(isolation, sizeof isolation, "backend.%s.isolation=process", backend);
    snprintf(limit, sizeof limit, "backend.%s.restart_limit=50", backend);
    size_t count = 0;
    while (settings[count])
        count++;
    for (; *more && count < SETTINGS_MAX - 1; more++)
        settings[count++] = *more; /* the later one of two holds */
    must(gyre_open(&open, &runtime));
    return runtime;
}

int main(int argc, char **argv)
{
    const char *backend = argc > 1 ? argv[1] : "cpu";
    uint64_t faults = argc > 2 ? strtoull(argv[2], NULL, 0) : FAULTS;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : gyre_now_ns();
    uint64_t start = gyre_now_ns();
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    campaign.fenced = argc > 4 && !strcmp(argv[4], "fenced");
    campaign.random = random_begin(seed);
    gyre_runtime *runtime = open_runtime(backend, argv + (argc > 5 ? 5 : argc));
    gyre_buffer *probe = NULL;
    gyre_status status = gyre_buffer_alloc(runtime, NULL, 0, 64, &probe);
    if (status == GYRE_UNAVAILABLE) {
        printf("%s\n", gyre_error_text());
        gyre_close(runtime);
        return SKIP;
    }
    must(status);
    run(runtime, faults);
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(campaign.lines[1].kernel, &info));
    printf(
        "%s%s: %llu requests, none lost, doubled or wrong, and the state as without faults; %llu replies of "
        "what was stored nowhere and read back; %u workers died (%llu by SIGKILL), %llu checkpoints, pause "
        "%.3f ms (longest %.3f), %llu requests handled again, in %.1f s\n",
        backend, campaign.fenced ? ", fenced" : "", (unsigned long long)campaign.numbers,
        (unsigned long long)campaign.escaped, info.restarts, (unsigned long long)campaign.kills,
        (unsigned long long)info.checkpoints, (double)info.checkpoint_ns / 1e6,
        (double)info.longest_checkpoint_ns / 1e6, (unsigned long long)info.replayed,
        (double)(gyre_now_ns() - start) / 1e9);
    gyre_close(runtime);
    return EXIT_SUCCESS;
}
