/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals of earlier types: state, buffers and messages that grew, and states that are migrated. One case a run,
 * `test_upgrade CASE`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/sanitizers.h"
#include "sums.h"

/* ---- other types ---- */

/* A state with an array of structs, and a reply of one field. */
static const char first_types[] = SUM_FRONT
    "#define ENTRY(FIELD) FIELD(u32, adds)\nGYRE_MESSAGE(entry, ENTRY)\n"
    "#define SUM(FIELD) FIELD(u64, sum)\nGYRE_MESSAGE(sum_reply, SUM)\n"
    "#define STATE(FIELD) FIELD(u32, calls) FIELD(u64, sum) FIELD(entry, log[2])\nGYRE_MESSAGE(sum_state, STATE)\n"
    "GYRE_ACTOR(sum, add_request, sum_reply, sum_state)\n"
    "{\n    state->log[state->calls++ % 2].adds += (u32)request->add;\n"
    "    reply->sum = state->sum += request->add;\n    return GYRE_REPLY;\n}\n";
/* Each of the three grew: the struct at its end, the array, the state in its midst, the reply, and the request. */
static const char grown_types[] =
    "#include <gyre/kernel.h>\n"
    "#define ADD(FIELD) FIELD(u64, add) FIELD(u64, times)\nGYRE_MESSAGE(add_request, ADD)\n"
    "#define ENTRY(FIELD) FIELD(u32, adds) FIELD(u64, last)\nGYRE_MESSAGE(entry, ENTRY)\n"
    "#define SUM(FIELD) FIELD(u64, sum) FIELD(u64, adds) FIELD(u64, limit)\nGYRE_MESSAGE(sum_reply, SUM)\n"
    "#define STATE(FIELD) FIELD(u64, limit) FIELD(u32, calls) FIELD(u64, sum) FIELD(entry, log[5])\n"
    "GYRE_MESSAGE(sum_state, STATE)\n"
    "GYRE_ACTOR(sum, add_request, sum_reply, sum_state)\n"
    "{\n    state->log[4].last = request->add;\n    state->calls++;\n"
    "    reply->sum = state->sum += request->add * (request->times ? request->times : 1);\n"
    "    reply->adds = state->log[0].adds * 100 + state->log[1].adds;\n"
    "    reply->limit = state->limit * 1000 + state->calls;\n    return GYRE_REPLY;\n}\n";

typedef struct grown_reply {
    uint64_t sum, adds, limit;
} grown_reply;

