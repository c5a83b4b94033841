/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler before the last swap comes back (gyre_kernel_swap_back): under load, after its file has changed, in worker processes, by
 * the command; and where it may not. One case a run, `test_swap_back CASE`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gyre/attach.h>
#include <gyre/change.h>

#include "ledger.h"
#include "tests/system/survival/crash/workers.h"

enum { TURNS = 100 };

static const char *file(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s.gyre.c:ledger", CHANGE_KERNELS, name);
    return path;
}

static gyre_runtime *open_runtime(const char *isolation)
{
    const char *const settings[] = {isolation, "queue.ledger.threads=many", NULL};
    const gyre_open_desc desc = {
        .size = sizeof desc, .backend = "cpu", .settings = isolation ? settings : settings + 1};
    gyre_runtime *runtime;
    must(gyre_open(&desc, &runtime));
    return runtime;
}

static gyre_kernel *launch_of(gyre_runtime *runtime, const char *source, uint64_t buffer_size)
{
    gyre_buffer *totals;
    gyre_kernel *kernel;
    must(gyre_buffer_alloc(runtime, NULL, 0, buffer_size, &totals));
    const gyre_binding_name binding = {"totals", totals};
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = source, .name = "ledger", .bindings = &binding, .binding_count = 1};
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

static gyre_kernel *launch(gyre_runtime *runtime, const char *source)
{
    return launch_of(runtime, source, 8 * sizeof(uint64_t));
}

/* One call. The kernel numbers its messages, so none is lost, doubled, or handled by what began anew. */
static void call(gyre_kernel *kernel, uint64_t *count, uint64_t *sum, uint64_t version)
{
    const entry request = {1 + *count % 97};
    receipt reply;
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    *sum += request.add;
    require(reply.count == ++*count && reply.sum == *sum);
    require(version ? reply.version == version : reply.version == 1 || reply.version == 2);
}

/* ---- under load ---- */

struct caller {
    gyre_kernel *kernel;
    uint64_t count, sum, answered; /* the last one is atomic */
    bool stop;                     /* atomic */
};

