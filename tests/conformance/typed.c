/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with a handler for each of several types, types that grew, and queues with a wire form. */
#include <gyre/ring_layout.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "kernels/typed.h"
#include "kernels/wired.h"

/* ---- several types ---- */

static void each_type_goes_to_its_handler(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "typed.gyre.c", "typed"));
    for (uint64_t i = 1; i < 200; i++) {
        const square asked = {i};
        const count counted = {(u32)i};
        area answer = {0};
        gyre_completion completion;
        must(gyre_call_as(queue, GYRE_TYPE(square), &asked, GYRE_TYPE(area), &answer, NULL, soon()));
        require(answer.area == i * i);
        must(gyre_call_as(queue, GYRE_TYPE(count), &counted, NULL, NULL, &completion, soon()));
        require(completion.outcome == GYRE_NOT_REPLIED);
        must(gyre_call_as(queue, GYRE_TYPE(count), &counted, NULL, NULL, NULL, soon()));
    }
}

/* Where no reply is expected its lack is none, and of a call that is not answered the completion tells the number. */
static void what_a_typed_call_expects_decides(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "typed.gyre.c", "typed"));
    const square asked = {5};
    const count counted = {1}, by_nothing = {0};
    area answer;
    gyre_completion completion = {.index = 77};
    must(gyre_call_as(queue, GYRE_TYPE(square), &asked, NULL, NULL, NULL, soon()));
    require(gyre_call_as(queue, GYRE_TYPE(count), &counted, GYRE_TYPE(area), &answer, NULL, soon()) ==
            GYRE_FAILED);
    require_sentence("did not reply");
    require(gyre_call_as(queue, GYRE_TYPE(count), &by_nothing, NULL, NULL, NULL, soon()) == GYRE_FAILED);
    require_sentence("with code 3: by nothing");
    square wrong;
    require(gyre_call_as(queue, GYRE_TYPE(square), &asked, GYRE_TYPE(square), &wrong, &completion, soon()) ==
                GYRE_INCOMPATIBLE &&
            completion.index == UINT64_MAX); /* it was not sent */
    require_sentence("kernel 'typed' gives no reply of type 'square'; it gives ");
    joined other;
    require(gyre_call_as(queue, GYRE_TYPE(square), &asked, GYRE_TYPE(joined), &other, &completion, soon()) ==
                GYRE_INCOMPATIBLE &&
            completion.index == 3);
    require_sentence("the request was handled, and only its reply is refused: the reply is a 'area'");
    must(gyre_kernel_deactivate(gyre_kernel_find(test->runtime, "typed"), soon()));
    require(gyre_call_as(queue, GYRE_TYPE(square), &asked, GYRE_TYPE(area), &answer, &completion,
                         gyre_in_ms(10)) == GYRE_TIMEOUT);
    require(completion.index == 4 && completion.outcome == 0);
}

static void typed_messages_have_tails(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "typed.gyre.c", "typed"));
    join asked;
    joined answer;
    gyre_begin(&asked);
    must(gyre_put(&asked, &asked.words, (const utf8 *)NULL, 3));
    must(gyre_put_text(&asked, &gyre_items(utf8, &asked, asked.words)[0], "one "));
    must(gyre_put_text(&asked, &gyre_items(utf8, &asked, asked.words)[2], "three"));
    must(gyre_call_as(queue, GYRE_TYPE(join), &asked, GYRE_TYPE(joined), &answer, NULL, soon()));
    require(answer.words == 3 && answer.text.count == 9);
    require(memcmp(gyre_items(u8, &answer, answer.text), "one three", 9) == 0);
    asked.words.offset += 4; /* what came alone would be refused as well */
    gyre_completion completion;
    must(gyre_call_as(queue, GYRE_TYPE(join), &asked, GYRE_TYPE(joined), &answer, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == GYRE_FAILURE_PART);
}

static uint32_t named(const gyre_type *type)
{
    gyre_type_info info = {.size = sizeof info};
    must(gyre_type_info_get(type, &info));
    return (uint32_t)info.id;
}

