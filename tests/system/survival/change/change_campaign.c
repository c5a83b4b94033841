/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swaps, moves, canaries, rollbacks and refusals by chance, of several kernels at once, which keep checkpoints and journals, while several queues
 * send to each of them (campaign_load.h):
 *
 *     change_campaign devices ROUNDS SEED [SECONDS [BACKEND...]]    between all devices of these backends, or of all that there are
 *     change_campaign workers ROUNDS SEED [SECONDS [BACKEND...]]    the backends run in worker processes, which are killed meanwhile
 *
 * It knows what has to become of each change, and ends with an error where something else did. In the end the states are those that were
 * answered, also when the kernels are launched anew from their journals, and those of a kernel that nobody disturbed. It prints one line of
 * JSON. After SECONDS it begins no further round; 0: it makes all of them. The handlers are those of the folder that GYRE_TEST_CHANGES names.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gyre/attach.h>
#include <gyre/change.h>

#include "campaign_load.h"
#include "tests/random.h"
#include "tests/system/survival/crash/workers.h"

enum { NONE = 0, MISTAKEN = 2, DEVICES_MAX = 6, OF_A_BACKEND = 2, PATHS = 4 };

/* The kernels. The last one has no checkpoints, and is left out where worker processes die: it would be lost with the first one. */
static const struct {
    enum load_kind kind;
    const char *name, *kernel; /* as it is launched, and as its file calls it */
    bool is_durable;
} subjects[] = {{LOAD_LEDGER, "ledger", "ledger", true},
                {LOAD_QUOTE, "quote", "quote", false},
                {LOAD_KEYED, "accounts", "accounts", true},
                {LOAD_LEDGER, "shared", "ledger", false}};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

/* A device that kernels move to and from. */
struct place {
    const char *backend;
    uint32_t number;
    char name[24]; /* "cuda:1"; of a backend's first device without the number */
};

struct subject {
    enum load_kind kind;
    const char *name, *in_file;
    gyre_kernel *kernel;
    struct load *load;
    gyre_buffer *totals;
    uint64_t version, former; /* what a rollback brings back; NONE: nothing */
    unsigned device, former_device;
};

struct campaign {
    bool has_workers;
    uint64_t random;
    char folder[64], journals[96], socket_path[96];
    struct place devices[DEVICES_MAX];
    unsigned device_count;
    gyre_runtime *runtime;
    gyre_server *server;
    unsigned subject_count;
    struct subject subjects[SUBJECTS];
    unsigned swaps, moves, taken, refused_canaries, ended_canaries, rollbacks, refusals, pauses,
        lost_to_deaths, ways[DEVICES_MAX][DEVICES_MAX]; /* moves from a device to another one */
    double longest_ms;                                  /* of what a change took, with its compilation */
};

/* A deadline for a change, which compiles first: the senders of several campaigns leave the compiler a small part of the processors. */
static uint64_t when_compiled(void)
{
    return gyre_in_ms(patiently(180000));
}

static uint64_t choose(struct campaign *campaign, uint64_t below)
{
    return random_below(&campaign->random, below);
}

static const char *kernels_folder(void)
{
    const char *const folder = getenv("GYRE_TEST_CHANGES");
    return folder ? folder : CHANGE_KERNELS;
}

/* The files' names live until PATHS more are asked for. */
static const char *file_of(const struct subject *subject, uint64_t version)
{
    static char paths[PATHS][512];
    static unsigned next;
    char *path = paths[next++ % PATHS];
    snprintf(path, sizeof paths[0], "%s/%s_%llu.gyre.c:%s", kernels_folder(),
             subject->kind == LOAD_LEDGER ? "ledger" : "quote", (unsigned long long)version,
             subject->in_file);
    return path;
}

/* ---- what may become of a change ---- */

/*
 * Whether the change was done. Where workers are killed, three deaths in a row let it fail, or so many that it is out of time; and the
 * kernel goes on as it was.
 */
