/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the reader of journals makes of bytes: a small journal, whole, cut at every byte, and with every bit
 * flipped; and records that are whole and say what cannot be. The bytes end where memory that can be read ends.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/journal/content.h"
#include "core/queue/names.h"
#include "core/queue/origin.h"
#include "unit/unit.h"

enum { REQUEST_SIZE = 12, STATE_SIZE = 40, REQUESTS = 6, RECEIVED = 2, COVERED = 3 };

/* ---- making one ---- */

static struct gyre_bytes file;
static uint64_t number;
static size_t begun;

static void begin(enum gyre_record_kind kind)
{
    begun = gyre_record_begin(&file, kind, ++number);
}

static void add(const void *bytes, size_t size)
{
    gyre_bytes_add(&file, bytes, size);
}

static void end(void)
{
    gyre_record_end(&file, begun);
}

static uint32_t version = GYRE_JOURNAL_VERSION;

static void add_open_at(uint64_t first)
{
    struct gyre_record_open open = {.version = version,
                                    .request_size = REQUEST_SIZE,
                                    .reply_size = 16,
                                    .state_size = STATE_SIZE,
                                    .first = first,
                                    .kernel = "ledger",
                                    .queue = "ledger"};
    gyre_bytes_release(&file);
    number = 0;
    begin(GYRE_RECORD_OPEN);
    add(&open, version == 1 ? offsetof(struct gyre_record_open, handler) : sizeof open);
    end();
}

static void add_open(void)
{
    add_open_at(100);
}

/* A state, { u64 words[4]; point { u32 x; u32 y; } at; }. */
static void add_type(void)
{
    static const gyre_type small = {"u32", "", 4, 4, NULL}, large = {"u64", "", 8, 8, NULL};
    static const gyre_type *const of_point[] = {&small, &small, NULL};
    static const gyre_type point = {"point", "u32 x;u32 y;", 8, 4, of_point};
    static const gyre_type *const of_state[] = {&large, &point, NULL};
    static const gyre_type state = {"ledger", "u64 words[4];point at;", STATE_SIZE, 8, of_state};
    const struct gyre_journal_type type = {.about = {.role = GYRE_ROLE_STATE, .size = STATE_SIZE},
                                           .type = &state};
    begin(GYRE_RECORD_TYPE);
    gyre_journal_type_put(&file, &type);
    end();
}

static void add_mark(uint64_t sent, bool ended)
{
    const struct gyre_record_mark mark = {
        .offset = file.size, .sent = sent, .ended = ended, .settled = ended};
    begin(GYRE_RECORD_MARK);
    add(&mark, sizeof mark);
    end();
}

static void add_message(uint64_t index, uint32_t length)
{
    const struct gyre_record_message message = {.index = index, .length = length};
    unsigned char payload[64] = {0};
    memset(payload, (int)index, length < sizeof payload ? length : 0);
    add(&message, sizeof message);
    add(payload, (length + 7) / 8 * 8);
}

static void add_requests(uint64_t first, uint64_t count)
{
    const struct gyre_record_requests requests = {first, count};
    begin(GYRE_RECORD_REQUESTS);
    add(&requests, sizeof requests);
    for (uint64_t i = 0; i < count; i++)
        add_message(first + i, REQUEST_SIZE);
    end();
}

static void add_taken(uint64_t received)
{
    const struct gyre_record_taken taken = {.received = received};
    begin(GYRE_RECORD_TAKEN);
    add(&taken, sizeof taken);
    end();
}

static void add_position(uint64_t checkpoint, uint64_t first)
{
    const struct gyre_record_checkpoint info = {.number = checkpoint, .first = first};
    begin(GYRE_RECORD_CHECKPOINT);
    add(&info, sizeof info);
    end();
}

static void add_block(uint64_t offset, uint64_t size, unsigned char value)
{
    const struct gyre_record_block block = {offset, size};
    unsigned char bytes[STATE_SIZE + 64];
    memset(bytes, value, sizeof bytes);
    begin(GYRE_RECORD_BLOCK);
    add(&block, sizeof block);
    add(bytes, size);
    end();
}

static void add_replies(uint64_t index)
{
    const struct gyre_record_requests replies = {0, 1};
    begin(GYRE_RECORD_REPLIES);
    add(&replies, sizeof replies);
    add_message(index, 16);
    end();
}