static void headers_name_each_type(struct conformance *test)
{
    gyre_runtime *runtime = open_with(test, (const char *const[]){"queue.default.header=16", NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "typed.gyre.c", "typed"));
    const square asked = {4};
    const count counted = {1};
    const gyre_header mine = {.type = 77};
    typed_request whole = {.gyre_used = GYRE_CHOICE_FRONT + sizeof asked,
                           .gyre_choice = GYRE_NUMBER(typed, square),
                           .gyre_one = {.gyre_of_square = asked}};
    const uint32_t types[] = {named(GYRE_TYPE(square)), named(GYRE_TYPE(count)), 77,
                              named(GYRE_TYPE(square))};
    size_t stride, one = 1;
    void *place;
    must(gyre_send_as(queue, GYRE_TYPE(square), &asked, sizeof asked, NULL, soon()));
    must(gyre_send_as(queue, GYRE_TYPE(count), &counted, sizeof counted, NULL, soon()));
    must(gyre_send_with(queue, &whole, sizeof whole, &mine, NULL, soon()));
    must(gyre_reserve(queue, &place, &stride, &one, soon()));
    memcpy(place, &whole, whole.gyre_used);
    must(gyre_commit(queue, 1));
    for (size_t i = 0; i < 4; i++) {
        typed_reply reply;
        gyre_completion completion;
        gyre_message_info info = {.size = sizeof info};
        must(gyre_receive_with(queue, &reply, sizeof reply, &completion, &info, soon()));
        require(info.header.type == types[i]);
    }
    gyre_close(runtime);
}

static void mixed_types_stream_in_order(struct conformance *test)
{
    enum { COUNT = 3000 };
    gyre_queue *queue = gyre_kernel_queue(launch(test, "typed.gyre.c", "typed"));
    for (uint32_t sent = 0, received = 0; received < COUNT;) {
        const square asked = {sent};
        const count counted = {sent % 9};
        if (sent < COUNT && sent - received < 64) {
            must(sent % 3 ? gyre_send_as(queue, GYRE_TYPE(square), &asked, sizeof asked, NULL, soon())
                          : gyre_send_as(queue, GYRE_TYPE(count), &counted, sizeof counted, NULL, soon()));
            sent++;
            continue;
        }
        typed_reply reply;
        gyre_completion completion;
        const area *answer; /* no cast: it is found as what it is */
        size_t size;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        if (received % 3) {
            must(gyre_reply_as(queue, &reply, completion.length, GYRE_TYPE(area), &answer, &size));
            require(reply.gyre_choice == GYRE_NUMBER(typed, square) && size == sizeof(area));
            require(answer->area == (uint64_t)received * received);
        } else {
            require(completion.outcome == (received % 9 ? GYRE_NOT_REPLIED : GYRE_HANDLER_FAILED));
            require(completion.failure_code == (received % 9 ? 0 : 3));
        }
        received++;
    }
}

/* What other queues have, of requests of one type: batches, headers, and both. */
static void typed_requests_go_in_batches_and_with_headers(struct conformance *test)
{
    enum { COUNT = 40, CAPACITY = 16 };
    gyre_runtime *runtime =
        open_with(test, (const char *const[]){"queue.default.header=32", "queue.default.capacity=16", NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "typed.gyre.c", "typed"));
    square asked[COUNT];
    gyre_header headers[COUNT];
    gyre_message_info info = {.size = sizeof info};
    typed_reply reply;
    const area *answer;
    area called;
    size_t sent = 0, size;
    uint64_t index = 9;
    for (uint64_t i = 0; i < COUNT; i++) {
        asked[i] = (square){i};
        headers[i] = (gyre_header){.correlation = 100 + i};
    }
    must(gyre_send_batch_as_with(queue, GYRE_TYPE(square), asked, sizeof *asked, headers, COUNT, &sent,
                                 soon()));
    require(sent == CAPACITY); /* as much as there is room for */
    require(gyre_send_batch_as(queue, GYRE_TYPE(square), asked, sizeof *asked, COUNT, &sent, GYRE_NO_WAIT) ==
                GYRE_AGAIN &&
            sent == 0);
    for (uint64_t i = 0; i < CAPACITY; i++) {
        must(gyre_receive_with(queue, &reply, sizeof reply, NULL, &info, soon()));
        must(gyre_reply_as(queue, &reply, reply.gyre_used, GYRE_TYPE(area), &answer, &size));
        require(answer->area == i * i && info.header.correlation == 100 + i);
    }
    must(gyre_send_batch_as(queue, GYRE_TYPE(square), asked + 1, sizeof *asked, 3, &sent, soon()));
    must(gyre_send_as_with(queue, GYRE_TYPE(square), asked + 4, sizeof *asked, headers, &index, soon()));
    require(sent == 3 && index == CAPACITY + 3);
    for (uint64_t i = 1; i < 5; i++) {
        must(gyre_receive_with(queue, &reply, sizeof reply, NULL, &info, soon()));
        must(gyre_reply_as(queue, &reply, reply.gyre_used, GYRE_TYPE(area), &answer, &size));
        require(answer->area == i * i && (info.header.correlation == 100) == (i == 4));
    }
    must(gyre_call_as_with(queue, GYRE_TYPE(square), asked + 7, headers + 7, GYRE_TYPE(area), &called, NULL,
                           &info, soon()));
    require(called.area == 49 && info.header.correlation == 107);
    must(gyre_send_as_until(queue, GYRE_TYPE(square), asked + 8, sizeof *asked, &index, GYRE_PROCESSED,
                            soon()));
    must(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT));
    require(index == CAPACITY + 5);
    gyre_close(runtime);
}

