/* SPDX-License-Identifier: Apache-2.0 */
#include "members.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workers.h"

static char folder[256], app[64];
static pid_t processes[MEMBERS];

void begin_cluster(void)
{
    const char *place = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/gyre-cluster-XXXXXX", place ? place : "/tmp");
    const char *kept = getenv("CLUSTER_TEST_FOLDER");
    if (kept)
        snprintf(folder, sizeof folder, "%s", kept);
    else
        require(mkdtemp(folder) != NULL);
    const char *given = getenv("CLUSTER_TEST_APP");
    snprintf(app, sizeof app, "%s", given ? given : strrchr(folder, '-') + 1);
    setenv("CLUSTER_TEST_FOLDER", folder, 1);
    setenv("CLUSTER_TEST_APP", app, 1);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

int end_cluster(int code)
{
    if (code == 0 && folder[0])
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return code;
}

const char *const *cluster_settings(const char *more)
{
    static char texts[8][400];
    static const char *settings[13];
    const char *transport = getenv("CLUSTER_TRANSPORT"), *url = getenv("CLUSTER_URL");
    size_t count = 0;
    snprintf(texts[0], sizeof texts[0], "cluster.app=%s", app);
    snprintf(texts[1], sizeof texts[1], "cluster.transport=%s", transport ? transport : "file");
    snprintf(texts[2], sizeof texts[2], "cluster.folder=%s", folder);
    snprintf(texts[3], sizeof texts[3], "cluster.shards=%d", SHARDS);
    snprintf(texts[4], sizeof texts[4], "cluster.lease_ms=%llu",
             (unsigned long long)(patiently(1000) < 3000 ? patiently(1000) : 3000));
    snprintf(texts[5], sizeof texts[5], "cluster.url=%s", url ? url : "");
    snprintf(texts[6], sizeof texts[6], "cluster.reach_ms=60000");
    for (; count < 7; count++)
        settings[count] = texts[count];
    settings[count++] = "cluster.checkpoint_ms=50";
    settings[count++] = "cluster.settle_ms=0"; /* no test depends on which member came first */
    settings[count++] = "kernel.counters.keys=500";
    settings[count++] = "observe.enabled=false";
    settings[count++] = more;
    settings[count] = NULL;
    return settings;
}

/* ---- a member's process ---- */

static volatile sig_atomic_t ended;

static void end(int number)
{
    (void)number;
    ended = 1;
}

static void log_line(void *context, int level, const char *text)
{
    (void)level;
    fprintf(stderr, "%s: %s\n", (const char *)context, text);
}

static void tell_info(const char *name, gyre_member *member)
{
    char path[320], new_path[336];
    gyre_member_info info = {.size = sizeof info};
    must(gyre_member_info_get(member, &info));
    snprintf(path, sizeof path, "%s/%s.info", folder, name);
    snprintf(new_path, sizeof new_path, "%s.new", path);
    const int file = open(new_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(file >= 0 && write(file, &info, sizeof info) == sizeof info);
    close(file);
    require(rename(new_path, path) == 0);
}

int run_member(const char *name, const char *more)
{
    char own[128], first[128];
    gyre_runtime *runtime = NULL;
    gyre_member *member = NULL;
    begin_cluster();
    signal(SIGTERM, end);
    snprintf(own, sizeof own, "cluster.member=%s", name);
    const char *settings[16];
    size_t count = 0;
    for (const char *const *given = cluster_settings(own); *given; given++)
        settings[count++] = *given;
    const size_t length = strcspn(more, " "); /* one setting, or two with a blank between them */
    snprintf(first, sizeof first, "%.*s", (int)length, more);
    settings[count++] = more[0] ? first : NULL;
    settings[count++] = more[length] ? more + length + 1 : NULL;
    settings[count] = NULL;
    const gyre_open_desc open_desc = {.size = sizeof open_desc,
                                      .settings = settings,
                                      .backend = "cpu",
                                      .log = log_line,
                                      .log_context = own};
    must(gyre_open(&open_desc, &runtime));
    const char *source = getenv("CLUSTER_MEMBER_SOURCE");
    const gyre_member_desc desc = {
        .size = sizeof desc, .source = source ? source : COUNTERS_KERNEL, .kernel = "counters"};
    must(gyre_member_start(runtime, &desc, &member));
    while (!ended) {
        tell_info(name, member);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    gyre_member_stop(member);
    gyre_close(runtime);
    return 0;
}

/* ---- the test's side ---- */

void start_member(int which)
{
    char name[16], path[320];
    const char *more = getenv("CLUSTER_MEMBER_SETTING");
    snprintf(name, sizeof name, "m%d", which);
    snprintf(path, sizeof path, "%s/%s.info", folder, name);
    unlink(path);
    const pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* no member outlives its test */
        execl("/proc/self/exe", "member", "member", name, more ? more : "", (char *)NULL);
        _exit(127);
    }
    processes[which] = child;
}

pid_t member_process(int which)
{
    return processes[which];
}

void kill_member(int which)
{
    kill(processes[which], SIGKILL);
    waitpid(processes[which], NULL, 0);
}

void end_member(int which)
{
    int status = 0;
    gyre_member_info info;
    const uint64_t until = soon();
    while (!read_member(which, &info)) { /* before that it may not handle the signal */
        require(gyre_now_ns() < until);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    kill(processes[which], SIGTERM);
    require(waitpid(processes[which], &status, 0) == processes[which]);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

bool read_member(int which, gyre_member_info *info)
{
    char path[320];
    snprintf(path, sizeof path, "%s/m%d.info", folder, which);
    const int file = open(path, O_RDONLY);
    const bool whole = file >= 0 && read(file, info, sizeof *info) == sizeof *info;
    if (file >= 0)
        close(file);
    return whole;
}

static void await(bool (*holds)(int number, uint32_t least), int number, uint32_t least)
{
    const uint64_t until = soon();
    while (!holds(number, least)) {
        require(gyre_now_ns() < until);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

static bool all_owned(int members, uint32_t least)
{
    uint32_t owned = 0;
    for (int i = 0; i < members; i++) {
        gyre_member_info info;
        if (read_member(i, &info))
            owned += info.owned;
    }
    return owned >= least;
}

static bool one_owns(int which, uint32_t least)
{
    gyre_member_info info;
    return read_member(which, &info) && info.owned >= least;
}

void await_owners(int members)
{
    await(all_owned, members, SHARDS);
}

void await_owned(int which, uint32_t least)
{
    await(one_owns, which, least);
}

/* ---- the client ---- */

struct client *open_teller(uint64_t salt)
{
    struct client *teller = calloc(1, sizeof *teller);
    require(teller != NULL);
    teller->salt = salt;
    const gyre_open_desc open_desc = {.size = sizeof open_desc,
                                      .settings = cluster_settings(NULL),
                                      .log = log_line,
                                      .log_context = "client"};
    must(gyre_open(&open_desc, &teller->runtime));
    const gyre_cluster_desc desc = {.size = sizeof desc,
                                    .request = GYRE_TYPE(count_request),
                                    .reply = GYRE_TYPE(count_state),
                                    .deadline_ns = soon(),
                                    .goes_ahead = salt % 2};
    must(gyre_cluster_open(teller->runtime, &desc, &teller->cluster));
    return teller;
}

/* Every eleventh request fails. Accounts of two tellers are not the same. */
static count_request next_request(struct client *teller)
{
    enum { PLACES = sizeof teller->expected / sizeof teller->expected[0] };
    const uint64_t number = teller->sent++, place = number % PLACES;
    const uint64_t account = mixed(number + teller->salt) % ACCOUNTS;
    const count_request request = {teller->salt * ACCOUNTS + account,
                                   number % 11 == 5 ? REFUSED_AMOUNT : mixed(number)};
    count_state *model = &teller->model[account];
    teller->fails[place] = request.amount == REFUSED_AMOUNT;
    teller->answered[place] = false;
    if (!teller->fails[place]) {
        model->count++;
        model->trace = COUNTED(model->trace, request.amount);
    }
    teller->expected[place] = *model;
    return request;
}

void send_some(struct client *teller, uint32_t count)
{
    count_request requests[256];
    uint64_t index = 0;
    size_t sent = 0;
    require(count <= 256);
    const uint64_t first = teller->sent;
    for (uint32_t i = 0; i < count; i++)
        requests[i] = next_request(teller);
    must(
        gyre_cluster_send_batch(teller->cluster, requests, sizeof requests[0], count, &index, &sent, soon()));
    require(sent == count && index == first);
}

static void check_reply(struct client *teller, const gyre_completion *completion, const count_state *reply)
{
    enum { PLACES = sizeof teller->expected / sizeof teller->expected[0] };
    const uint64_t place = completion->index % PLACES;
    require(completion->index < teller->sent && !teller->answered[place]);
    teller->answered[place] = true;
    teller->received++;
    if (teller->fails[place]) {
        require(completion->outcome == GYRE_HANDLER_FAILED && completion->failure_code == 7);
        require(strcmp(completion->failure_text, "refused") == 0);
        return;
    }
    require(completion->outcome == GYRE_REPLIED && completion->length == sizeof *reply);
    require(reply->count == teller->expected[place].count && reply->trace == teller->expected[place].trace);
}

void receive_some(struct client *teller, uint64_t until)
{
    enum { TOGETHER = 7 };
    while (teller->received < until) {
        count_state replies[TOGETHER];
        gyre_completion completions[TOGETHER];
        const uint64_t left = until - teller->received;
        size_t count = 0;
        must(gyre_cluster_receive_batch(teller->cluster, replies, sizeof replies[0],
                                        left < TOGETHER ? left : TOGETHER, completions, &count, soon()));
        require(count > 0 && count <= left);
        for (size_t i = 0; i < count; i++)
            check_reply(teller, &completions[i], &replies[i]);
    }
}

void close_teller(struct client *teller)
{
    gyre_completion completion;
    count_state reply;
    require(gyre_cluster_receive(teller->cluster, &reply, sizeof reply, &completion, GYRE_NO_WAIT) ==
            GYRE_AGAIN);
    must(gyre_cluster_settle(teller->cluster, soon()));
    gyre_cluster_close(teller->cluster);
    gyre_close(teller->runtime);
    free(teller);
}
