/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans that travel in memory of the device because they are large: requests with `span_handles`, and replies
 * whose handlers wrote into a buffer.
 */
#include <gyre/ring_layout.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "kernels/spans.h"
#include "span_words.h"

enum { LARGE = 100000, FITS = 40, ROUNDS = 200 };

static uint64_t words[LARGE];

/* The kernel of a runtime with such a queue; `more`: one more setting or NULL. */
static gyre_kernel *launch_with(const struct conformance *test, const char *kernel, const char *more,
                                gyre_runtime **runtime)
{
    const char *const settings[] = {"queue.default.span_handles=64", "queue.default.span_memory=65536", more,
                                    NULL};
    for (uint64_t i = 0; i < LARGE; i++)
        words[i] = word(i);
    *runtime = open_with(test, settings);
    return launch_in(*runtime, "spans.gyre.c", kernel);
}

/* With words that fit the message; also other parts before and behind them. */
static samples small_request(uint64_t first, uint32_t count)
{
    samples request;
    gyre_begin(&request);
    must(gyre_put_text(&request, &request.title, "odd"));
    must(gyre_put(&request, &request.words, words + first, count));
    must(gyre_put(&request, &request.few, words, 2));
    return request;
}

static samples large_request(uint64_t first, uint32_t count)
{
    samples request;
    gyre_begin(&request);
    must(gyre_put_text(&request, &request.title, "odd"));
    must(gyre_put_large(&request, &request.words, words + first, count));
    must(gyre_put(&request, &request.few, words, 2));
    return request;
}

static void require_answer(const samples_seen *reply, uint64_t first, uint32_t count)
{
    require(reply->count == count && reply->sum == sum_of(first, count));
    require(reply->last == (count ? word(first + count - 1) : 0));
    require(memcmp(gyre_items(u8, reply, reply->title), "odd", 3) == 0);
}

static void ask(gyre_queue *queue, const samples *request, uint64_t first, uint32_t count)
{
    samples_seen reply;
    must(gyre_call(queue, request, sizeof *request, &reply, sizeof reply, NULL, soon()));
    require_answer(&reply, first, count);
}

static void require_none_held(gyre_queue *queue)
{
    require(stats_of(queue).spans_bytes == 0);
}

static void large_spans_travel_in_memory_of_the_device(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "lane_samples", NULL, &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    uint64_t moved = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t count = i % (FITS + 1);
        const samples request = small_request(i, count);
        ask(queue, &request, i, count);
        moved += count * sizeof(uint64_t) > 64;
        require(stats_of(queue).spans_moved == moved); /* those of up to 64 bytes stay in their message */
    }
    require_none_held(queue);
    gyre_close(runtime);
}

static void the_handler_sees_the_same_reply(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "lane_samples", NULL, &runtime);
    gyre_kernel *plain = launch(test, "spans.gyre.c", "lane_samples");
    for (uint32_t i = 0; i < FITS; i++) {
        const samples request = small_request(i * 7, i);
        samples_seen here, there;
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &there, sizeof there, NULL,
                       soon()));
        must(gyre_call(gyre_kernel_queue(plain), &request, sizeof request, &here, sizeof here, NULL, soon()));
        require(here.gyre_used == there.gyre_used && memcmp(&here, &there, here.gyre_used) == 0);
    }
    gyre_close(runtime);
}

static void messages_are_larger_than_their_tail(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "lane_samples", "queue.default.span_memory=2M", &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint32_t i = 0; i < 20; i++) {
        const uint32_t first = i * 3, count = i % 2 ? i : LARGE / (i + 1) - first;
        const samples request = large_request(first, count);
        ask(queue, &request, first, count);
    }
    require(stats_of(queue).spans_moved == 20);
    require_none_held(queue);
    gyre_close(runtime);
}

