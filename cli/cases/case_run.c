/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests while the queue has room, takes an answer, and so on, so that no policy for full queues applies. */
#include "cli/cases/case_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calls/call_ends.h"
#include "cli/calls/call_outcome.h"
#include "cli/cases/case_compare.h"
#include "cli/json/message_json_reader.h"
#include "core/base/error.h"
#include "gyre/attach.h"
#include "core/base/text.h"
#include "core/types/message.h"

enum { PLACE_SIZE = 4200 };

typedef struct case_play {
    const case_run_desc *desc;
    gyre_layout *request_layout, *reply_layout;
    unsigned char *request, *reply;
    size_t *order; /* which pair is sent at each place */
    size_t sent, answered, differing;
    uint64_t first; /* the queue's index of the first pair; answers below are an earlier run's */
    bool active;
    bool is_lost; /* the kernel is lost for good: what was not sent by then is unhandled */
} case_play;

/* ---- messages of the file ---- */

/* Decodes a JSON string of hexadecimal digits to a message. The message is checked, because anything may stand in a file. */
static gyre_status decode_bytes(const gyre_layout *layout, case_value digits, unsigned char *message)
{
    const uint64_t length = digits.length / 2 - 1; /* without the quotes */
    if (digits.length % 2 || length > layout->size || (layout->tail == 0 && length != layout->size) ||
        length < layout->least)
        return gyre_error_set(GYRE_INVALID, "%zu digits are no message of '%s', which has %" PRIu64 " bytes",
                              digits.length - 2, layout->name, layout->size);
    gyre_layout_clear_message(layout, message);
    for (uint64_t i = 0; i < length; i++) {
        const int high = reader_hex_digit(digits.text[1 + 2 * i]),
                  low = reader_hex_digit(digits.text[2 + 2 * i]);
        if (high < 0 || low < 0)
            return gyre_error_set(GYRE_INVALID, "expected hexadecimal digits, found '%.2s'",
                                  digits.text + 1 + 2 * i);
        message[i] = (unsigned char)(high << 4 | low);
    }
    return layout->tail ? gyre_layout_check_message(layout, message, length) : GYRE_OK;
}

static gyre_status read_message(const case_play *play, const gyre_layout *layout, case_value value,
                                bool as_bytes, unsigned char *message)
{
    if (as_bytes && layout->shape != GYRE_SHAPE_PACKET)
        return decode_bytes(layout, value, message);
    return message_json_read_named(layout, value.text, value.length, play->desc->names, message);
}

static int refuse_message(const case_play *play, const case_pair *pair, const char *what)
{
    return case_error(play->desc->file, pair->line, "%s: %s", what, gyre_error_text());
}

/* ---- judging ---- */

/* The text that call_outcome_print gives of a message of the file. NULL without memory. */
static char *expected_text(const case_play *play, const unsigned char *message)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    if (play->reply_layout->shape == GYRE_SHAPE_PACKET) {
        uint32_t used;
        memcpy(&used, message, sizeof used);
        message_json_write_hex(message + GYRE_PACKET_FRONT, used - GYRE_PACKET_FRONT, stream);
    } else {
        message_json_write(play->reply_layout, message, stream);
    }
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static void place_of(const case_play *play, const case_pair *pair, char place[PLACE_SIZE])
{
    const int used = snprintf(place, PLACE_SIZE, "gyre: %s:%" PRIu64, play->desc->file->path, pair->line);
    if (play->desc->order && used > 0 && used < PLACE_SIZE)
        snprintf(place + used, PLACE_SIZE - (size_t)used, ": in order %" PRIu64, play->desc->order);
    else if (play->desc->seed && used > 0 && used < PLACE_SIZE)
        snprintf(place + used, PLACE_SIZE - (size_t)used, ": with seed %" PRIu64, play->desc->seed);
}

/* Whether the answers of this run are compared with those of an earlier one. */
static bool is_compared(const case_run_desc *desc)
{
    return desc->order || desc->seed;
}

/* Compares a reply with the expected one. *differs as well. */
static int judge_reply(const case_play *play, const case_pair *pair, const char *found, bool *differs)
{
    char place[PLACE_SIZE];
    if (read_message(play, play->reply_layout, pair->reply, pair->reply_bytes, play->reply) != GYRE_OK)
        return refuse_message(play, pair, "reply");
    char *expected = expected_text(play, play->reply);
    if (!expected)
        return cli_error(CLI_FAILED, "out of memory");
    place_of(play, pair, place);
    *differs = case_compare(&(case_compare_desc){play->reply_layout, play->desc->file->ulps, place, stderr},
                            expected, found) > 0;
    free(expected);
    return CLI_OK;
}

