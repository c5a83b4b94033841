/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of journals, what `gyre journal` prints of one, and what it writes anew. The input is taken as a file as it
 * is; and as a list of records (a byte of kind, two of length, contents), which get their headers and hashes, so that what is
 * behind them is reached.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/views/journal_view.h"
#include "core/journal/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

/* Everything that the content points to can be read, and its numbers are in order. */
static void look(const struct gyre_journal_content *content, size_t size)
{
    uint64_t sum = 0;
    if (content->first > content->received || content->received > content->sent ||
        content->used + content->lost != size || content->lost_end < content->lost_first)
        abort();
    for (uint64_t i = 0; i < content->sent - content->first; i++) {
        const struct gyre_kept_message *messages[2] = {&content->requests[i], &content->replies[i]};
        for (int m = 0; m < 2; m++)
            for (uint32_t at = 0; messages[m]->payload && at < messages[m]->length; at++)
                sum += messages[m]->payload[at];
        for (uint32_t at = 0; content->requests[i].header && at < content->open.header_size; at++)
            sum += content->requests[i].header[at];
    }
    for (size_t i = 0; i < content->types.count; i++)
        sum += content->types.all[i].type->size + (unsigned char)content->types.all[i].type->fields[0];
    for (uint64_t at = 0; content->state && at < content->open.state_size; at++)
        sum += content->state[at];
    sink = sum;
}

/* What was read can be printed, whatever its types and messages are. */
static void print(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    journal_view view = {.visit = {.path = (char *)(uintptr_t) "fuzzed", .lock = -1, .size = size}};
    nowhere = nowhere ? nowhere : fopen("/dev/null", "we");
    view.visit.data = malloc(size + 1);
    if (!nowhere || !view.visit.data)
        abort();
    memcpy(view.visit.data, data, size);
    if (journal_view_read(&view) == GYRE_OK) {
        sink += journal_view_check(&view) == GYRE_OK;
        journal_view_write_head(&view, nowhere);
        for (uint64_t index = view.content.first; index < view.content.sent; index++)
            journal_view_write_request(&view, index, nowhere);
        sink += journal_view_write_state(&view, NULL, nowhere) == GYRE_OK;
        for (size_t i = 0; i < view.content.types.count; i++)
            if (view.content.types.all[i].about.role == GYRE_ROLE_BUFFER)
                sink +=
                    journal_view_write_state(&view, view.content.types.all[i].about.name, nowhere) == GYRE_OK;
    }
    view.visit.path = NULL;
    journal_view_close(&view);
}

/* What was read says the same when it was written anew. */
static void rewrite(const struct gyre_journal_content *content)
{
    struct gyre_bytes bytes = {0};
    struct gyre_journal_content again;
    if (gyre_journal_rewrite(content, content->sent, &bytes) != GYRE_OK)
        abort();
    if (gyre_journal_read(bytes.data, bytes.size, &again) != GYRE_OK || again.sent != content->sent ||
        again.first != content->first || again.covered != content->covered || again.lost || again.cut ||
        !again.ended)
        abort();
    gyre_journal_content_release(&again);
    gyre_bytes_release(&bytes);
}

static void read_file(const uint8_t *data, size_t size)
{
    print(data, size);
    struct gyre_journal_content content;
    if (gyre_journal_read(data, size, &content) == GYRE_OK) {
        look(&content, size);
        rewrite(&content);
    }
    gyre_journal_content_release(&content);
}

static void read_records(const uint8_t *data, size_t size)
{
    struct gyre_bytes file = {0};
    uint64_t number = 0;
    while (size >= 3) {
        size_t length = (size_t)data[1] | (size_t)data[2] << 8;
        length = length < size - 3 ? length : size - 3;
        size_t place = gyre_record_begin(&file, (enum gyre_record_kind)data[0], ++number);
        gyre_bytes_add(&file, data + 3, length);
        gyre_record_end(&file, place);
        data += 3 + length;
        size -= 3 + length;
    }
    if (file.data)
        read_file(file.data, file.size);
    gyre_bytes_release(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_file(data, size);
    read_records(data, size);
    return 0;
}