/* Five are handled, the replies to two are received; two more wait for a kernel that never handles them. */
static void leave_some(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    must(launch_sum(&runtime, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
    sum_reply reply;
    gyre_completion completion;
    for (uint64_t i = 1; i <= 5; i++) {
        const add_request request = {i};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        must(gyre_await(queue, i - 1, GYRE_PROCESSED, soon()));
        if (i <= 2)
            must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    }
    must(gyre_kernel_deactivate(kernel, soon()));
    for (uint64_t i = 6; i <= 7; i++) {
        const add_request request = {i};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        must(gyre_await(queue, i - 1, GYRE_DURABLE, soon()));
    }
    gyre_close(runtime);
}

static void receive_grown(gyre_queue *queue, uint64_t index, grown_reply expected)
{
    grown_reply reply = {0};
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.index == index && completion.outcome == GYRE_REPLIED);
    require(completion.length == sizeof reply);
    require(reply.sum == expected.sum && reply.adds == expected.adds && reply.limit == expected.limit);
}

/* What was told then says nothing of what was not there then; what waited is handled by the handler that is here. */
static void take_the_grown(void)
{
    const struct {
        uint64_t limit;
        uint32_t rest[36];
    } given = {.limit = 3};
    char path[160];
    gyre_kernel *kernel = NULL;
    gyre_runtime *runtime = open_durable(next.isolated, NULL);
    snprintf(path, sizeof path, "%s/sum.gyre.c", journal_folder());
    gyre_launch_desc desc = {.size = sizeof desc, .source = path, .state = &given, .state_size = 104};
    must(gyre_launch(runtime, &desc, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const gyre_recovered recovered = recovered_of(queue);
    require(recovered.first == 2 && recovered.offered == 5);
    for (uint64_t i = 2; i < 5; i++)
        receive_grown(queue, i, (grown_reply){(i + 1) * (i + 2) / 2, 0, 0});
    receive_grown(queue, 5, (grown_reply){21, 906, 3006});
    receive_grown(queue, 6, (grown_reply){28, 906, 3007});
    gyre_close(runtime);
}

static void what_grew_goes_on_with_what_was_there(void)
{
    for (int round = 0; round < 2; round++) {
        begin_sums();
        next.isolated = round != 0;
        write_sum(first_types);
        live(leave_some, 0);
        write_sum(grown_types);
        live(take_the_grown, 0);
    }
}

/* Back to where it came from: what would get lost is named, and the journal stays. */
static void meet_shrunk(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    require(launch_sum(&runtime, &kernel) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "holds a state of an earlier type"));
    require(strstr(gyre_error_text(), "the field 'limit' of type u64 is gone"));
    gyre_close(runtime);
}

static void call_grown(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    const uint64_t request[2] = {1, 2};
    grown_reply reply = {0};
    must(launch_sum(&runtime, &kernel));
    must(gyre_call(gyre_kernel_queue(kernel), request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.sum == 30 && reply.limit == 3008);
    gyre_close(runtime);
}

static void a_state_that_would_lose_something_is_refused(void)
{
    write_sum(first_types);
    live(leave_some, 0);
    write_sum(grown_types);
    live(take_the_grown, 0);
    write_sum(first_types);
    live(meet_shrunk, 0);
    write_sum(grown_types);
    live(call_grown, 0);
}

/* ---- migrations ---- */

#define IN_EUROS "#define EUROS(FIELD) FIELD(u64, euros) FIELD(u32, calls)\nGYRE_MESSAGE(in_euros, EUROS)\n"
#define IN_CENTS "#define CENTS(FIELD) FIELD(u64, cents) FIELD(u32, calls)\nGYRE_MESSAGE(in_cents, CENTS)\n"
#define LIMITED                                                                                              \
    "#define LIMITED(FIELD) FIELD(u64, limit) FIELD(i64, balance)\nGYRE_MESSAGE(limited, LIMITED)\n"
#define TO_CENTS                                                                                             \
    "GYRE_HELPER u64 hundredfold(u64 n)\n{\n    return n * 100;\n}\n"                                        \
    "GYRE_MIGRATE(in_euros, in_cents)\n"                                                                     \
    "{\n    state->cents = hundredfold(before->euros);\n    state->calls = before->calls;\n}\n"
#define TO_LIMITED                                                                                           \
    "GYRE_MIGRATE(in_cents, limited)\n{\n    state->balance = -(i64)before->cents * (i64)state->limit;\n}\n"
#define ACTOR(state, statement)                                                                              \
    "GYRE_ACTOR(sum, add_request, sum_reply, " state ")\n{\n    " statement "\n    return GYRE_REPLY;\n}\n"

static const char euros[] =
    SUM_REPLY_FRONT IN_EUROS ACTOR("in_euros", "state->calls++; reply->sum = state->euros += request->add;");
static const char cents[] = SUM_REPLY_FRONT IN_EUROS IN_CENTS TO_CENTS ACTOR(
    "in_cents", "reply->sum = state->cents += request->add; reply->sum += ++state->calls * 100000;");
static const char limited[] = SUM_REPLY_FRONT IN_EUROS IN_CENTS LIMITED TO_LIMITED TO_CENTS ACTOR(
    "limited", "state->balance -= (i64)request->add; reply->sum = (u64)-state->balance;");
static const char unsaid[] =
    SUM_REPLY_FRONT LIMITED ACTOR("limited", "reply->sum = (u64)-(state->balance -= (i64)request->add);");

static uint64_t given_limit, expected_sum;
static const char *backend;

static void call_once(void)
{
    const add_request request = {1};
    const uint64_t given[2] = {given_limit, 0};
    sum_reply reply = {0};
    char path[160], setting[64];
    gyre_kernel *kernel = NULL;
    snprintf(path, sizeof path, "%s/sum.gyre.c", journal_folder());
    snprintf(setting, sizeof setting, "backend.%s.isolation=%s", backend, next.isolated ? "process" : "none");
    gyre_runtime *runtime = open_durable(
        next.isolated, (const char *const[]){setting, "gyre.check=auto", "kernel.default.blocks=1", NULL});
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = path,
                             .backend = backend,
                             .state = given_limit ? given : NULL,
                             .state_size = given_limit ? sizeof given : 0};
    must(gyre_launch(runtime, &desc, &kernel));
    require(gyre_kernels(runtime, NULL, 0) == 1);
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.sum == expected_sum);
    gyre_close(runtime);
}

static void expect_call(const char *text, uint64_t sum)
{
    write_sum(text);
    expected_sum = sum;
    live(call_once, 0);
}

/* What a migration does not write is what the launch gives; several lead on from each other, wherever they stand. */
static void migrate_on(const char *on)
{
    backend = on;
    for (int round = 0; round < 2; round++) {
        begin_sums();
        next.isolated = round != 0;
        given_limit = 0;
        expect_call(euros, 1);
        expect_call(cents, 101 + 200000);
        expect_call(cents, 102 + 300000);
        given_limit = 10;
        expect_call(limited, 1021);
        begin_sums();
        next.isolated = round != 0;
        given_limit = 0;
        expect_call(euros, 1);
        given_limit = 3;
        expect_call(limited, 301);
        given_limit = 0;
        expect_call(limited, 302);
    }
}

static void a_state_is_migrated_as_its_file_says(void)
{
    migrate_on("cpu");
}

static void a_state_is_migrated_on_opencl(void)
{
    need_backend("opencl");
    migrate_on("opencl");
}

static void a_state_is_migrated_on_cuda(void)
{
    need_backend("cuda");
    backend = "cuda";
    expect_call(euros, 1);
    expect_call(cents, 101 + 200000);
    next.isolated = true;
    expect_call(cents, 102 + 300000);
}

/* What was answered before has no part in a state that nobody kept then. */
static void a_handler_that_begins_to_keep_something_goes_on(void)
{
    static const char keeps_nothing[] =
        SUM_REPLY_FRONT "GYRE_KERNEL(sum, add_request, sum_reply)\n{\n    reply->sum = request->add;\n"
                        "    return GYRE_REPLY;\n}\n";
    static const char keeps_a_sum[] =
        SUM_REPLY_FRONT ACTOR("sum_reply", "reply->sum = state->sum += request->add;");
    backend = "cpu";
    given_limit = 0;
    expect_call(keeps_nothing, 1);
    expect_call(keeps_nothing, 1);
    expect_call(keeps_a_sum, 1);
    expect_call(keeps_a_sum, 2);
}

/* ---- buffers ---- */

#define BOOK(entry, buffer)                                                                                  \
    SUM_REPLY_FRONT                                                                                          \
    "#define ENTRY(FIELD) " entry "\nGYRE_MESSAGE(entry, ENTRY)\n"                                           \
    "#define BOOK(IN, INOUT) IN(u32, steps) INOUT(entry, " buffer ")\nGYRE_BUFFERS(book, BOOK)\n"            \
    "GYRE_ACTOR_WITH(sum, add_request, sum_reply, gyre_none, book)\n"                                        \
    "{\n    const u64 i = request->add;\n    buffers->" buffer "[i].n += i;\n    reply->sum = 0;\n"          \
    "    for (u64 k = 0; k < buffers->" buffer "_count; k++)\n"                                              \
    "        reply->sum = reply->sum * 10 + buffers->" buffer "[k].n;\n    return GYRE_REPLY;\n}\n"
static const char book[] = BOOK("FIELD(u32, n)", "entries"),
                  grown_book[] = BOOK("FIELD(u64, id) FIELD(u32, n)", "entries"),
                  renamed_book[] = BOOK("FIELD(u32, n)", "lines");
static uint64_t entry_count, entry_size;

/* Of a buffer that the program gives as sevens. */
static gyre_status launch_book(gyre_runtime **runtime, gyre_kernel **kernel, const char *name)
{
    char path[160];
    gyre_buffer *buffers[2] = {NULL, NULL};
    unsigned char bytes[256];
    snprintf(path, sizeof path, "%s/sum.gyre.c", journal_folder());
    *runtime = open_durable(next.isolated, NULL);
    for (uint64_t at = 0; at < sizeof bytes; at++)
        bytes[at] = at % entry_size == (entry_size == 4 ? 0 : 8) ? 7 : 0;
    must(gyre_buffer_alloc(*runtime, "cpu", 0, 8, &buffers[0]));
    must(gyre_buffer_alloc(*runtime, "cpu", 0, entry_count * entry_size, &buffers[1]));
    must(gyre_buffer_upload(buffers[1], 0, bytes, entry_count * entry_size));
    const gyre_binding_name bindings[] = {{"steps", buffers[0]}, {name, buffers[1]}};
    gyre_launch_desc desc = {.size = sizeof desc, .source = path, .bindings = bindings, .binding_count = 2};
    return gyre_launch(*runtime, &desc, kernel);
}

static void call_book(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    must(launch_book(&runtime, &kernel, "entries"));
    add_and_expect(gyre_kernel_queue(kernel), next.add, next.sum);
    gyre_close(runtime);
}

static void meet_renamed(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    require(launch_book(&runtime, &kernel, "lines") == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "holds a buffer entries of an earlier type"));
    gyre_close(runtime);
}

