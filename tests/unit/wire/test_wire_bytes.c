/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes on the wire, one by one: the vectors of the systems before Gyre, each form, and each refusal. */
#include "cli/wire/decode.h"
#include "cli/wire/description.h"
#include "cli/wire/encode.h"
#include "cli/wire/frame.h"
#include "cli/wire/pack.h"
#include "generated.h"
#include "gyre/gyre.h"
#include "unit/unit.h"

#include <string.h>

enum { BYTES_MAX = 1024 };

static const id128 ID = {
    {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}};
static const id128 CORRELATION = {
    {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00}};

/* Ids of .NET, priority, flag: what request and reply start with. */
#define ID_BYTES                                                                                             \
    0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff
#define CORRELATION_BYTES                                                                                    \
    0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00
#define SIXTEEN_ZEROS 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
#define A_AND_B       0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x20, 0x40

static gyre_pack wire;
static uint8_t bytes[BYTES_MAX];

static void set_up(void)
{
    ck_assert_msg(gyre_pack_scan(&wire, WIRE_TYPES_H) == GYRE_OK, "%s", gyre_error_text());
}

static void tear_down(void)
{
    gyre_pack_finish(&wire);
}

static const generated_row *generated_of(const gyre_type *type)
{
    for (size_t i = 0; i < GENERATED_COUNT; i++)
        if (GENERATED[i].type == type)
            return &GENERATED[i];
    ck_abort_msg("'%s' is not in the table", type->name);
}

static gyre_layout *layout_of(const gyre_type *type)
{
    gyre_layout *layout = NULL;
    ck_assert_int_eq(gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &layout), GYRE_OK);
    return layout;
}

/* Both serializers make exactly these bytes. */
static void expect_bytes(const gyre_type *type, const void *message, const uint8_t *expected, size_t length)
{
    gyre_layout *layout = layout_of(type);
    size_t found = 0;
    ck_assert_msg(gyre_pack_encode(&wire, layout, message, bytes, sizeof bytes, &found) == GYRE_OK, "%s",
                  gyre_error_text());
    ck_assert_uint_eq(found, length);
    ck_assert_mem_eq(bytes, expected, length);
    memset(bytes, 0xee, sizeof bytes);
    gyre_wire_out out = {.bytes = bytes, .room = sizeof bytes};
    ck_assert_uint_eq(generated_of(type)->encode(&out, message), length);
    ck_assert_mem_eq(bytes, expected, length);
    gyre_layout_destroy(layout);
}

/* Both refuse them, at that byte. */
static void expect_refused(const gyre_type *type, const uint8_t *input, size_t length, unsigned at,
                           const char *reason)
{
    static uint64_t message[GYRE_MESSAGE_MAX / 8];
    char place[40];
    gyre_layout *layout = layout_of(type);
    snprintf(place, sizeof place, "byte %u of %zu", at, length);
    ck_assert_int_eq(gyre_pack_decode(&wire, layout, input, length, message), GYRE_INVALID);
    ck_assert_msg(strstr(gyre_error_text(), place) && strstr(gyre_error_text(), reason),
                  "expected %s, %s; found %s", place, reason, gyre_error_text());
    gyre_wire_in in = {.bytes = input, .length = (gyre_u32)length};
    ck_assert(!generated_of(type)->decode(&in, message));
    ck_assert_msg(strstr(in.problem, reason) != NULL, "expected %s, found %s", reason, in.problem);
    ck_assert_uint_eq(in.at, at);
    gyre_layout_destroy(layout);
}

#define FILL_REQUEST(message)                                                                                \
    do {                                                                                                     \
        gyre_begin(message);                                                                                 \
        (message)->id = ID;                                                                                  \
        (message)->priority = 42;                                                                            \
        (message)->a = 1.5f;                                                                                 \
        (message)->b = 2.5f;                                                                                 \
        ck_assert_int_eq(gyre_put(message, &(message)->correlation, &CORRELATION, 1), GYRE_OK);              \
    } while (0)

START_TEST(the_request_of_dotcompute_is_42_bytes)
{
    static const uint8_t expected[] = {ID_BYTES, 0x2a, 1, CORRELATION_BYTES, A_AND_B};
    add_request message, back;
    ck_assert_uint_eq(sizeof expected, 42);
    FILL_REQUEST(&message);
    expect_bytes(GYRE_TYPE(add_request), &message, expected, sizeof expected);
    gyre_wire_in in = {.bytes = expected, .length = sizeof expected};
    ck_assert(gyre_decode_add_request(&in, &back));
    ck_assert_mem_eq(&back, &message, message.gyre_used);
}
END_TEST

START_TEST(the_reply_of_dotcompute_is_38_bytes)
{
    static const uint8_t expected[] = {ID_BYTES, 0x2a, 1, CORRELATION_BYTES, 0x00, 0x00, 0x80, 0x40};
    add_reply message;
    ck_assert_uint_eq(sizeof expected, 38);
    gyre_begin(&message);
    message.id = ID;
    message.priority = 42;
    message.result = 4.0f;
    ck_assert_int_eq(gyre_put(&message, &message.correlation, &CORRELATION, 1), GYRE_OK);
    expect_bytes(GYRE_TYPE(add_reply), &message, expected, sizeof expected);
}
END_TEST