static void a_large_span_needs_a_queue_for_it(struct conformance *test)
{
    gyre_runtime *runtime;
    samples_seen reply;
    gyre_completion completion;
    gyre_kernel *kernel = launch_with(test, "lane_samples", NULL, &runtime);
    gyre_kernel *plain = launch(test, "spans.gyre.c", "lane_samples");
    const samples request = large_request(0, 10000);
    must(gyre_call(gyre_kernel_queue(plain), &request, sizeof request, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == GYRE_FAILURE_BUFFER);
    require(gyre_send(gyre_kernel_queue(kernel), &request, sizeof request, NULL, soon()) == GYRE_INVALID);
    require_sentence("80000 bytes is larger than the span memory");
    samples changed = large_request(0, 100); /* nobody follows an address that was not put there */
    changed.words.count = 99;
    require(gyre_message_check(GYRE_TYPE(samples), &changed, changed.gyre_used) == GYRE_INVALID);
    changed = large_request(0, 100);
    ((unsigned char *)&changed)[(changed.words.offset & ~GYRE_PART_FAR) + 24] ^= 64; /* of the address */
    must(gyre_call(gyre_kernel_queue(kernel), &changed, sizeof changed, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == GYRE_FAILURE_BUFFER);
    require_none_held(gyre_kernel_queue(kernel));
    gyre_close(runtime);
}

static void receive_sums(gyre_queue *queue, uint64_t first, uint32_t count, uint32_t messages)
{
    for (uint32_t i = 0; i < messages; i++) {
        samples_seen reply;
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require_answer(&reply, first, count);
    }
}

/* 64 KiB are 16 rooms. */
static void without_room_spans_stay_in_their_messages(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "lane_samples", NULL, &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const samples small = small_request(3, FITS), large = large_request(3, FITS);
    for (uint32_t i = 0; i < ROUNDS; i++)
        must(gyre_send(queue, &small, sizeof small, NULL, soon()));
    require(stats_of(queue).spans_moved == 16 && stats_of(queue).spans_bytes == 65536);
    require(gyre_send(queue, &large, sizeof large, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    require_sentence("no room for a span of 320 bytes");
    require(gyre_send(queue, &large, sizeof large, NULL, gyre_in_ms(20)) == GYRE_TIMEOUT);
    receive_sums(queue, 3, FITS, ROUNDS);
    require_none_held(queue);
    must(gyre_send(queue, &large, sizeof large, NULL, GYRE_NO_WAIT));
    receive_sums(queue, 3, FITS, 1);
    require_none_held(queue);
    gyre_close(runtime);
}

static void *send_large(void *argument)
{
    gyre_queue *queue = argument;
    const samples request = large_request(5, 4000); /* eight rooms */
    for (uint32_t i = 0; i < ROUNDS; i++)
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    return NULL;
}

/* Two threads run `send`, ROUNDS times each; the replies are sums of `count` numbers from `first` on. */
static void require_both_senders_pass(struct conformance *test, void *(*send)(void *), uint32_t first,
                                      uint32_t count, uint64_t spans_moved)
{
    gyre_runtime *runtime;
    pthread_t senders[2];
    gyre_kernel *kernel = launch_with(test, "lane_samples", NULL, &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (size_t i = 0; i < 2; i++)
        require(pthread_create(&senders[i], NULL, send, queue) == 0);
    receive_sums(queue, first, count, 2 * ROUNDS);
    for (size_t i = 0; i < 2; i++)
        require(pthread_join(senders[i], NULL) == 0);
    require(stats_of(queue).spans_moved == spans_moved);
    require_none_held(queue);
    gyre_close(runtime);
}

static void senders_wait_for_room(struct conformance *test)
{
    require_both_senders_pass(test, send_large, 5, 4000, 2 * ROUNDS);
}

/* Two large spans of `size` bytes each. */
static samples double_request(uint32_t size)
{
    static const float halves[LARGE];
    samples request;
    gyre_begin(&request);
    must(gyre_put_text(&request, &request.title, "odd"));
    must(gyre_put_large(&request, &request.words, words, size / sizeof words[0]));
    must(gyre_put_large(&request, &request.halves, halves, size / sizeof halves[0]));
    return request;
}

static void *send_double(void *argument)
{
    gyre_queue *queue = argument;
    const samples request = double_request(24000); /* six rooms and six rooms */
    for (uint32_t i = 0; i < ROUNDS; i++)
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    return NULL;
}

static void senders_of_several_spans_do_not_wait_for_each_other(struct conformance *test)
{
    require_both_senders_pass(test, send_double, 0, 3000, 4 * ROUNDS);
}

static void spans_that_never_fit_together_are_refused(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "lane_samples", NULL, &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const samples most = double_request(32768), request = double_request(32776);
    ask(queue, &most, 0, 32768 / sizeof words[0]);
    require(gyre_send(queue, &request, sizeof request, NULL, soon()) == GYRE_INVALID);
    require_sentence("the large spans of a request take 73728 bytes together, in pieces of 4096, and ");
    require(gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_INVALID);
    require_none_held(queue);
    gyre_close(runtime);
}

/* A span that moves if there is room for it takes none that a span in the caller's memory needs. */
static void a_span_in_the_message_leaves_room_for_a_larger_one(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "lane_samples", NULL, &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    samples request = large_request(0, 8192); /* all of the memory */
    const float halves[20] = {1};
    must(gyre_put(&request, &request.halves, halves, 20));
    ask(queue, &request, 0, 8192);
    require(stats_of(queue).spans_moved == 1);
    require_none_held(queue);
    gyre_close(runtime);
}

static void batches_views_and_builds_in_place_hold_nothing(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "lane_samples", NULL, &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    samples batch[12];
    samples_seen replies[12];
    gyre_view views[10];
    for (uint32_t round = 0; round < 20; round++) {
        size_t sent = 0, got = 0, stride, one = 1;
        void *place;
        for (uint32_t i = 0; i < 12; i++) /* two large ones, and a third that finds no room */
            batch[i] = i % 4 == 3 ? large_request(i, 4000) : small_request(i, i);
        must(gyre_send_batch(queue, batch, sizeof batch[0], 12, &sent, soon()));
        require(sent == 11);
        for (size_t i = 0; i < sent; i += got) {
            must(gyre_receive_batch(queue, replies + i, sizeof replies[0], sent - i, NULL, &got, soon()));
            for (size_t k = i; k < i + got; k++)
                require_answer(&replies[k], k, k % 4 == 3 ? 4000 : (uint32_t)k);
        }
        must(gyre_reserve(queue, &place, &stride, &one, soon()));
        samples *built = place;
        gyre_begin(built);
        must(gyre_put_text(built, &built->title, "odd"));
        must(gyre_put(built, &built->words, words, FITS));
        must(gyre_commit(queue, 1));
        must(gyre_peek(queue, views, 10, &got, soon()));
        require(got == 1);
        require_answer(views[0].reply, 0, FITS);
        must(gyre_release_views(queue, got));
        require_none_held(queue);
    }
    gyre_close(runtime);
}

static void block_kernels_and_protocols_have_large_spans(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "either_samples", "queue.default.span_memory=1M", &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint32_t i = 1; i < 50; i++) {
        const samples_of_one one = {i};
        samples_of_words many;
        words_sum sum;
        words_sum_of_one same;
        gyre_begin(&many);
        must(gyre_put_large(&many, &many.words, words + i, i * 1000));
        must(gyre_call_as(queue, GYRE_TYPE(samples_of_words), &many, GYRE_TYPE(words_sum), &sum, NULL,
                          soon()));
        require(sum.sum == sum_of(i, i * 1000));
        must(gyre_call_as(queue, GYRE_TYPE(samples_of_one), &one, GYRE_TYPE(words_sum_of_one), &same, NULL,
                          soon()));
        require(same.sum == i);
    }
    require_none_held(queue);
    gyre_close(runtime);
}

static void blocks_read_large_spans(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "block_samples", "queue.default.span_memory=1M", &runtime);
    for (uint32_t i = 0; i < 20; i++) {
        const samples request = large_request(i, LARGE - i * 4000 - 1);
        ask(gyre_kernel_queue(kernel), &request, i, LARGE - i * 4000 - 1);
    }
    gyre_close(runtime);
}

/* Each queue behaves in another way on the way in, or out. */
static void behaviours_hold_no_spans(struct conformance *test)
{
    static const char *const ways[] = {"queue.default.levels=3",  "queue.default.dedup=10",
                                       "queue.default.order=any", "queue.default.layout=slots",
                                       "queue.default.header=64", "queue.default.policy=drop_oldest",
                                       "queue.default.capacity=4"};
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        gyre_runtime *runtime;
        gyre_kernel *kernel = launch_with(test, "lane_samples", ways[w], &runtime);
        gyre_queue *queue = gyre_kernel_queue(kernel);
        for (uint32_t round = 0; round < 30; round++) {
            const samples small = small_request(1, FITS), large = large_request(1, 1000);
            for (uint32_t i = 0; i < 3; i++)
                must(gyre_send(queue, i % 2 ? &small : &large, sizeof small, NULL, soon()));
            for (uint32_t i = 0; i < 3; i++) {
                samples_seen reply;
                must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
                require_answer(&reply, 1, reply.count == FITS ? FITS : 1000);
            }
            ask(queue, &large, 1, 1000);
        }
        require_none_held(queue);
        gyre_close(runtime);
    }
}

static void dead_letters_have_their_spans(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "lane_samples", "queue.default.ttl_ms=20", &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const samples small = small_request(9, FITS), large = large_request(9, 1000);
    samples buried;
    gyre_dead_letter dead = {.size = sizeof dead};
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_send(queue, &small, sizeof small, NULL, soon()));
    must(gyre_send(queue, &large, sizeof large, NULL, soon()));
    sleep_ms(200);
    must(gyre_kernel_activate(kernel, soon()));
    for (int i = 0; i < 2; i++) {
        samples_seen reply;
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.failure_code == GYRE_FAILURE_EXPIRED);
    }
    require_none_held(queue);
    must(gyre_dead_letter_take(queue, &dead, &buried, sizeof buried, GYRE_NO_WAIT));
    require(buried.words.count == FITS && !gyre_is_far(buried.words));
    require(memcmp(gyre_items(u64, &buried, buried.words), words + 9, FITS * sizeof(uint64_t)) == 0);
    must(gyre_dead_letter_take(queue, &dead, &buried, sizeof buried, GYRE_NO_WAIT));
    require(buried.words.count == 1000 && gyre_is_far(buried.words)); /* more than the message can hold */
    require(memcmp(gyre_items(u8, &buried, buried.title), "odd", 3) == 0);
    uint64_t first;
    require(gyre_fetch(queue, u64, &buried, buried.words, 0, &first, 1) == GYRE_INVALID);
    gyre_close(runtime);
}