/* Of a batch with one wrong message nothing is sent, and the sentence says which it is. */
static void a_wrong_request_of_a_typed_batch_is_named(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "typed.gyre.c", "typed"));
    join batch[3];
    size_t sent = 7;
    for (int i = 0; i < 3; i++) {
        gyre_begin(&batch[i]);
        must(gyre_put(&batch[i], &batch[i].words, (const utf8 *)NULL, 1));
        must(gyre_put_text(&batch[i], &gyre_items(utf8, &batch[i], batch[i].words)[0], "word"));
    }
    batch[1].gyre_used = 4;
    require(gyre_send_batch_as(queue, GYRE_TYPE(join), batch, sizeof *batch, 3, &sent, soon()) ==
            GYRE_INVALID);
    require_sentence("request 1 of a batch");
    require(sent == 0 && stats_of(queue).sent == 0);
    batch[1] = batch[2];
    must(gyre_send_batch_as(queue, GYRE_TYPE(join), batch, sizeof *batch, 3, &sent, soon()));
    require(sent == 3);
    for (int i = 0; i < 3; i++) {
        typed_reply reply;
        const joined *answer;
        size_t size;
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        must(gyre_reply_as(queue, &reply, reply.gyre_used, GYRE_TYPE(joined), &answer, &size));
        require(answer->words == 1 && answer->text.count == 4);
    }
    require(gyre_send_batch_as(queue, GYRE_TYPE(join), batch, sizeof *batch, 3, NULL, soon()) ==
            GYRE_INVALID);
    must(gyre_send_batch_as(queue, GYRE_TYPE(join), batch, sizeof *batch, 0, &sent, soon()));
}