START_TEST(without_a_correlation_its_bytes_are_zero)
{
    static const uint8_t expected[] = {ID_BYTES, 0x2a, 0, SIXTEEN_ZEROS, A_AND_B};
    add_request message, back;
    FILL_REQUEST(&message);
    message.correlation = (optional_id128){0, 0};
    expect_bytes(GYRE_TYPE(add_request), &message, expected, sizeof expected);
    gyre_wire_in in = {.bytes = expected, .length = sizeof expected};
    ck_assert(gyre_decode_add_request(&in, &back));
    ck_assert(!gyre_has(back.correlation));
}
END_TEST

START_TEST(other_layouts_of_the_request_are_descriptions)
{
    static const uint8_t bare[] = {ID_BYTES, 0x2a, CORRELATION_BYTES, A_AND_B};
    static const uint8_t counted[] = {5, ID_BYTES, 0x2a, 1, CORRELATION_BYTES, A_AND_B};
    static const uint8_t padded[] = {5, ID_BYTES, 0x2a, 1, 0, 0, 0, CORRELATION_BYTES, A_AND_B};
    add_bare as_bare;
    add_counted as_counted;
    add_padded as_padded;
    FILL_REQUEST(&as_bare);
    FILL_REQUEST(&as_counted);
    FILL_REQUEST(&as_padded);
    ck_assert_uint_eq(sizeof bare, 41);
    ck_assert_uint_eq(sizeof counted, 43);
    ck_assert_uint_eq(sizeof padded, 46);
    expect_bytes(GYRE_TYPE(add_bare), &as_bare, bare, sizeof bare);
    expect_bytes(GYRE_TYPE(add_counted), &as_counted, counted, sizeof counted);
    expect_bytes(GYRE_TYPE(add_padded), &as_padded, padded, sizeof padded);
}
END_TEST