static void meet_shorter(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    require(launch_book(&runtime, &kernel, "entries") == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "it had 4 elements and has 3 now"));
    gyre_close(runtime);
}

static void expect_book(const char *text, uint64_t size, uint64_t count, uint64_t add, uint64_t sum)
{
    write_sum(text);
    entry_size = size;
    entry_count = count;
    next.add = add;
    next.sum = sum;
    live(call_book, 0);
}

/* Elements that are new have what the program gave. */
static void a_buffer_grows_with_what_it_holds(void)
{
    for (int round = 0; round < 2; round++) {
        begin_sums();
        next.isolated = round != 0;
        expect_book(book, 4, 3, 1, 787);
        expect_book(book, 4, 4, 2, 7897);
        entry_count = 3;
        live(meet_shorter, 0);
        write_sum(renamed_book);
        entry_count = 4;
        live(meet_renamed, 0);
        expect_book(grown_book, 16, 6, 1, 799777);
        expect_book(grown_book, 16, 6, 0, 799777);
    }
}

static void meet_a_crash(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    require(launch_sum(&runtime, &kernel) != GYRE_OK);
    require(strstr(gyre_error_text(), "the migration of the state 'in_euros' to 'in_cents' in "));
    require(strstr(gyre_error_text(), UNDER_ADDRESS_SANITIZER /* which ends the process by itself */
                                          ? "its worker process died"
                                          : "its worker process died (signal 8 (SIGFPE))"));
    require(gyre_kernels(runtime, NULL, 0) == 0);
    gyre_close(runtime);
}

