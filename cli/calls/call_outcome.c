/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how a request ended (call_outcome.h). */
#include "cli/calls/call_outcome.h"

#include <inttypes.h>

#include "cli/json/message_json.h"
#include "core/base/error.h"
#include "core/types/message.h"

static enum call_outcome print_reply(const gyre_layout *layout, const void *reply, uint32_t length, FILE *out)
{
    if (layout->shape == GYRE_SHAPE_PACKET) {
        message_json_write_hex(reply, length, out);
        return CALL_ANSWER;
    }
    if (layout->tail == 0 || gyre_layout_check_message(layout, reply, length) == GYRE_OK) {
        message_json_write(layout, reply, out);
        return CALL_ANSWER;
    }
    fputs("{\"malformed\":", out);
    message_json_write_text(gyre_error_text(), out);
    fputc('}', out);
    return CALL_FAILURE;
}

enum call_outcome call_outcome_print(const gyre_layout *layout, const gyre_completion *completion,
                                     const void *reply, FILE *out)
{
    switch (completion->outcome) {
    case GYRE_REPLIED:
        return print_reply(layout, reply, completion->length, out);
    case GYRE_NOT_REPLIED:
        fputs("{\"no_reply\":true}", out);
        return CALL_NO_REPLY;
    case GYRE_HANDLER_FAILED:
        fprintf(out, "{\"failed\":{\"code\":%" PRId32 ",\"text\":", completion->failure_code);
        message_json_write_text(completion->failure_text, out);
        fputs("}}", out);
        return CALL_FAILURE;
    case GYRE_WAS_DROPPED:
        fputs("{\"dropped\":true}", out);
        return CALL_LOSS;
    default:
        fputs("{\"unhandled\":true}", out);
        return CALL_LOSS;
    }
}