/* Compares a failure with the expected one. Its text may be cut by the ring, which holds a few bytes of it. */
static bool is_failure(const case_pair *pair, const gyre_completion *completion)
{
    return completion->outcome == GYRE_HANDLER_FAILED && completion->failure_code == pair->failure_code &&
           (!pair->failure_text ||
            strncmp(pair->failure_text, completion->failure_text, sizeof completion->failure_text - 1) == 0);
}

static void expected_words(const case_pair *pair, char words[PLACE_SIZE])
{
    switch (pair->expectation) {
    case CASE_FAILURE:
        snprintf(words, PLACE_SIZE, "a failure of code %" PRId32 "%s%.100s", pair->failure_code,
                 pair->failure_text ? ": " : "", pair->failure_text ? pair->failure_text : "");
        break;
    case CASE_REPLY:
        snprintf(words, PLACE_SIZE, "the reply %.*s",
                 pair->reply.length < 2000 ? (int)pair->reply.length : 2000, pair->reply.text);
        break;
    default:
        snprintf(words, PLACE_SIZE, "%s",
                 pair->expectation == CASE_NO_REPLY  ? "no reply"
                 : pair->expectation == CASE_DROPPED ? "a request that is dropped"
                                                     : "an answer");
    }
}

/* Judges an answer whose kind is not the expected one, or of which only the kind counts. */
static int judge_kind(const case_play *play, const case_pair *pair, bool as_expected, const char *found,
                      bool *differs)
{
    char words[PLACE_SIZE];
    *differs = !as_expected;
    if (as_expected)
        return CLI_OK;
    expected_words(pair, words);
    case_error(play->desc->file, pair->line, "expected %s, found %.600s", words, found);
    return CLI_OK;
}

static int judge(const case_play *play, const case_pair *pair, const gyre_completion *completion,
                 enum call_outcome kind, const char *found, bool *differs)
{
    switch (pair->expectation) {
    case CASE_REPLY:
        return kind == CALL_ANSWER ? judge_reply(play, pair, found, differs)
                                   : judge_kind(play, pair, false, found, differs);
    case CASE_FAILURE:
        return judge_kind(play, pair, is_failure(pair, completion), found, differs);
    case CASE_NO_REPLY:
        return judge_kind(play, pair, kind == CALL_NO_REPLY, found, differs);
    case CASE_DROPPED:
        return judge_kind(play, pair, completion->outcome == GYRE_WAS_DROPPED, found, differs);
    default:
        return judge_kind(play, pair, kind == CALL_ANSWER || kind == CALL_NO_REPLY, found, differs);
    }
}

/* Keeps an answer of the run in the order of the file, as far as there is memory. */
static void keep_answer(const case_play *play, size_t pair, const char *found)
{
    case_answers *answers = play->desc->answers;
    if (!answers->texts && (answers->texts = calloc(play->desc->file->count, sizeof *answers->texts)))
        answers->count = play->desc->file->count;
    if (answers->texts)
        answers->texts[pair] = strdup(found);
}

/* Whether an answer is a reply, which is compared field by field: as call_outcome_print writes it. */
static bool is_reply(const char *answer)
{
    return strncmp(answer, "{\"failed\":{", 11) != 0 && strcmp(answer, "{\"no_reply\":true}") != 0 &&
           strcmp(answer, "{\"unhandled\":true}") != 0;
}

/* Whether a check of the backend failed the message, as call_outcome_print writes it. */
static bool is_finding(const char *answer)
{
    static const int codes[] = {GYRE_FAILURE_FINDING, GYRE_FAILURE_INDEX, GYRE_FAILURE_BARRIER};
    int code;
    bool is_one = false;
    if (sscanf(answer, "{\"failed\":{\"code\":%d,", &code) == 1)
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
            is_one |= codes[i] == code;
    return is_one;
}

/* Compares an answer with the one that came in the order of the file, or with the first seed. */
static bool compare_orders(const case_play *play, const case_pair *pair, const char *found)
{
    const size_t index = (size_t)(pair - play->desc->file->pairs);
    const case_answers *answers = play->desc->answers;
    char place[PLACE_SIZE];
    if (!answers->texts || !answers->texts[index] || (play->desc->findings_only && !is_finding(found)))
        return false;
    place_of(play, pair, place);
    if (strcmp(answers->texts[index], found) != 0 && !(is_reply(answers->texts[index]) && is_reply(found))) {
        fprintf(stderr, "%s: expected %.600s, found %.600s\n", place, answers->texts[index], found);
        return true;
    }
    return case_compare(&(case_compare_desc){play->reply_layout, play->desc->file->ulps, place, stderr},
                        answers->texts[index], found) > 0;
}