static bool is_done(struct campaign *campaign, const struct subject *subject, gyre_status status,
                    const char *what)
{
    gyre_kernel_info info = {.size = sizeof info};
    if (status == GYRE_OK)
        return true;
    const bool is_of_deaths =
        campaign->has_workers && (status == GYRE_TIMEOUT || strstr(gyre_error_text(), "worker process"));
    if (!is_of_deaths)
        fprintf(stderr, "%s of %s, version %llu on %s: %s\n", what, subject->name,
                (unsigned long long)subject->version, campaign->devices[subject->device].name,
                gyre_error_text());
    require(is_of_deaths);
    must(gyre_kernel_info_get(subject->kernel, &info));
    require(info.state == GYRE_KERNEL_ACTIVE || info.state == GYRE_KERNEL_INACTIVE);
    campaign->lost_to_deaths++;
    return false;
}

static void expect_refused(struct campaign *campaign, gyre_status found, gyre_status status,
                           const char *sentence)
{
    if (found != status || !strstr(gyre_error_text(), sentence))
        fprintf(stderr, "expected '%s', found %s: %s\n", sentence, gyre_status_word(found),
                gyre_error_text());
    require(found == status && strstr(gyre_error_text(), sentence) != NULL);
    campaign->refusals++;
}

static void note_version(struct subject *subject, uint64_t version)
{
    subject->former = subject->version;
    subject->former_device = subject->device;
    subject->version = version;
}

/* ---- changes ---- */

static uint64_t other_version(struct campaign *campaign, const struct subject *subject)
{
    if (subject->kind == LOAD_LEDGER)
        return 3 - subject->version;
    return 1 + (subject->version + choose(campaign, 2)) % 3;
}

static void swap_it(struct campaign *campaign, struct subject *subject)
{
    const uint64_t version = other_version(campaign, subject);
    if (!is_done(campaign, subject,
                 gyre_kernel_swap(subject->kernel, file_of(subject, version), when_compiled()), "a swap"))
        return;
    note_version(subject, version);
    campaign->swaps++;
}

static void roll_back(struct campaign *campaign, struct subject *subject)
{
    const gyre_status status = gyre_kernel_swap_back(subject->kernel, when_compiled());
    if (subject->former == NONE) {
        expect_refused(campaign, status, GYRE_INVALID, "was never swapped");
    } else if (subject->former_device != subject->device) {
        expect_refused(campaign, status, GYRE_INVALID, "was moved since it was swapped");
    } else if (is_done(campaign, subject, status, "a rollback")) {
        note_version(subject, subject->former);
        campaign->rollbacks++;
    }
}

static gyre_status move_to(const struct campaign *campaign, const struct subject *subject, unsigned device)
{
    const struct place *place = &campaign->devices[device];
    return gyre_kernel_move(subject->kernel, place->backend, place->number, when_compiled());
}

static void move_it(struct campaign *campaign, struct subject *subject)
{
    const unsigned device = (unsigned)choose(campaign, campaign->device_count);
    const gyre_status status = move_to(campaign, subject, device);
    if (subject->kind == LOAD_KEYED) {
        expect_refused(campaign, status, GYRE_UNIMPLEMENTED, "is a keyed actor");
    } else if (device == subject->device) {
        expect_refused(campaign, status, GYRE_INVALID, "is on that device");
    } else if (is_done(campaign, subject, status, "a move")) {
        campaign->ways[subject->device][device]++;
        subject->device = device;
        campaign->moves++;
    }
}

static void refuse_it(struct campaign *campaign, struct subject *subject)
{
    char broken[512];
    snprintf(broken, sizeof broken, "%s/ledger_broken.gyre.c", kernels_folder());
    const char *const source = choose(campaign, 2) ? broken : "/nowhere.gyre.c";
    const gyre_status status = gyre_kernel_swap(subject->kernel, source, when_compiled());
    require(status == GYRE_FAILED || status == GYRE_NOT_FOUND || campaign->has_workers);
    require(status != GYRE_OK);
    campaign->refusals++;
}

/* ---- canaries ---- */

