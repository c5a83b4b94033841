/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels get other handlers and other devices while threads and another program use them: each message is numbered by the kernel,
 * so what is lost, doubled or answered by a half-swapped handler shows. One case a run, `test_changes CASE`.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gyre/attach.h>
#include <gyre/change.h>

#include "ledger.h"
#include "tests/system/survival/crash/workers.h"

extern char **environ;

enum { PRODUCERS = 3, NUMBERS = 1 << 22, FREELY = NUMBERS / 8, WINDOW = 16, CHANGES = 200, AT_LEAST = 200 };

static const char *program;
static char socket_path[64];

/* ---- what was answered ---- */

/* Versions by the numbers that the kernel gave; 0: not seen. */
static unsigned char seen[NUMBERS];
static uint64_t sums[NUMBERS], adds[NUMBERS];

static const uint64_t factors[] = {0, 1, 2, 3, 4};

static void note(const receipt *reply, uint64_t add)
{
    if (reply->count >= NUMBERS || reply->version > 4)
        fprintf(stderr, "count %llu, version %llu\n", (unsigned long long)reply->count,
                (unsigned long long)reply->version);
    require(reply->count > 0 && reply->count < NUMBERS && reply->version > 0 && reply->version <= 4);
    require(reply->add == add * factors[reply->version]);
    require(__atomic_exchange_n(&seen[reply->count], (unsigned char)reply->version, __ATOMIC_RELAXED) == 0);
    sums[reply->count] = reply->sum;
    adds[reply->count] = add;
}

/* Every number once, and of an actor (`ordered`) each sum that of all before it. Returns how often the version changed. */
static unsigned check_all(uint64_t count, bool ordered)
{
    unsigned changes = 0;
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= count; i++) {
        sum += adds[i];
        require(seen[i] != 0);
        require(!ordered || sums[i] == sum);
        sums[i] = sum;
        changes += i > 1 && seen[i] != seen[i - 1];
    }
    require(seen[count + 1] == 0);
    return changes;
}

static unsigned check_seen(uint64_t count)
{
    return check_all(count, true);
}

/* ---- producers ---- */

struct producer {
    pthread_t thread;
    gyre_queue *queue;
    uint64_t number, sent, received;
    uint32_t stop; /* atomic */
};

static uint64_t add_of(const struct producer *self, uint64_t index)
{
    return 1 + (self->number * 7919 + index * 31) % 1000;
}

static void take_reply(struct producer *self)
{
    receipt reply;
    gyre_completion completion = {0};
    must(gyre_receive(self->queue, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED);
    note(&reply, add_of(self, self->received++));
}

/* Numbers are bounded: on a fast machine a producer that sent many goes on slowly. */
static void restrain(const struct producer *self)
{
    if (self->sent >= FREELY)
        usleep(1000);
}

static void *produce(void *argument)
{
    struct producer *self = argument;
    while (!__atomic_load_n(&self->stop, __ATOMIC_ACQUIRE) || self->sent < AT_LEAST) {
        const entry request = {add_of(self, self->sent)};
        restrain(self);
        must(gyre_send(self->queue, &request, sizeof request, NULL, soon()));
        self->sent++;
        if (self->sent - self->received >= 1 + self->sent % WINDOW)
            take_reply(self);
    }
    while (self->received < self->sent)
        take_reply(self);
    return NULL;
}

static void start_producers(gyre_kernel *kernel, struct producer *producers, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        producers[i] = (struct producer){.number = i};
        const gyre_queue_desc desc = {.size = sizeof desc, .capacity = 2 * WINDOW};
        if (i == 0)
            producers[i].queue = gyre_kernel_queue(kernel);
        else
            must(gyre_queue_open(kernel, &desc, &producers[i].queue));
        require(pthread_create(&producers[i].thread, NULL, produce, &producers[i]) == 0);
    }
}

static uint64_t stop_producers(struct producer *producers, unsigned count)
{
    uint64_t sent = 0;
    for (unsigned i = 0; i < count; i++)
        __atomic_store_n(&producers[i].stop, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < count; i++) {
        require(pthread_join(producers[i].thread, NULL) == 0);
        sent += producers[i].sent;
    }
    return sent;
}

/* ---- another program ---- */