/* Prints an answer, and judges it. */
static int take_answer(case_play *play, const gyre_completion *completion)
{
    char *found = NULL;
    size_t size;
    bool differs = false;
    FILE *stream = open_memstream(&found, &size);
    if (!stream)
        return cli_error(CLI_FAILED, "out of memory");
    const enum call_outcome kind = call_outcome_print(play->reply_layout, completion, play->reply, stream);
    if (fclose(stream) != 0) {
        free(found);
        return cli_error(CLI_FAILED, "out of memory");
    }
    const case_pair *pair = &play->desc->file->pairs[play->order[play->answered]];
    int code = CLI_OK;
    if (is_compared(play->desc)) {
        differs = compare_orders(play, pair, found);
    } else {
        fprintf(play->desc->out, "%s\n", found);
        keep_answer(play, play->answered, found);
        code = judge(play, pair, completion, kind, found, &differs);
    }
    play->answered++;
    play->desc->answers->differ |= differs;
    play->differing += differs || code != CLI_OK; /* an expectation that cannot be read is not met */
    free(found);
    return code;
}

/* ---- the flow ---- */

/*
 * The exit code for a status of the kernel. A kernel that is lost after it got requests fails those alone, whichever call hears of the
 * loss first: which one that is depends on the speed of this process.
 */
static int take_status(case_play *play, gyre_status status)
{
    play->is_lost = status == GYRE_LOST && play->sent > 0;
    return play->is_lost ? CLI_OK : cli_fail_unless_ok(status);
}

/* Sends the next request. Sets *full instead when the queue has no room. */
static int send_next(case_play *play, bool *full)
{
    const case_pair *pair = &play->desc->file->pairs[play->order[play->sent]];
    const gyre_layout *layout = play->request_layout;
    const unsigned char *message = play->request;
    uint64_t index;
    if (read_message(play, layout, pair->request, pair->request_bytes, play->request) != GYRE_OK)
        return refuse_message(play, pair, "request");
    size_t length = layout->size;
    if (layout->shape == GYRE_SHAPE_PACKET) { /* sent without its length in front */
        uint32_t used;
        memcpy(&used, message, sizeof used);
        message += GYRE_PACKET_FRONT;
        length = used - GYRE_PACKET_FRONT;
    }
    const gyre_status status = gyre_send(play->desc->queue, message, length, &index, GYRE_NO_WAIT);
    *full = status == GYRE_AGAIN;
    if (status == GYRE_OK && play->sent++ == 0)
        play->first = index;
    if (*full)
        return CLI_OK;
    const int code = take_status(play, status);
    if (play->is_lost)
        cli_fail(status); /* the rest is not sent: why */
    return code;
}

static uint64_t deadline_of(const case_play *play)
{
    return play->desc->timeout_ms ? gyre_in_ms(play->desc->timeout_ms) : GYRE_FOREVER;
}

static int activate(case_play *play)
{
    return take_status(play, gyre_kernel_activate(play->desc->kernel, deadline_of(play)));
}

static int activate_once(case_play *play)
{
    if (play->active)
        return CLI_OK;
    play->active = true;
    return activate(play);
}

/* Judges the next pair, whose request found a lost kernel. */
static int take_unsent(case_play *play)
{
    const gyre_completion completion = {.outcome = GYRE_WAS_UNHANDLED};
    play->sent++;
    return take_answer(play, &completion);
}

static int receive_one(case_play *play)
{
    gyre_completion completion;
    if (play->answered == play->sent)
        return take_unsent(play);
    fflush(play->desc->out); /* a handler may end this process */
    call_ends_printed(play->desc->queue);
    const gyre_status status = gyre_receive(play->desc->queue, play->reply, play->reply_layout->size,
                                            &completion, deadline_of(play));
    if (status == GYRE_TIMEOUT)
        return case_error(play->desc->file, play->desc->file->pairs[play->order[play->answered]].line,
                          "no answer came within %" PRIu64 " ms", play->desc->timeout_ms),
               CLI_TIMEOUT;
    if (status != GYRE_OK)
        return cli_fail(status);
    return completion.index < play->first ? CLI_OK : take_answer(play, &completion);
}