static void add_commit(uint64_t checkpoint, unsigned char value)
{
    unsigned char state[STATE_SIZE];
    memset(state, value, sizeof state);
    const struct gyre_record_commit commit = {checkpoint, gyre_state_hash(state, sizeof state)};
    begin(GYRE_RECORD_COMMIT);
    add(&commit, sizeof commit);
    end();
}

enum { KNOWN = 77, KNOWN_NEXT = 12, SEEN_NEXT = 6 };

static void add_names(void)
{
    const struct gyre_record_origin names[] = {{GYRE_ORIGIN_NAMED | KNOWN, KNOWN_NEXT},
                                               {GYRE_ORIGIN_NAMED | (KNOWN + 1), 2}};
    begin(GYRE_RECORD_NAMES);
    add(names, sizeof names);
    end();
}

/* Requests `first` on are number 4 and 5 of the second client, and what comes behind them is not there. */
static void add_origins(uint64_t first)
{
    const struct gyre_record_requests range = {first, 3};
    const struct gyre_record_origin origins[] = {{GYRE_ORIGIN_NAMED | (KNOWN + 1), 4},
                                                 {GYRE_ORIGIN_NAMED | (KNOWN + 1), SEEN_NEXT - 1},
                                                 {GYRE_ORIGIN_NAMED | (KNOWN + 1), SEEN_NEXT}};
    begin(GYRE_RECORD_ORIGINS);
    add(&range, sizeof range);
    add(origins, sizeof origins);
    end();
}

static void make_good(void)
{
    add_open();
    if (version > 1)
        add_type();
    add_names();
    add_requests(100, 4);
    add_taken(100 + RECEIVED);
    add_position(1, 100 + COVERED);
    add_block(0, STATE_SIZE, 0x5a);
    add_replies(102);
    add_commit(1, 0x5a);
    add_origins(104);
    add_requests(104, REQUESTS - 4);
}

static void make_marked(void)
{
    make_good();
    add_mark(100 + REQUESTS, false);
}

/* ---- reading it ---- */

/* A copy behind which nothing can be read. */
static unsigned char *fenced(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (file.size + page) / page * page;
    unsigned char *start =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(start != MAP_FAILED && mprotect(start + room, page, PROT_NONE) == 0);
    memcpy(start + room - size, file.data, size);
    return start + room - size;
}

static void unfence(unsigned char *bytes, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (file.size + page) / page * page;
    munmap(bytes + size - room, room + page);
}

/* It says nothing that the whole journal does not say. */
static void check_part(const struct gyre_journal_content *content, size_t size)
{
    ck_assert_uint_eq(content->used + content->lost, size);
    ck_assert(content->first == 100 && content->sent <= 100 + REQUESTS);
    ck_assert(content->received == 100 || content->received == 100 + RECEIVED);
    ck_assert(content->lost_first == content->sent && content->lost_end >= content->lost_first &&
              content->lost_end <= 100 + REQUESTS);
    for (uint64_t i = 0; i < content->sent - content->first; i++) {
        const struct gyre_kept_message *request = &content->requests[i];
        ck_assert_uint_eq(request->length, REQUEST_SIZE);
        for (uint32_t at = 0; at < request->length; at++)
            ck_assert_uint_eq(request->payload[at], 100 + i);
    }
    for (uint64_t at = 0; content->state && at < STATE_SIZE; at++)
        ck_assert_uint_eq(content->state[at], 0x5a);
    ck_assert(content->covered == (content->state ? 100 + COVERED : 100));
}

static void check_whole(const struct gyre_journal_content *content, size_t size)
{
    check_part(content, size);
    ck_assert(content->lost == 0 && content->sent == 100 + REQUESTS && content->received == 100 + RECEIVED);
    ck_assert(content->state && content->replies[2].length == 16);
    ck_assert_uint_eq(gyre_names_next(&content->names, GYRE_ORIGIN_NAMED | KNOWN), KNOWN_NEXT);
    ck_assert_uint_eq(gyre_names_next(&content->names, GYRE_ORIGIN_NAMED | (KNOWN + 1)), SEEN_NEXT);
    ck_assert_uint_eq(gyre_names_next(&content->names, GYRE_ORIGIN_NAMED), 0);
}

