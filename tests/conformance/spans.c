/* SPDX-License-Identifier: Apache-2.0 */
/* Spans that lie in device buffers: handlers see the same ones, and every wrong one is a failed message. */
#include <gyre/ring_layout.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "kernels/spans.h"
#include "span_words.h"

enum { MANY = 100000, FEW = 40 };

static gyre_buffer *make_buffer(const struct conformance *test, const void *bytes, uint64_t size)
{
    gyre_buffer *buffer = NULL;
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, size, &buffer));
    must(gyre_buffer_upload(buffer, 0, bytes, size));
    return buffer;
}

static gyre_buffer *make_words(const struct conformance *test)
{
    static uint64_t words[MANY];
    for (uint64_t i = 0; i < MANY; i++)
        words[i] = word(i);
    return make_buffer(test, words, sizeof words);
}

/* The words from `first` on, in the buffer or, with none, in the message. */
static samples ask_for(gyre_buffer *buffer, uint64_t first, uint32_t count)
{
    samples request;
    uint64_t words[FEW];
    gyre_begin(&request);
    if (buffer) {
        must(gyre_put_buffer(u64, &request, &request.words, buffer, first, count));
        return request;
    }
    require(count <= FEW);
    for (uint32_t i = 0; i < count; i++)
        words[i] = word(first + i);
    must(gyre_put(&request, &request.words, words, count));
    return request;
}

static samples_seen answer(gyre_kernel *kernel, const samples *request)
{
    samples_seen reply;
    gyre_completion completion;
    must(gyre_call(gyre_kernel_queue(kernel), request, sizeof *request, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome == GYRE_REPLIED);
    return reply;
}

static void refused(gyre_kernel *kernel, const samples *request, int32_t code, const char *why)
{
    samples_seen reply;
    gyre_completion completion;
    must(gyre_call(gyre_kernel_queue(kernel), request, sizeof *request, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == code);
    require(strstr(completion.failure_text, why) != NULL);
}

static uint64_t sum_in_a_buffer(gyre_queue *queue, gyre_buffer *buffer, uint64_t first, uint32_t count)
{
    samples request;
    samples_seen reply;
    gyre_begin(&request);
    must(gyre_put_buffer(u64, &request, &request.words, buffer, first, count));
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    return reply.sum;
}

/* Also beside others of both kinds, and with a text that is far. */
static void a_span_may_lie_in_a_buffer(struct conformance *test)
{
    static const char *const forms[] = {"lane_samples", "block_samples"};
    static const char title[] = "Messungen vom März";
    gyre_buffer *buffer = make_words(test), *text = make_buffer(test, title, sizeof title);
    for (size_t f = 0; f < 2; f++) {
        gyre_kernel *kernel = launch(test, "spans.gyre.c", forms[f]);
        require(sum_in_a_buffer(gyre_kernel_queue(kernel), buffer, 9, 1000) == sum_of(9, 1000));
        for (uint32_t i = 0; i < 40; i++) {
            const uint32_t first = i * 7, count = i % 2 ? i % FEW : MANY / (i + 1) - first % 3;
            samples request = ask_for(i % 2 ? NULL : buffer, first, count < MANY - first ? count : 1);
            must(gyre_put_buffer(u8, &request, &request.title, text, 10, 8));
            const samples_seen reply = answer(kernel, &request);
            require(reply.count == request.words.count && reply.sum == sum_of(first, reply.count));
            require(reply.last == (reply.count ? word(first + reply.count - 1) : 0));
            require(memcmp(gyre_items(u8, &reply, reply.title), "vom März", 8) == 0);
        }
        gyre_kernel_release(kernel);
    }
}

static void far_and_near_spans_give_the_same(struct conformance *test)
{
    const float halves[] = {0.5f, 1.5f, 2.5f};
    gyre_kernel *kernel = launch(test, "spans.gyre.c", "lane_samples");
    gyre_buffer *words = make_words(test), *numbers = make_buffer(test, halves, sizeof halves);
    samples near = ask_for(NULL, 5, FEW), far = ask_for(words, 5, FEW);
    const uint64_t few[] = {word(5), word(6)};
    must(gyre_put(&near, &near.halves, halves, 3));
    must(gyre_put_text(&near, &near.title, "title"));
    must(gyre_put(&near, &near.few, few, 2));
    must(gyre_put_buffer(f32, &far, &far.halves, numbers, 0, 3));
    must(gyre_put_text(&far, &far.title, "title"));
    must(gyre_put_buffer(u64, &far, &far.few, words, 5, 2));
    must(gyre_message_check(GYRE_TYPE(samples), &far, far.gyre_used));
    const samples_seen one = answer(kernel, &near), two = answer(kernel, &far);
    require(one.gyre_used == two.gyre_used && memcmp(&one, &two, one.gyre_used) == 0);
    require(gyre_items(u64, &far, far.words) == NULL && gyre_is_far(far.words)); /* nothing here to read */
}

static void wrong_far_spans_fail_their_message(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "spans.gyre.c", "lane_samples");
    gyre_buffer *buffer = make_words(test);
    const samples good = ask_for(buffer, 10, 100);
    const uint32_t at = good.words.offset & ~GYRE_PART_FAR;
    for (uint32_t bit = 0; bit < 64; bit++)
        for (uint32_t field = 0; field < 4; field++) { /* id, offset, size, address */
            samples bad = good;
            ((unsigned char *)&bad)[at + field * 8 + bit / 8] ^= (unsigned char)(1u << bit % 8);
            samples_seen reply;
            gyre_completion completion;
            must(gyre_call(gyre_kernel_queue(kernel), &bad, sizeof bad, &reply, sizeof reply, &completion,
                           soon()));
            require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -7);
        }
    samples bad = good;
    bad.words.count++;
    refused(kernel, &bad, -7, "another size than its handle");
    bad = good;
    bad.words.offset += 4;
    refused(kernel, &bad, -8, "words");
    bad.words.offset = GYRE_PART_FAR | good.gyre_used;
    refused(kernel, &bad, -8, "words");
    bad.words.offset = UINT32_MAX;
    refused(kernel, &bad, -8, "words");
    bad = good;
    bad.halves = good.words; /* the same place twice */
    refused(kernel, &bad, -8, "halves: overlaps");
    bad = good;
    bad.beyond = 1;
    refused(kernel, &bad, -8, "no item of that index");
    require(answer(kernel, &good).sum == sum_of(10, 100)); /* and it goes on */
}