static void unhandled_and_dropped_requests_hold_nothing(struct conformance *test)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel = launch_with(test, "lane_samples", NULL, &runtime);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const samples request = small_request(2, FITS);
    uint64_t unhandled = 0;
    must(gyre_kernel_deactivate(kernel, soon()));
    for (int i = 0; i < 10; i++)
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    samples_seen reply;
    require(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, gyre_in_ms(5)) ==
            GYRE_TIMEOUT);
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, &unhandled));
    require(unhandled == 11);
    for (int i = 0; i < 10; i++) {
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_WAS_UNHANDLED);
    }
    require_none_held(queue);
    must(gyre_kernel_relaunch(kernel));
    ask(queue, &request, 2, FITS);
    gyre_close(runtime);
}

static void where_it_cannot_work_the_setting_is_refused(struct conformance *test)
{
    static const struct {
        const char *file, *kernel, *setting, *what;
    } ways[] = {
        {"spans.gyre.c", "lane_samples", "kernel.default.checkpoints=true", "a kernel with checkpoints"},
        {"spans.gyre.c", "lane_samples", "queue.default.durability=journal", "a queue with a journal"},
        {"wired.gyre.c", "wired", "queue.default.wire=memorypack", "messages in a wire form"},
        {"wired.gyre.c", "wired", "queue.default.wire=memorypack_framed", "messages in a wire form"}};
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        const char *const settings[] = {"queue.default.span_handles=64", "journal_dir=/tmp", ways[w].setting,
                                        NULL};
        gyre_runtime *runtime = open_with(test, settings);
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc desc = {
            .size = sizeof desc, .source = kernel_path(ways[w].file), .kernel = ways[w].kernel};
        require(gyre_launch(runtime, &desc, &kernel) == GYRE_CONFIG);
        require_sentence("span_handles is not for");
        require_sentence(ways[w].what);
        gyre_close(runtime);
    }
}

