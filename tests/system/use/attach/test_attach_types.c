/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types between programs: an attached one sends the types of a protocol by their own descriptions, and each is
 * compared with the kernel's. One case a run: `test_attach_types CASE`.
 */
#include <string.h>

#include "tests/conformance/kernels/spans.h"
#include "tests/kernels/desk.h"
#include "parties.h"

/* A deposit of another program, whose author disagrees. */
#define OTHER_DEPOSIT(FIELD) FIELD(u32, account) FIELD(f64, cents)
GYRE_MESSAGE(other_deposit, OTHER_DEPOSIT)

static gyre_server *serve_kernel(const char *file, const char *kernel, const char *const *settings,
                                 gyre_runtime **runtime)
{
    gyre_launch_desc desc = {.size = sizeof desc, .source = file, .kernel = kernel};
    gyre_kernel *launched = NULL;
    *runtime = open_plain(settings);
    must(gyre_launch(*runtime, &desc, &launched));
    return serve_at_place(*runtime);
}

static gyre_queue *attach_to(const char *name)
{
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place()};
    gyre_queue *queue = NULL;
    must(gyre_attach(name, &desc, &queue));
    return queue;
}

static void an_attached_program_sends_the_types_of_a_protocol(void)
{
    gyre_runtime *runtime;
    gyre_server *server = serve_kernel(KERNELS "/kernels/desk.gyre.c", "desk", NULL, &runtime);
    gyre_queue *queue = attach_to("desk");
    for (int i = 1; i <= 20; i++) {
        const deposit request = {.account = 2, .cents = 50};
        balance reply = {0};
        must(gyre_call_as(queue, GYRE_TYPE(deposit), &request, GYRE_TYPE(balance), &reply, NULL, soon()));
        require(reply.cents == 50 * i && reply.deposits == (uint32_t)i);
    }
    memo question;
    memo_seen answer;
    const uint32_t accounts[] = {2, 0};
    gyre_begin(&question);
    must(gyre_put_text(&question, &question.text, "how much?"));
    must(gyre_put(&question, &question.accounts, accounts, 2));
    must(gyre_call_as(queue, GYRE_TYPE(memo), &question, GYRE_TYPE(memo_seen), &answer, NULL, soon()));
    require(answer.cents.count == 2 && gyre_items(i64, &answer, answer.cents)[0] == 1000);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void a_sender_with_another_type_is_told_what_differs(void)
{
    gyre_runtime *runtime;
    gyre_server *server = serve_kernel(KERNELS "/kernels/desk.gyre.c", "desk", NULL, &runtime);
    gyre_queue *queue = attach_to("desk");
    const other_deposit other = {.account = 2, .cents = 50};
    gyre_type same_name = *GYRE_TYPE(other_deposit);
    balance reply;
    same_name.name = "deposit"; /* as a program has it that was compiled with another header */
    require(gyre_call_as(queue, &same_name, &other, GYRE_TYPE(balance), &reply, NULL, soon()) ==
            GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "cents") && strstr(gyre_error_text(), "i64") &&
            strstr(gyre_error_text(), "f64"));
    require(gyre_send_as(queue, GYRE_TYPE(other_deposit), &other, sizeof other, NULL, soon()) ==
            GYRE_INVALID);
    require(strstr(gyre_error_text(), "no handler for type 'other_deposit'") != NULL);
    const deposit right = {.account = 1, .cents = 5};
    require(gyre_call_as(queue, GYRE_TYPE(deposit), &right, GYRE_TYPE(card_check), &reply, NULL, soon()) ==
            GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "the reply is a 'balance'") != NULL);
    must(gyre_call_as(queue, GYRE_TYPE(deposit), &right, GYRE_TYPE(balance), &reply, NULL, soon()));
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* Not that of the protocol: the low half of the chosen type's hash. */
/* Of whichever kind: its sender can ask what became of it, and knows what was not sent at all. */
static void a_call_that_is_not_answered_tells_its_number(void)
{
    gyre_runtime *runtime;
    gyre_server *server = serve_kernel(KERNELS "/kernels/desk.gyre.c", "desk", NULL, &runtime);
    gyre_queue *queue = attach_to("desk");
    const deposit request = {.account = 2, .cents = 50};
    const other_deposit other = {.account = 2};
    balance reply;
    for (uint64_t i = 0; i < 3; i++) {
        gyre_completion completion = {.index = 99, .outcome = GYRE_REPLIED};
        must(gyre_kernel_deactivate(gyre_kernel_find(runtime, "desk"), soon()));
        require(gyre_call_as(queue, GYRE_TYPE(deposit), &request, GYRE_TYPE(balance), &reply, &completion,
                             gyre_in_ms(20)) == GYRE_TIMEOUT);
        require(completion.index == i * 2 && completion.outcome == 0);
        require(gyre_call_as(queue, GYRE_TYPE(other_deposit), &other, GYRE_TYPE(balance), &reply, &completion,
                             soon()) == GYRE_INVALID);
        require(completion.index == UINT64_MAX && completion.outcome == 0);
        must(gyre_kernel_activate(gyre_kernel_find(runtime, "desk"), soon()));
        must(gyre_call_as(queue, GYRE_TYPE(deposit), &request, GYRE_TYPE(balance), &reply, &completion,
                          soon()));
        require(completion.index == i * 2 + 1 && completion.outcome == GYRE_REPLIED);
    }
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void headers_name_the_type_that_was_sent(void)
{
    gyre_runtime *runtime;
    gyre_server *server = serve_kernel(KERNELS "/kernels/desk.gyre.c", "desk",
                                       (const char *const[]){"queue.default.header=16", NULL}, &runtime);
    gyre_queue *queue = attach_to("desk");
    const deposit request = {.account = 1, .cents = 5};
    unsigned char reply[1024];
    gyre_message_info info = {.size = sizeof info};
    gyre_type_info type = {.size = sizeof type};
    must(gyre_type_info_get(GYRE_TYPE(deposit), &type));
    must(gyre_send_as(queue, GYRE_TYPE(deposit), &request, sizeof request, NULL, soon()));
    must(gyre_receive_with(queue, reply, sizeof reply, NULL, &info, soon()));
    require(info.header.type == (uint32_t)type.id);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void queues_of_other_programs_move_no_spans(void)
{
    gyre_runtime *runtime;
    gyre_server *server = serve_kernel(KERNELS "/conformance/kernels/spans.gyre.c", "lane_samples",
                                       (const char *const[]){"queue.moved.span_handles=64", NULL}, &runtime);
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place()};
    gyre_queue *queue = NULL;
    require(gyre_attach("lane_samples/moved", &desc, &queue) == GYRE_CONFIG);
    require(strstr(gyre_error_text(), "span_handles is not for requests of other programs") != NULL);
    queue = attach_to("lane_samples");
    samples request;
    samples_seen reply;
    const uint64_t words[40] = {1, 2, 3};
    gyre_completion completion;
    gyre_begin(&request);
    must(gyre_put(&request, &request.words, words, 40));
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.sum == 6);
    gyre_begin(&request);
    must(gyre_put_large(&request, &request.words, words, 40));
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -7);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"an_attached_program_sends_the_types_of_a_protocol", an_attached_program_sends_the_types_of_a_protocol},
    {"a_sender_with_another_type_is_told_what_differs", a_sender_with_another_type_is_told_what_differs},
    {"a_call_that_is_not_answered_tells_its_number", a_call_that_is_not_answered_tells_its_number},
    {"headers_name_the_type_that_was_sent", headers_name_the_type_that_was_sent},
    {"queues_of_other_programs_move_no_spans", queues_of_other_programs_move_no_spans},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
