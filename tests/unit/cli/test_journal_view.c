/* SPDX-License-Identifier: Apache-2.0 */
/* What `gyre journal` makes of a journal's bytes: lines of JSON, what is wrong with it, and the same journal written anew. */
#include <stdlib.h>
#include <string.h>

#include "cli/views/journal_view.h"
#include "core/base/error.h"
#include "core/journal/rewrite.h"
#include "gyre/message.h"
#include "gyre/ring_layout.h"
#include "unit/unit.h"

#define ORDER(FIELD) FIELD(u32, item) FIELD(u32, count)
GYRE_MESSAGE(order, ORDER)
#define BILL(FIELD) FIELD(i64, cents)
GYRE_MESSAGE(bill, BILL)
#define SHOP(FIELD) FIELD(u64, sold) FIELD(i64, cents)
GYRE_MESSAGE(shop, SHOP)

enum { FIRST = 100, COVERED = 102, SENT = 106 };

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

static uint64_t hash_of(const gyre_type *type)
{
    gyre_layout *layout = NULL;
    ck_assert_int_eq(gyre_layout_create(type, GYRE_STATE_MAX, &layout), GYRE_OK);
    const uint64_t hash = layout->hash;
    gyre_layout_destroy(layout);
    return hash;
}

static void add_type(enum gyre_type_role role, const gyre_type *type, const char *name, uint64_t offset,
                     uint64_t size)
{
    struct gyre_journal_type one = {.about = {.role = (uint32_t)role, .offset = offset, .size = size},
                                    .type = type};
    snprintf(one.about.name, sizeof one.about.name, "%s", name);
    begin(GYRE_RECORD_TYPE);
    gyre_journal_type_put(&file, &one);
    end();
}

static void add_open(uint32_t version)
{
    struct gyre_record_open open = {.version = version,
                                    .request_size = sizeof(order),
                                    .reply_size = sizeof(bill),
                                    .request_hash = hash_of(GYRE_TYPE(order)),
                                    .reply_hash = hash_of(GYRE_TYPE(bill)) ^
                                                  hash_of(GYRE_TYPE(shop)) * UINT64_C(0x9e3779b97f4a7c15),
                                    .state_size = sizeof(shop) + 8,
                                    .first = FIRST,
                                    .kernel = "shop",
                                    .queue = "shop"};
    begin(GYRE_RECORD_OPEN);
    add(&open, version == 1 ? offsetof(struct gyre_record_open, handler) : sizeof open);
    end();
    if (version == 1)
        return;
    add_type(GYRE_ROLE_REQUEST, GYRE_TYPE(order), "", 0, 0);
    add_type(GYRE_ROLE_REPLY, GYRE_TYPE(bill), "", 0, 0);
    add_type(GYRE_ROLE_STATE, GYRE_TYPE(shop), "", 0, sizeof(shop));
    add_type(GYRE_ROLE_BUFFER, GYRE_TYPE(u32), "stock", sizeof(shop), 8);
}

static void add_message(uint64_t index, const void *bytes, uint32_t length, uint32_t info)
{
    static const unsigned char zeros[8];
    const struct gyre_record_message message = {index, length, info};
    add(&message, sizeof message);
    add(bytes, length);
    add(zeros, (8 - length % 8) % 8);
}

/* A request is a query, and one is no order. */
static void add_requests(void)
{
    const struct gyre_record_requests range = {FIRST, SENT - FIRST};
    begin(GYRE_RECORD_REQUESTS);
    add(&range, sizeof range);
    for (uint32_t i = 0; i < SENT - FIRST; i++) {
        const order one = {i, 10 * i};
        add_message(FIRST + i, &one, i == 3 ? 0 : i == 4 ? 5 : sizeof one, i == 3 ? GYRE_MESSAGE_QUERY : 0);
    }
    end();
}

