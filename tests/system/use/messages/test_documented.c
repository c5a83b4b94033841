/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side as docs/messages.md prints it, word for word, against the kernels of that page. */
#include <gyre/gyre.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/desk.h"
#include "kernels/parts_order.h"
#include "kernels/wire_add.h"
#include "kernels/wire_add_wire.h"

static gyre_status put_order(order *message)
{
    const order_line line = {.article = 4711, .pieces = 2, .price = 9.5f};
    gyre_begin(message);
    gyre_status status = gyre_put(message, &message->lines, &line, 1);
    if (status == GYRE_OK)
        status = gyre_put_text(message, &message->to.street, "Hauptstraße");
    return status;
}

static gyre_status put_note(order *message, const char *text)
{
    const utf8 none = {0, 0};
    order_line *line = gyre_items(order_line, message, message->lines);
    gyre_status status = gyre_put(message, &line->notes, &none, 1);
    if (status == GYRE_OK)
        status = gyre_put_text(message, gyre_items(utf8, message, line->notes), text);
    return status;
}

static gyre_status put_door(order *message, const char *text)
{
    const utf8 none = {0, 0};
    gyre_status status = gyre_put(message, &message->to.door, &none, 1);
    if (status == GYRE_OK)
        status = gyre_put_text(message, gyre_items(utf8, message, message->to.door), text);
    return status;
}

static void print_notes(const order_checked *message)
{
    const order_line *line = gyre_items(order_line, message, message->lines);
    const utf8 *notes = line ? gyre_items(utf8, message, line->notes) : NULL;
    for (uint32_t i = 0; notes && i < line->notes.count; i++)
        printf("%.*s\n", GYRE_TEXT_ARGS(message, notes[i]));
}

static gyre_status pay_in(gyre_queue *desk, int64_t cents, balance *reply)
{
    const deposit request = {.account = 1, .cents = cents};
    return gyre_call_as(desk, GYRE_TYPE(deposit), &request, GYRE_TYPE(balance), reply, NULL,
                        gyre_in_ms(60000));
}

static gyre_status pay_in_first(gyre_queue *desk, int64_t cents)
{
    const desk_request message = {.gyre_used = GYRE_CHOICE_FRONT + sizeof(deposit),
                                  .gyre_choice = GYRE_NUMBER(desk, deposit),
                                  .gyre_one.gyre_of_deposit = {.account = 1, .cents = cents}};
    const gyre_header header = {.priority = 2};
    return gyre_send_with(desk, &message, sizeof message, &header, NULL, gyre_in_ms(60000));
}

/* Bytes of the wire and back, in place; 0: `bytes` hold no such message. */
static uint32_t convert(unsigned char *bytes, uint32_t length, uint32_t room)
{
    add_request message;
    gyre_wire_in in = {.bytes = bytes, .length = length};
    gyre_wire_out out = {.bytes = bytes, .room = room};
    if (!gyre_decode_add_request(&in, &message)) {
        printf("byte %u: %s\n", in.at, in.problem);
        return 0;
    }
    return gyre_encode_add_request(&out, &message); /* 0: out.problem says why */
}

static void must(gyre_status status)
{
    if (status == GYRE_OK)
        return;
    fprintf(stderr, "%s: %s\n", gyre_status_word(status), gyre_error_text());
    exit(1);
}

static void require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "required: %s\n", what);
    exit(1);
}

static gyre_queue *launch(gyre_runtime *runtime, const char *source)
{
    gyre_kernel *kernel;
    must(gyre_launch(runtime, &(gyre_launch_desc){.size = sizeof(gyre_launch_desc), .source = source},
                     &kernel));
    return gyre_kernel_queue(kernel);
}

static void try_order(gyre_runtime *runtime)
{
    order message;
    order_checked reply;
    gyre_queue *queue = launch(runtime, DOCUMENTED_KERNELS "/parts_order.gyre.c");
    must(put_order(&message));
    must(put_note(&message, "fragile"));
    must(put_door(&message, "3b"));
    must(gyre_call(queue, &message, sizeof message, &reply, sizeof reply, NULL, gyre_in_ms(60000)));
    require(reply.total == 19.0f && reply.note_bytes == 7, "the order is added up");
    require(reply.address_bytes == strlen("Hauptstraße") + strlen("3b"), "the door is part of the address");
    must(put_order(&message));
    must(gyre_put_text(&message, &message.to.door, "3b"));
    require(gyre_message_check(GYRE_TYPE(order), &message, message.gyre_used) == GYRE_INVALID,
            "an optional text is no text");
    print_notes(&reply);
}

static void try_wire(void)
{
    static const unsigned char captured[42] = {
        0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd,
        0xee, 0xff, 42,   1,    0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77, 0x99, 0xaa,
        0xbb, 0xcc, 0xdd, 0xee, 0xff, 0,    0,    0,    0xc0, 0x3f, 0,    0,    0x20, 0x40};
    unsigned char bytes[64];
    memcpy(bytes, captured, sizeof captured);
    require(convert(bytes, sizeof captured, sizeof bytes) == sizeof captured, "42 bytes come back");
    require(!memcmp(bytes, captured, sizeof captured), "and are the same");
    require(convert(bytes, sizeof captured - 1, sizeof bytes) == 0, "41 bytes are no message");
}

static void try_desk(gyre_runtime *runtime)
{
    gyre_queue *desk = launch(runtime, DOCUMENTED_KERNELS "/desk.gyre.c");
    balance reply = {0};
    desk_reply answer;
    gyre_message_info info = {.size = sizeof info};
    const balance *found = NULL;
    size_t size = 0;
    must(pay_in(desk, 500, &reply));
    require(reply.cents == 500 && reply.deposits == 1, "it was paid in");
    must(pay_in_first(desk, 50));
    must(gyre_receive_with(desk, &answer, sizeof answer, NULL, &info, gyre_in_ms(60000)));
    must(gyre_reply_as(desk, &answer, answer.gyre_used, GYRE_TYPE(balance), &found, &size));
    require(found->cents == 550 && info.header.priority == 2, "and the rest with a header");
}

int main(void)
{
    gyre_runtime *runtime;
    const char *const settings[] = {"queue.desk.header=16", NULL};
    must(gyre_open(&(gyre_open_desc){.size = sizeof(gyre_open_desc), .backend = "cpu", .settings = settings},
                   &runtime));
    try_order(runtime);
    try_desk(runtime);
    try_wire();
    gyre_close(runtime);
    return 0;
}