/* ---- replies ---- */

static squares squares_in(gyre_kernel *kernel, gyre_buffer *room, uint64_t first, uint32_t count)
{
    squares_wanted request = {.first = first, .count = count};
    squares reply;
    if (room)
        must(gyre_buffer_handle(room, 0, 0, &request.room));
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.squares.count == count && memcmp(gyre_items(u8, &reply, reply.title), "squares", 7) == 0);
    return reply;
}

static gyre_buffer *make_room(const struct conformance *test, uint64_t count)
{
    gyre_buffer *room = NULL;
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, count * sizeof(uint64_t), &room));
    return room;
}

static void a_handler_names_items_of_its_reply_in_a_buffer(struct conformance *test)
{
    static uint64_t squares_there[LARGE];
    gyre_buffer *room = make_room(test, LARGE); /* first: memcheck knows what was there at a launch */
    gyre_kernel *kernel = launch(test, "spans.gyre.c", "lane_squares");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint32_t round = 0; round < 20; round++) {
        const bool is_far = round % 2;
        const uint32_t count = is_far ? LARGE / (round + 1) - round : round % 12, first = round;
        const squares reply = squares_in(kernel, is_far ? room : NULL, first, count);
        require(gyre_is_far(reply.squares) == is_far);
        must(gyre_fetch(queue, u64, &reply, reply.squares, 0, squares_there, count)); /* the same for both */
        uint64_t sum = 0;
        for (uint64_t i = 0; i < count; i++) {
            require(squares_there[i] == (first + i) * (first + i));
            sum += squares_there[i];
        }
        require(sum == reply.sum);
        if (count > 3) {
            uint64_t one = 0;
            must(gyre_fetch(queue, u64, &reply, reply.squares, count - 1, &one, 1));
            require(one == squares_there[count - 1]);
        }
    }
}

