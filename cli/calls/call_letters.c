/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the dead letters (requests that no handler will handle) of a queue. One thread, the queue's only reader of letters. */
#include "cli/calls/call_letters.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/json/message_json.h"
#include "core/base/error.h"
#include "core/types/message.h"

/* Prints the request of a letter. Prints only the length of a malformed request, because its parts may be damaged. */
static void print_request(const gyre_layout *layout, const void *request, uint32_t length, FILE *out)
{
    if (layout->tail == 0 || gyre_layout_check_message(layout, request, length) == GYRE_OK)
        message_json_write(layout, request, out);
    else
        fprintf(out, "{\"malformed\":\"%" PRIu32 " bytes\"}", length);
}

static void print_letter(const gyre_layout *layout, const gyre_dead_letter *letter, const void *request,
                         FILE *out)
{
    fprintf(out, "{\"dead\":{\"index\":%" PRIu64 ",", letter->index);
    if (letter->header_size)
        fprintf(out, "\"id\":%" PRIu64 ",", (uint64_t)letter->header.id);
    fprintf(out, "\"code\":%" PRId32 ",\"reason\":", letter->code);
    message_json_write_text(letter->reason, out);
    fputs(",\"request\":", out);
    print_request(layout, request, letter->length, out);
    fputs("}}\n", out);
}

gyre_status call_letters_print(gyre_queue *queue, const gyre_layout *request, FILE *out, size_t *printed)
{
    gyre_dead_letter letter = {.size = sizeof letter};
    void *message = calloc(1, request->size + 1);
    gyre_status status = message ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "out of memory for a message");
    *printed = 0;
    while (status == GYRE_OK) {
        status = gyre_dead_letter_take(queue, &letter, message, request->size, GYRE_NO_WAIT);
        if (status != GYRE_OK)
            break;
        print_letter(request, &letter, message, out);
        ++*printed;
    }
    free(message);
    return status == GYRE_AGAIN ? GYRE_OK : status;
}