/* Whether the next request is sent in another round. */
static bool waits(const case_play *play)
{
    if (play->sent > play->answered && play->sent == play->desc->checkpoint)
        return true;
    return play->sent > play->answered && play->desc->file->pairs[play->order[play->sent]].later;
}

static bool may_send(const case_play *play)
{
    return play->sent < play->desc->file->count && !play->is_lost;
}

/* All that the queue holds, up to a request that is sent later; then the kernel runs until all of it is answered, and pauses. */
static int run_round(case_play *play)
{
    bool full = false;
    int code = CLI_OK;
    while (code == CLI_OK && may_send(play) && !full && !waits(play))
        code = send_next(play, &full);
    if (code == CLI_OK && !play->is_lost)
        code = activate(play);
    while (code == CLI_OK && play->answered < play->sent)
        code = receive_one(play);
    if (code == CLI_OK && may_send(play))
        code = take_status(play, gyre_kernel_deactivate(play->desc->kernel, deadline_of(play)));
    if (code == CLI_OK && play->answered == play->desc->checkpoint && !play->is_lost)
        code = take_status(play, gyre_kernel_checkpoint(play->desc->kernel, deadline_of(play)));
    return code;
}

static int run_rounds(case_play *play)
{
    int code = CLI_OK;
    while (code == CLI_OK && play->answered < play->desc->file->count)
        code = may_send(play) ? run_round(play) : receive_one(play);
    return code;
}

static int run_pairs(case_play *play)
{
    const size_t count = play->desc->file->count;
    int code = CLI_OK;
    while (code == CLI_OK && play->answered < count) {
        bool full = false;
        while (code == CLI_OK && may_send(play) && !full)
            code = send_next(play, &full);
        if (code == CLI_OK)
            code = activate_once(play);
        if (code == CLI_OK)
            code = receive_one(play);
    }
    return code;
}

/* The order in which requests are sent: that of the file, shuffled with numbers that follow from desc->order. False without
 * memory. */
static bool make_order(case_play *play)
{
    const size_t count = play->desc->file->count;
    uint64_t state = play->desc->order;
    play->order = calloc(count, sizeof *play->order);
    for (size_t i = 0; play->order && i < count; i++)
        play->order[i] = i;
    for (size_t i = count; play->order && play->desc->order && i > 1; i--) {
        uint64_t number = state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
        number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
        const size_t other = (size_t)((number ^ number >> 31) % i), moved = play->order[i - 1];
        play->order[i - 1] = play->order[other];
        play->order[other] = moved;
    }
    return play->order != NULL;
}

static void tell_counts(const case_play *play)
{
    const size_t as_expected = play->answered - play->differing;
    fprintf(stderr, "gyre: %s: %zu of %zu answers as expected\n", play->desc->file->path, as_expected,
            play->desc->file->count);
}

int case_run(const case_run_desc *desc)
{
    case_play play = {.desc = desc};
    const gyre_type *request, *reply;
    gyre_queue_types(desc->queue, &request, &reply);
    gyre_status status = gyre_layout_create(request, GYRE_MESSAGE_MAX, &play.request_layout);
    if (status == GYRE_OK)
        status = gyre_layout_create(reply, GYRE_MESSAGE_MAX, &play.reply_layout);
    int code = cli_fail_unless_ok(status);
    call_ends_printed(desc->queue);
    if (code == CLI_OK) {
        play.request = malloc(play.request_layout->size + 1);
        play.reply = malloc(play.reply_layout->size + 1);
        code = play.request && play.reply && make_order(&play)
                   ? (desc->in_rounds || desc->file->has_later ? run_rounds(&play) : run_pairs(&play))
                   : cli_error(CLI_FAILED, "out of memory");
        if (!is_compared(desc) || play.differing)
            tell_counts(&play);
    }
    if (fflush(desc->out) != 0 || ferror(desc->out))
        code = cli_error(CLI_FAILED, "cannot write the answers: %s", strerror(errno));
    call_ends_printed(NULL);
    free(play.order);
    free(play.request);
    free(play.reply);
    gyre_layout_destroy(play.request_layout);
    gyre_layout_destroy(play.reply_layout);
    return code == CLI_OK && play.differing ? CLI_FAILED : code;
}

void case_answers_finish(case_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++)
        free(answers->texts[i]);
    free(answers->texts);
    *answers = (case_answers){0};
}