static void a_type_without_a_handler_is_named(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "typed.gyre.c", "typed"));
    const report_old other = {.gyre_used = 24};
    require(gyre_send_as(queue, GYRE_TYPE(report_old), &other, sizeof other, NULL, soon()) == GYRE_INVALID);
    require_sentence("no handler for type 'report_old'; it has them for square, join, count");
    static const gyre_type *const fields[] = {&gyre_type_u32, NULL};
    static const gyre_type changed = {"square", "u32 side;", 4, 4, fields};
    const uint32_t side = 2;
    require(gyre_send_as(queue, &changed, &side, sizeof side, NULL, soon()) == GYRE_INCOMPATIBLE);
    require_sentence("field 'side' of type u64");
    const square asked = {2};
    require(gyre_send(queue, &asked, sizeof asked, NULL, soon()) == GYRE_INVALID);
    require_sentence("takes several types: send one with gyre_send_as");
    require(gyre_send_as(queue, GYRE_TYPE(square), &asked, 4, NULL, soon()) == GYRE_INVALID);
    require_sentence("a 'square' has 8 bytes, found one of 4: send one of that type");
    join words = {.gyre_used = 4};
    require(gyre_send_as(queue, GYRE_TYPE(join), &words, sizeof words, NULL, soon()) == GYRE_INVALID);
    require_sentence("that uses 4: start one with a tail with gyre_begin");
    typed_request nobody = {.gyre_used = sizeof nobody, .gyre_choice = 9};
    gyre_completion completion;
    typed_reply reply;
    must(gyre_call(queue, &nobody, sizeof nobody, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == GYRE_FAILURE_TYPE);
    require(strcmp(completion.failure_text, "no handler for type number 9") == 0);
    nobody.gyre_choice = GYRE_NUMBER(typed, square);
    must(gyre_call(queue, &nobody, sizeof nobody, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == GYRE_FAILURE_LENGTH);
}

static void types_are_found_by_name_and_id(struct conformance *test)
{
    const gyre_type *types[16];
    gyre_type_info info = {.size = sizeof info}, other = {.size = sizeof other};
    launch(test, "typed.gyre.c", "typed");
    require(gyre_types(test->runtime, types, 16) == 7); /* three and two, and those of the protocol */
    const gyre_type *found = gyre_type_find(test->runtime, "join");
    require(found != NULL);
    must(gyre_type_info_get(found, &info));
    require(info.bytes == sizeof(join) && info.least == 16 && info.fields == 1 &&
            info.slot_bytes >= sizeof(join));
    must(gyre_type_info_get(GYRE_TYPE(join), &other));
    require(other.id == info.id && gyre_type_find_id(test->runtime, info.id) == found);
    found = gyre_type_find(test->runtime, "typed_request");
    require(found != NULL);
    must(gyre_type_info_get(found, &info));
    require(info.choices == 3 && info.fields == 0 && info.bytes == sizeof(typed_request));
    require(gyre_type_find(test->runtime, "jion") == NULL);
    require_sentence("did you mean 'join'?");
    require(gyre_type_find_id(test->runtime, 1) == NULL);
}

static void types_are_loaded_from_files(struct conformance *test)
{
    gyre_type_info info = {.size = sizeof info}, known = {.size = sizeof known};
    /* few of them: each becomes a kernel, and some compilers take a second of their processor for two */
    must(gyre_types_load(test->runtime, test->backend, kernel_path("reports.h")));
    require(gyre_types(test->runtime, NULL, 0) == 2);
    require(gyre_type_find(test->runtime, "report_new") != NULL);
    must(gyre_type_info_get(gyre_type_find(test->runtime, "report_new"), &info));
    must(gyre_type_info_get(GYRE_TYPE(report_new), &known));
    require(info.id == known.id);
    must(gyre_types_load(test->runtime, test->backend, kernel_path("typed.gyre.c"))); /* those and more */
    require(gyre_types(test->runtime, NULL, 0) == 9);
    must(gyre_type_add(test->runtime, GYRE_TYPE(wired_add)));
    require(gyre_type_find(test->runtime, "wired_add") != NULL && gyre_types(test->runtime, NULL, 0) == 10);
    require(gyre_types_load(test->runtime, test->backend, "no-such.h") != GYRE_OK);
}

/* ---- types that grew ---- */

static gyre_kernel *launch_typed(struct conformance *test, const char *kernel, const gyre_type *type)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "typed.gyre.c", kernel);
    desc.request = desc.reply = type;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static void an_older_kernel_leaves_out_what_it_does_not_know(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch_typed(test, "old_report", GYRE_TYPE(report_new)));
    const u32 values[] = {1, 20, 300};
    report_new asked, answer;
    gyre_begin(&asked);
    asked.level = 7;
    must(gyre_put_text(&asked, &asked.author, "somebody"));
    must(gyre_put(&asked, &asked.values, values, 3));
    must(gyre_put_text(&asked, &asked.title, "Bericht"));
    must(gyre_call(queue, &asked, sizeof asked, &answer, sizeof answer, NULL, soon()));
    require(answer.level == 0 && !gyre_has(answer.author) && !gyre_has(answer.tags));
    require(answer.title.count == 7 && memcmp(gyre_items(u8, &answer, answer.title), "Bericht", 7) == 0);
    require(answer.values.count == 3 && gyre_items(u32, &answer, answer.values)[2] == 301);
    must(gyre_message_check(GYRE_TYPE(report_new), &answer, answer.gyre_used));
    u32 many[60] = {0}; /* fits the caller's tail, not the kernel's */
    gyre_begin(&asked);
    must(gyre_put(&asked, &asked.values, many, 60));
    require(gyre_send(queue, &asked, sizeof asked, NULL, soon()) == GYRE_INVALID);
    require_sentence("field 'values': it does not fit the tail of 200 bytes");
}