/* The other program, which calls until its input ends, and prints every reply. */
static int be_a_client(const char *path)
{
    gyre_queue *queue = NULL;
    struct producer self = {.number = PRODUCERS};
    const gyre_attach_desc desc = {.size = sizeof desc, .path = path, .deadline_ns = soon()};
    must(gyre_attach("ledger", &desc, &queue));
    for (;;) {
        const entry request = {add_of(&self, self.sent++)};
        receipt reply;
        struct timeval none = {0, 0};
        fd_set input;
        restrain(&self);
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        printf("%llu %llu %llu %llu\n", (unsigned long long)reply.count, (unsigned long long)reply.sum,
               (unsigned long long)reply.add, (unsigned long long)reply.version);
        FD_ZERO(&input);
        FD_SET(STDIN_FILENO, &input);
        if (self.sent >= AT_LEAST && select(1, &input, NULL, NULL, &none) > 0)
            break;
    }
    gyre_queue_close(queue);
    return EXIT_SUCCESS;
}

struct client {
    pid_t pid;
    int input;
    FILE *replies;
};

static void start_client(struct client *client)
{
    int in[2], out[2];
    char name[] = "client";
    char *arguments[] = {(char *)(uintptr_t)program, name, socket_path, NULL};
    posix_spawn_file_actions_t actions;
    require(pipe(in) == 0);
    client->replies = tmpfile();
    require(client->replies != NULL);
    out[1] = fileno(client->replies);
    require(posix_spawn_file_actions_init(&actions) == 0);
    require(posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO) == 0);
    require(posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO) == 0);
    require(posix_spawn_file_actions_addclose(&actions, in[1]) == 0);
    require(posix_spawn(&client->pid, program, &actions, NULL, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    client->input = in[1];
}

/* Returns how many messages the client sent. */
static uint64_t stop_client(struct client *client)
{
    int status = 0;
    unsigned long long count, sum, add, version;
    struct producer self = {.number = PRODUCERS};
    close(client->input);
    require(waitpid(client->pid, &status, 0) == client->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rewind(client->replies);
    while (fscanf(client->replies, "%llu %llu %llu %llu", &count, &sum, &add, &version) == 4) {
        const receipt reply = {count, sum, add, version};
        note(&reply, add_of(&self, self.received++));
    }
    fclose(client->replies);
    require(self.received >= AT_LEAST);
    return self.received;
}

/* ---- the kernel ---- */

static const char *file(const char *name)
{
    static char path[4][512];
    static unsigned next;
    char *text = path[next++ % 4];
    snprintf(text, sizeof path[0], "%s/%s.gyre.c", CHANGE_KERNELS, name);
    return text;
}

static gyre_runtime *open_plain(const char *const *settings)
{
    gyre_runtime *runtime = NULL;
    static char backend[64];
    const char *named = getenv("CHANGES_BACKEND");
    snprintf(backend, sizeof backend, "gyre.backend=%s", named ? named : "cpu");
    const char *all[16] = {backend};
    for (size_t count = 1; settings && *settings; settings++)
        all[count++] = *settings;
    const gyre_open_desc desc = {.size = sizeof desc, .settings = all};
    must(gyre_open(&desc, &runtime));
    return runtime;
}

static gyre_status try_to_launch(gyre_runtime *runtime, const char *name, gyre_buffer **totals,
                                 gyre_kernel **kernel)
{
    const uint64_t size = 8 * sizeof(uint64_t);
    must(gyre_buffer_alloc(runtime, NULL, 0, size, totals));
    const gyre_binding_name binding = {"totals", *totals};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = file(name),
                                   .name = "ledger",
                                   .bindings = &binding,
                                   .binding_count = 1};
    return gyre_launch(runtime, &desc, kernel);
}

static gyre_kernel *launch_ledger(gyre_runtime *runtime, const char *name, gyre_buffer **totals)
{
    gyre_kernel *kernel = NULL;
    must(try_to_launch(runtime, name, totals, &kernel));
    return kernel;
}

/* What the kernel kept is what was answered. */
static void check_kept(gyre_kernel *kernel, gyre_buffer *totals, uint64_t count)
{
    uint64_t state[3] = {0}, total = 0;
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    must(gyre_kernel_state_read(kernel, state, info.state_type->size));
    must(gyre_buffer_download(totals, 0, &total, sizeof total));
    require(state[0] == count && total == sums[count]);
    require(state[1] == sums[count] || state[1] == 10 * sums[count]);
    must(gyre_kernel_info_get(kernel, &info)); /* its blocks have counted what they answered, now */
    require(info.handled == count);
}

static gyre_server *serve(gyre_runtime *runtime)
{
    gyre_server *server = NULL;
    const gyre_serve_desc desc = {.size = sizeof desc, .path = socket_path};
    must(gyre_serve(runtime, &desc, &server));
    return server;
}

/* ---- under load ---- */

static void swap_turns(gyre_kernel *kernel, unsigned changes)
{
    for (unsigned i = 0; i < changes; i++)
        must(gyre_kernel_swap(kernel, file(i % 2 ? "ledger_1" : "ledger_2"), soon()));
}

static void swaps_lose_nothing(void)
{
    gyre_buffer *totals;
    struct producer producers[PRODUCERS];
    struct client client;
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    gyre_server *server = serve(runtime);
    start_client(&client);
    start_producers(kernel, producers, PRODUCERS);
    swap_turns(kernel, CHANGES);
    const uint64_t count = stop_producers(producers, PRODUCERS) + stop_client(&client);
    require(check_seen(count) <= CHANGES);
    check_kept(kernel, totals, count);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void move_turns(gyre_kernel *kernel, unsigned changes)
{
    for (unsigned i = 0; i < changes; i++) {
        must(gyre_kernel_move(kernel, i % 2 ? "cpu" : "opencl", 0, soon()));
        if (i % 5 == 0)
            must(gyre_kernel_swap(kernel, file(i % 10 ? "ledger_1" : "ledger_2"), soon()));
    }
}

static void moves_lose_nothing(void)
{
    gyre_buffer *totals, *probe;
    struct producer producers[PRODUCERS];
    struct client client;
    gyre_runtime *runtime = open_plain(NULL);
    if (gyre_buffer_alloc(runtime, "opencl", 0, 8, &probe) != GYRE_OK) {
        printf("no OpenCL here: %s\n", gyre_error_text());
        exit(77);
    }
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    gyre_server *server = serve(runtime);
    start_client(&client);
    start_producers(kernel, producers, PRODUCERS);
    move_turns(kernel, CHANGES / 4);
    const uint64_t count = stop_producers(producers, PRODUCERS) + stop_client(&client);
    check_seen(count);
    check_kept(kernel, totals, count);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* What a message names is found on the device that the kernel is on. */
static void names_are_those_of_the_device(void)
{
    static const char *const settings[] = {"queue.reader.layout=slots", NULL};
    static const char *const backends[] = {"cpu", "opencl"};
    gyre_buffer *words[2];
    gyre_handle names[2];
    gyre_completion completion;
    gyre_kernel *kernel;
    gyre_runtime *runtime = open_plain(settings);
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t word = 40 + i;
        if (gyre_buffer_alloc(runtime, backends[i], 0, sizeof word, &words[i]) != GYRE_OK) {
            printf("no OpenCL here: %s\n", gyre_error_text());
            exit(77);
        }
        must(gyre_buffer_upload(words[i], 0, &word, sizeof word));
        must(gyre_buffer_handle(words[i], 0, 0, &names[i]));
    }
    const gyre_launch_desc desc = {.size = sizeof desc, .source = file("reader"), .name = "reader"};
    must(gyre_launch(runtime, &desc, &kernel));
    for (unsigned turn = 0; turn < 4; turn++) {
        for (unsigned i = 0; i < 2; i++) {
            const place request = {names[i]};
            entry reply = {0};
            must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply,
                           &completion, soon()));
            require(completion.outcome == (i == turn % 2 ? GYRE_REPLIED : GYRE_HANDLER_FAILED));
            require(i != turn % 2 || reply.add == 40 + i);
        }
        must(gyre_kernel_move(kernel, backends[1 - turn % 2], 0, soon()));
    }
    gyre_close(runtime);
}