static void a_span_of_a_freed_buffer_fails(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "spans.gyre.c", "lane_samples");
    gyre_buffer *buffer = make_words(test);
    const samples request = ask_for(buffer, 0, MANY);
    require(answer(kernel, &request).sum == sum_of(0, MANY));
    must(gyre_buffer_free(buffer));
    refused(kernel, &request, -7, "freed or lies elsewhere");
}

static void putting_a_buffer_checks_it(struct conformance *test)
{
    gyre_buffer *buffer = make_words(test);
    samples request = ask_for(NULL, 0, 0), before;
    before = request;
    require(gyre_put_buffer(u64, &request, &request.words, buffer, MANY - 1, 2) == GYRE_INVALID);
    require_sentence("2 items of 8 bytes from item 99999 on of a buffer of 800000 bytes");
    require(gyre_put_buffer(u64, &request, &request.words, buffer, UINT64_MAX, 2) == GYRE_INVALID);
    require(gyre_put_buffer(u64, &request, &request.words, NULL, 0, 2) == GYRE_INVALID);
    require(memcmp(&request, &before, request.gyre_used) == 0);
    gyre_part elsewhere = {7, 7};
    require(gyre_put_buffer(u64, &request, &elsewhere, buffer, 0, 2) == GYRE_INVALID);
    require_sentence("the part does not lie in the message");
    require(gyre_put_buffer(u64, &request, &elsewhere, buffer, 0, 0) == GYRE_INVALID);
    require(gyre_put_buffer(u64, &request, &request.words, buffer, MANY + 1, 0) == GYRE_INVALID);
    require(elsewhere.offset == 7 && memcmp(&request, &before, request.gyre_used) == 0);
    must(gyre_put_buffer(u64, &request, &request.words, buffer, MANY, 0));
    require(request.words.count == 0 && request.words.offset == 0);
    gyre_status status = GYRE_OK;
    for (int i = 0; i < 20 && status == GYRE_OK; i++)
        status = gyre_put_buffer(u64, &request, &request.words, buffer, 0, 1);
    require(status == GYRE_INVALID);
    require_sentence("declare a larger tail");
}

static void types_of_a_protocol_have_far_spans(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "spans.gyre.c", "either_samples"));
    gyre_buffer *buffer = make_words(test);
    for (uint64_t i = 1; i < 50; i++) {
        const samples_of_one one = {i};
        samples_of_words many;
        words_sum sum;
        words_sum_of_one same;
        gyre_begin(&many);
        must(gyre_put_buffer(u64, &many, &many.words, buffer, i, (uint32_t)i * 1000));
        must(gyre_call_as(queue, GYRE_TYPE(samples_of_words), &many, GYRE_TYPE(words_sum), &sum, NULL,
                          soon()));
        require(sum.sum == sum_of(i, i * 1000));
        must(gyre_call_as(queue, GYRE_TYPE(samples_of_one), &one, GYRE_TYPE(words_sum_of_one), &same, NULL,
                          soon()));
        require(same.sum == i);
    }
}