static void a_newer_kernel_gets_zeros_for_what_is_not_sent(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch_typed(test, "new_report", GYRE_TYPE(report_old)));
    const u32 values[] = {1, 20, 300};
    report_old asked, answers[2];
    size_t sent = 0, found = 0;
    gyre_begin(&asked);
    must(gyre_put(&asked, &asked.values, values, 3));
    must(gyre_put_text(&asked, &asked.title, "kurz"));
    must(gyre_send(queue, &asked, asked.gyre_used, NULL, soon()));
    must(gyre_send_batch(queue, &asked, sizeof asked, 1, &sent, soon()));
    for (size_t i = 0; i < 2; i += found)
        must(gyre_receive_batch(queue, answers + i, sizeof answers[0], 2 - i, NULL, &found, soon()));
    for (size_t i = 0; i < 2; i++) {
        require(answers[i].title.count == 4 &&
                memcmp(gyre_items(u8, &answers[i], answers[i].title), "kurz", 4) == 0);
        require(answers[i].values.count == 3 && gyre_items(u32, &answers[i], answers[i].values)[1] == 21);
    }
}

static void types_that_differ_otherwise_are_refused(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "typed.gyre.c", "old_report");
    desc.request = GYRE_TYPE(join);
    require(gyre_launch(test->runtime, &desc, &kernel) == GYRE_INCOMPATIBLE);
    require_sentence("field 'title'");
    require_sentence("field 'words'");
    require_sentence("layout hashes");
}

/* ---- wire forms ---- */

/* id 00112233-4455-6677-8899-aabbccddeeff, priority 42, correlation, 1.5 and 2.5 */
static const uint8_t ASKED[42] = {0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa,
                                  0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x2a, 0x01, 0x44, 0x33, 0x22, 0x11,
                                  0x66, 0x55, 0x88, 0x77, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
                                  0x00, 0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x20, 0x40};

static gyre_runtime *open_wired(struct conformance *test, const char *setting, gyre_queue **queue)
{
    const char *const settings[] = {setting, NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "wired.gyre.c", "wired");
    desc.request = GYRE_TYPE(wired_add);
    desc.reply = GYRE_TYPE(wired_sum);
    must(gyre_launch(runtime, &desc, &kernel));
    *queue = gyre_kernel_queue(kernel);
    return runtime;
}

static void a_wired_queue_takes_and_gives_bytes(struct conformance *test)
{
    gyre_queue *queue;
    gyre_runtime *runtime = open_wired(test, "queue.wired.wire=memorypack", &queue);
    uint8_t answer[64], expected[38];
    gyre_completion completion;
    gyre_view view;
    size_t sent, found;
    memcpy(expected, ASKED, 34);
    memcpy(expected + 34, &(float){4.0f}, 4);
    must(gyre_call(queue, ASKED, sizeof ASKED, answer, sizeof answer, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && completion.length == 38 && !memcmp(answer, expected, 38));
    uint8_t three[3 * sizeof ASKED];
    for (size_t i = 0; i < 3; i++)
        memcpy(three + i * sizeof ASKED, ASKED, sizeof ASKED);
    must(gyre_send_batch(queue, three, sizeof ASKED, 3, &sent, soon()));
    require(sent == 3);
    must(gyre_receive(queue, answer, 38, &completion, soon()));
    require(completion.length == 38 && !memcmp(answer, expected, 38));
    must(gyre_receive(queue, answer, 38, NULL, soon()));
    require(!memcmp(answer, expected, 38));
    must(gyre_peek(queue, &view, 1, &found, soon()));
    require(view.outcome == GYRE_REPLIED && view.length == 38 && !memcmp(view.reply, expected, 38));
    must(gyre_release_views(queue, 1));
    require(gyre_send(queue, three, sizeof three, NULL, soon()) == GYRE_INVALID);
    require_sentence("bytes on the wire");
    gyre_close(runtime);
}

static void what_is_malformed_on_the_wire_has_failed(struct conformance *test)
{
    static const struct {
        size_t length, changed;
        uint8_t byte;
        int code;
        const char *text;
    } rows[] = {{41, 0, 0x33, 41, "the input ends within it"},
                {43, 0, 0x33, 42, "bytes are left over behind the message"},
                {42, 17, 2, 17, "expected an optional value's flag, 0 or 1"},
                {42, 17, 0, 18, "expected 0 in padding or an absent value"},
                {1, 0, 0x33, 1, "the input ends within it"}};
    gyre_queue *queue;
    gyre_runtime *runtime = open_wired(test, "queue.wired.wire=memorypack", &queue);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t asked[44] = {0}, answer[64];
        gyre_completion completion;
        memcpy(asked, ASKED, sizeof ASKED);
        asked[rows[i].changed] = rows[i].byte;
        must(gyre_call(queue, asked, rows[i].length, answer, sizeof answer, &completion, soon()));
        require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == rows[i].code);
        require(strncmp(completion.failure_text, rows[i].text, strlen(rows[i].text)) == 0);
    }
    gyre_close(runtime);
}