static gyre_status try_it(const struct subject *subject, uint64_t version, uint64_t messages,
                          gyre_canary_report *report)
{
    const gyre_canary_desc desc = {.size = sizeof desc,
                                   .share = 1,
                                   .of = 4,
                                   .messages = messages,
                                   .time_ns = patiently(UINT64_C(60000000000))};
    *report = (gyre_canary_report){.size = sizeof *report};
    return gyre_kernel_swap_canary(subject->kernel, file_of(subject, version), &desc, when_compiled(),
                                   report);
}

/* A unit that could not be taken out again, because worker processes died over that, has a way back. */
static void leave_unit(struct campaign *campaign, struct subject *subject)
{
    if (!strstr(gyre_error_text(), "keeps both handlers"))
        return;
    while (!is_done(campaign, subject, gyre_kernel_swap_back(subject->kernel, when_compiled()), "a way back"))
        continue;
    subject->former = NONE; /* the unit: this program does not bring it back */
}

/* The handler with the mistake is worse than any other. */
static void try_another(struct campaign *campaign, struct subject *subject)
{
    gyre_canary_report report;
    const uint64_t version = other_version(campaign, subject);
    const bool is_worse = version == MISTAKEN;
    const gyre_status status = try_it(subject, version, is_worse ? 2000 : 20, &report);
    if (subject->kind == LOAD_LEDGER) {
        expect_refused(campaign, status, GYRE_UNIMPLEMENTED, "make it a keyed actor");
    } else if (is_worse && status == GYRE_FAILED && report.was_worse &&
               strstr(report.text, "fails more messages")) {
        campaign->refused_canaries++;
    } else if (is_done(campaign, subject, status, "a canary")) {
        require(!is_worse && report.took_over);
        note_version(subject, version);
        campaign->taken++;
    } else {
        leave_unit(campaign, subject);
    }
}

struct trial {
    const struct subject *subject;
    uint64_t version;
    gyre_status status;
    gyre_canary_report report;
};

static void *try_in_thread(void *argument)
{
    struct trial *trial = argument;
    trial->status = try_it(trial->subject, trial->version, 0, &trial->report);
    return NULL;
}

/* A canary that would work for long is ended by a rollback, and nothing else changes the kernel until then. */
static void end_canary(struct campaign *campaign, struct subject *subject)
{
    struct trial trial = {.subject = subject, .version = subject->version == 1 ? 3 : 1};
    pthread_t thread;
    if (subject->kind == LOAD_LEDGER || campaign->has_workers) /* whose deaths end it as well */
        return;
    require(pthread_create(&thread, NULL, try_in_thread, &trial) == 0);
    for (const uint64_t limit = when_compiled();
         gyre_kernel_swap(subject->kernel, "/nowhere.gyre.c", when_compiled()) != GYRE_AGAIN;)
        require(gyre_now_ns() < limit);
    expect_refused(campaign, gyre_kernel_move(subject->kernel, "cpu", 0, when_compiled()), GYRE_AGAIN,
                   "has a canary");
    must(gyre_kernel_swap_back(subject->kernel, when_compiled()));
    require(pthread_join(thread, NULL) == 0);
    require(trial.status == GYRE_FAILED && strstr(trial.report.text, "a rollback was asked for"));
    require(!trial.report.took_over && !trial.report.was_worse);
    campaign->ended_canaries++;
}

/* ---- rounds ---- */

static void change_once(struct campaign *campaign)
{
    static void (*const changes[])(struct campaign *, struct subject *) = {
        swap_it,   swap_it,     move_it,     move_it,    move_it,
        roll_back, try_another, try_another, end_canary, refuse_it};
    struct subject *subject = &campaign->subjects[choose(campaign, campaign->subject_count)];
    const uint64_t which = choose(campaign, sizeof changes / sizeof changes[0]);
    const bool is_canary = changes[which] == try_another || changes[which] == end_canary;
    const bool pauses = !is_canary && choose(campaign, 8) == 0;
    if (pauses && is_done(campaign, subject, gyre_kernel_deactivate(subject->kernel, soon()), "a pause"))
        campaign->pauses++;
    changes[which](campaign, subject);
    while (pauses &&
           !is_done(campaign, subject, gyre_kernel_activate(subject->kernel, soon()), "an end of a pause"))
        continue;
    load_expect_version(subject->load, subject->version);
}