static void *call_on(void *argument)
{
    struct caller *self = argument;
    while (!__atomic_load_n(&self->stop, __ATOMIC_RELAXED)) {
        call(self->kernel, &self->count, &self->sum, 0);
        __atomic_store_n(&self->answered, self->count, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void turn_under_load(const char *isolation, unsigned turns)
{
    gyre_runtime *runtime = open_runtime(isolation);
    struct caller caller = {.kernel = launch(runtime, file("ledger_1"))};
    pthread_t thread;
    call(caller.kernel, &caller.count, &caller.sum, 1);
    must(gyre_kernel_swap(caller.kernel, file("ledger_2"), soon()));
    call(caller.kernel, &caller.count, &caller.sum, 2);
    require(pthread_create(&thread, NULL, call_on, &caller) == 0);
    for (unsigned i = 0; i < turns; i++) /* an odd number: the first handler is back at the end */
        must(gyre_kernel_swap_back(caller.kernel, soon()));
    __atomic_store_n(&caller.stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    call(caller.kernel, &caller.count, &caller.sum, 1);
    gyre_close(runtime);
}

static void handlers_take_turns_under_load(void)
{
    turn_under_load(NULL, TURNS + 1);
}

static void worker_processes_have_it_too(void)
{
    turn_under_load("backend.cpu.isolation=process", 5);
}

/* ---- checkpoints meanwhile ---- */

enum { LARGE = 8 << 20, DEATHS = 40 };

static void *checkpoint_on(void *argument)
{
    struct caller *self = argument;
    while (!__atomic_load_n(&self->stop, __ATOMIC_RELAXED))
        (void)gyre_kernel_checkpoint(self->kernel, soon()); /* one that fails is made again */
    return NULL;
}

/* A worker lives until something was answered: else nothing ever would be. */
static void *kill_on(void *argument)
{
    const struct caller *self = argument;
    uint64_t seen = 0;
    for (unsigned i = 0; !__atomic_load_n(&self->stop, __ATOMIC_RELAXED); i++) {
        usleep(1000 + i % 7 * 3000);
        const uint64_t answered = __atomic_load_n(&self->answered, __ATOMIC_RELAXED);
        if (answered != seen)
            kill_worker();
        seen = answered;
    }
    return NULL;
}

/*
 * A change waits for the thread that takes a checkpoint, which a large buffer makes long, and the worker dies meanwhile: what it finds
 * then is another run of the kernel, and it begins again.
 */
static void changes_wait_for_checkpoints_while_workers_die(void)
{
    const char *const settings[] = {"backend.cpu.isolation=process",     "kernel.ledger.checkpoints=true",
                                    "kernel.ledger.checkpoint_ms=0",     "kernel.ledger.poison_limit=1000",
                                    "backend.cpu.restart_limit=1000000", NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .backend = "cpu", .settings = settings};
    void *(*const works[])(void *) = {call_on, checkpoint_on, kill_on};
    pthread_t threads[3];
    gyre_runtime *runtime;
    must(gyre_open(&desc, &runtime));
    struct caller caller = {.kernel = launch_of(runtime, file("ledger_1"), LARGE)};
    must(gyre_kernel_swap(caller.kernel, file("ledger_2"), soon()));
    for (int i = 0; i < 3; i++)
        require(pthread_create(&threads[i], NULL, works[i], &caller) == 0);
    for (int i = 0; i < DEATHS; i++)
        if (gyre_kernel_swap_back(caller.kernel, soon()) != GYRE_OK)
            require(strstr(gyre_error_text(), "worker process") != NULL);
    __atomic_store_n(&caller.stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    call(caller.kernel, &caller.count, &caller.sum, 0);
    gyre_close(runtime);
}

/* ---- what comes back ---- */

static void copy_as(const char *name, const char *path)
{
    char command[2048];
    snprintf(command, sizeof command, "cp '%s/%s.gyre.c' '%s'", CHANGE_KERNELS, name, path);
    require(system(command) == 0);
}

/* The same path has another handler each time, and is away in the end. */
static void its_file_is_not_looked_at(void)
{
    char folder[] = "/tmp/gyre-back-XXXXXX", path[128], source[160];
    uint64_t count = 0, sum = 0;
    require(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/ledger.gyre.c", folder);
    snprintf(source, sizeof source, "%s:ledger", path);
    char command[2048];
    snprintf(command, sizeof command, "cp '%s/ledger.h' '%s'", CHANGE_KERNELS, folder);
    require(system(command) == 0);
    gyre_runtime *runtime = open_runtime(NULL);
    copy_as("ledger_1", path);
    gyre_kernel *kernel = launch(runtime, source);
    call(kernel, &count, &sum, 1);
    copy_as("ledger_2", path);
    must(gyre_kernel_swap(kernel, source, soon()));
    call(kernel, &count, &sum, 2);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    require(system(command) == 0);
    must(gyre_kernel_swap_back(kernel, soon()));
    call(kernel, &count, &sum, 1);
    must(gyre_kernel_swap_back(kernel, soon()));
    call(kernel, &count, &sum, 2);
    gyre_close(runtime);
}

static void refuse_back(gyre_kernel *kernel, gyre_status status, const char *sentence)
{
    const gyre_status found = gyre_kernel_swap_back(kernel, soon());
    if (found != status || !strstr(gyre_error_text(), sentence))
        fprintf(stderr, "expected %s, found %s: %s\n", sentence, gyre_status_word(found), gyre_error_text());
    require(found == status && strstr(gyre_error_text(), sentence) != NULL);
}

/* A swap that is refused leaves what can come back as it was. */
static void what_cannot_come_back_stays_away(void)
{
    uint64_t count = 0, sum = 0;
    gyre_runtime *runtime = open_runtime(NULL);
    gyre_kernel *kernel = launch(runtime, file("ledger_1"));
    require(gyre_kernel_swap_back(NULL, soon()) == GYRE_INVALID);
    refuse_back(kernel, GYRE_INVALID, "was never swapped");
    require(gyre_kernel_swap(kernel, file("ledger_small"), soon()) == GYRE_INCOMPATIBLE);
    refuse_back(kernel, GYRE_INVALID, "was never swapped");
    call(kernel, &count, &sum, 1);
    must(gyre_kernel_swap(kernel, file("ledger_2"), soon()));
    require(gyre_kernel_swap(kernel, file("ledger_small"), soon()) == GYRE_INCOMPATIBLE);
    must(gyre_kernel_swap_back(kernel, soon()));
    call(kernel, &count, &sum, 1);
    must(gyre_kernel_swap(kernel, file("ledger_3"), soon())); /* its state has a further field */
    refuse_back(kernel, GYRE_INCOMPATIBLE, "cannot become");
    gyre_close(runtime);
}

static void a_move_lies_between(void)
{
    uint64_t count = 0, sum = 0;
    gyre_runtime *runtime = open_runtime(NULL);
    gyre_kernel *kernel = launch(runtime, file("ledger_1"));
    must(gyre_kernel_swap(kernel, file("ledger_2"), soon()));
    if (gyre_kernel_move(kernel, "opencl", 0, soon()) != GYRE_OK) {
        printf("no OpenCL here: %s\n", gyre_error_text());
        exit(77);
    }
    refuse_back(kernel, GYRE_INVALID, "was moved since it was swapped");
    call(kernel, &count, &sum, 2);
    must(gyre_kernel_move(kernel, "cpu", 0, soon()));
    must(gyre_kernel_swap_back(kernel, soon()));
    call(kernel, &count, &sum, 1);
    gyre_close(runtime);
}

/* ---- from outside ---- */

static void a_server_brings_it_back(void)
{
    static char socket_path[64];
    char command[512];
    uint64_t count = 0, sum = 0;
    gyre_server *server;
    snprintf(socket_path, sizeof socket_path, "/tmp/gyre-back-%d.sock", (int)getpid());
    gyre_runtime *runtime = open_runtime(NULL);
    gyre_kernel *kernel = launch(runtime, file("ledger_1"));
    const gyre_serve_desc desc = {.size = sizeof desc, .path = socket_path};
    must(gyre_serve(runtime, &desc, &server));
    snprintf(command, sizeof command, "%s swap ledger --rollback --socket %s", GYRE_COMMAND, socket_path);
    require(system(command) != 0);
    must(gyre_kernel_swap(kernel, file("ledger_2"), soon()));
    call(kernel, &count, &sum, 2);
    require(system(command) == 0);
    call(kernel, &count, &sum, 1);
    gyre_server_close(server);
    gyre_close(runtime);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"handlers_take_turns_under_load", handlers_take_turns_under_load},
        {"worker_processes_have_it_too", worker_processes_have_it_too},
        {"changes_wait_for_checkpoints_while_workers_die", changes_wait_for_checkpoints_while_workers_die},
        {"its_file_is_not_looked_at", its_file_is_not_looked_at},
        {"what_cannot_come_back_stays_away", what_cannot_come_back_stays_away},
        {"a_move_lies_between", a_move_lies_between},
        {"a_server_brings_it_back", a_server_brings_it_back},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    fprintf(stderr, "usage: test_swap_back CASE\n");
    return 2;
}