static void add_checkpoint(uint64_t checkpoint, uint64_t first, uint64_t sold, bool replies)
{
    const struct gyre_record_checkpoint info = {.number = checkpoint, .first = first};
    const struct {
        shop state;
        u32 stock[2];
    } kept = {{sold, 7}, {11, 22}};
    const struct gyre_record_block block = {0, sizeof kept};
    const struct gyre_record_requests range = {0, replies ? 2 : 0};
    const struct gyre_record_commit commit = {checkpoint, gyre_state_hash(&kept, sizeof kept)};
    const bill paid = {250};
    const gyre_failure failure = {4, "sold \"out\""};
    begin(GYRE_RECORD_CHECKPOINT);
    add(&info, sizeof info);
    end();
    begin(GYRE_RECORD_BLOCK);
    add(&block, sizeof block);
    add(&kept, sizeof kept);
    end();
    begin(GYRE_RECORD_REPLIES);
    add(&range, sizeof range);
    if (replies) {
        add_message(FIRST, &paid, sizeof paid, GYRE_OUTCOME_REPLY);
        add_message(FIRST + 1, &failure, sizeof failure, GYRE_OUTCOME_FAILED);
    }
    end();
    begin(GYRE_RECORD_COMMIT);
    add(&commit, sizeof commit);
    end();
}

static void make_file(uint32_t version)
{
    gyre_bytes_release(&file);
    number = 0;
    add_open(version);
    add_requests();
    add_checkpoint(1, COVERED, 2, true);
    if (version == 1)
        return;
    const struct gyre_record_mark mark = {.offset = file.size, .sent = SENT};
    begin(GYRE_RECORD_MARK);
    add(&mark, sizeof mark);
    end();
}

static gyre_status view_bytes(const struct gyre_bytes *bytes, journal_view *view)
{
    *view = (journal_view){.visit = {.path = strdup("it"), .lock = -1, .size = bytes->size}};
    view->visit.data = malloc(bytes->size + 1);
    ck_assert(view->visit.path && view->visit.data);
    memcpy(view->visit.data, bytes->data, bytes->size);
    return journal_view_read(view);
}

/* Each line ends with a line feed; the caller frees. */
static char *lines_of(const journal_view *view)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (uint64_t index = view->content.first; index < view->content.sent; index++) {
        journal_view_write_request(view, index, out);
        fputc('\n', out);
    }
    ck_assert_int_eq(journal_view_write_state(view, NULL, out), GYRE_OK);
    fclose(out);
    return text;
}

static const char expected[] =
    "{\"request\":100,\"is\":\"covered\",\"message\":{\"item\":0,\"count\":0},\"reply\":{\"cents\":250}}\n"
    "{\"request\":101,\"is\":\"covered\",\"message\":{\"item\":1,\"count\":10},\"reply\":"
    "{\"failed\":{\"code\":4,\"text\":\"sold \\\"out\\\"\"}}}\n"
    "{\"request\":102,\"is\":\"offered\",\"message\":{\"item\":2,\"count\":20}}\n"
    "{\"request\":103,\"is\":\"offered\",\"query\":true}\n"
    "{\"request\":104,\"is\":\"offered\",\"message\":{\"bytes\":\"0400000028\"}}\n"
    "{\"request\":105,\"is\":\"offered\",\"message\":{\"item\":5,\"count\":50}}\n"
    "{\"sold\":2,\"cents\":7}";

START_TEST(requests_and_replies_are_lines)
{
    journal_view view;
    make_file(2);
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
    ck_assert_int_eq(journal_view_check(&view), GYRE_OK);
    ck_assert_str_eq(journal_view_end_word(&view), "open");
    char *text = lines_of(&view);
    ck_assert_str_eq(text, expected);
    free(text);
    journal_view_close(&view);
}
END_TEST

START_TEST(buffers_are_arrays)
{
    journal_view view;
    char text[64] = "";
    const unsigned char *bytes;
    uint64_t size;
    FILE *out = fmemopen(text, sizeof text, "w");
    make_file(2);
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
    ck_assert_int_eq(journal_view_write_state(&view, "stock", out), GYRE_OK);
    fclose(out);
    ck_assert_str_eq(text, "[11,22]");
    ck_assert_int_eq(journal_view_state_bytes(&view, "stock", &bytes, &size), GYRE_OK);
    ck_assert_uint_eq(size, 8);
    ck_assert_int_eq(journal_view_state_bytes(&view, "stick", &bytes, &size), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "hold no buffer 'stick'"));
    journal_view_close(&view);
}
END_TEST