/* ---- gyre_cut ---- */

static cut_wanted ask_to_cut(gyre_buffer *room, uint32_t count, uint32_t keep)
{
    cut_wanted request = {.count = count, .keep = keep, .way = CUT_AS_ASKED};
    if (room)
        must(gyre_buffer_handle(room, 0, 0, &request.room));
    return request;
}

/* The reply ends behind the title, which lies behind the items that remain, or their name. */
static void cut(gyre_queue *queue, gyre_buffer *room, uint32_t count, uint32_t keep)
{
    const cut_wanted request = ask_to_cut(room, count, keep);
    const uint32_t there = room ? sizeof(gyre_far) : keep * (uint32_t)sizeof(uint64_t);
    uint64_t numbers[FEW];
    cut_numbers reply;
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.numbers.count == keep && gyre_is_far(reply.numbers) == (room && keep));
    require(reply.gyre_used == offsetof(cut_numbers, gyre_tail) + (keep ? there : 0) + 4);
    require(reply.title.count == 4 && memcmp(gyre_items(u8, &reply, reply.title), "kept", 4) == 0);
    must(gyre_message_check(GYRE_TYPE(cut_numbers), &reply, reply.gyre_used));
    must(gyre_fetch(queue, u64, &reply, reply.numbers, 0, numbers, keep));
    for (uint32_t i = 0; i < keep; i++)
        require(numbers[i] == 100 + i);
    require(gyre_fetch(queue, u64, &reply, reply.numbers, keep, numbers, 1) == GYRE_INVALID);
}

static void a_handler_cuts_its_reply_wherever_the_items_lie(struct conformance *test)
{
    static const uint64_t nothing[FEW];
    gyre_buffer *room = make_buffer(test, nothing, sizeof nothing);
    gyre_queue *queue = gyre_kernel_queue(launch(test, "spans.gyre.c", "lane_cut"));
    for (uint32_t keep = 0; keep <= 12; keep++) {
        cut(queue, NULL, 12, keep);
        cut(queue, room, 12, keep);
        cut(queue, room, FEW, keep * 3);
    }
}

static void wrong_cut(gyre_queue *queue, cut_wanted request, uint32_t way, int32_t code, const char *why)
{
    cut_numbers reply;
    gyre_completion completion;
    request.way = way;
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == code);
    require(strstr(completion.failure_text, why) != NULL);
}

static void wrong_cuts_fail_their_message(struct conformance *test)
{
    static const uint64_t nothing[FEW];
    gyre_buffer *room = make_buffer(test, nothing, sizeof nothing);
    gyre_queue *queue = gyre_kernel_queue(launch(test, "spans.gyre.c", "lane_cut"));
    for (int is_far = 0; is_far < 2; is_far++) {
        const cut_wanted good = ask_to_cut(is_far ? room : NULL, 12, 5);
        cut_wanted more = good;
        more.keep = 13;
        wrong_cut(queue, more, CUT_AS_ASKED, GYRE_FAILURE_PART, "fewer items");
        more.keep = UINT32_MAX;
        wrong_cut(queue, more, CUT_AS_ASKED, GYRE_FAILURE_PART, "fewer items");
        wrong_cut(queue, good, CUT_WHAT_WAS_DROPPED, GYRE_FAILURE_PART, "outside the reply");
        wrong_cut(queue, good, CUT_BESIDE, GYRE_FAILURE_PART, "outside the reply");
        cut(queue, is_far ? room : NULL, 12, 5); /* and it goes on */
    }
    wrong_cut(queue, ask_to_cut(room, 12, 5), CUT_AS_ANOTHER_TYPE, GYRE_FAILURE_BUFFER,
              "another size than its handle");
    wrong_cut(queue, ask_to_cut(NULL, 0, 1), CUT_AS_ASKED, GYRE_FAILURE_PART, "fewer items");
}

const struct conformance_case span_cases[] = {
    {"a_span_may_lie_in_a_buffer", a_span_may_lie_in_a_buffer},
    {"far_and_near_spans_give_the_same", far_and_near_spans_give_the_same},
    {"wrong_far_spans_fail_their_message", wrong_far_spans_fail_their_message},
    {"a_span_of_a_freed_buffer_fails", a_span_of_a_freed_buffer_fails},
    {"putting_a_buffer_checks_it", putting_a_buffer_checks_it},
    {"types_of_a_protocol_have_far_spans", types_of_a_protocol_have_far_spans},
    {"a_handler_cuts_its_reply_wherever_the_items_lie", a_handler_cuts_its_reply_wherever_the_items_lie},
    {"wrong_cuts_fail_their_message", wrong_cuts_fail_their_message},
    {NULL, NULL},
};