START_TEST(a_whole_journal_is_read)
{
    struct gyre_journal_content content;
    make_marked();
    unsigned char *bytes = fenced(file.size);
    ck_assert_int_eq(gyre_journal_read(bytes, file.size, &content), GYRE_OK);
    check_whole(&content, file.size);
    ck_assert(!content.cut && !content.ended);
    const struct gyre_journal_type *state = gyre_journal_type_of(&content.types, GYRE_ROLE_STATE, NULL);
    ck_assert(state && state->about.size == STATE_SIZE && state->type->size == STATE_SIZE);
    ck_assert_str_eq(state->type->fields, "u64 words[4];point at;");
    ck_assert_str_eq(state->type->field_types[1]->fields, "u32 x;u32 y;");
    ck_assert_ptr_null(state->type->field_types[2]);
    ck_assert_ptr_null(gyre_journal_type_of(&content.types, GYRE_ROLE_REPLY, NULL));
    gyre_journal_content_release(&content);
    unfence(bytes, file.size);
}
END_TEST

/* Its program says so, and nothing follows. */
START_TEST(a_journal_says_that_its_program_ended)
{
    struct gyre_journal_content content;
    make_good();
    add_mark(100 + REQUESTS, true);
    ck_assert_int_eq(gyre_journal_read(file.data, file.size, &content), GYRE_OK);
    check_whole(&content, file.size);
    ck_assert(!content.cut && content.ended && content.settled);
    gyre_journal_content_release(&content);
}
END_TEST

/* One that stands where it does not say, or tells of other requests, is of another journal or time. */
START_TEST(a_mark_out_of_place_is_none)
{
    struct gyre_journal_content content;
    make_good();
    const size_t whole = file.size;
    const struct gyre_record_mark marks[] = {{.offset = whole + 8, .sent = 100 + REQUESTS},
                                             {.offset = whole, .sent = 100 + REQUESTS + 1}};
    const uint64_t last = number;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        file.size = whole;
        number = last;
        begin(GYRE_RECORD_MARK);
        add(&marks[i], sizeof marks[i]);
        end();
        ck_assert_int_eq(gyre_journal_read(file.data, file.size, &content), GYRE_OK);
        ck_assert(content.used == whole && content.lost == GYRE_MARK_SIZE && !content.ended);
        gyre_journal_content_release(&content);
    }
}
END_TEST

/* Written by an earlier version: without types, marks and handlers. */
START_TEST(a_journal_of_version_1_is_read)
{
    struct gyre_journal_content content;
    version = 1;
    make_good();
    ck_assert_int_eq(gyre_journal_read(file.data, file.size, &content), GYRE_OK);
    check_whole(&content, file.size);
    ck_assert(!content.cut && !content.ended && content.types.count == 0 && content.open.handler == 0);
    ck_assert_str_eq(content.open.queue, "ledger");
    gyre_journal_content_release(&content);
    version = GYRE_JOURNAL_VERSION + 1;
    make_good();
    ck_assert_int_eq(gyre_journal_read(file.data, file.size, &content), GYRE_INVALID);
    ck_assert_msg(strstr(gyre_error_text(), "newer"), "%s", gyre_error_text());
    version = GYRE_JOURNAL_VERSION;
}
END_TEST

/* What describes a type is taken from its bytes with care: cut, or with other numbers, it describes none. */
START_TEST(a_type_that_makes_no_sense_is_refused)
{
    struct gyre_bytes whole = {0};
    add_open();
    const size_t before = file.size;
    add_type();
    const size_t size = file.size - before - sizeof(struct gyre_record_header);
    gyre_bytes_add(&whole, file.data + before + sizeof(struct gyre_record_header), size);
    for (size_t at = 0; at < size; at += 4) {
        struct gyre_journal_types types = {.count = 0};
        ck_assert_int_eq(gyre_journal_type_get(whole.data, at, 0, &types), GYRE_INVALID);
        gyre_journal_types_release(&types);
        for (uint32_t value = 0; value < 4; value++) {
            uint32_t was, now[] = {0, 1, 0x7fffffff, UINT32_MAX};
            memcpy(&was, whole.data + at, sizeof was);
            memcpy(whole.data + at, &now[value], sizeof was);
            const gyre_status status = gyre_journal_type_get(whole.data, size, 0, &types);
            ck_assert(status == GYRE_OK || status == GYRE_INVALID);
            gyre_journal_types_release(&types);
            memcpy(whole.data + at, &was, sizeof was);
        }
    }
    struct gyre_journal_types types = {.count = 0};
    for (int i = 0; i < GYRE_JOURNAL_TYPES_MAX; i++)
        ck_assert_int_eq(gyre_journal_type_get(whole.data, size, 0, &types), GYRE_OK);
    ck_assert_int_eq(gyre_journal_type_get(whole.data, size, 0, &types), GYRE_INVALID);
    gyre_journal_types_release(&types);
    gyre_bytes_release(&whole);
}
END_TEST