/* Compiles every handler for every device that it will be on: workers that are killed meanwhile would not live so long. */
static void compile_all(struct campaign *campaign)
{
    for (unsigned i = 0; i < campaign->subject_count; i++) {
        struct subject *subject = &campaign->subjects[i];
        const uint64_t versions = subject->kind == LOAD_LEDGER ? 2 : 3;
        for (uint64_t version = versions; version >= 1; version--) {
            must(gyre_kernel_swap(subject->kernel, file_of(subject, version), when_compiled()));
            for (unsigned device = campaign->device_count; subject->kind != LOAD_KEYED && device-- > 0;)
                if (campaign->device_count > 1)
                    must(move_to(campaign, subject, device));
        }
        subject->version = 2; /* what worked before the last swap */
        note_version(subject, 1);
    }
}

/* ---- deaths ---- */

struct killer {
    struct campaign *campaign;
    pthread_t thread;
    uint64_t random;
    bool stop; /* atomic */
    unsigned killed;
};

/* Waits until each kernel has answered something since the last death, or is paused for long: workers that die before they could
 * answer show nothing. */
static void await_answers(struct killer *self)
{
    uint64_t before[SUBJECTS];
    const struct campaign *campaign = self->campaign;
    const uint64_t limit = gyre_in_ms(patiently(1000));
    for (unsigned i = 0; i < campaign->subject_count; i++)
        before[i] = load_answered(campaign->subjects[i].load);
    for (unsigned i = 0; i < campaign->subject_count; i++)
        while (load_answered(campaign->subjects[i].load) == before[i] && gyre_now_ns() < limit &&
               !__atomic_load_n(&self->stop, __ATOMIC_RELAXED))
            usleep(1000);
}

static void *kill_workers(void *argument)
{
    struct killer *self = argument;
    while (!__atomic_load_n(&self->stop, __ATOMIC_RELAXED)) {
        usleep((useconds_t)(1000 + random_below(&self->random, 100000)));
        self->killed += kill_worker(); /* of the backends' workers the one that lived longest */
        await_answers(self);
    }
    return NULL;
}

/* ---- kernels ---- */

static void open_runtime(struct campaign *campaign, const char *backend)
{
    const char *const settings[] = {campaign->journals,
                                    "kernel.default.bells=false",
                                    "queue.default.layout=slots",
                                    "kernel.ledger.checkpoints=true",
                                    "kernel.ledger.checkpoint_ms=20",
                                    "queue.ledger.durability=journal",
                                    "queue.ledger.fsync=never",
                                    "kernel.accounts.checkpoints=true",
                                    "kernel.accounts.checkpoint_ms=20",
                                    "queue.accounts.durability=journal",
                                    "queue.accounts.fsync=never",
                                    campaign->has_workers ? "backend.cpu.isolation=process" : NULL,
                                    "backend.opencl.isolation=process",
                                    "kernel.default.poison_limit=1000",
                                    "backend.cpu.restart_limit=100000",
                                    "backend.opencl.restart_limit=100000",
                                    NULL};
    const gyre_open_desc desc = {.size = sizeof desc, .backend = backend, .settings = settings};
    must(gyre_open(&desc, &campaign->runtime));
}

static bool is_wanted(const char *backend, char *const *wanted, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(wanted[i], backend) == 0)
            return true;
    return count == 0;
}

/* Returns whether the device is there. */
static bool add_device(struct campaign *campaign, const char *backend, uint32_t number)
{
    gyre_buffer *probe;
    struct place *place = &campaign->devices[campaign->device_count];
    if (gyre_buffer_alloc(campaign->runtime, backend, number, 8, &probe) != GYRE_OK)
        return false;
    gyre_buffer_free(probe);
    *place = (struct place){.backend = backend, .number = number};
    snprintf(place->name, sizeof place->name, number > 0 ? "%s:%u" : "%s", backend, number);
    campaign->device_count++;
    return true;
}

