/* SPDX-License-Identifier: Apache-2.0 */
/* See lives.h. */
#include "lives.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SETTINGS_MAX = 16 };

struct ledger *ledger;
static char folder[64];
static pid_t owner;

static void remove_folder(void)
{
    char path[sizeof folder + 264];
    if (getpid() != owner)
        return;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path); /* not the folder itself and its parent, which are none of its files */
    }
    if (open)
        closedir(open);
    rmdir(folder);
}

void begin_lives(void)
{
    if (owner)
        remove_folder(); /* of lives before */
    snprintf(folder, sizeof folder, "/tmp/gyre-durable-XXXXXX");
    require(mkdtemp(folder) != NULL);
    setenv("CRASH_FOLDER", folder, 1); /* handlers that crash once leave word there */
    ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(ledger != MAP_FAILED);
    if (!owner)
        atexit(remove_folder);
    owner = getpid();
}

const char *journal_folder(void)
{
    return folder;
}

void move_journals(const char *to)
{
    remove_folder();
    snprintf(folder, sizeof folder, "%s", to);
}

void journal_path(const char *kernel, char *path, size_t size)
{
    snprintf(path, size, "%s/%s.%s.journal", folder, kernel, kernel);
}

static void live_until(void (*life)(void), unsigned kill_after_us, bool from_work)
{
    int status = 0;
    ledger->at_work = false;
    ledger->lives++;
    fflush(NULL);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        life();
        _exit(EXIT_SUCCESS);
    }
    pid_t ended = 0;
    for (unsigned waited = 0; kill_after_us && waited < kill_after_us && !ended;) {
        usleep(1000);
        ended = waitpid(child, &status, WNOHANG);
        if (!from_work || ledger->at_work)
            waited += 1000;
    }
    if (kill_after_us && !ended)
        kill(child, SIGKILL);
    require(ended == child || waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        fprintf(stderr, "life %llu ended by signal %d\n", (unsigned long long)ledger->lives,
                WTERMSIG(status));
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    require((WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) || (kill_after_us && killed));
}

void live(void (*life)(void), unsigned kill_after_us)
{
    live_until(life, kill_after_us, false);
}

void live_at_work(void (*life)(void), unsigned kill_after_us)
{
    live_until(life, kill_after_us, true);
}

gyre_runtime *open_durable(bool isolated, const char *const *settings)
{
    char journals[sizeof folder + 32];
    const char *all[SETTINGS_MAX + 8] = {"queue.default.durability=journal",
                                         "kernel.default.checkpoints=true", journals,
                                         isolated ? "log_level=info" : "backend.cpu.isolation=none"};
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", folder);
    for (size_t i = 0; settings && settings[i] && i < SETTINGS_MAX; i++)
        all[4 + i] = settings[i];
    return open_isolated(all);
}

static const char *looked_for;

static void look_for_backend(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_buffer *buffer = NULL;
    ledger->seed = gyre_buffer_alloc(runtime, looked_for, 0, 64, &buffer) == GYRE_OK;
    gyre_close(runtime);
}

void need_backend(const char *name)
{
    looked_for = name;
    live(look_for_backend, 0);
    if (ledger->seed)
        return;
    printf("skipped: backend '%s' does not start here\n", name);
    exit(77);
}

uint64_t number_of(uint64_t index)
{
    return index * 7 + 3;
}

/* What fragile_actor keeps once it handled request `index`. */
static const crash_state *model_of(uint64_t index)
{
    static uint64_t known;
    require(index < sizeof ledger->models / sizeof ledger->models[0]);
    for (; known <= index; known++) {
        crash_state state = known ? ledger->models[known - 1] : (crash_state){0};
        state.count++;
        state.hash = mixed(state.hash + number_of(known));
        ledger->models[known] = state;
    }
    return &ledger->models[index];
}

void send_right(gyre_queue *queue, uint64_t index, uint32_t fault)
{
    crash_request request = {.fault = fault, .number = number_of(index)};
    uint64_t sent = 0;
    must(gyre_send(queue, &request, sizeof request, &sent, soon()));
    require(sent == index);
}

void receive_right(gyre_queue *queue, uint64_t index)
{
    crash_reply reply = {0};
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.index == index && completion.outcome == GYRE_REPLIED);
    const crash_state *model = model_of(index);
    require(reply.number == model->count && reply.check == model->hash);
}

gyre_recovered recovered_of(const gyre_queue *queue)
{
    gyre_recovered recovered = {.size = sizeof recovered};
    must(gyre_queue_recovered(queue, &recovered));
    return recovered;
}

void require_state_of(gyre_kernel *kernel, uint64_t count)
{
    crash_state state;
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == count && (count == 0 || state.hash == ledger->models[count - 1].hash));
    must(gyre_kernel_activate(kernel, soon()));
}