/* Its worker dies of it, and the journal stays for one that does not. */
static void a_migration_that_crashes_fails_the_launch(void)
{
    static const char crashing[] = SUM_REPLY_FRONT IN_EUROS IN_CENTS
        "GYRE_MIGRATE(in_euros, in_cents)\n{\n    state->cents = before->euros / (before->calls - 1);\n}\n" ACTOR(
            "in_cents", "reply->sum = state->cents;");
    backend = "cpu";
    given_limit = 0;
    next.isolated = true;
    expect_call(euros, 1);
    write_sum(crashing);
    live(meet_a_crash, 0);
    expect_call(cents, 101 + 200000);
}

static void meet_unsaid(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    require(launch_sum(&runtime, &kernel) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "say how with GYRE_MIGRATE(old, new) in its file"));
    require(strstr(gyre_error_text(), "the field 'cents' of type u64 is gone"));
    gyre_close(runtime);
}

static void a_state_that_nobody_says_how_to_migrate_is_refused(void)
{
    backend = "cpu";
    given_limit = 0;
    expect_call(euros, 1);
    expect_call(cents, 101 + 200000);
    write_sum(unsaid);
    live(meet_unsaid, 0);
    given_limit = 2;
    expect_call(limited, 203);
}

/* Its thread goes on until the process ends, in code and memory that have to stay: so the process lives on a moment. */
static void meet_an_endless_one(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    require(setenv("GYRE_KERNEL__DEFAULT__LAUNCH_TIMEOUT_MS", "700", 1) == 0);
    require(launch_sum(&runtime, &kernel) == GYRE_FAILED);
    require(strstr(gyre_error_text(), "did not return within launch_timeout_ms = 700"));
    usleep(200000);
}