/* On a GPU: swaps under load, and then away from it, to where clients need not wait in another way. */
static void need_gpu(gyre_runtime *runtime, uint32_t number)
{
    gyre_buffer *probe;
    if (gyre_buffer_alloc(runtime, "cuda", number, 8, &probe) == GYRE_OK)
        return;
    printf("no GPU %u here: %s\n", number, gyre_error_text());
    exit(77);
}

static void a_gpu_swaps_and_gives_its_kernel_away(void)
{
    enum { SWAPS = 6 };
    gyre_buffer *totals;
    struct producer producers[2];
    gyre_runtime *runtime = open_plain(NULL);
    need_gpu(runtime, 0);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    start_producers(kernel, producers, 2);
    swap_turns(kernel, SWAPS);
    must(gyre_kernel_move(kernel, "cpu", 0, soon()));
    swap_turns(kernel, SWAPS);
    require(gyre_kernel_move(kernel, "cuda", 0, soon()) == GYRE_OK ||
            strstr(gyre_error_text(), "sleep until the device wakes them") != NULL);
    const uint64_t count = stop_producers(producers, 2);
    check_seen(count);
    check_kept(kernel, totals, count);
    gyre_close(runtime);
}

static void gpus_pass_a_kernel_on(void)
{
    enum { ROUNDS = 4 };
    gyre_buffer *totals;
    struct producer producers[2];
    gyre_runtime *runtime = open_plain(NULL);
    need_gpu(runtime, 1);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    start_producers(kernel, producers, 2);
    for (unsigned i = 0; i < ROUNDS; i++) {
        must(gyre_kernel_move(kernel, "cuda", 1 - i % 2, soon()));
        swap_turns(kernel, 2);
    }
    require(gyre_kernel_move(kernel, "cuda", 0, soon()) == GYRE_INVALID &&
            strstr(gyre_error_text(), "is on that device") != NULL);
    const uint64_t count = stop_producers(producers, 2);
    check_seen(count);
    check_kept(kernel, totals, count);
    gyre_close(runtime);
}