/* A backend that was asked for by its name has to be there. */
static void find_devices(struct campaign *campaign, char *const *wanted, int count)
{
    static const char *const all[] = {"cpu", "opencl", "cuda"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!is_wanted(all[i], wanted, count))
            continue;
        if (campaign->has_workers && count == 0 && strcmp(all[i], "cuda") == 0)
            continue; /* its worker opens a device for long each time */
        const bool is_there = add_device(campaign, all[i], 0);
        require(is_there || count == 0);
        for (uint32_t number = 1; is_there && number < OF_A_BACKEND; number++)
            (void)add_device(campaign, all[i], number);
    }
    require(campaign->device_count > 0);
}

static gyre_kernel *launch(struct campaign *campaign, const struct subject *subject, const char *name,
                           gyre_buffer **totals)
{
    gyre_kernel *kernel;
    const struct place *place = &campaign->devices[subject->device];
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = file_of(subject, subject->version),
                             .name = name,
                             .backend = place->backend,
                             .device = place->number};
    gyre_binding_name binding = {.name = "totals"};
    if (subject->kind == LOAD_LEDGER) {
        must(gyre_buffer_alloc(campaign->runtime, place->backend, place->number, 8 * sizeof(uint64_t),
                               totals));
        binding.buffer = *totals;
        desc.bindings = &binding;
        desc.binding_count = 1;
    }
    must(gyre_launch(campaign->runtime, &desc, &kernel));
    return kernel;
}

static void begin(struct campaign *campaign, char *const *wanted, int count)
{
    const gyre_serve_desc desc = {.size = sizeof desc, .path = campaign->socket_path};
    strcpy(campaign->folder, "/tmp/gyre-campaign-XXXXXX");
    require(mkdtemp(campaign->folder) != NULL);
    snprintf(campaign->journals, sizeof campaign->journals, "gyre.journal_dir=%s", campaign->folder);
    snprintf(campaign->socket_path, sizeof campaign->socket_path, "%s/socket", campaign->folder);
    open_runtime(campaign, "cpu");
    find_devices(campaign, wanted, count);
    campaign->subject_count = campaign->has_workers ? SUBJECTS - 1 : SUBJECTS;
    for (unsigned i = 0; i < campaign->subject_count; i++) {
        struct subject *subject = &campaign->subjects[i];
        *subject = (struct subject){
            .kind = subjects[i].kind, .name = subjects[i].name, .in_file = subjects[i].kernel, .version = 1};
        subject->kernel = launch(campaign, subject, subject->name, &subject->totals);
    }
    must(gyre_serve(campaign->runtime, &desc, &campaign->server));
    for (unsigned i = 0; i < campaign->subject_count; i++) {
        struct subject *subject = &campaign->subjects[i];
        const struct load_desc load = {.kind = subject->kind,
                                       .name = subject->name,
                                       .socket_path = campaign->socket_path,
                                       .is_durable = subjects[i].is_durable};
        subject->load = load_begin(subject->kernel, &load);
    }
}

/* Launches all anew from the journals, as they were left. */
static void check_journals(struct campaign *campaign)
{
    gyre_buffer *totals;
    gyre_close(campaign->runtime);
    open_runtime(campaign, "cpu");
    for (unsigned i = 0; i < campaign->subject_count; i++) {
        struct subject *subject = &campaign->subjects[i];
        if (!subjects[i].is_durable)
            continue;
        subject->kernel = launch(campaign, subject, subject->name, &totals);
        load_check_kept(subject->load, subject->kernel);
    }
}

static uint64_t end(struct campaign *campaign)
{
    struct subject *ledger = &campaign->subjects[0];
    gyre_buffer *totals;
    uint64_t sent = 0;
    char command[128];
    for (unsigned i = 0; i < campaign->subject_count; i++) {
        sent += load_end(campaign->subjects[i].load);
        load_check_kept(campaign->subjects[i].load, campaign->subjects[i].kernel);
    }
    gyre_server_close(campaign->server);
    check_journals(campaign);
    gyre_kernel *undisturbed = launch(campaign, ledger, "undisturbed", &totals);
    load_check_undisturbed(ledger->load, ledger->kernel, undisturbed);
    gyre_close(campaign->runtime);
    for (unsigned i = 0; i < campaign->subject_count; i++)
        load_free(campaign->subjects[i].load);
    snprintf(command, sizeof command, "rm -r %s", campaign->folder);
    require(system(command) == 0);
    return sent;
}