/* By their hashes, of which that of reply and state is one. */
START_TEST(an_older_journal_is_given_its_types)
{
    journal_view view;
    const gyre_type *const all[] = {GYRE_TYPE(bill), GYRE_TYPE(order), GYRE_TYPE(shop)};
    gyre_layout *layouts[3] = {NULL};
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(gyre_layout_create(all[i], GYRE_STATE_MAX, &layouts[i]), GYRE_OK);
    const type_list some = {layouts, 1}, types = {layouts, 3};
    make_file(1);
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
    char *bare = lines_of(&view);
    ck_assert_ptr_nonnull(strstr(bare, "\"message\":{\"bytes\":\"0100000"));
    ck_assert_int_eq(journal_view_add_types(&view, &some), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "none of the types given has it"));
    ck_assert_int_eq(journal_view_add_types(&view, &types), GYRE_OK);
    char *text = lines_of(&view);
    ck_assert_str_eq(text, expected);
    struct gyre_bytes present = {0};
    ck_assert_int_eq(gyre_journal_rewrite(&view.content, SENT, &present), GYRE_OK);
    journal_view_close(&view);
    ck_assert_int_eq(view_bytes(&present, &view), GYRE_OK);
    ck_assert_uint_eq(view.content.open.version, 2);
    char *again = lines_of(&view);
    ck_assert_str_eq(again, expected);
    journal_view_close(&view);
    gyre_bytes_release(&present);
    free(bare);
    free(text);
    free(again);
    for (size_t i = 0; i < 3; i++)
        gyre_layout_destroy(layouts[i]);
}
END_TEST

/* An order has one more field, and the shop its own in another order and one more. */
static const char later[] =
    "{\"request\":100,\"is\":\"covered\",\"message\":{\"item\":0,\"count\":0,\"gifts\":0},\"reply\":{\"cents\":250}}\n"
    "{\"request\":101,\"is\":\"covered\",\"message\":{\"item\":1,\"count\":10,\"gifts\":0},\"reply\":"
    "{\"failed\":{\"code\":4,\"text\":\"sold \\\"out\\\"\"}}}\n"
    "{\"request\":102,\"is\":\"offered\",\"message\":{\"item\":2,\"count\":20,\"gifts\":0}}\n"
    "{\"request\":103,\"is\":\"offered\",\"query\":true}\n"
    "{\"request\":104,\"is\":\"offered\",\"message\":{\"bytes\":\"\"}}\n"
    "{\"request\":105,\"is\":\"offered\",\"message\":{\"item\":5,\"count\":50,\"gifts\":0}}\n"
    "{\"cents\":7,\"sold\":2,\"visits\":0}";

START_TEST(a_journal_is_brought_to_later_types)
{
    static const gyre_type *const of_order[] = {GYRE_TYPE(u32), GYRE_TYPE(u32), GYRE_TYPE(u64), NULL};
    static const gyre_type *const of_shop[] = {GYRE_TYPE(i64), GYRE_TYPE(u64), GYRE_TYPE(u64), NULL};
    static const gyre_type *const of_shorter[] = {GYRE_TYPE(u32), NULL};
    static const gyre_type now[] = {{"order", "u32 item;u32 count;u64 gifts;", 16, 8, of_order},
                                    {"shop", "i64 cents;u64 sold;u64 visits;", 24, 8, of_shop},
                                    {"order", "u32 item;", 4, 4, of_shorter}};
    const gyre_type *const all[] = {GYRE_TYPE(bill), &now[0], &now[1], &now[2]};
    gyre_layout *layouts[4] = {NULL};
    struct gyre_bytes present = {0};
    journal_view view;
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(gyre_layout_create(all[i], GYRE_STATE_MAX, &layouts[i]), GYRE_OK);
    make_file(2);
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
    ck_assert_int_eq(journal_view_adopt(&view, &(type_list){layouts, 1}), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "of type 'order', which is none of the types given"));
    journal_view_close(&view);
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
    ck_assert_int_eq(journal_view_adopt(&view, &(type_list){layouts, 3}), GYRE_OK);
    ck_assert_int_eq(gyre_journal_rewrite(&view.content, SENT, &present), GYRE_OK);
    journal_view_close(&view);
    ck_assert_int_eq(view_bytes(&present, &view), GYRE_OK);
    ck_assert_int_eq(journal_view_check(&view), GYRE_OK);
    char *text = lines_of(&view), stock[64] = "";
    ck_assert_str_eq(text, later);
    FILE *out = fmemopen(stock, sizeof stock, "w");
    ck_assert_int_eq(journal_view_write_state(&view, "stock", out), GYRE_OK);
    fclose(out);
    ck_assert_str_eq(stock, "[11,22]");
    ck_assert_uint_eq(view.content.open.request_hash, layouts[1]->hash);
    ck_assert_uint_eq(view.content.open.request_size, 16);
    journal_view_close(&view);
    gyre_layout *shorter[3] = {layouts[0], layouts[3], layouts[2]}; /* a field would be lost */
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
    ck_assert_int_eq(journal_view_adopt(&view, &(type_list){shorter, 3}), GYRE_INCOMPATIBLE);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "the journal's requests cannot be those of 'order'"));
    journal_view_close(&view);
    free(text);
    gyre_bytes_release(&present);
    for (size_t i = 0; i < 4; i++)
        gyre_layout_destroy(layouts[i]);
}
END_TEST