START_TEST(texts_are_utf8_or_utf16)
{
    /* "aü🙂": 7 bytes, 4 units; room absent */
    static const uint8_t utf8_bytes[] = {4,    0,    0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
                                         0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 7,    0xf8, 0xff,
                                         0xff, 0xff, 4,    0,    0,    0,    'a',  0xc3, 0xbc, 0xf0,
                                         0x9f, 0x99, 0x82, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t utf16_bytes[] = {4,    4,    0,    0,    0,    'a',  0,    0xfc, 0,       0x3d,
                                          0xd8, 0x42, 0xde, 0xff, 0xff, 0xff, 0xff, 7,    ID_BYTES};
    line8 as_utf8;
    line16 as_utf16;
    gyre_begin(&as_utf8);
    as_utf8.id = ID;
    as_utf8.level = 7;
    ck_assert_int_eq(gyre_put_text(&as_utf8, &as_utf8.text, "a\xc3\xbc\xf0\x9f\x99\x82"), GYRE_OK);
    memcpy(&as_utf16, &as_utf8, sizeof as_utf8);
    expect_bytes(GYRE_TYPE(line8), &as_utf8, utf8_bytes, sizeof utf8_bytes);
    expect_bytes(GYRE_TYPE(line16), &as_utf16, utf16_bytes, sizeof utf16_bytes);
}
END_TEST

START_TEST(a_struct_is_its_memory_and_a_span_has_a_count)
{
    static const uint8_t expected[] = {4, 1, 0, 0, 0, /* one point */
                                       3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 2, 0, 0, 0, 0, 0,
                                       0, 0,
                                       /* start */
                                       SIXTEEN_ZEROS, 0, 0, 0, 0, 0, 0, 0, 0,
                                       /* no end: flag, 7 bytes of padding, 24 zeros */
                                       0, 0, 0, 0, 0, 0, 0, 0, SIXTEEN_ZEROS, 0, 0, 0, 0, 0, 0, 0, 0,
                                       /* edges */
                                       SIXTEEN_ZEROS, SIXTEEN_ZEROS, SIXTEEN_ZEROS};
    point one;
    path message;
    memset(&one, 0, sizeof one);
    one.kind = 3;
    one.x = 1.0;
    one.y = 2;
    gyre_begin(&message);
    ck_assert_int_eq(gyre_put(&message, &message.line, &one, 1), GYRE_OK);
    expect_bytes(GYRE_TYPE(path), &message, expected, sizeof expected);
}
END_TEST

START_TEST(null_collections_and_texts_are_read_as_empty)
{
    static const uint8_t input[] = {4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 7, ID_BYTES};
    line16 message;
    gyre_wire_in in = {.bytes = input, .length = sizeof input};
    ck_assert_msg(gyre_decode_line16(&in, &message), "%s", in.problem);
    ck_assert_uint_eq(message.text.count, 0);
    ck_assert(!gyre_has(message.room));
    ck_assert_uint_eq(message.level, 7);
}
END_TEST

START_TEST(what_is_malformed_is_refused_with_its_place)
{
    static const uint8_t request[] = {ID_BYTES, 0x2a, 1, CORRELATION_BYTES, A_AND_B, 9};
    static const uint8_t flag[] = {ID_BYTES, 0x2a, 2, CORRELATION_BYTES, A_AND_B};
    static const uint8_t absent[] = {ID_BYTES, 0x2a, 0, CORRELATION_BYTES, A_AND_B};
    static const uint8_t members[] = {4, ID_BYTES, 0x2a, 1, CORRELATION_BYTES, A_AND_B};
    static const uint8_t half[] = {4, 1, 0, 0, 0, 0x3d, 0xd8, 0xff, 0xff, 0xff, 0xff, 7, ID_BYTES};
    static const uint8_t text[] = {4, 0xfe, 0xff, 0xff, 0xff, 1,    0, 0,
                                   0, 0xc0, 0xff, 0xff, 0xff, 0xff, 7, ID_BYTES};
    static const uint8_t count[] = {4, 0xfe, 0xff, 0xff, 0xff, 2,    0, 0,
                                    0, 'a',  0xff, 0xff, 0xff, 0xff, 7, ID_BYTES};
    static const uint8_t negative[] = {8, 0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    static const uint8_t large[] = {8, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0};
    expect_refused(GYRE_TYPE(add_request), request, 43, 42, "left over");
    expect_refused(GYRE_TYPE(add_request), request, 41, 41, "ends within");
    expect_refused(GYRE_TYPE(add_request), flag, 42, 17, "expected an optional value's flag");
    expect_refused(GYRE_TYPE(add_request), absent, 42, 18, "expected 0 in padding");
    expect_refused(GYRE_TYPE(add_counted), members, 43, 0, "another number of members");
    expect_refused(GYRE_TYPE(line16), half, sizeof half, 5, "half of a surrogate pair");
    expect_refused(GYRE_TYPE(line16), text, sizeof text, 9, "not UTF-8");
    expect_refused(GYRE_TYPE(line16), count, sizeof count, 5, "not as many UTF-16 units");
    expect_refused(GYRE_TYPE(spans), negative, sizeof negative, 1, "negative or too big");
    expect_refused(GYRE_TYPE(spans), large, sizeof large, 1, "negative or too big");
}
END_TEST

START_TEST(a_collection_beyond_the_tail_is_refused)
{
    static uint8_t input[2000] = {8, 0x10, 0x05}; /* 1296 items of one byte, the tail has 1000 */
    expect_refused(GYRE_TYPE(spans), input, sizeof input, 5, "does not fit the message's tail");
}
END_TEST

START_TEST(frames_have_a_header_of_256_bytes)
{
    static const uint8_t start[] = {0xf1, 0xdc, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0, 8,
                                    7,    6,    5, 4, 3,  2, 1, 1, 0, 0, 0, 2};
    const gyre_frame frame = {.size = 42, .timestamp = 0x0102030405060708, .sender = 1, .receiver = 2};
    gyre_frame back;
    uint8_t whole[GYRE_FRAME_SIZE + 42] = {0};
    gyre_frame_write(&frame, whole);
    ck_assert_mem_eq(whole, start, sizeof start);
    for (size_t i = sizeof start; i < GYRE_FRAME_SIZE; i++)
        ck_assert_uint_eq(whole[i], 0);
    ck_assert_int_eq(gyre_frame_read(whole, sizeof whole, &back), GYRE_OK);
    ck_assert(back.size == 42 && back.timestamp == frame.timestamp && back.sender == 1 && back.receiver == 2);
    ck_assert_int_eq(gyre_frame_read(whole, sizeof whole - 1, &back), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "byte 4: "));
    ck_assert_int_eq(gyre_frame_read(whole, 255, &back), GYRE_INVALID);
    whole[1] = 0;
    ck_assert_int_eq(gyre_frame_read(whole, sizeof whole, &back), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "byte 0: expected the magic 0xdcf1"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire");
    TCase *tests = tcase_create("bytes");
    tcase_add_unchecked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_request_of_dotcompute_is_42_bytes);
    tcase_add_test(tests, the_reply_of_dotcompute_is_38_bytes);
    tcase_add_test(tests, without_a_correlation_its_bytes_are_zero);
    tcase_add_test(tests, other_layouts_of_the_request_are_descriptions);
    tcase_add_test(tests, texts_are_utf8_or_utf16);
    tcase_add_test(tests, a_struct_is_its_memory_and_a_span_has_a_count);
    tcase_add_test(tests, null_collections_and_texts_are_read_as_empty);
    tcase_add_test(tests, what_is_malformed_is_refused_with_its_place);
    tcase_add_test(tests, a_collection_beyond_the_tail_is_refused);
    tcase_add_test(tests, frames_have_a_header_of_256_bytes);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