/* Blocks stop in the midst of the requests that they claimed, so that answered ones stand behind others. */
static void several_blocks_lose_nothing(void)
{
    static const char *const settings[] = {"kernel.ledger.blocks=3", NULL};
    gyre_buffer *totals;
    struct producer producers[PRODUCERS];
    struct client client;
    gyre_runtime *runtime = open_plain(settings);
    gyre_kernel *kernel = launch_ledger(runtime, "crowd_1", &totals);
    gyre_server *server = serve(runtime);
    start_client(&client);
    start_producers(kernel, producers, PRODUCERS);
    for (unsigned i = 0; i < CHANGES; i++)
        must(gyre_kernel_swap(kernel, file(i % 2 ? "crowd_1" : "crowd_2"), soon()));
    const uint64_t count = stop_producers(producers, PRODUCERS) + stop_client(&client);
    check_all(count, false);
    check_kept(kernel, totals, count);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* ---- states ---- */

static void call_some(gyre_kernel *kernel, struct producer *self, uint64_t version)
{
    self->queue = gyre_kernel_queue(kernel);
    for (int i = 0; i < 5; i++) {
        const entry request = {add_of(self, self->sent++)};
        must(gyre_send(self->queue, &request, sizeof request, NULL, soon()));
        take_reply(self);
        if (version)
            require(seen[self->received] == version);
    }
}

static void states_grow_and_are_migrated(void)
{
    gyre_buffer *totals;
    struct producer self = {.number = 1};
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    uint64_t state[3];
    call_some(kernel, &self, 1);
    must(gyre_kernel_swap(kernel, file("ledger_3"), soon()));
    call_some(kernel, &self, 3);
    must(gyre_kernel_state_read(kernel, state, sizeof state));
    require(state[0] == 10 && state[2] == 5);
    /* back would lose the field */
    require(gyre_kernel_swap(kernel, file("ledger_1"), soon()) == GYRE_INCOMPATIBLE);
    call_some(kernel, &self, 3);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    must(gyre_kernel_relaunch(kernel)); /* with the last handler, and a state from the beginning */
    must(gyre_kernel_state_read(kernel, state, sizeof state));
    require(state[0] == 0 && state[1] == 0 && state[2] == 0);
    check_seen(15);
    gyre_close(runtime);
    memset(seen, 0, sizeof seen);
    self = (struct producer){.number = 1};
    runtime = open_plain(NULL);
    kernel = launch_ledger(runtime, "ledger_2", &totals);
    call_some(kernel, &self, 2);
    must(gyre_kernel_swap(kernel, file("ledger_migrated"), soon()));
    call_some(kernel, &self, 4);
    check_seen(10);
    check_kept(kernel, totals, 10);
    gyre_close(runtime);
}

/* ---- compiled files ---- */

static void compile_to(const char *path, const char *name)
{
    char command[1500];
    snprintf(command, sizeof command, "%s compile --backend cpu -o %s %s >/dev/null", GYRE_COMMAND, path,
             file(name));
    require(system(command) == 0);
}

/* The path is the same, and what it holds is not. */
static void compiled_files_are_read_anew(void)
{
    char path[64];
    gyre_buffer *totals;
    struct producer self = {.number = 1};
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    snprintf(path, sizeof path, "/tmp/gyre-changes-%d.kernel", (int)getpid());
    call_some(kernel, &self, 1);
    for (uint64_t version = 2; version >= 1; version--) {
        compile_to(path, version == 2 ? "ledger_2" : "ledger_1");
        must(gyre_kernel_swap(kernel, path, soon()));
        call_some(kernel, &self, version);
    }
    check_seen(15);
    gyre_close(runtime);
    require(unlink(path) == 0);
}

/* A paused kernel stays paused, with what is queued. */
static void a_paused_kernel_stays_paused(void)
{
    gyre_buffer *totals;
    struct producer self = {.number = 1};
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    gyre_kernel_info info = {.size = sizeof info};
    call_some(kernel, &self, 1);
    must(gyre_kernel_deactivate(kernel, soon()));
    const entry request = {add_of(&self, self.sent++)};
    must(gyre_send(self.queue, &request, sizeof request, NULL, soon()));
    must(gyre_kernel_swap(kernel, file("ledger_2"), gyre_now_ns())); /* it stands already */
    must(gyre_kernel_info_get(kernel, &info));
    require(info.state == GYRE_KERNEL_INACTIVE && info.queued == 1);
    must(gyre_kernel_activate(kernel, soon()));
    take_reply(&self);
    require(seen[6] == 2);
    check_seen(6);
    gyre_close(runtime);
}

/* ---- refusals ---- */

static void refuse(gyre_kernel *kernel, const char *source, gyre_status status, const char *sentence)
{
    const gyre_status found = gyre_kernel_swap(kernel, source, soon());
    if (found != status || !strstr(gyre_error_text(), sentence))
        fprintf(stderr, "%s: %d, %s\n", source, (int)found, gyre_error_text());
    require(found == status && strstr(gyre_error_text(), sentence));
}

static void what_cannot_be_is_refused_whole(void)
{
    gyre_buffer *totals;
    struct producer self = {.number = 1};
    char other[600];
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    call_some(kernel, &self, 1);
    require(gyre_kernel_swap(kernel, file("ledger_2"), gyre_now_ns()) == GYRE_TIMEOUT);
    require(strstr(gyre_error_text(), "before kernel 'ledger' could be asked to stand still"));
    refuse(kernel, file("ledger_broken"), GYRE_FAILED, "no_such_name");
    refuse(kernel, file("ledger_small"), GYRE_INCOMPATIBLE, "its state 'ledger_state' cannot become");
    refuse(kernel, file("none_of_that_name"), GYRE_NOT_FOUND, "none_of_that_name");
    static const struct {
        const char *name, *sentence;
    } others[] = {{"longer", "its requests have another layout"},
                  {"answer", "its replies have another layout"},
                  {"lanes", "a handler keeps its form in a swap"},
                  {"bufferless", "a swap keeps names and types of buffers"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(other, sizeof other, "%s:%s", file("others"), others[i].name);
        refuse(kernel, other, GYRE_INCOMPATIBLE, others[i].sentence);
    }
    refuse(kernel, file("others"), GYRE_NOT_FOUND, "'ledger'");
    require(gyre_kernel_move(kernel, "cpu", 0, soon()) == GYRE_INVALID);
    require(gyre_kernel_move(kernel, "no_such_backend", 0, soon()) == GYRE_NOT_FOUND);
    require(gyre_kernel_swap(NULL, "x", soon()) == GYRE_INVALID);
    call_some(kernel, &self, 1);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    refuse(kernel, file("ledger_2"), GYRE_CLOSED, "relaunch it first");
    check_seen(10);
    gyre_close(runtime);
}

static void one_thread_alone_is_left_alone(void)
{
    static const char *const settings[] = {"queue.ledger.threads=one", NULL};
    gyre_buffer *totals;
    struct producer self = {.number = 1};
    gyre_runtime *runtime = open_plain(settings);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    refuse(kernel, file("ledger_2"), GYRE_INVALID, "queue 'ledger' of kernel 'ledger' has threads = one");
    call_some(kernel, &self, 1);
    gyre_close(runtime);
}

/* As another user, who may send messages and nothing more. */
static void ask_as_nobody(void)
{
    enum { NOBODY = 65534 };
    int status = 0;
    if (geteuid() != 0)
        return; /* this program cannot become another user */
    const pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        const gyre_attach_desc desc = {.size = sizeof desc, .path = socket_path, .deadline_ns = soon()};
        if (setuid(NOBODY) != 0 || gyre_served_swap("ledger", file("ledger_2"), &desc) != GYRE_INVALID ||
            !strstr(gyre_error_text(), "may not change kernels") ||
            gyre_served_move("ledger", "cpu", 0, &desc) != GYRE_INVALID) {
            fprintf(stderr, "as nobody: %s\n", gyre_error_text());
            _exit(1);
        }
        _exit(0);
    }
    require(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_server_is_asked_by_its_user_alone(void)
{
    static const char *const settings[] = {"gyre.socket_access=everyone", NULL};
    gyre_buffer *totals;
    struct producer self = {.number = 1};
    gyre_runtime *runtime = open_plain(settings);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    gyre_server *server = serve(runtime);
    const gyre_attach_desc desc = {.size = sizeof desc, .path = socket_path, .deadline_ns = soon()};
    ask_as_nobody();
    call_some(kernel, &self, 1);
    must(gyre_served_swap("ledger", file("ledger_2"), &desc));
    call_some(kernel, &self, 2);
    require(gyre_served_swap("ledgers", file("ledger_1"), &desc) == GYRE_NOT_FOUND);
    require(gyre_served_swap("ledger", file("ledger_small"), &desc) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "cannot become") != NULL);
    require(gyre_served_move("ledger", "cpu", 0, &desc) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "already") != NULL);
    require(chdir(CHANGE_KERNELS) == 0); /* a path of this program's folder */
    must(gyre_served_swap("ledger", "ledger_3.gyre.c:ledger", &desc));
    call_some(kernel, &self, 3);
    check_seen(15);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* ---- journals ---- */

static char journal_setting[128];

static const char *const *journal_settings(void)
{
    static const char *settings[] = {journal_setting,
                                     "kernel.ledger.checkpoints=true",
                                     "kernel.ledger.checkpoint_ms=0",
                                     "kernel.ledger.checkpoint_messages=0",
                                     "queue.ledger.durability=journal",
                                     NULL};
    return settings;
}

/* The first life: some are handled by each of two handlers, and then the program is killed. */
static void live_and_die(const char *next)
{
    gyre_buffer *totals;
    struct producer self = {.number = 1};
    gyre_runtime *runtime = open_plain(journal_settings());
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    call_some(kernel, &self, 1);
    must(gyre_kernel_swap(kernel, file(next), soon()));
    call_some(kernel, &self, strcmp(next, "ledger_2") == 0 ? 2 : 3);
    must(gyre_await(self.queue, 9, GYRE_DURABLE, soon()));
    kill(getpid(), SIGKILL);
}

static void live_twice(const char *next)
{
    char folder[] = "/tmp/gyre-changes-XXXXXX", command[64];
    int status = 0;
    gyre_buffer *totals;
    uint64_t state[3] = {0}, sum = 0;
    gyre_kernel_info info = {.size = sizeof info};
    require(mkdtemp(folder) != NULL);
    snprintf(journal_setting, sizeof journal_setting, "gyre.journal_dir=%s", folder);
    const pid_t child = fork();
    require(child >= 0);
    if (child == 0)
        live_and_die(next);
    require(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    /* what the second handler answered is not for the first one to answer again */
    gyre_runtime *runtime = open_plain(journal_settings());
    gyre_kernel *kernel = NULL;
    require(try_to_launch(runtime, "ledger_1", &totals, &kernel) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "is not the one that wrote the journal") != NULL);
    gyre_close(runtime);
    runtime = open_plain(journal_settings());
    kernel = launch_ledger(runtime, next, &totals);
    must(gyre_kernel_info_get(kernel, &info));
    /* a journal is replayed behind the launch */
    for (const uint64_t limit = soon(); state[0] < 10; require(gyre_now_ns() < limit))
        must(gyre_kernel_state_read(kernel, state, info.state_type->size));
    const struct producer self = {.number = 1};
    for (uint64_t i = 0; i < 10; i++)
        sum += add_of(&self, i);
    require(state[0] == 10 && state[1] == sum);
    require(info.state_type->size == 16 || state[2] == 5);
    gyre_close(runtime);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    require(system(command) == 0);
}

static void journals_know_the_handler(void)
{
    live_twice("ledger_2");
    live_twice("ledger_3");
}

/* ---- worker processes ---- */

struct killer {
    pthread_t thread;
    uint32_t stop /* atomic */, killed;
};

static void *kill_workers(void *argument)
{
    struct killer *self = argument;
    while (!__atomic_load_n(&self->stop, __ATOMIC_ACQUIRE)) {
        const pid_t worker = worker_of(getpid());
        usleep(20000 + 7000 * (self->killed % 5));
        if (worker > 0 && kill(worker, SIGKILL) == 0)
            self->killed++;
    }
    return NULL;
}

/* A swap fails where three workers in a row die over it, and then the kernel goes on as it was. */
static void swap_until_done(gyre_kernel *kernel, const char *name)
{
    gyre_kernel_info info = {.size = sizeof info};
    while (gyre_kernel_swap(kernel, file(name), soon()) != GYRE_OK) {
        require(strstr(gyre_error_text(), "worker process") != NULL);
        must(gyre_kernel_info_get(kernel, &info));
        require(info.state == GYRE_KERNEL_ACTIVE);
    }
}

/* The kernel has checkpoints, so that it survives its workers, also in the middle of a swap. */
static void swaps_survive_their_workers(void)
{
    static const char *const settings[] = {"kernel.ledger.checkpoints=true", "backend.cpu.restart_limit=1000",
                                           "kernel.ledger.checkpoint_ms=5", NULL};
    enum { SWAPS = 40 };
    gyre_buffer *totals;
    struct producer producers[1];
    struct killer killer = {.stop = 0};
    gyre_runtime *runtime = open_isolated(settings);
    gyre_kernel *kernel = launch_ledger(runtime, "ledger_1", &totals);
    swap_turns(kernel, 2); /* compiles: no worker would live so long */
    start_producers(kernel, producers, 1);
    require(pthread_create(&killer.thread, NULL, kill_workers, &killer) == 0);
    for (unsigned i = 0; i < SWAPS; i++)
        swap_until_done(kernel, i % 2 ? "ledger_1" : "ledger_2");
    __atomic_store_n(&killer.stop, 1, __ATOMIC_RELEASE);
    require(pthread_join(killer.thread, NULL) == 0);
    const uint64_t count = stop_producers(producers, 1);
    require(killer.killed > 0);
    require(check_seen(count) <= SWAPS);
    must(gyre_kernel_swap(kernel, file("ledger_2"), soon()));
    gyre_close(runtime);
}

static void prepare(void)
{
    make_fault_folder();
    snprintf(socket_path, sizeof socket_path, "/tmp/gyre-changes-%d.sock", (int)getpid());
}

int main(int argc, char **argv)
{
    static const named_case cases[] = {
        {"swaps_lose_nothing", swaps_lose_nothing},
        {"moves_lose_nothing", moves_lose_nothing},
        {"names_are_those_of_the_device", names_are_those_of_the_device},
        {"a_gpu_swaps_and_gives_its_kernel_away", a_gpu_swaps_and_gives_its_kernel_away},
        {"gpus_pass_a_kernel_on", gpus_pass_a_kernel_on},
        {"several_blocks_lose_nothing", several_blocks_lose_nothing},
        {"a_server_is_asked_by_its_user_alone", a_server_is_asked_by_its_user_alone},
        {"journals_know_the_handler", journals_know_the_handler},
        {"states_grow_and_are_migrated", states_grow_and_are_migrated},
        {"compiled_files_are_read_anew", compiled_files_are_read_anew},
        {"a_paused_kernel_stays_paused", a_paused_kernel_stays_paused},
        {"what_cannot_be_is_refused_whole", what_cannot_be_is_refused_whole},
        {"one_thread_alone_is_left_alone", one_thread_alone_is_left_alone},
        {"swaps_survive_their_workers", swaps_survive_their_workers},
    };
    program = argv[0];
    if (argc == 3 && strcmp(argv[1], "client") == 0)
        return be_a_client(argv[2]);
    return RUN_NAMED(argc, argv, prepare, cases);
}
