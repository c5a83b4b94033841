/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of several types whose next version has more: more types, and types with more fields. Clients that were built with
 * the earlier header go on, and those whose types changed are told which one did.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tellers.h"
#include "../../../patience.h"

#define ORDER(FIELD) FIELD(u64, number) FIELD(u32, weight)
GYRE_MESSAGE(order, ORDER)
#define RECEIPT(FIELD) FIELD(u64, number) FIELD(u64, version)
GYRE_MESSAGE(receipt, RECEIPT)
#define NOTE(FIELD) FIELD(u32, version) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(note, NOTE, 64)
#define SHOP(TAKES) TAKES(order, receipt) TAKES(note, note)
GYRE_PROTOCOL(shop, SHOP)
#define INQUIRY(FIELD) FIELD(u64, times)
GYRE_MESSAGE(inquiry, INQUIRY)

/* ---- servers ---- */

enum version { AS_IT_IS, GROWN, OTHER_FIELD, FEWER_TYPES, OTHER_ORDER, LATER_GONE };

static enum version version; /* of the next server */

#define GROWN_ORDER   "#define ORDER(FIELD) FIELD(u64, number) FIELD(u32, weight) FIELD(u64, later)\n"
#define GROWN_RECEIPT "#define RECEIPT(FIELD) FIELD(u64, number) FIELD(u64, version) FIELD(u64, later)\n"
#define GROWN_NOTE    "#define NOTE(FIELD) FIELD(u32, version) FIELD(utf8, text) FIELD(span_u32, later)\n"
#define NOW_ORDER     "#define ORDER(FIELD) FIELD(u64, number) FIELD(u32, weight)\n"
#define NOW_RECEIPT   "#define RECEIPT(FIELD) FIELD(u64, number) FIELD(u64, version)\n"
#define NOW_NOTE      "#define NOTE(FIELD) FIELD(u32, version) FIELD(utf8, text)\n"
#define NOW_SHOP      "#define SHOP(TAKES) TAKES(order, receipt) TAKES(note, note)\n"
#define INQUIRIES     "#define INQUIRY(FIELD) FIELD(u64, times)\nGYRE_MESSAGE(inquiry, INQUIRY)\n"

static const struct {
    const char *messages, *protocol;
    int tail, inquiries, notes, grown;
} versions[] = {
    [AS_IT_IS] = {NOW_ORDER NOW_RECEIPT NOW_NOTE, NOW_SHOP, 64, 0, 1, 0},
    [GROWN] = {GROWN_ORDER GROWN_RECEIPT GROWN_NOTE,
               "#define SHOP(TAKES) TAKES(order, receipt) TAKES(note, note) TAKES(inquiry, inquiry)\n", 128,
               1, 1, 1},
    [OTHER_FIELD] = {"#define ORDER(FIELD) FIELD(u64, number) FIELD(f32, weight)\n" NOW_RECEIPT GROWN_NOTE,
                     NOW_SHOP, 128, 0, 1, 0},
    [FEWER_TYPES] = {NOW_ORDER NOW_RECEIPT NOW_NOTE, "#define SHOP(TAKES) TAKES(order, receipt)\n", 64, 0, 0,
                     0},
    [OTHER_ORDER] = {NOW_ORDER NOW_RECEIPT NOW_NOTE,
                     "#define SHOP(TAKES) TAKES(note, note) TAKES(order, receipt)\n", 64, 0, 1, 0},
    [LATER_GONE] = {GROWN_ORDER GROWN_RECEIPT GROWN_NOTE, NOW_SHOP, 128, 0, 1, 1},
};

