/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of changing size, from the host's side: docs/messages.md explains them. */
#include <gyre/gyre.h>

#include <stdio.h>
#include <stdlib.h>

#include "add.h"
#include "add_wire.h"
#include "messages.h"

/* Every call that can fail says why. */
static void must(gyre_status status)
{
    if (status == GYRE_OK)
        return;
    fprintf(stderr, "messages: %s: %s\n", gyre_status_word(status), gyre_error_text());
    exit(1);
}

static gyre_queue *launch(gyre_runtime *runtime, const char *source, const gyre_type *request,
                          const gyre_type *reply)
{
    gyre_kernel *kernel;
    const gyre_launch_desc desc = {.size = sizeof desc, .source = source, .request = request, .reply = reply};
    must(gyre_launch(runtime, &desc, &kernel));
    return gyre_kernel_queue(kernel);
}

/* A text, and a text back. */
static void chat(gyre_runtime *runtime)
{
    gyre_queue *queue = launch(runtime, "messages.gyre.c:chat", GYRE_TYPE(line), GYRE_TYPE(answer));
    line said;
    answer heard;
    gyre_begin(&said);
    must(gyre_put_text(&said, &said.author, "Ada"));
    must(gyre_put_text(&said, &said.text, "weaves algebraic patterns"));
    must(gyre_call(queue, &said, sizeof said, &heard, sizeof heard, NULL, gyre_in_ms(60000)));
    printf("%u words: %.*s\n", heard.words, (int)heard.text.count, gyre_items(char, &heard, heard.text));
}

/* A thousand records in one message; they are written where they will be sent from. */
static void ticks(gyre_runtime *runtime)
{
    gyre_queue *queue = launch(runtime, "messages.gyre.c:ticks", GYRE_TYPE(batch), GYRE_TYPE(summary));
    static batch all;
    summary found;
    gyre_begin(&all);
    must(gyre_put_text(&all, &all.symbol, "GYRE"));
    must(gyre_put(&all, &all.ticks, (const tick *)NULL, 1000));
    tick *list = gyre_items(tick, &all, all.ticks);
    for (uint32_t i = 0; i < 1000; i++)
        list[i] = (tick){.time = i, .price = 100 + i % 7 * 0.25, .size = i % 10};
    must(gyre_call(queue, &all, sizeof all, &found, sizeof found, NULL, gyre_in_ms(60000)));
    printf("%.*s: %g to %g, volume %llu\n", (int)found.symbol.count, gyre_items(char, &found, found.symbol),
           found.low, found.high, (unsigned long long)found.volume);
}

/* Records first, then their parts, through the pointer to them. */
static void orders(gyre_runtime *runtime)
{
    gyre_queue *queue = launch(runtime, "messages.gyre.c:orders", GYRE_TYPE(order), GYRE_TYPE(bill));
    const item wanted[] = {{.article = 4711, .pieces = 2, .price = 9.5},
                           {.article = 815, .pieces = 1, .price = 30}};
    const utf8 none = {0, 0};
    order mine;
    bill due;
    gyre_begin(&mine);
    must(gyre_put_text(&mine, &mine.to.street, "Hauptstraße"));
    mine.to.number = 7;
    must(gyre_put(&mine, &mine.items, wanted, 2));
    must(gyre_put(&mine, &gyre_items(item, &mine, mine.items)[0].notes, &none, 1));
    utf8 *notes = gyre_items(utf8, &mine, gyre_items(item, &mine, mine.items)[0].notes);
    must(gyre_put_text(&mine, &notes[0], "fragile"));
    must(gyre_call(queue, &mine, sizeof mine, &due, sizeof due, NULL, gyre_in_ms(60000)));
    printf("%g for %.*s, %u note\n", due.total, (int)due.label.count, gyre_items(char, &due, due.label),
           due.notes);
}

/* Bytes that came from .NET go through as they are. */
static void add(gyre_runtime *runtime)
{
    static const unsigned char captured[42] = {
        0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd,
        0xee, 0xff, 42,   1,    0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77, 0x99, 0xaa,
        0xbb, 0xcc, 0xdd, 0xee, 0xff, 0,    0,    0,    0xc0, 0x3f, 0,    0,    0x20, 0x40};
    gyre_queue *queue = launch(runtime, "add.gyre.c", NULL, NULL);
    unsigned char bytes[38];
    add_reply sum;
    must(gyre_call(queue, captured, sizeof captured, bytes, sizeof bytes, NULL, gyre_in_ms(60000)));
    gyre_wire_in in = {.bytes = bytes, .length = sizeof bytes};
    if (!gyre_decode_add_reply(&in, &sum))
        printf("byte %u: %s\n", in.at, in.problem);
    else
        printf("1.5 + 2.5 = %g, priority %u\n", (double)sum.result, sum.priority);
}

int main(void)
{
    gyre_runtime *runtime;
    must(gyre_open(NULL, &runtime));
    chat(runtime);
    ticks(runtime);
    orders(runtime);
    add(runtime);
    gyre_close(runtime);
    return 0;
}