/* At its first record it is none; else what is whole is used, and what is not is told, also exactly behind a
 * record. */
START_TEST(a_journal_that_is_cut_at_any_byte_is_used_as_far_as_it_is_whole)
{
    make_marked();
    for (size_t size = 0; size < file.size; size++) {
        struct gyre_journal_content content;
        unsigned char *bytes = fenced(size);
        gyre_status status = gyre_journal_read(bytes, size, &content);
        if (status == GYRE_OK) {
            check_part(&content, size);
            ck_assert_msg(content.lost > 0 || content.cut, "nobody is told of a cut at byte %zu", size);
        } else
            ck_assert(status == GYRE_INVALID &&
                      size < sizeof(struct gyre_record_header) + sizeof content.open);
        gyre_journal_content_release(&content);
        unfence(bytes, size);
    }
}
END_TEST

/* Only what pads a record says nothing, and may be anything. */
START_TEST(a_journal_with_any_bit_flipped_is_used_up_to_there)
{
    size_t silent = 0;
    make_marked();
    for (size_t bit = 0; bit < file.size * 8; bit++) {
        struct gyre_journal_content content;
        unsigned char *bytes = fenced(file.size);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (gyre_journal_read(bytes, file.size, &content) == GYRE_OK) {
            check_part(&content, file.size);
            ck_assert_uint_le(content.used, file.size);
            silent += content.lost == 0;
            ck_assert(content.lost == 0 || content.used <= bit / 8);
        } else {
            ck_assert_uint_lt(bit / 8, sizeof(struct gyre_record_header) + sizeof content.open);
        }
        gyre_journal_content_release(&content);
        unfence(bytes, file.size);
    }
    ck_assert_uint_eq(silent, 0); /* this one has no padding */
}
END_TEST

/* ---- whole records that say what cannot be ---- */

static void add_two_checkpoints(uint64_t commit_of_second)
{
    add_position(1, 103);
    add_block(0, STATE_SIZE, 1);
    add_commit(1, 1);
    add_position(2, 104);
    add_block(0, STATE_SIZE, 2);
    add_commit(commit_of_second, 2);
}

static void too_long_a_request(void)
{
    const struct gyre_record_requests requests = {106, 1};
    begin(GYRE_RECORD_REQUESTS);
    add(&requests, sizeof requests);
    add_message(106, REQUEST_SIZE + 1);
    end();
}

static void a_query_with_bytes(void)
{
    const struct gyre_record_requests requests = {106, 1};
    const struct gyre_record_message message = {.index = 106, .length = 8, .info = GYRE_MESSAGE_QUERY};
    begin(GYRE_RECORD_REQUESTS);
    add(&requests, sizeof requests);
    add(&message, sizeof message);
    add("12345678", 8);
    end();
}

static void a_request_of_another_number(void)
{
    const struct gyre_record_requests requests = {106, 1};
    begin(GYRE_RECORD_REQUESTS);
    add(&requests, sizeof requests);
    add_message(100, REQUEST_SIZE);
    end();
}

static void a_gap_between_requests(void)
{
    add_requests(107, 1);
}

static void more_requests_than_it_holds(void)
{
    const struct gyre_record_requests requests = {106, 1000};
    begin(GYRE_RECORD_REQUESTS);
    add(&requests, sizeof requests);
    end();
}

static void replies_given_back(void)
{
    add_taken(100 + RECEIVED - 1);
}

static void replies_to_what_was_not_sent(void)
{
    add_taken(100 + REQUESTS + 1);
}

static void more_unhandled_than_it_names(void)
{
    const struct gyre_record_taken taken = {.received = 104, .skipped_count = 2};
    begin(GYRE_RECORD_TAKEN);
    add(&taken, sizeof taken);
    end();
}