static void frames_travel_with_their_messages(struct conformance *test)
{
    gyre_queue *queue;
    gyre_runtime *runtime = open_wired(test, "queue.wired.wire=memorypack_framed", &queue);
    uint8_t asked[256 + sizeof ASKED] = {0xf1, 0xdc, 0, 0, sizeof ASKED}, answer[512];
    gyre_completion completion;
    asked[12] = 77; /* timestamp */
    asked[20] = 3;  /* sender */
    asked[24] = 4;  /* receiver */
    memcpy(asked + 256, ASKED, sizeof ASKED);
    must(gyre_call(queue, asked, sizeof asked, answer, sizeof answer, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && completion.length == 256 + 38);
    require(answer[0] == 0xf1 && answer[1] == 0xdc && answer[4] == 38 && answer[12] == 77);
    require(answer[20] == 4 && answer[24] == 3 && !memcmp(answer + 256, ASKED, 34));
    asked[4]++;
    must(gyre_call(queue, asked, sizeof asked, answer, sizeof answer, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 4);
    must(gyre_call(queue, ASKED, sizeof ASKED, answer, sizeof answer, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 0);
    gyre_close(runtime);
}

static void queues_of_a_kernel_agree_on_the_wire(struct conformance *test)
{
    gyre_queue *queue, *other;
    gyre_runtime *runtime = open_wired(test, "queue.wired.wire=memorypack", &queue);
    const gyre_queue_desc desc = {.size = sizeof desc, .name = "plain"};
    gyre_kernel *kernel = gyre_kernel_find(runtime, "wired");
    require(gyre_queue_open(kernel, &desc, &other) == GYRE_CONFIG);
    require_sentence("queue 'plain' has wire = none");
    gyre_close(runtime);
    static const char *const settings[] = {"queue.typed.wire=memorypack", NULL};
    runtime = open_with(test, settings);
    gyre_launch_desc typed = launch_desc(test, "typed.gyre.c", "typed");
    require(gyre_launch(runtime, &typed, &kernel) != GYRE_OK);
    gyre_close(runtime);
}

const struct conformance_case typed_cases[] = {
    {"each_type_goes_to_its_handler", each_type_goes_to_its_handler},
    {"what_a_typed_call_expects_decides", what_a_typed_call_expects_decides},
    {"typed_messages_have_tails", typed_messages_have_tails},
    {"headers_name_each_type", headers_name_each_type},
    {"mixed_types_stream_in_order", mixed_types_stream_in_order},
    {"typed_requests_go_in_batches_and_with_headers", typed_requests_go_in_batches_and_with_headers},
    {"a_wrong_request_of_a_typed_batch_is_named", a_wrong_request_of_a_typed_batch_is_named},
    {"a_type_without_a_handler_is_named", a_type_without_a_handler_is_named},
    {"types_are_found_by_name_and_id", types_are_found_by_name_and_id},
    {"types_are_loaded_from_files", types_are_loaded_from_files},
    {"an_older_kernel_leaves_out_what_it_does_not_know", an_older_kernel_leaves_out_what_it_does_not_know},
    {"a_newer_kernel_gets_zeros_for_what_is_not_sent", a_newer_kernel_gets_zeros_for_what_is_not_sent},
    {"types_that_differ_otherwise_are_refused", types_that_differ_otherwise_are_refused},
    {"a_wired_queue_takes_and_gives_bytes", a_wired_queue_takes_and_gives_bytes},
    {"what_is_malformed_on_the_wire_has_failed", what_is_malformed_on_the_wire_has_failed},
    {"frames_travel_with_their_messages", frames_travel_with_their_messages},
    {"queues_of_a_kernel_agree_on_the_wire", queues_of_a_kernel_agree_on_the_wire},
    {NULL, NULL},
};