static void tell_ways(const struct campaign *campaign)
{
    const char *separator = "";
    printf("\"ways\":{");
    for (unsigned from = 0; from < campaign->device_count; from++)
        for (unsigned to = 0; to < campaign->device_count; to++)
            if (from != to) {
                printf("%s\"%s to %s\":%u", separator, campaign->devices[from].name,
                       campaign->devices[to].name, campaign->ways[from][to]);
                separator = ",";
            }
    printf("}");
}

/* Behind all checks: the states are as answered, from the journals, and of an undisturbed run. */
static void tell(const struct campaign *campaign, unsigned long rounds, unsigned long seed, unsigned killed,
                 uint64_t sent)
{
    printf(
        "{\"seed\":%lu,\"rounds\":%lu,\"swaps\":%u,\"moves\":%u,\"canaries_taken\":%u,\"canaries_worse\":%u,"
        "\"canaries_ended\":%u,\"rollbacks\":%u,\"refusals\":%u,\"pauses\":%u,\"workers_killed\":%u,"
        "\"changes_lost_to_deaths\":%u,\"messages\":%llu,\"longest_ms\":%.1f,",
        seed, rounds, campaign->swaps, campaign->moves, campaign->taken, campaign->refused_canaries,
        campaign->ended_canaries, campaign->rollbacks, campaign->refusals, campaign->pauses, killed,
        campaign->lost_to_deaths, (unsigned long long)sent, campaign->longest_ms);
    tell_ways(campaign);
    printf("}\n");
}

/* Returns how many rounds were begun until `limit_ns`; 0: all. */
static unsigned long make_rounds(struct campaign *campaign, unsigned long rounds, uint64_t limit_ns)
{
    for (unsigned long i = 0; i < rounds; i++) {
        const uint64_t begun = gyre_now_ns();
        if (limit_ns > 0 && begun >= limit_ns)
            return i;
        change_once(campaign);
        const double took_ms = (double)(gyre_now_ns() - begun) / 1e6;
        if (took_ms > campaign->longest_ms)
            campaign->longest_ms = took_ms;
    }
    return rounds;
}

int main(int argc, char **argv)
{
    enum { FIRST_BACKEND = 5 };
    struct campaign campaign = {0};
    struct killer killer = {.campaign = &campaign};
    if (argc < 4 || (strcmp(argv[1], "devices") != 0 && strcmp(argv[1], "workers") != 0)) {
        fprintf(stderr, "usage: change_campaign devices|workers ROUNDS SEED [SECONDS [BACKEND...]]\n");
        return 2;
    }
    const unsigned long rounds = strtoul(argv[2], NULL, 10), seed = strtoul(argv[3], NULL, 10);
    const uint64_t seconds = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    campaign.has_workers = strcmp(argv[1], "workers") == 0;
    campaign.random = random_begin(seed);
    killer.random = random_begin(seed + 1);
    begin(&campaign, argv + FIRST_BACKEND, argc > FIRST_BACKEND ? argc - FIRST_BACKEND : 0);
    if (campaign.has_workers) {
        compile_all(&campaign);
        require(pthread_create(&killer.thread, NULL, kill_workers, &killer) == 0);
    }
    const unsigned long made = make_rounds(&campaign, rounds, seconds > 0 ? gyre_in_ms(seconds * 1000) : 0);
    __atomic_store_n(&killer.stop, true, __ATOMIC_RELAXED);
    if (campaign.has_workers)
        require(pthread_join(killer.thread, NULL) == 0);
    const uint64_t sent = end(&campaign);
    tell(&campaign, made, seed, killer.killed, sent);
    return EXIT_SUCCESS;
}
