/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler that is tried on a part of the messages before it gets all of them (gyre_kernel_swap_canary): of each form, under load, and
 * what ends it early. One case a run, `test_canary CASE`, on the backend that CHANGES_BACKEND names; `test_canary campaign ROUNDS` by hand.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gyre/attach.h>
#include <gyre/change.h>
#include <gyre/keyed.h>
#include <gyre/waiting.h>

#include "quote.h"
#include "tests/system/survival/crash/workers.h"

enum { ACCOUNTS = 256, ROUNDS = 6, DEATHS = 12 };

static const char *backend(void)
{
    const char *named = getenv("CHANGES_BACKEND");
    return named ? named : "cpu";
}

/* The files' names live until four more are asked for. */
static const char *file(const char *name, const char *kernel)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s.gyre.c:%s", CHANGE_KERNELS, name, kernel);
    return path;
}

static gyre_runtime *open_runtime(const char *const *settings)
{
    const gyre_open_desc desc = {.size = sizeof desc, .backend = backend(), .settings = settings};
    gyre_runtime *runtime;
    must(gyre_open(&desc, &runtime));
    return runtime;
}

static gyre_kernel *launch(gyre_runtime *runtime, const char *kernel)
{
    const gyre_launch_desc desc = {.size = sizeof desc, .source = file("quote_1", kernel), .name = kernel};
    gyre_kernel *launched;
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

/* ---- load ---- */

struct load {
    gyre_kernel *kernel;
    pthread_t thread;
    bool stop;            /* atomic */
    bool keyed, mistaken; /* a handler with the mistake may answer */
    uint64_t calls, failed, of_version[5];
    uint64_t totals[ACCOUNTS], counts[ACCOUNTS], versions[ACCOUNTS];
};

static uint64_t total_of(uint64_t price)
{
    static const uint64_t rates[] = {19, 7, 0, 19};
    return price + price * rates[price % 4] / 100;
}

/* A message that failed left nothing behind. */
static void call_once(struct load *load)
{
    const quote_asked request = {.account = load->calls % ACCOUNTS, .price = load->calls % 1000};
    quote_given reply;
    gyre_completion completion = {0};
    const gyre_status status = gyre_call(gyre_kernel_queue(load->kernel), &request, sizeof request, &reply,
                                         sizeof reply, &completion, soon());
    load->calls++;
    if (completion.outcome == GYRE_HANDLER_FAILED) {
        require(load->mistaken && request.price % 7 == 3);
        load->failed++;
        return;
    }
    must(status);
    require(completion.outcome == GYRE_REPLIED && reply.version >= 1 && reply.version <= 4);
    load->of_version[reply.version]++;
    if (load->keyed) {
        load->totals[request.account] += request.price;
        load->versions[request.account] = reply.version;
        require(reply.total == load->totals[request.account] &&
                reply.count == ++load->counts[request.account]);
    } else {
        require(reply.total == total_of(request.price) || reply.version == 4);
    }
}

static void *call_on(void *argument)
{
    struct load *load = argument;
    while (!__atomic_load_n(&load->stop, __ATOMIC_RELAXED))
        call_once(load);
    return NULL;
}

static void begin_load(struct load *load)
{
    load->stop = false;
    require(pthread_create(&load->thread, NULL, call_on, load) == 0);
}

static void end_load(struct load *load)
{
    __atomic_store_n(&load->stop, true, __ATOMIC_RELAXED);
    pthread_join(load->thread, NULL);
}

/* Calls each account once: all have to be answered by `version`. */
static void expect_version(struct load *load, uint64_t version)
{
    const uint64_t before = load->of_version[version], failed = load->failed;
    for (int i = 0; i < ACCOUNTS; i++)
        call_once(load);
    require(load->of_version[version] + load->failed - before - failed == ACCOUNTS);
}

/* ---- canaries ---- */

static gyre_canary_desc part(uint32_t share, uint32_t of, uint64_t messages)
{
    return (gyre_canary_desc){.size = sizeof(gyre_canary_desc),
                              .share = share,
                              .of = of,
                              .messages = messages,
                              .time_ns = patiently(UINT64_C(60000000000))};
}

static gyre_status try_on(gyre_kernel *kernel, const char *source, gyre_canary_desc desc,
                          gyre_canary_report *report)
{
    *report = (gyre_canary_report){.size = sizeof *report};
    return gyre_kernel_swap_canary(kernel, source, &desc, soon(), report);
}

/* A better handler takes all and a worse one goes back, under load; every message is answered once. */
static void tried_as(const char *name, bool keyed)
{
    gyre_runtime *runtime = open_runtime(NULL);
    struct load load = {.kernel = launch(runtime, name), .keyed = keyed, .mistaken = true};
    gyre_canary_report report;
    expect_version(&load, 1);
    begin_load(&load);
    require(try_on(load.kernel, file("quote_2", name), part(1, 4, 4000), &report) == GYRE_FAILED);
    printf("%s\n", report.text);
    require(strstr(gyre_error_text(), "fails more messages") && !report.took_over);
    require(report.next_failed && !report.failed && report.next_handled >= report.next_failed &&
            report.handled);
    gyre_canary_desc for_ever = part(1, 4, 400);
    for_ever.time_ns = UINT64_MAX;
    must(try_on(load.kernel, file("quote_3", name), for_ever, &report));
    printf("%s\n", report.text);
    require(report.took_over && !report.failed && !report.next_failed && report.next_handled >= 400);
    if (!keyed) /* in turn, so that it is a quarter but for the messages of one turn */
        require(report.next_handled * 3 <= report.handled + 3 &&
                report.next_handled * 3 + 9 >= report.handled);
    end_load(&load);
    load.mistaken = false;
    expect_version(&load, 3);
    must(gyre_kernel_swap_back(load.kernel, soon()));
    expect_version(&load, 1);
    gyre_close(runtime);
}

static void a_lane_kernel_has_one(void)
{
    tried_as("quote", false);
}

static void a_block_kernel_has_one(void)
{
    tried_as("folded", false);
}

static void a_keyed_actor_has_one(void)
{
    tried_as("accounts", true);
}

struct trying {
    gyre_kernel *kernel;
    const char *source;
    gyre_canary_desc desc;
    gyre_canary_report report;
    gyre_status status;
    char why[512];
};

static void *try_in_thread(void *argument)
{
    struct trying *trying = argument;
    trying->status = try_on(trying->kernel, trying->source, trying->desc, &trying->report);
    snprintf(trying->why, sizeof trying->why, "%s", gyre_error_text());
    return NULL;
}

/* Calls until version 3 answers: the canary works. */
static void await_canary(struct load *load)
{
    const uint64_t limit = soon();
    while (!load->of_version[3]) {
        require(gyre_now_ns() < limit);
        call_once(load);
    }
}

/* Each key has one handler for as long as the canary works, and about a quarter of them the new one. */
static void keys_have_one_handler(void)
{
    gyre_runtime *runtime = open_runtime(NULL);
    struct load load = {.kernel = launch(runtime, "accounts"), .keyed = true};
    struct trying trying = {
        .kernel = load.kernel, .source = file("quote_3", "accounts"), .desc = part(1, 4, 0)};
    uint64_t versions[ACCOUNTS], of_new = 0;
    pthread_t thread;
    require(pthread_create(&thread, NULL, try_in_thread, &trying) == 0);
    await_canary(&load);
    for (int i = 0; i < ACCOUNTS; i++)
        call_once(&load);
    memcpy(versions, load.versions, sizeof versions);
    for (int i = 0; i < 4 * ACCOUNTS; i++)
        call_once(&load);
    for (int i = 0; i < ACCOUNTS; i++) {
        require(load.versions[i] == versions[i]);
        of_new += versions[i] == 3;
    }
    require(of_new > ACCOUNTS / 8 && of_new < ACCOUNTS / 2);
    must(gyre_kernel_swap_back(load.kernel, soon()));
    pthread_join(thread, NULL);
    require(trying.status == GYRE_FAILED && strstr(trying.why, "a rollback was asked for"));
    expect_version(&load, 1);
    gyre_close(runtime);
}

static void expect_refused(gyre_status found, gyre_status status, const char *sentence)
{
    if (found != status || !strstr(gyre_error_text(), sentence))
        fprintf(stderr, "expected %s, found %s: %s\n", sentence, gyre_status_word(found), gyre_error_text());
    require(found == status && strstr(gyre_error_text(), sentence));
}

/* While a canary works nothing else changes the kernel, and both handlers answer. */
static void others_wait(void)
{
    gyre_runtime *runtime = open_runtime(NULL);
    struct load load = {.kernel = launch(runtime, "quote")};
    struct trying trying = {
        .kernel = load.kernel, .source = file("quote_3", "quote"), .desc = part(1, 16, 0)};
    gyre_canary_report report;
    pthread_t thread;
    require(pthread_create(&thread, NULL, try_in_thread, &trying) == 0);
    await_canary(&load);
    expect_refused(gyre_kernel_swap(load.kernel, file("quote_3", "quote"), soon()), GYRE_AGAIN,
                   "has a canary");
    expect_refused(gyre_kernel_move(load.kernel, "cpu", 0, soon()), GYRE_AGAIN, "has a canary");
    expect_refused(try_on(load.kernel, file("quote_3", "quote"), part(1, 2, 1), &report), GYRE_AGAIN,
                   "has a canary");
    must(gyre_kernel_swap_back(load.kernel, soon()));
    pthread_join(thread, NULL);
    require(trying.status == GYRE_FAILED && !trying.report.took_over);
    expect_version(&load, 1);
    expect_refused(gyre_kernel_swap_back(load.kernel, soon()), GYRE_INVALID, "was never swapped");
    load.of_version[3] = 0;
    require(pthread_create(&thread, NULL, try_in_thread, &trying) == 0);
    await_canary(&load);
    must(gyre_kernel_terminate(load.kernel, soon(), NULL));
    pthread_join(thread, NULL);
    if (!strstr(trying.why, "ended with the kernel"))
        fprintf(stderr, "%s\n", trying.why);
    require(trying.status == GYRE_FAILED && strstr(trying.why, "ended with the kernel"));
    require(strcmp(trying.report.text, trying.why) == 0 && !trying.report.took_over &&
            !trying.report.was_worse);
    gyre_close(runtime);
}

static void refuse(gyre_runtime *runtime, const char *kernel, const gyre_launch_desc *how,
                   gyre_canary_desc desc, gyre_status status, const char *sentence)
{
    gyre_launch_desc launch_desc = *how;
    gyre_canary_report report;
    gyre_kernel *launched;
    launch_desc.source = file("quote_1", kernel);
    launch_desc.name = kernel;
    must(gyre_launch(runtime, &launch_desc, &launched));
    expect_refused(try_on(launched, file("quote_3", kernel), desc, &report), status, sentence);
    must(gyre_kernel_terminate(launched, soon(), NULL));
}

static void put_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    require(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

/* A macro of the old file's header would stay for the new file; and the old file's header is another text than when it was compiled. */
static void headers_that_differ_are_told(gyre_runtime *runtime)
{
    char folder[] = "/tmp/gyre-canary-XXXXXX", source[256], command[128];
    gyre_kernel *launched;
    gyre_canary_report report;
    require(mkdtemp(folder) != NULL);
    put_file(folder, "fee.h", "#define FEE 19\n");
    put_file(folder, "asked.h",
             "#pragma once\n#define ASKED(FIELD) FIELD(u64, price)\nGYRE_MESSAGE(asked, ASKED)\n");
    put_file(
        folder, "fees.gyre.c",
        "#include <gyre/kernel.h>\n#include \"asked.h\"\n#include \"fee.h\"\n"
        "GYRE_KERNEL(fees, asked, asked)\n{\n    reply->price = request->price + FEE;\n    return GYRE_REPLY;\n}\n");
    put_file(
        folder, "next.gyre.c",
        "#include <gyre/kernel.h>\n#include \"asked.h\"\n#ifndef FEE\n#define FEE 7\n#endif\n"
        "GYRE_KERNEL(fees, asked, asked)\n{\n    reply->price = request->price + FEE;\n    return GYRE_REPLY;\n}\n");
    snprintf(source, sizeof source, "%s/fees.gyre.c", folder);
    const gyre_launch_desc desc = {.size = sizeof desc, .source = source};
    must(gyre_launch(runtime, &desc, &launched));
    snprintf(command, sizeof command, "%s/next.gyre.c", folder);
    expect_refused(try_on(launched, command, part(1, 2, 1), &report), GYRE_INCOMPATIBLE, "names 'FEE'");
    put_file(folder, "fee.h", "#define FEE 20\n");
    expect_refused(try_on(launched, source, part(1, 2, 1), &report), GYRE_INCOMPATIBLE,
                   "has changed since that was compiled");
    require(report.size == sizeof report && !report.took_over && !report.text[0]);
    const gyre_canary_desc half = part(1, 2, 1); /* a program whose report is a shorter one */
    report = (gyre_canary_report){.size = sizeof report.size + sizeof report.took_over, .text = "kept"};
    expect_refused(gyre_kernel_swap_canary(launched, source, &half, soon(), &report), GYRE_INCOMPATIBLE,
                   "has changed");
    require(strcmp(report.text, "kept") == 0);
    must(gyre_kernel_terminate(launched, soon(), NULL));
    snprintf(command, sizeof command, "rm -r %s", folder);
    require(system(command) == 0);
}

static bool is_there(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void await_file(const char *folder, const char *name)
{
    const uint64_t limit = soon();
    while (!is_there(folder, name)) {
        require(gyre_now_ns() < limit);
        usleep(1000);
    }
}

static void *go_back_in_thread(void *argument)
{
    struct trying *trying = argument;
    trying->status = gyre_kernel_swap_back(trying->kernel, soon());
    snprintf(trying->why, sizeof trying->why, "%s", gyre_error_text());
    return NULL;
}

/* The canary's compiler waits until the rollback was asked for. */
static void a_rollback_while_it_is_compiled_ends_it(void)
{
    char folder[] = "/tmp/gyre-canary-XXXXXX", setting[256], script[512], command[128];
    require(mkdtemp(folder) != NULL);
    snprintf(
        script, sizeof script,
        "#!/bin/sh\nif [ -e %s/slow ]; then : >%s/compiles; until [ -e %s/go ]; do sleep 0.01; done; fi\n"
        "exec cc \"$@\"\n",
        folder, folder, folder);
    put_file(folder, "compiler", script);
    snprintf(setting, sizeof setting, "%s/compiler", folder);
    require(chmod(setting, 0700) == 0);
    snprintf(setting, sizeof setting, "backend.cpu.compiler=%s/compiler", folder);
    gyre_runtime *runtime = open_runtime((const char *const[]){setting, "gyre.cache_dir=", NULL});
    struct load load = {.kernel = launch(runtime, "quote")};
    struct trying trying = {
        .kernel = load.kernel, .source = file("quote_3", "quote"), .desc = part(1, 16, 0)};
    struct trying going_back = {.kernel = load.kernel};
    pthread_t threads[2];
    put_file(folder, "slow", "");
    require(pthread_create(&threads[0], NULL, try_in_thread, &trying) == 0);
    await_file(folder, "compiles");
    require(pthread_create(&threads[1], NULL, go_back_in_thread, &going_back) == 0);
    usleep(
        50000); /* long enough for the rollback to look for a canary; it ends one that it finds later as well */
    put_file(folder, "go", "");
    pthread_join(threads[1], NULL);
    if (going_back.status != GYRE_OK)
        fprintf(stderr, "%s\n", going_back.why);
    require(going_back.status == GYRE_OK);
    pthread_join(threads[0], NULL);
    require(trying.status == GYRE_FAILED && strstr(trying.why, "a rollback was asked for"));
    expect_version(&load, 1);
    gyre_close(runtime);
    snprintf(command, sizeof command, "rm -r %s", folder);
    require(system(command) == 0);
}

static void what_has_none_is_told(void)
{
    gyre_runtime *runtime = open_runtime(NULL);
    const gyre_launch_desc plain = {.size = sizeof plain};
    gyre_buffer *kept;
    gyre_canary_report report = {.size = sizeof report};
    must(gyre_buffer_alloc(runtime, NULL, 0, 64, &kept));
    const gyre_binding_name binding = {"kept", kept};
    const gyre_launch_desc bound = {.size = sizeof bound, .bindings = &binding, .binding_count = 1};
    refuse(runtime, "one_state", &plain, part(1, 2, 1), GYRE_UNIMPLEMENTED, "make it a keyed actor");
    refuse(runtime, "one_buffer", &bound, part(1, 2, 1), GYRE_UNIMPLEMENTED, "make it a keyed actor");
    refuse(runtime, "quote", &plain, part(3, 2, 1), GYRE_INVALID, "expected a part of them, such as 1/16");
    const gyre_launch_desc hooked = {.size = sizeof hooked, .source = TELLERS ":watched", .name = "watched"};
    gyre_kernel *launched;
    must(gyre_launch(runtime, &hooked, &launched));
    expect_refused(try_on(launched, TELLERS ":watched", part(1, 2, 1), &report), GYRE_UNIMPLEMENTED,
                   "with GYRE_KEYED_ACTOR_REMINDED, whose kernels have no canary");
    const gyre_canary_desc half = part(1, 2, 1);
    require(gyre_kernel_swap_canary(NULL, "x", &half, soon(), &report) == GYRE_INVALID);
    headers_that_differ_are_told(runtime);
    gyre_close(runtime);
}

/* With `timing` a handler that takes far longer is worse, though it fails nothing. */
static void a_slow_handler_goes_back(void)
{
    const char *const settings[] = {"kernel.quote.timing=true", NULL};
    gyre_runtime *runtime = open_runtime(settings);
    struct load load = {.kernel = launch(runtime, "quote")};
    gyre_canary_report report;
    begin_load(&load);
    require(try_on(load.kernel, file("quote_slow", "quote"), part(1, 4, 100), &report) == GYRE_FAILED);
    printf("%s\n", report.text);
    require(strstr(report.text, "ns for a message, and the old one"));
    end_load(&load);
    expect_version(&load, 1);
    gyre_close(runtime);
}

/* A worker that dies while both handlers work is replaced; the old handler goes on, and every call was answered once. */
static void a_worker_dies_meanwhile(void)
{
    const char *const settings[] = {"backend.cpu.isolation=process", NULL};
    gyre_runtime *runtime = open_runtime(settings);
    struct load load = {.kernel = launch(runtime, "quote")};
    struct trying trying = {.kernel = load.kernel, .source = file("quote_3", "quote"), .desc = part(1, 4, 0)};
    pthread_t thread;
    require(pthread_create(&thread, NULL, try_in_thread, &trying) == 0);
    await_canary(&load);
    require(kill_worker());
    for (int i = 0; i < ACCOUNTS; i++)
        call_once(&load);
    pthread_join(thread, NULL);
    printf("%s\n", trying.why);
    require(trying.status == GYRE_FAILED && strstr(trying.why, "the worker process died 1 time"));
    expect_version(&load, 1);
    gyre_close(runtime);
}

/* Keeps the kernel's queue full. */
static void *send_on(void *argument)
{
    struct load *load = argument;
    while (!__atomic_load_n(&load->stop, __ATOMIC_RELAXED)) {
        const quote_asked request = {.account = load->calls % ACCOUNTS, .price = 10};
        must(gyre_send(gyre_kernel_queue(load->kernel), &request, sizeof request, NULL, soon()));
        __atomic_fetch_add(&load->calls, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Receives what send_on sent, until it ends. */
static void *receive_on(void *argument)
{
    struct load *load = argument;
    uint64_t received = 0;
    while (!__atomic_load_n(&load->stop, __ATOMIC_ACQUIRE) ||
           received < __atomic_load_n(&load->calls, __ATOMIC_ACQUIRE)) {
        quote_given reply;
        gyre_completion completion = {0};
        const gyre_status status =
            gyre_receive(gyre_kernel_queue(load->kernel), &reply, sizeof reply, &completion, gyre_in_ms(10));
        if (status == GYRE_TIMEOUT)
            continue;
        must(status);
        received++;
        load->failed += completion.outcome != GYRE_REPLIED;
    }
    return NULL;
}

/* A handler that crashes with each message goes back after the first deaths, though the kernel comes to no boundary between them. */
static void crashes_and_goes_back(const char *name)
{
    const char *const settings[] = {"backend.cpu.isolation=process", "kernel.accounts.checkpoints=true",
                                    NULL};
    gyre_runtime *runtime = open_runtime(settings);
    struct load load = {.kernel = launch(runtime, name)};
    gyre_kernel_info info = {.size = sizeof info};
    gyre_canary_report report;
    pthread_t sender, receiver;
    require(pthread_create(&sender, NULL, send_on, &load) == 0);
    require(pthread_create(&receiver, NULL, receive_on, &load) == 0);
    require(try_on(load.kernel, file("quote_crash", name), part(1, 2, 0), &report) == GYRE_FAILED);
    must(gyre_kernel_info_get(load.kernel, &info));
    printf("%s; %u deaths\n", report.text, info.restarts);
    require(report.was_worse && strstr(report.text, "the worker process died") && info.restarts <= DEATHS);
    __atomic_store_n(&load.stop, true, __ATOMIC_RELEASE);
    pthread_join(sender, NULL);
    pthread_join(receiver, NULL);
    printf("%llu of %llu messages failed\n", (unsigned long long)load.failed, (unsigned long long)load.calls);
    for (int i = 0; i < ACCOUNTS; i++) {
        const quote_asked request = {.account = (uint64_t)i, .price = 10};
        quote_given reply;
        must(gyre_call(gyre_kernel_queue(load.kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
        require(reply.version == 1);
    }
    gyre_close(runtime);
}

static void a_handler_that_crashes_goes_back(void)
{
    crashes_and_goes_back("quote");
    crashes_and_goes_back("accounts");
}

/* Whoever asked for a canary and is gone can be told nothing: the old handler goes on. */
static void end_who_asked(struct load *load, const char *socket_path)
{
    const pid_t asker = fork();
    const uint64_t limit = gyre_clock_ns() + patiently(UINT64_C(20000000000));
    require(asker >= 0);
    if (asker == 0) {
        execl(GYRE_COMMAND, "gyre", "swap", "quote", file("quote_3", "quote"), "--canary", "1/4", "--for",
              "3600", "--socket", socket_path, (char *)NULL);
        _exit(1);
    }
    await_canary(load);
    require(kill(asker, SIGKILL) == 0 && waitpid(asker, NULL, 0) == asker);
    while (gyre_kernel_swap(load->kernel, "/nowhere.gyre.c", soon()) == GYRE_AGAIN)
        require(gyre_clock_ns() < limit);
    expect_version(load, 1);
}

enum swap_exit { TOOK_OVER = 0, NOT_TRIED = 1, WORSE = 6, UNDECIDED = 7 };

/* `gyre swap quote SOURCE --canary 1/4 HOW` has to end so, and to say `sentence`. */
static void swap_ends(const char *socket_path, const char *source, const char *how, enum swap_exit expected,
                      const char *sentence)
{
    char command[1024], said[4096];
    snprintf(command, sizeof command, "%s swap quote '%s' --canary 1/4 %s --timeout 60000 --socket %s 2>&1",
             GYRE_COMMAND, source, how, socket_path);
    FILE *out = popen(command, "re");
    require(out != NULL);
    said[fread(said, 1, sizeof said - 1, out)] = '\0';
    const int status = pclose(out);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != (int)expected || !strstr(said, sentence))
        fprintf(stderr, "expected %d and '%s', found %d and '%s'\n", (int)expected, sentence,
                WEXITSTATUS(status), said);
    require(WIFEXITED(status) && WEXITSTATUS(status) == (int)expected && strstr(said, sentence));
}

static void *end_canary_soon(void *argument)
{
    struct load *load = argument;
    while (gyre_kernel_swap(load->kernel, "/nowhere.gyre.c", soon()) != GYRE_AGAIN)
        continue; /* the process of the test ends it after a while */
    must(gyre_kernel_swap_back(load->kernel, soon()));
    return NULL;
}

/* The exit code tells a handler that is worse from one that could not be tried, and from one of which nobody knows. */
static void exit_codes_tell_what_happened(struct load *load, const char *socket_path)
{
    pthread_t thread;
    swap_ends(socket_path, file("quote_3", "quote"), "--for 1", UNDECIDED, "the new handler got no message");
    require(pthread_create(&thread, NULL, end_canary_soon, load) == 0);
    swap_ends(socket_path, file("quote_3", "quote"), "--for 3600", UNDECIDED, "a rollback was asked for");
    pthread_join(thread, NULL);
    swap_ends(socket_path, file("ledger_broken", "ledger"), "--for 60", NOT_TRIED, "no_such_name");
    swap_ends(socket_path, file("quote_3", "accounts"), "--for 60", NOT_TRIED, "a handler keeps its form");
    swap_ends(socket_path, "/nowhere.gyre.c", "--for 60", NOT_TRIED, "/nowhere.gyre.c");
    begin_load(load);
    swap_ends(socket_path, file("quote_2", "quote"), "--messages 4000 --for 60", WORSE,
              "fails more messages");
    swap_ends(socket_path, file("quote_3", "quote"), "--messages 100 --for 60", TOOK_OVER, "takes all");
    end_load(load);
}

/* What a program is told by the server is what it is told by its own kernel. */
static void reports_of_a_server_have_it_too(struct load *load, const char *socket_path)
{
    const gyre_canary_desc canary = part(1, 4, 4000);
    gyre_canary_report report = {.size = sizeof report};
    const gyre_attach_desc desc = {.size = sizeof desc, .path = socket_path, .deadline_ns = soon()};
    require(gyre_served_swap_canary("quote", file("ledger_broken", "ledger"), &canary, &desc, &report) ==
                GYRE_FAILED &&
            !report.text[0] && !report.was_worse);
    begin_load(load);
    require(gyre_served_swap_canary("quote", file("quote_2", "quote"), &canary, &desc, &report) ==
            GYRE_FAILED);
    require(report.was_worse && !report.took_over && report.next_failed && report.handled);
    require(strcmp(report.text, gyre_error_text()) == 0);
    end_load(load);
}

/* Starts a server of its own process, whose log `*log` gets. */
static pid_t begin_server(const char *socket_path, FILE **log)
{
    int ends[2];
    require(pipe2(ends, O_CLOEXEC) == 0);
    const pid_t server = fork();
    require(server >= 0);
    if (server == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl(GYRE_COMMAND, "gyre", "serve", file("quote_1", "quote"), "--backend", backend(), "--socket",
              socket_path, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    *log = fdopen(ends[0], "r");
    require(*log != NULL);
    return server;
}

static void await_line(FILE *log, const char *words)
{
    char line[1024];
    do
        require(fgets(line, sizeof line, log) != NULL);
    while (!strstr(line, words));
}

static void *ask_until_server_ends(void *socket_path)
{
    swap_ends(socket_path, file("quote_3", "quote"), "--for 3600", UNDECIDED,
              "the new handler of kernel 'quote' answered 0 messages");
    return NULL;
}

/* A server that is told to end says so to whoever asked for a canary. */
static void a_server_ends_meanwhile(void)
{
    char socket_path[64];
    pthread_t thread;
    FILE *log;
    int status;
    snprintf(socket_path, sizeof socket_path, "/tmp/gyre-canary-%d.sock", (int)getpid());
    const pid_t server = begin_server(socket_path, &log);
    await_line(log, "serving at");
    require(pthread_create(&thread, NULL, ask_until_server_ends, socket_path) == 0);
    await_line(log, "has a canary");
    require(kill(server, SIGTERM) == 0);
    pthread_join(thread, NULL);
    require(waitpid(server, &status, 0) == server && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fclose(log);
}

static void ask_for_ever(const char *socket_path)
{
    gyre_canary_desc canary = part(1, 4, 100);
    gyre_canary_report report = {.size = sizeof report};
    const gyre_attach_desc desc = {.size = sizeof desc, .path = socket_path, .deadline_ns = UINT64_MAX};
    canary.time_ns = UINT64_C(5000000000); /* so that a sum that wraps lies in the past */
    must(gyre_served_swap_canary("quote", file("quote_3", "quote"), &canary, &desc, &report));
    require(report.took_over);
}

/* The command, at a server, before attached clients. */
static void a_server_tries_it(void)
{
    static char socket_path[64];
    gyre_server *server;
    snprintf(socket_path, sizeof socket_path, "/tmp/gyre-canary-%d.sock", (int)getpid());
    gyre_runtime *runtime = open_runtime(NULL);
    struct load load = {.kernel = launch(runtime, "quote"), .mistaken = true};
    const gyre_serve_desc desc = {.size = sizeof desc, .path = socket_path};
    must(gyre_serve(runtime, &desc, &server));
    end_who_asked(&load, socket_path);
    exit_codes_tell_what_happened(&load, socket_path);
    reports_of_a_server_have_it_too(&load, socket_path);
    begin_load(&load);
    ask_for_ever(socket_path);
    end_load(&load);
    load.mistaken = false;
    expect_version(&load, 3);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* ---- the campaign ---- */

/*
 * Swaps, canaries and rollbacks in turn of a keyed actor that keeps checkpoints and a journal, under load. The caller knows what each
 * account has to have; in the end the states are read and compared.
 */
static void campaign(unsigned rounds)
{
    char folder[] = "/tmp/gyre-canary-XXXXXX", where[64], command[128];
    require(mkdtemp(folder) != NULL);
    snprintf(where, sizeof where, "gyre.journal_dir=%s", folder);
    const char *const settings[] = {where, "kernel.accounts.checkpoints=true",
                                    "queue.accounts.durability=journal", NULL};
    gyre_runtime *runtime = open_runtime(settings);
    struct load load = {.kernel = launch(runtime, "accounts"), .keyed = true, .mistaken = true};
    gyre_canary_report report;
    unsigned taken = 0, back = 0, swaps = 0;
    begin_load(&load);
    for (unsigned i = 0; i < rounds; i++) {
        if (i % 3 == 0) {
            must(gyre_kernel_swap(load.kernel, file(i % 2 ? "quote_1" : "quote_3", "accounts"), soon()));
            swaps++;
        } else if (i % 3 == 1) {
            must(try_on(load.kernel, file(i % 2 ? "quote_1" : "quote_3", "accounts"), part(1, 4, 50),
                        &report));
            taken++;
        } else {
            require(try_on(load.kernel, file("quote_2", "accounts"), part(1, 4, 5000), &report) ==
                    GYRE_FAILED);
            require(strstr(gyre_error_text(), "fails more"));
            must(gyre_kernel_swap_back(load.kernel, soon()));
            back++;
        }
    }
    end_load(&load);
    for (uint64_t account = 0; account < ACCOUNTS; account++) {
        quote_given state;
        must(gyre_kernel_key_read(load.kernel, &account, sizeof account, &state, sizeof state));
        require(state.total == load.totals[account] && state.count == load.counts[account]);
    }
    printf(
        "%u swaps, %u canaries that took over, %u that went back and a rollback each; %llu messages, %llu of them "
        "failed by the mistake; states as counted\n",
        swaps, taken, back, (unsigned long long)load.calls, (unsigned long long)load.failed);
    gyre_close(runtime);
    snprintf(command, sizeof command, "rm -r %s", folder);
    require(system(command) == 0);
}

static void campaign_in_short(void)
{
    campaign(ROUNDS);
}

static void nothing(void)
{
}

int main(int argc, char **argv)
{
    static const named_case cases[] = {
        {"a_lane_kernel_has_one", a_lane_kernel_has_one},
        {"a_block_kernel_has_one", a_block_kernel_has_one},
        {"a_keyed_actor_has_one", a_keyed_actor_has_one},
        {"keys_have_one_handler", keys_have_one_handler},
        {"others_wait", others_wait},
        {"a_rollback_while_it_is_compiled_ends_it", a_rollback_while_it_is_compiled_ends_it},
        {"what_has_none_is_told", what_has_none_is_told},
        {"a_slow_handler_goes_back", a_slow_handler_goes_back},
        {"a_worker_dies_meanwhile", a_worker_dies_meanwhile},
        {"a_handler_that_crashes_goes_back", a_handler_that_crashes_goes_back},
        {"a_server_tries_it", a_server_tries_it},
        {"a_server_ends_meanwhile", a_server_ends_meanwhile},
        {"campaign_in_short", campaign_in_short},
    };
    if (argc > 2 && strcmp(argv[1], "campaign") == 0) {
        campaign((unsigned)strtoul(argv[2], NULL, 10));
        return 0;
    }
    return RUN_NAMED(argc, argv, nothing, cases);
}
