/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the reader of journals. The input is taken as a file as it is; and as a list of records (a byte of
 * kind, two of length, contents), which get their headers and hashes, so that what is behind them is reached.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/content.h"

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

static void read_file(const uint8_t *data, size_t size)
{
    struct gyre_journal_content content;
    if (gyre_journal_read(data, size, &content) == GYRE_OK)
        look(&content, size);
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