enum { PLACES = 8, ASKED = 5 * PLACES, SQUARES_EACH = 1000, PLACE = SQUARES_EACH + ASKED };

/* The reply to message `number` has a place of its own in a buffer that all share. */
static squares_wanted ask_into(gyre_buffer *rooms, uint32_t number)
{
    const uint64_t size = PLACE * sizeof(uint64_t);
    squares_wanted request = {.first = number, .count = SQUARES_EACH};
    must(gyre_buffer_handle(rooms, number % PLACES * size, size, &request.room));
    return request;
}

static void replies_under_way_share_a_buffer(struct conformance *test)
{
    static uint64_t found[SQUARES_EACH];
    gyre_buffer *rooms = make_room(test, PLACES * PLACE);
    gyre_queue *queue = gyre_kernel_queue(launch(test, "spans.gyre.c", "lane_squares"));
    for (uint32_t sent = 0, received = 0; received < ASKED;) {
        for (; sent < ASKED && sent - received < PLACES;
             sent++) { /* a place is free again when it was read */
            const squares_wanted request = ask_into(rooms, sent);
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        }
        squares reply;
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        must(gyre_fetch(queue, u64, &reply, reply.squares, 0, found, SQUARES_EACH));
        for (uint64_t i = 0; i < SQUARES_EACH; i++)
            require(found[i] == (received + i) * (received + i));
        received++;
    }
}

