/* SPDX-License-Identifier: Apache-2.0 */
/* See parties.h. */
#include "parties.h"
#include "tests/sanitizers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

enum { WINDOW = 200 };

/* Whether every other thread of this program sleeps. */
static bool others_sleep(void)
{
    const pid_t self = gettid();
    bool sleep = true;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads && sleep && (entry = readdir(threads));) {
        char path[300], state = 'S';
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] == '.' || atol(entry->d_name) == self ? NULL : fopen(path, "re");
        if (file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1)
            sleep = state == 'S';
        if (file)
            fclose(file);
    }
    if (threads)
        closedir(threads);
    return sleep;
}

/* A thread that is being started may hold the sanitizer's allocator, for which the child would wait for ever. Threads that never
 * sleep are started by then. */
static void let_others_start(void)
{
    usleep(50000);
    for (uint64_t i = 0; !others_sleep() && i < patiently(100); i++)
        usleep(1000);
}

party party_start(void (*run)(const party *self))
{
    int from[2] = {-1, -1}, to[2] = {-1, -1};
    meeting_place(); /* made by the parent, for all of them */
    require(pipe(from) == 0 && pipe(to) == 0);
    if (UNDER_ADDRESS_SANITIZER)
        let_others_start();
    pid_t process = fork();
    require(process >= 0);
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        party self = {getpid(), from[1], to[0]};
        close(from[0]);
        close(to[1]);
        run(&self);
        _Exit(EXIT_SUCCESS);
    }
    close(from[1]);
    close(to[0]);
    return (party){process, from[0], to[1]};
}

void party_say(const party *self, char word)
{
    require(write(self->said, &word, 1) == 1);
}

char party_wait(const party *self)
{
    char word = 0;
    require(read(self->told, &word, 1) >= 0);
    return word;
}

char party_hear(const party *other)
{
    char word = 0;
    require(read(other->said, &word, 1) == 1);
    return word;
}

void party_tell(const party *other, char word)
{
    require(write(other->told, &word, 1) == 1);
}

void party_stop(const party *other)
{
    int status = 0;
    require(kill(other->process, SIGSTOP) == 0);
    require(waitpid(other->process, &status, WUNTRACED) == other->process && WIFSTOPPED(status));
}

int party_end(const party *other)
{
    int status = 0;
    require(waitpid(other->process, &status, 0) == other->process);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static char folder[32], place[64];
static pid_t maker;

static void remove_place(void)
{
    if (maker != getpid())
        return;
    unlink(place);
    rmdir(folder);
}

const char *meeting_place(void)
{
    if (place[0])
        return place;
    snprintf(folder, sizeof folder, "/tmp/gyre-meet-XXXXXX");
    require(mkdtemp(folder) != NULL);
    snprintf(place, sizeof place, "%s/socket", folder);
    maker = getpid();
    atexit(remove_place);
    return place;
}

gyre_runtime *open_plain(const char *const *settings)
{
    const char *all[8] = {"backend.cpu.isolation=none"};
    for (size_t i = 0; settings && settings[i] && i < 6; i++)
        all[1 + i] = settings[i];
    return open_isolated(all);
}

gyre_server *serve_at_place(gyre_runtime *runtime)
{
    gyre_server *server = NULL;
    gyre_serve_desc desc = {.size = sizeof desc, .path = meeting_place()};
    must(gyre_serve(runtime, &desc, &server));
    return server;
}

gyre_queue *attach_fragile(void)
{
    gyre_queue *queue = NULL;
    gyre_attach_desc desc = {.size = sizeof desc,
                             .path = meeting_place(),
                             .request = GYRE_TYPE(crash_request),
                             .reply = GYRE_TYPE(crash_reply)};
    must(gyre_attach("fragile", &desc, &queue));
    return queue;
}

void call_right(gyre_queue *queue, uint64_t number)
{
    crash_request request = {.number = number};
    crash_reply reply = {0};
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.number == number && reply.check == mixed(number));
}

void stream_right(gyre_queue *queue, uint64_t first, uint64_t count)
{
    uint64_t sent = 0;
    for (uint64_t received = 0; received < count; received++) {
        crash_reply reply = {0};
        for (; sent < count && sent - received < WINDOW; sent++) {
            crash_request request = {.number = first + sent};
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        }
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.number == first + received && reply.check == mixed(first + received));
    }
}

uint32_t attached_now(gyre_server *server)
{
    gyre_server_info info = {.size = sizeof info};
    must(gyre_server_info_get(server, &info));
    return info.attached;
}

size_t writable_regions(struct iovec *out, size_t most)
{
    char line[512];
    size_t count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && count < most && fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        char mode[8];
        if (strstr(line, "memfd:gyre") && sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 &&
            mode[1] == 'w')
            out[count++] = (struct iovec){(void *)begin, end - begin};
    }
    if (maps)
        fclose(maps);
    return count;
}