START_TEST(what_is_cut_is_a_journal)
{
    make_file(2);
    for (uint64_t at = COVERED; at <= SENT; at++) {
        journal_view view;
        struct gyre_bytes shorter = {0};
        ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
        ck_assert_int_eq(gyre_journal_rewrite(&view.content, at, &shorter), GYRE_OK);
        journal_view_close(&view);
        ck_assert_int_eq(view_bytes(&shorter, &view), GYRE_OK);
        ck_assert_int_eq(journal_view_check(&view), GYRE_OK);
        ck_assert(view.content.sent == at && view.content.covered == COVERED && view.content.ended);
        ck_assert(view.content.settled == (at == COVERED));
        ck_assert(at <= FIRST + 3 || view.content.skipped[3]);
        journal_view_close(&view);
        gyre_bytes_release(&shorter);
    }
}
END_TEST

/* The second checkpoint covers request 103, so that the first one counts, or none does. */
START_TEST(an_earlier_checkpoint_is_found)
{
    struct gyre_journal_content content;
    gyre_bytes_release(&file);
    number = 0;
    add_open(2);
    add_requests();
    add_checkpoint(1, COVERED, 2, true);
    add_checkpoint(2, COVERED + 2, 4, false);
    static const uint64_t most[] = {UINT64_MAX, COVERED + 2, COVERED + 1, COVERED, COVERED - 1};
    static const uint64_t covered[] = {COVERED + 2, COVERED + 2, COVERED, COVERED, FIRST};
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(gyre_journal_read_covering(file.data, file.size, most[i], &content), GYRE_OK);
        ck_assert_uint_eq(content.covered, covered[i]);
        ck_assert_int_eq(content.state != NULL, covered[i] != FIRST);
        ck_assert(!content.state || ((const shop *)(const void *)content.state)->sold == covered[i] - FIRST);
        gyre_journal_content_release(&content);
    }
}
END_TEST

START_TEST(damage_is_told_with_its_place)
{
    journal_view view;
    char place[64];
    make_file(2);
    const size_t whole = file.size;
    file.size -= 9;
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
    ck_assert_int_eq(journal_view_check(&view), GYRE_INVALID);
    snprintf(place, sizeof place, "at byte %llu", (unsigned long long)view.content.used);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), place));
    journal_view_close(&view);
    file.size = whole - GYRE_MARK_SIZE;
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
    ck_assert_int_eq(journal_view_check(&view), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "was cut behind a record"));
    journal_view_close(&view);
    file.data[whole / 2] ^= 1;
    file.size = whole;
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_OK);
    ck_assert_int_eq(journal_view_check(&view), GYRE_INVALID);
    journal_view_close(&view);
    file.data[3] ^= 1;
    ck_assert_int_eq(view_bytes(&file, &view), GYRE_INVALID);
    journal_view_close(&view);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_journal_view");
    TCase *tcase = tcase_create("cli_journal_view");
    tcase_add_test(tcase, requests_and_replies_are_lines);
    tcase_add_test(tcase, buffers_are_arrays);
    tcase_add_test(tcase, an_older_journal_is_given_its_types);
    tcase_add_test(tcase, a_journal_is_brought_to_later_types);
    tcase_add_test(tcase, what_is_cut_is_a_journal);
    tcase_add_test(tcase, an_earlier_checkpoint_is_found);
    tcase_add_test(tcase, damage_is_told_with_its_place);
    suite_add_tcase(suite, tcase);
    const int code = unit_run(suite);
    gyre_bytes_release(&file);
    return code;
}