static void a_checkpoint_of_what_was_not_sent(void)
{
    add_position(2, 100 + REQUESTS + 1);
}

static void a_checkpoint_before_the_last(void)
{
    add_position(2, 100 + COVERED - 1);
}

static void a_block_behind_the_state(void)
{
    add_position(2, 104);
    add_block(STATE_SIZE - 8, 16, 3);
}

static void a_block_far_behind_the_state(void)
{
    add_position(2, 104);
    add_block(STATE_SIZE + 8, 8, 3);
}

static void a_block_of_no_checkpoint(void)
{
    add_block(0, 8, 3);
}

static void replies_of_no_checkpoint(void)
{
    add_replies(102);
}

static void a_reply_to_what_was_not_sent(void)
{
    add_position(2, 104);
    add_replies(100 + REQUESTS);
}

static void a_commit_of_another_checkpoint(void)
{
    add_two_checkpoints(3);
}

static void a_commit_of_nothing(void)
{
    add_commit(1, 0x5a);
}

static void a_commit_of_another_state(void)
{
    add_position(2, 104);
    add_block(0, STATE_SIZE, 3);
    add_commit(2, 4);
}

static void origins_of_what_was_not_sent(void)
{
    const struct gyre_record_requests range = {99, 1};
    const struct gyre_record_origin origin = {1, 1};
    begin(GYRE_RECORD_ORIGINS);
    add(&range, sizeof range);
    add(&origin, sizeof origin);
    end();
}

static void half_a_name(void)
{
    const uint64_t client = GYRE_ORIGIN_NAMED | 1;
    begin(GYRE_RECORD_NAMES);
    add(&client, sizeof client);
    end();
}

static void a_name_with_a_number_far_beyond(void)
{
    const struct gyre_record_origin name = {GYRE_ORIGIN_NAMED | 1, UINT64_MAX - 1};
    begin(GYRE_RECORD_NAMES);
    add(&name, sizeof name);
    end();
}

static void an_origin_with_a_number_far_beyond(void)
{
    const struct gyre_record_requests range = {100, 1};
    const struct gyre_record_origin origin = {GYRE_ORIGIN_NAMED | 1, UINT64_MAX};
    begin(GYRE_RECORD_ORIGINS);
    add(&range, sizeof range);
    add(&origin, sizeof origin);
    end();
}

static void a_record_of_no_kind(void)
{
    begin((enum gyre_record_kind)99);
    end();
}

static const struct {
    void (*add)(void);
    const char *words;
} contradictions[] = {
    {too_long_a_request, "holds something else than its requests"},
    {a_request_of_another_number, "holds something else than its requests"},
    {a_query_with_bytes, "holds something else than its requests"},
    {a_gap_between_requests, "does not go on with the requests"},
    {more_requests_than_it_holds, "does not go on with the requests"},
    {replies_given_back, "replies were taken which cannot have been"},
    {replies_to_what_was_not_sent, "replies were taken which cannot have been"},
    {more_unhandled_than_it_names, "is shorter than it says"},
    {a_checkpoint_of_what_was_not_sent, "covers requests which were not sent"},
    {a_checkpoint_before_the_last, "covers requests which were not sent"},
    {a_block_behind_the_state, "lies outside the state"},
    {a_block_far_behind_the_state, "lies outside the state"},
    {a_block_of_no_checkpoint, "lies outside the state"},
    {replies_of_no_checkpoint, "belong to no checkpoint"},
    {a_reply_to_what_was_not_sent, "holds something else than its replies"},
    {a_commit_of_another_checkpoint, "ends a checkpoint whose state is not what it was"},
    {a_commit_of_nothing, "ends a checkpoint whose state is not what it was"},
    {a_commit_of_another_state, "ends a checkpoint whose state is not what it was"},
    {origins_of_what_was_not_sent, "whose requests are that are not there"},
    {half_a_name, "names clients, and ends within one"},
    {a_name_with_a_number_far_beyond, "numbers of a client that no queue comes to"},
    {an_origin_with_a_number_far_beyond, "numbers of a client that no queue comes to"},
    {a_record_of_no_kind, "of a kind that this version does not know"},
};