/* The journal stays for one that ends. */
static void a_migration_that_does_not_end_fails_the_launch(void)
{
    static const char endless[] = SUM_REPLY_FRONT IN_EUROS IN_CENTS
        "GYRE_MIGRATE(in_euros, in_cents)\n{\n    while (before->calls)\n        state->cents++;\n}\n" ACTOR(
            "in_cents", "reply->sum = state->cents;");
    backend = "cpu";
    given_limit = 0;
    for (int round = 0; round < 2; round++) {
        begin_sums();
        next.isolated = round != 0;
        expect_call(euros, 1);
        write_sum(endless);
        live(meet_an_endless_one, 0);
        expect_call(cents, 101 + 200000);
    }
}

static void expect_call_of_file(const char *path, uint64_t sum)
{
    char text[4096];
    FILE *file = fopen(path, "re");
    require(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    expect_call(text, sum);
}

static void the_wallet_of_the_pages_is_migrated(void)
{
    backend = "cpu";
    given_limit = 0;
    expect_call_of_file(WALLET "_1.gyre.c", 100);
    expect_call_of_file(WALLET "_1.gyre.c", 200);
    expect_call_of_file(WALLET "_2.gyre.c", 300);
    expect_call_of_file(WALLET "_2.gyre.c", 400);
}

static const named_case cases[] = {
    {"what_grew_goes_on_with_what_was_there", what_grew_goes_on_with_what_was_there},
    {"a_state_that_would_lose_something_is_refused", a_state_that_would_lose_something_is_refused},
    {"a_state_is_migrated_as_its_file_says", a_state_is_migrated_as_its_file_says},
    {"a_state_is_migrated_on_opencl", a_state_is_migrated_on_opencl},
    {"a_state_is_migrated_on_cuda", a_state_is_migrated_on_cuda},
    {"a_handler_that_begins_to_keep_something_goes_on", a_handler_that_begins_to_keep_something_goes_on},
    {"a_buffer_grows_with_what_it_holds", a_buffer_grows_with_what_it_holds},
    {"a_migration_that_crashes_fails_the_launch", a_migration_that_crashes_fails_the_launch},
    {"a_migration_that_does_not_end_fails_the_launch", a_migration_that_does_not_end_fails_the_launch},
    {"a_state_that_nobody_says_how_to_migrate_is_refused",
     a_state_that_nobody_says_how_to_migrate_is_refused},
    {"the_wallet_of_the_pages_is_migrated", the_wallet_of_the_pages_is_migrated},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, begin_sums, cases);
}