static void items_that_are_not_there_are_not_fetched(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "spans.gyre.c", "lane_squares");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_buffer *room = make_room(test, 100);
    const squares far = squares_in(kernel, room, 4, 50), near = squares_in(kernel, NULL, 4, 5);
    uint64_t out[64];
    require(gyre_fetch(queue, u64, &far, far.squares, 40, out, 11) == GYRE_INVALID);
    require_sentence("11 items from 40 on of a part that has 50");
    require(gyre_fetch(queue, u64, &far, far.squares, UINT64_MAX, out, 2) == GYRE_INVALID);
    require(gyre_fetch(queue, u64, &near, near.squares, 5, out, 1) == GYRE_INVALID);
    must(gyre_fetch(queue, u64, &near, near.squares, 5, NULL, 0));
    for (uint32_t bit = 0; bit < 8 * 24; bit++) { /* name, offset and size */
        squares bad = far;
        ((unsigned char *)&bad)[(far.squares.offset & ~GYRE_PART_FAR) + bit / 8] ^=
            (unsigned char)(1u << bit % 8);
        const gyre_status status = gyre_fetch(queue, u64, &bad, bad.squares, 0, out, 50);
        require(status == GYRE_INVALID ||
                (status == GYRE_OK && bit >= 64 && bit < 128)); /* elsewhere in it */
    }
    squares bad = far;
    bad.squares.offset = GYRE_PART_FAR | bad.gyre_used;
    require(gyre_fetch(queue, u64, &bad, bad.squares, 0, out, 1) == GYRE_INVALID);
    bad.squares.offset = UINT32_MAX;
    require(gyre_fetch(queue, u64, &bad, bad.squares, 0, out, 1) == GYRE_INVALID);
    must(gyre_buffer_free(room));
    require(gyre_fetch(queue, u64, &far, far.squares, 0, out, 1) == GYRE_INVALID);
    require_sentence("was freed");
}

static void a_reply_beyond_its_buffer_fails(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "spans.gyre.c", "lane_squares");
    gyre_buffer *room = make_room(test, 64);
    squares_wanted request = {.first = 1, .count = 1, .beyond = 63};
    squares reply;
    gyre_completion completion;
    must(gyre_buffer_handle(room, 0, 0, &request.room));
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == GYRE_FAILURE_BUFFER);
    require(strstr(completion.failure_text, "beyond its handle") != NULL);
    request.beyond = 62;
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.squares.count == 63);
}

const struct conformance_case large_span_cases[] = {
    {"large_spans_travel_in_memory_of_the_device", large_spans_travel_in_memory_of_the_device},
    {"the_handler_sees_the_same_reply", the_handler_sees_the_same_reply},
    {"messages_are_larger_than_their_tail", messages_are_larger_than_their_tail},
    {"a_large_span_needs_a_queue_for_it", a_large_span_needs_a_queue_for_it},
    {"without_room_spans_stay_in_their_messages", without_room_spans_stay_in_their_messages},
    {"senders_wait_for_room", senders_wait_for_room},
    {"senders_of_several_spans_do_not_wait_for_each_other",
     senders_of_several_spans_do_not_wait_for_each_other},
    {"spans_that_never_fit_together_are_refused", spans_that_never_fit_together_are_refused},
    {"a_span_in_the_message_leaves_room_for_a_larger_one",
     a_span_in_the_message_leaves_room_for_a_larger_one},
    {"batches_views_and_builds_in_place_hold_nothing", batches_views_and_builds_in_place_hold_nothing},
    {"block_kernels_and_protocols_have_large_spans", block_kernels_and_protocols_have_large_spans},
    {"blocks_read_large_spans", blocks_read_large_spans},
    {"behaviours_hold_no_spans", behaviours_hold_no_spans},
    {"dead_letters_have_their_spans", dead_letters_have_their_spans},
    {"unhandled_and_dropped_requests_hold_nothing", unhandled_and_dropped_requests_hold_nothing},
    {"where_it_cannot_work_the_setting_is_refused", where_it_cannot_work_the_setting_is_refused},
    {"a_handler_names_items_of_its_reply_in_a_buffer", a_handler_names_items_of_its_reply_in_a_buffer},
    {"replies_under_way_share_a_buffer", replies_under_way_share_a_buffer},
    {"items_that_are_not_there_are_not_fetched", items_that_are_not_there_are_not_fetched},
    {"a_reply_beyond_its_buffer_fails", a_reply_beyond_its_buffer_fails},
    {NULL, NULL},
};