static void write_handlers(FILE *file)
{
    fprintf(file,
            "GYRE_HANDLER(shop, order, receipt)\n{\n    reply->number = request->number + request->weight;\n"
            "    reply->version = %d;\n%s    return GYRE_REPLY;\n}\n",
            (int)version,
            versions[version].grown
                ? "    if (request->later) return gyre_fail(gyre, 1, \"not zero\");\n    reply->later = 7;\n"
                : "");
    if (versions[version].notes)
        fprintf(
            file,
            "GYRE_HANDLER(shop, note, note)\n{\n    reply->version = %d;\n%s"
            "    reply->text = gyre_copy(gyre, u8, reply, request, request->text);\n    return GYRE_REPLY;\n}\n",
            (int)version,
            versions[version].grown
                ? "    if (request->later.count) return gyre_fail(gyre, 1, \"not empty\");\n"
                  "    reply->later = gyre_new(gyre, u32, reply, 3);\n"
                : "");
    if (versions[version].inquiries)
        fputs("GYRE_HANDLER(shop, inquiry, inquiry)\n{\n    *reply = *request;\n    return GYRE_REPLY;\n}\n",
              file);
}

static void write_shop(char *path, size_t size)
{
    snprintf(path, size, "%s/shop-%d.gyre.c", getenv("CRASH_FOLDER"), (int)version);
    FILE *file = fopen(path, "we");
    require(file);
    fprintf(file,
            "#include <gyre/kernel.h>\n%s%sGYRE_MESSAGE(order, ORDER)\nGYRE_MESSAGE(receipt, RECEIPT)\n"
            "GYRE_MESSAGE_TAIL(note, NOTE, %d)\n%sGYRE_PROTOCOL(shop, SHOP)\nGYRE_KERNEL_OF(shop, SHOP)\n",
            versions[version].messages, versions[version].inquiries ? INQUIRIES : "", versions[version].tail,
            versions[version].protocol);
    write_handlers(file);
    fclose(file);
}

static gyre_kernel *launch_shop(gyre_runtime *runtime, const gyre_type *request, const gyre_type *reply)
{
    char path[512];
    gyre_kernel *kernel = NULL;
    write_shop(path, sizeof path);
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = path, .kernel = "shop", .request = request, .reply = reply};
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

static void serve_shop(const party *self)
{
    gyre_runtime *runtime = open_plain(NULL);
    launch_shop(runtime, NULL, NULL);
    gyre_server *server = serve_at_place(runtime);
    party_say(self, 'r');
    party_wait(self);
    gyre_server_close(server);
    gyre_close(runtime);
}

static party start_shop(enum version next)
{
    version = next;
    party server = party_start(serve_shop);
    require(party_hear(&server) == 'r');
    return server;
}

static void kill_server(const party *server)
{
    kill(server->process, SIGKILL);
    require(party_end(server) == 128 + SIGKILL);
}

/* ---- clients ---- */

static uint64_t lasting(void)
{
    return gyre_in_ms(patiently(60000));
}

static gyre_status try_shop(bool told, bool reconnect, gyre_queue **queue)
{
    const gyre_attach_desc desc = {.size = sizeof desc,
                                   .path = meeting_place(),
                                   .request = told ? GYRE_TYPE(shop_request) : NULL,
                                   .reply = told ? GYRE_TYPE(shop_reply) : NULL,
                                   .deadline_ns = lasting(),
                                   .reconnect = reconnect};
    return gyre_attach("shop", &desc, queue);
}

static gyre_status place_order(gyre_queue *queue, uint64_t number, receipt *got)
{
    const order request = {number, 5};
    return gyre_call_as(queue, GYRE_TYPE(order), &request, GYRE_TYPE(receipt), got, NULL, lasting());
}

static void write_note(gyre_queue *queue)
{
    note request, reply;
    gyre_begin(&request);
    must(gyre_put_text(&request, &request.text, "by the door"));
    must(gyre_call_as(queue, GYRE_TYPE(note), &request, GYRE_TYPE(note), &reply, NULL, lasting()));
    require(reply.version == (uint32_t)version && reply.text.count == 11);
    require(memcmp(gyre_items(u8, &reply, reply.text), "by the door", 11) == 0);
}

static void shop_at(gyre_queue *queue)
{
    receipt got = {0};
    for (uint64_t number = 0; number < 5; number++) {
        must(place_order(queue, number, &got));
        require(got.number == number + 5 && got.version == version);
        write_note(queue);
    }
}

