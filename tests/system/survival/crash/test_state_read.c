/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of kernels that run, read while their workers die, while handlers hang, and while other threads change them.
 * One case a run, `test_state_read CASE`.
 */
#include "faults.h"
#include "workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 3000 };

static uint64_t hashes[MESSAGES + 1]; /* what fragile_actor keeps after so many messages */

static void make_model(void)
{
    for (uint64_t i = 0; i < MESSAGES; i++)
        hashes[i + 1] = mixed(hashes[i] + i);
}

static gyre_kernel_info info_of(gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    return info;
}

static void send_one(gyre_queue *queue, uint32_t fault, uint64_t number)
{
    const crash_request request = {.fault = fault, .number = number};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

/* A thread that reads without a break. */
struct reader {
    gyre_kernel *kernel;
    pthread_t thread;
    uint64_t answered; /* atomic */
    uint32_t over;     /* atomic */
    uint64_t reads;
};

static void *read_without_a_break(void *argument)
{
    struct reader *reader = argument;
    while (!__atomic_load_n(&reader->over, __ATOMIC_ACQUIRE)) {
        crash_state state;
        const uint64_t least = __atomic_load_n(&reader->answered, __ATOMIC_ACQUIRE);
        must(gyre_kernel_state_read(reader->kernel, &state, sizeof state));
        require(state.count >= least && state.count <= MESSAGES && state.hash == hashes[state.count]);
        reader->reads++;
    }
    return NULL;
}

static void start_reader(struct reader *reader, gyre_kernel *kernel)
{
    make_model();
    *reader = (struct reader){.kernel = kernel};
    require(pthread_create(&reader->thread, NULL, read_without_a_break, reader) == 0);
}

static void end_reader(struct reader *reader)
{
    __atomic_store_n(&reader->over, 1, __ATOMIC_RELEASE);
    pthread_join(reader->thread, NULL);
    require(reader->reads > 0);
}

static void the_state_is_read_while_workers_die(void)
{
    const char *const settings[] = {"kernel.default.checkpoints=true", "backend.cpu.restart_backoff_ms=0",
                                    "kernel.default.stop_timeout_ms=60000", NULL};
    gyre_runtime *runtime = open_isolated(settings);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    struct reader reader;
    start_reader(&reader, kernel);
    for (uint64_t sent = 0, received = 0; received < MESSAGES; received++) {
        crash_reply reply;
        for (; sent < MESSAGES && sent - received < 100; sent++)
            send_one(queue, sent % 500 == 250 ? CRASH_SEGFAULT : CRASH_NOT, sent);
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.number == received + 1 && reply.check == hashes[received + 1]);
        __atomic_store_n(&reader.answered, received + 1, __ATOMIC_RELEASE);
        if (received % 1000 == 999)
            kill_worker();
    }
    end_reader(&reader);
    require(info_of(kernel).restarts >= MESSAGES / 500 && info_of(kernel).condemned == 0);
    gyre_close(runtime);
}

static void a_state_that_died_with_its_worker_is_told_lost(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    crash_state state;
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    kill_worker();
    gyre_status status = GYRE_OK;
    for (uint64_t limit = soon(); status == GYRE_OK;
         status = gyre_kernel_state_read(kernel, &state, sizeof state))
        require(gyre_now_ns() < limit);
    require(status == GYRE_LOST && strstr(gyre_error_text(), "was lost with its device"));
    must(gyre_kernel_relaunch(kernel));
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == 0);
    gyre_close(runtime);
}

/* A checkpoint waits for it likewise. */
static void a_handler_that_does_not_return_is_told(void)
{
    const char *const settings[] = {"kernel.default.checkpoints=true", "kernel.default.stop_timeout_ms=20",
                                    NULL};
    gyre_runtime *runtime = open_isolated(settings);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    crash_state state;
    crash_reply reply;
    send_one(gyre_kernel_queue(kernel), CRASH_WAIT, 0);
    do { /* until it begins: a block that gets no processor for so long looks the same */
        while (gyre_kernel_state_read(kernel, &state, sizeof state) == GYRE_OK)
            ;
        require(strstr(gyre_error_text(), "did not come to a message boundary"));
    } while (gyre_kernel_checkpoint(kernel, gyre_in_ms(100)) == GYRE_OK);
    require(strstr(gyre_error_text(), "did not come to a message boundary"));
    let_handlers_go_on();
    must(gyre_receive(gyre_kernel_queue(kernel), &reply, sizeof reply, NULL, soon()));
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == 1);
    gyre_close(runtime);
}

static void require_still(gyre_kernel *kernel, uint64_t number)
{
    crash_reply reply;
    must(gyre_kernel_deactivate(kernel, soon()));
    send_one(gyre_kernel_queue(kernel), CRASH_NOT, number);
    require(gyre_receive(gyre_kernel_queue(kernel), &reply, sizeof reply, NULL, gyre_in_ms(3)) ==
            GYRE_TIMEOUT);
    must(gyre_kernel_activate(kernel, soon()));
    must(gyre_receive(gyre_kernel_queue(kernel), &reply, sizeof reply, NULL, soon()));
}

/* Without checkpoints, which wait for each other's turn anyway. */
static void a_paused_kernel_is_not_let_go_by_readers(void)
{
    const char *const settings[] = {"kernel.default.stop_timeout_ms=60000", NULL};
    gyre_runtime *runtime = open_isolated(settings);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    struct reader reader;
    start_reader(&reader, kernel);
    for (uint64_t i = 0; i < 200; i++)
        require_still(kernel, i);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    end_reader(&reader);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"the_state_is_read_while_workers_die", the_state_is_read_while_workers_die},
    {"a_state_that_died_with_its_worker_is_told_lost", a_state_that_died_with_its_worker_is_told_lost},
    {"a_handler_that_does_not_return_is_told", a_handler_that_does_not_return_is_told},
    {"a_paused_kernel_is_not_let_go_by_readers", a_paused_kernel_is_not_let_go_by_readers},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