START_TEST(what_contradicts_itself_is_refused)
{
    struct gyre_journal_content content;
    make_good();
    contradictions[_i].add();
    unsigned char *bytes = fenced(file.size);
    ck_assert_int_eq(gyre_journal_read(bytes, file.size, &content), GYRE_INVALID);
    ck_assert_msg(strstr(gyre_error_text(), contradictions[_i].words), "%s", gyre_error_text());
    gyre_journal_content_release(&content);
    unfence(bytes, file.size);
}
END_TEST

/* Numbers that come round to 0 lie before the first one: their places would be no places. */
START_TEST(numbers_that_no_queue_comes_to_are_refused)
{
    struct gyre_journal_content content;
    add_open_at(UINT64_MAX - 1);
    add_requests(UINT64_MAX - 1, 4);
    ck_assert_int_eq(gyre_journal_read(file.data, file.size, &content), GYRE_INVALID);
    ck_assert_msg(strstr(gyre_error_text(), "numbers that no queue comes to"), "%s", gyre_error_text());
    gyre_journal_content_release(&content);
}
END_TEST

/* Of a record that was written over in part, what stands behind it may be an older one. */
START_TEST(a_record_out_of_turn_is_no_part_of_it)
{
    struct gyre_journal_content content;
    make_good();
    const size_t whole = file.size;
    number++;
    add_taken(104);
    ck_assert_int_eq(gyre_journal_read(file.data, file.size, &content), GYRE_OK);
    ck_assert(content.used == whole && content.received == 100 + RECEIVED && content.lost > 0);
    gyre_journal_content_release(&content);
}
END_TEST

/* Its number is in its place, and nothing is handled again. */
START_TEST(a_query_is_a_number_alone)
{
    const struct gyre_record_requests requests = {106, 3};
    const struct gyre_record_message query = {.index = 107, .info = GYRE_MESSAGE_QUERY};
    struct gyre_journal_content content;
    make_good();
    begin(GYRE_RECORD_REQUESTS);
    add(&requests, sizeof requests);
    add_message(106, REQUEST_SIZE);
    add(&query, sizeof query);
    add_message(108, REQUEST_SIZE);
    end();
    ck_assert_int_eq(gyre_journal_read(file.data, file.size, &content), GYRE_OK);
    ck_assert(content.sent == 109 && gyre_kept_is_query(&content.requests[7]) && content.skipped[7]);
    ck_assert(!gyre_kept_is_query(&content.requests[8]) && content.requests[8].length == REQUEST_SIZE);
    ck_assert(!content.skipped[6] && !content.skipped[8]);
    gyre_journal_content_release(&content);
}
END_TEST

/* What pads the last record is not there: nothing behind the file is read. */
START_TEST(a_record_without_its_padding_is_none)
{
    struct gyre_journal_content content;
    make_good();
    const size_t whole = file.size;
    begin(GYRE_RECORD_REQUESTS);
    add(&(struct gyre_record_requests){106, 0}, sizeof(struct gyre_record_requests));
    add("x", 1);
    end();
    ck_assert_uint_eq(file.size % GYRE_RECORD_ALIGNMENT, 0);
    const size_t size = file.size - 1;
    ck_assert_int_eq(gyre_journal_read(file.data, size, &content), GYRE_OK);
    ck_assert(content.used == whole && content.lost == size - whole);
    gyre_journal_content_release(&content);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("journal_content");
    TCase *tcase = tcase_create("journal_content");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_whole_journal_is_read);
    tcase_add_test(tcase, a_journal_says_that_its_program_ended);
    tcase_add_test(tcase, a_mark_out_of_place_is_none);
    tcase_add_test(tcase, a_journal_of_version_1_is_read);
    tcase_add_test(tcase, a_type_that_makes_no_sense_is_refused);
    tcase_add_test(tcase, a_journal_that_is_cut_at_any_byte_is_used_as_far_as_it_is_whole);
    tcase_add_test(tcase, a_journal_with_any_bit_flipped_is_used_up_to_there);
    tcase_add_loop_test(tcase, what_contradicts_itself_is_refused, 0,
                        (int)(sizeof contradictions / sizeof contradictions[0]));
    tcase_add_test(tcase, numbers_that_no_queue_comes_to_are_refused);
    tcase_add_test(tcase, a_record_out_of_turn_is_no_part_of_it);
    tcase_add_test(tcase, a_query_is_a_number_alone);
    tcase_add_test(tcase, a_record_without_its_padding_is_none);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
