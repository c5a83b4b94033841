/* SPDX-License-Identifier: Apache-2.0 */
/* A swap of a kernel with a journal, while the disk has no room for another journal. One case a run, `test_full_disk CASE`. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gyre/change.h>

#include "ledger.h"
#include "tests/system/survival/crash/faults.h"
#include "tests/system/survival/crash/workers.h"

enum { CALLS = 5, EVER = 1 << 20 };

static gyre_runtime *open_plain(const char *const *settings)
{
    gyre_runtime *runtime = NULL;
    const gyre_open_desc desc = {.size = sizeof desc, .settings = settings, .backend = "cpu"};
    must(gyre_open(&desc, &runtime));
    return runtime;
}

static gyre_kernel *launch_ledger(gyre_runtime *runtime)
{
    gyre_buffer *totals = NULL;
    gyre_kernel *kernel = NULL;
    must(gyre_buffer_alloc(runtime, NULL, 0, 8 * sizeof(uint64_t), &totals));
    const gyre_binding_name binding = {"totals", totals};
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = CHANGE_KERNELS "/ledger_1.gyre.c",
                                   .name = "ledger",
                                   .bindings = &binding,
                                   .binding_count = 1};
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

/* All are answered by the first handler, which had handled `before` messages. */
static void call_some(gyre_kernel *kernel, uint64_t before)
{
    for (uint64_t i = 1; i <= CALLS; i++) {
        const entry request = {i};
        receipt reply = {0};
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
        require(reply.version == 1 && reply.count == before + i);
    }
}

/* Another handler cannot take over, because its journal finds no room: the old one works on, and what it handles is durable. */
static void swap_without_room(gyre_kernel *kernel)
{
    arm_fault(&(struct chosen_fault){GYRE_FAULT_JOURNAL_RENEW, GYRE_FAULT_FAIL, ENOSPC}, 1, EVER);
    require(gyre_kernel_swap(kernel, CHANGE_KERNELS "/ledger_2.gyre.c", soon()) != GYRE_OK);
    require(strstr(gyre_error_text(), "goes on as it was") != NULL);
}

/* The same, but the journal is the other handler's already, and there is no room to make it the old one's again. */
static void launch_in_vain_without_room(gyre_kernel *kernel)
{
    arm_fault(&(struct chosen_fault){GYRE_FAULT_WORKER_LAUNCH, GYRE_FAULT_FAIL, ENOMEM}, 1, 1);
    arm_fault(&(struct chosen_fault){GYRE_FAULT_JOURNAL_RENEW, GYRE_FAULT_FAIL, ENOSPC}, 2, EVER);
    require(gyre_kernel_swap(kernel, CHANGE_KERNELS "/ledger_2.gyre.c", soon()) != GYRE_OK);
    require(strstr(gyre_error_text(), "goes on as it was") != NULL);
}

static void fill_the_disk_and_die(const char *const *settings, bool in_vain)
{
    gyre_kernel *kernel = launch_ledger(open_plain(settings));
    call_some(kernel, 0);
    if (in_vain)
        launch_in_vain_without_room(kernel);
    else
        swap_without_room(kernel);
    call_some(kernel, CALLS);
    if (in_vain) {
        require(gyre_await(gyre_kernel_queue(kernel), 2 * CALLS - 1, GYRE_DURABLE, 1) == GYRE_TIMEOUT);
        disarm_faults();
    }
    must(gyre_await(gyre_kernel_queue(kernel), 2 * CALLS - 1, GYRE_DURABLE, soon()));
    kill(getpid(), SIGKILL);
}

static void survive_a_full_disk(bool in_vain)
{
    char folder[] = "/tmp/gyre-changes-XXXXXX", command[64], journals[128];
    int status = 0;
    uint64_t state[2] = {0};
    need_fault_board();
    require(mkdtemp(folder) != NULL);
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", folder);
    const char *const settings[] = {journals,
                                    "kernel.ledger.checkpoints=true",
                                    "kernel.ledger.checkpoint_ms=0",
                                    "kernel.ledger.checkpoint_messages=0",
                                    "queue.ledger.durability=journal",
                                    in_vain ? "backend.cpu.isolation=process" : "backend.cpu.isolation=none",
                                    NULL};
    const pid_t child = fork();
    require(child >= 0);
    if (child == 0)
        fill_the_disk_and_die(settings, in_vain);
    require(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    disarm_faults();
    gyre_runtime *runtime = open_plain(settings);
    gyre_kernel *kernel = launch_ledger(runtime);
    const uint64_t until = soon();
    while (state[0] != 2 * CALLS) { /* it handles what the journal has */
        require(gyre_now_ns() < until && state[0] < 2 * CALLS);
        must(gyre_kernel_state_read(kernel, state, sizeof state));
    }
    gyre_close(runtime);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    require(system(command) == 0);
}

static void a_full_disk_leaves_the_old_handler(void)
{
    survive_a_full_disk(false);
}

static void a_full_disk_after_the_journal_is_waited_for(void)
{
    survive_a_full_disk(true);
}

int main(int argc, char **argv)
{
    static const named_case cases[] = {
        {"a_full_disk_leaves_the_old_handler", a_full_disk_leaves_the_old_handler},
        {"a_full_disk_after_the_journal_is_waited_for", a_full_disk_after_the_journal_is_waited_for},
    };
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