static void a_lasting_queue_goes_on_at_a_protocol_that_grew(void)
{
    for (int told = 0; told < 2; told++) { /* the other client takes the types that it finds */
        gyre_queue *queue = NULL;
        party server = start_shop(AS_IT_IS);
        must(try_shop(told, true, &queue));
        shop_at(queue);
        kill_server(&server);
        server = start_shop(GROWN);
        shop_at(queue);
        kill_server(&server);
        server = start_shop(AS_IT_IS);
        shop_at(queue);
        gyre_queue_close(queue);
        kill_server(&server);
    }
}

static void require_words(const char *words)
{
    require_(strstr(gyre_error_text(), words) != NULL, words, gyre_error_text(), __LINE__);
}

/* The later type, as the later header has it. */
static gyre_status ask_once(gyre_queue *queue)
{
    const inquiry request = {3};
    inquiry got = {0};
    return gyre_call_as(queue, GYRE_TYPE(inquiry), &request, GYRE_TYPE(inquiry), &got, NULL, lasting());
}

static void expect_refused(enum version next, const char *words)
{
    gyre_queue *queue = NULL;
    receipt got;
    party server = start_shop(AS_IT_IS);
    must(try_shop(false, true, &queue));
    shop_at(queue);
    kill_server(&server);
    server = start_shop(next);
    require(place_order(queue, 1, &got) == GYRE_LOST);
    require_words(words);
    gyre_queue_close(queue);
    require(try_shop(true, false, &queue) == GYRE_INCOMPATIBLE);
    require_words(words);
    kill_server(&server);
}

static void a_type_that_is_gone_again_is_refused(void)
{
    gyre_queue *queue = NULL;
    party server = start_shop(GROWN);
    must(try_shop(false, true, &queue));
    must(ask_once(queue));
    kill_server(&server);
    server = start_shop(LATER_GONE);
    require(ask_once(queue) == GYRE_LOST);
    require_words("the choice 'inquiry' as number 3");
    gyre_queue_close(queue);
    kill_server(&server);
}

static void a_protocol_that_changed_is_refused_by_its_type(void)
{
    expect_refused(OTHER_FIELD, "field 'order.weight' of type f32");
    expect_refused(FEWER_TYPES, "the choice 'note' as number 2");
    expect_refused(OTHER_ORDER, "the choice 'note' as number 1");
}

static void a_client_with_the_earlier_header_attaches(void)
{
    gyre_queue *queue = NULL;
    party server = start_shop(GROWN);
    must(try_shop(true, false, &queue));
    shop_at(queue);
    gyre_queue_close(queue);
    kill_server(&server);
}

/* The program that launches may have the earlier header, too; its queues are the kernel's own. */
static void the_launching_program_has_the_earlier_header(void)
{
    version = GROWN;
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = launch_shop(runtime, GYRE_TYPE(shop_request), GYRE_TYPE(shop_reply));
    shop_at(gyre_kernel_queue(kernel));
    const order orders[3] = {{1, 2}, {3, 4}, {5, 6}};
    size_t sent = 0;
    must(gyre_send_batch_as(gyre_kernel_queue(kernel), GYRE_TYPE(order), orders, sizeof orders[0], 3, &sent,
                            lasting()));
    for (size_t i = 0; i < 3; i++) {
        unsigned char reply[512];
        const receipt *got = NULL;
        gyre_completion completion;
        size_t size = 0;
        must(gyre_receive(gyre_kernel_queue(kernel), reply, sizeof reply, &completion, lasting()));
        must(gyre_reply_as(gyre_kernel_queue(kernel), reply, completion.length, GYRE_TYPE(receipt), &got,
                           &size));
        require(size == sizeof *got && got->number == orders[i].number + orders[i].weight);
    }
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"a_lasting_queue_goes_on_at_a_protocol_that_grew", a_lasting_queue_goes_on_at_a_protocol_that_grew},
    {"a_protocol_that_changed_is_refused_by_its_type", a_protocol_that_changed_is_refused_by_its_type},
    {"a_type_that_is_gone_again_is_refused", a_type_that_is_gone_again_is_refused},
    {"a_client_with_the_earlier_header_attaches", a_client_with_the_earlier_header_attaches},
    {"the_launching_program_has_the_earlier_header", the_launching_program_has_the_earlier_header},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
