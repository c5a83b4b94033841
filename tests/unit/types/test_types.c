/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of message types: what the compiler lays out, what is refused, and how two types differ. */
#include "core/base/error.h"
#include "core/types/buffers.h"
#include "core/types/compare.h"
#include "core/types/types.h"
#include "unit/unit.h"

#include <stddef.h>
#include <string.h>

#define COUNT        5
#define POINT(FIELD) FIELD(f32, x) FIELD(f64, y)
GYRE_MESSAGE(point, POINT)
#define MIXED(FIELD)                                                                                         \
    FIELD(u8, flag)                                                                                          \
    FIELD(point, corners[2][3])                                                                              \
    FIELD(i16, small[(COUNT + 1) * 2 - 0x3])                                                                 \
    FIELD(u64, big) FIELD(i8, tail[1 << 2])
GYRE_MESSAGE(mixed, MIXED)

static gyre_layout *layout_of(const gyre_type *type)
{
    gyre_layout *layout;
    gyre_status status = gyre_layout_create(type, GYRE_MESSAGE_MAX, &layout);
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    return layout;
}

/* A one-off type of scalar fields, with the size that a compiler would have seen. */
static gyre_status create(const char *fields, const gyre_type *first, const gyre_type *second, uint64_t size,
                          gyre_layout **out)
{
    const gyre_type *types[] = {first, second, NULL};
    gyre_type type = {"made", fields, size, first ? first->alignment : 1, types};
    return gyre_layout_create(&type, GYRE_MESSAGE_MAX, out);
}

static void refused(const char *fields, const gyre_type *first, const gyre_type *second, const char *sentence)
{
    gyre_layout *layout;
    ck_assert_int_eq(create(fields, first, second, 4, &layout), GYRE_INVALID);
    ck_assert_ptr_null(layout);
    ck_assert_msg(strstr(gyre_error_text(), sentence) != NULL, "'%s' is not in '%s'", sentence,
                  gyre_error_text());
}

START_TEST(offsets_and_counts_are_those_of_the_compiler)
{
    gyre_layout *layout = layout_of(GYRE_TYPE(mixed));
    ck_assert_uint_eq(layout->size, sizeof(mixed));
    ck_assert_uint_eq(layout->alignment, _Alignof(mixed));
    ck_assert_uint_eq(layout->field_count, 5);
    ck_assert_uint_eq(gyre_layout_field(layout, "corners")->offset, offsetof(mixed, corners));
    ck_assert_uint_eq(gyre_layout_field(layout, "corners")->count, 6);
    ck_assert_uint_eq(gyre_layout_field(layout, "small")->offset, offsetof(mixed, small));
    ck_assert_uint_eq(gyre_layout_field(layout, "small")->count, 9);
    ck_assert_uint_eq(gyre_layout_field(layout, "big")->offset, offsetof(mixed, big));
    ck_assert_uint_eq(gyre_layout_field(layout, "tail")->count, 4);
    ck_assert_ptr_null(gyre_layout_field(layout, "nothing"));
    char text[32];
    ck_assert_str_eq(gyre_field_type_text(&layout->fields[1], text, sizeof text), "point[2][3]");
    gyre_layout_destroy(layout);
}
END_TEST

START_TEST(canonical_text_names_every_offset)
{
    gyre_layout *layout = layout_of(GYRE_TYPE(point));
    ck_assert_str_eq(layout->text, "{f32 x@0;f64 y@8;}16/8");
    gyre_layout_destroy(layout);
}
END_TEST

START_TEST(a_layout_outlives_the_type_it_came_from)
{
    char name[] = "point", fields[] = "f32 x;f64 y;";
    const gyre_type *types[] = {GYRE_TYPE(f32), GYRE_TYPE(f64), NULL};
    gyre_type type = {name, fields, 16, 8, types};
    gyre_layout *layout = layout_of(&type);
    memset(name, '?', sizeof name);
    memset(fields, '?', sizeof fields);
    memset(&type, 0, sizeof type);
    memset(types, 0, sizeof types);
    ck_assert_str_eq(layout->type->name, "point");
    ck_assert_str_eq(layout->type->fields, "f32 x;f64 y;");
    ck_assert_str_eq(layout->type->field_types[1]->name, "f64");
    gyre_layout *again = layout_of(layout->type);
    ck_assert_uint_eq(again->hash, layout->hash);
    gyre_layout_destroy(again);
    gyre_layout_destroy(layout);
}
END_TEST

START_TEST(scalars_and_nothing_have_layouts)
{
    gyre_layout *layout = layout_of(GYRE_TYPE(u16));
    ck_assert_int_eq(layout->scalar, GYRE_SCALAR_U16);
    ck_assert_uint_eq(layout->size, 2);
    gyre_layout_destroy(layout);
    layout = layout_of(GYRE_TYPE(gyre_none));
    ck_assert_int_eq(layout->scalar, GYRE_SCALAR_NOTHING);
    ck_assert_uint_eq(layout->size, 0);
    gyre_layout_destroy(layout);
}
END_TEST

START_TEST(array_lengths_are_integer_expressions)
{
    static const struct {
        const char *fields;
        uint64_t size;
    } cases[] = {{"u8 a[25];", 25},        {"u8 a[(4 + 1) * 2];", 10}, {"u8 a[1u << 4];", 16},
                 {"u8 a[0x10UL];", 16},    {"u8 a[010];", 8},          {"u8 a[7 % 4 + 9 / 2];", 7},
                 {"u8 a[256>>2];", 64},    {"u8 a[-(-3)];", 3},        {"u8 a [ 2 ] [ 3 ] ;", 6},
                 {"u8 a[2 + 3 * 4];", 14}, {"u8 a[20 - 5 - 5];", 10},  {"u8 a[1 << 1 + 1];", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gyre_layout *layout;
        gyre_status status = create(cases[i].fields, GYRE_TYPE(u8), NULL, cases[i].size, &layout);
        ck_assert_msg(status == GYRE_OK, "%s: %s", cases[i].fields, gyre_error_text());
        gyre_layout_destroy(layout);
    }
}
END_TEST

START_TEST(texts_that_are_no_fields_are_refused)
{
    const gyre_type *byte = GYRE_TYPE(u8);
    refused("u8 a[n];", byte, NULL, "array length 'n' is not an integer literal expression");
    refused("u8 a[];", byte, NULL, "is not an integer literal expression");
    refused("u8 a[0];", byte, NULL, "array length '0' is not positive");
    refused("u8 a[1 - 2];", byte, NULL, "is not positive");
    refused("u8 a[1 / 0];", byte, NULL, "divides by zero");
    refused("u8 a[1 << 99];", byte, NULL, "shifts out of range");
    refused("u8 a[9223372036854775807 + 1];", byte, NULL, "overflows");
    refused("u8 a[99999999999999999999];", byte, NULL, "is too large");
    refused("u8 a[(2];", byte, NULL, "parenthesis that is not closed");
    refused("u8 a[0x];", byte, NULL, "malformed number");
    refused("u8 a[089];", byte, NULL, "malformed number");
    refused("u8 a[2;", byte, NULL, "a bracket is not closed");
    refused("u8 a:3;", byte, NULL, "expected an array length in brackets");
    refused("u8 *a;", byte, NULL, "expected 'type name'");
    refused("u8;", byte, NULL, "expected 'type name'");
    refused("u8 a", byte, NULL, "expected fields that end with ';'");
    refused("blob a;", byte, NULL, "field 1 ('blob a'): its type is unknown");
    refused("u8 a;u8 b;", byte, NULL, "field 2 ('u8 b'): its type is unknown");
    refused("u8 a;u8 a;", byte, byte, "a field of this name was declared before");
    refused("gyre_none a;", GYRE_TYPE(gyre_none), NULL, "gyre_none cannot be a field");
    refused("u8 a[1][1][1][1][1][1][1][1][1];", byte, NULL, "more than 8 dimensions");
}
END_TEST

START_TEST(a_deeply_nested_length_is_refused_not_a_crash)
{
    static char fields[5000];
    memcpy(fields, "u8 a[", 5);
    memset(fields + 5, '(', 4900);
    memcpy(fields + 4905, "];", 3);
    refused(fields, GYRE_TYPE(u8), NULL, "is nested too deeply");
}
END_TEST

#define LARGE(FIELD) FIELD(u64, number)
GYRE_MESSAGE_TAIL(large, LARGE, 100000)

START_TEST(a_tail_beyond_64_kib_is_told_as_such)
{
    gyre_layout *layout;
    ck_assert_int_eq(gyre_layout_create_message(GYRE_TYPE(large), 65536, &layout), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_cause(),
                                 "message type 'large': its fields of 16 bytes and its tail of 100000 "
                                 "are more than 65536"));
}
END_TEST

START_TEST(a_message_beyond_64_kib_is_refused)
{
    refused("u8 a[65537];", GYRE_TYPE(u8), NULL, "ends beyond 65536 bytes");
    refused("u8 a[65536];u8 b;", GYRE_TYPE(u8), GYRE_TYPE(u8), "ends beyond 65536 bytes");
    refused("u8 a[4294967296][4294967296];", GYRE_TYPE(u8), NULL, "makes the type too large");
    gyre_layout *layout;
    ck_assert_int_eq(create("u8 a[65536];", GYRE_TYPE(u8), NULL, 65536, &layout), GYRE_OK);
    gyre_layout_destroy(layout);
}
END_TEST

START_TEST(types_nested_too_deeply_or_in_themselves_are_refused)
{
    gyre_type self = {"self", "self a;", 4, 4, NULL};
    const gyre_type *types[] = {&self, NULL};
    self.field_types = types;
    gyre_layout *layout;
    ck_assert_int_eq(gyre_layout_create(&self, GYRE_MESSAGE_MAX, &layout), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "contains itself"));

    gyre_type chain[GYRE_TYPE_DEPTH_MAX + 2];
    const gyre_type *links[GYRE_TYPE_DEPTH_MAX + 2][2];
    for (int i = 0; i < GYRE_TYPE_DEPTH_MAX + 2; i++) {
        links[i][0] = i ? &chain[i - 1] : GYRE_TYPE(u8);
        links[i][1] = NULL;
        chain[i] = (gyre_type){"link", i ? "link a;" : "u8 a;", 1, 1, links[i]};
    }
    ck_assert_int_eq(gyre_layout_create(&chain[GYRE_TYPE_DEPTH_MAX - 1], GYRE_MESSAGE_MAX, &layout), GYRE_OK);
    gyre_layout_destroy(layout);
    ck_assert_int_eq(gyre_layout_create(&chain[GYRE_TYPE_DEPTH_MAX], GYRE_MESSAGE_MAX, &layout),
                     GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "nested more than 16 deep"));
}
END_TEST

START_TEST(types_whose_expansion_explodes_are_refused)
{
    gyre_type level[6];
    const gyre_type *inner[6][9] = {{NULL}};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 8; k++)
            inner[i][k] = i ? &level[i - 1] : GYRE_TYPE(u8);
        level[i] = (gyre_type){
            "t", i ? "t a;t b;t c;t d;t e;t f;t g;t h;" : "u8 a;u8 b;u8 c;u8 d;u8 e;u8 f;u8 g;u8 h;",
            UINT64_C(1) << (3 * (i + 1)), 1, inner[i]};
    }
    gyre_layout *layout;
    ck_assert_int_eq(gyre_layout_create(&level[5], GYRE_STATE_MAX, &layout), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "too many fields"));
}
END_TEST

START_TEST(a_size_that_the_compiler_did_not_see_is_named)
{
    gyre_layout *layout;
    ck_assert_int_eq(create("f32 a[3];", GYRE_TYPE(f32), NULL, 16, &layout), GYRE_INCOMPATIBLE);
    ck_assert_str_eq(gyre_error_text(),
                     "message type 'made': its fields make 12 bytes aligned to 4, the compiler "
                     "made 16 aligned to 4; compile without packing or alignment options");
}
END_TEST

START_TEST(equal_fields_compare_equal_whatever_the_types_are_called)
{
    const gyre_type *types[] = {GYRE_TYPE(f32), GYRE_TYPE(f64), NULL};
    gyre_type other = {"vector", "f32 x;f64 y;", 16, 8, types};
    gyre_layout *a = layout_of(GYRE_TYPE(point)), *b = layout_of(&other);
    ck_assert_uint_eq(a->hash, b->hash);
    ck_assert_int_eq(gyre_layout_compare(a, "the kernel", b, "the caller"), GYRE_OK);
    gyre_layout_destroy(a);
    gyre_layout_destroy(b);
}
END_TEST

#define SIZED(FIELD) FIELD(u32, size)
GYRE_MESSAGE(sized, SIZED)
#define LENGTHY(FIELD) FIELD(u32, size)
GYRE_MESSAGE(lengthy, LENGTHY)
#define COUNTER(TAKES) TAKES(point, sized) TAKES(sized, gyre_none)
GYRE_PROTOCOL(counter, COUNTER)
GYRE_PROTOCOL(till, COUNTER)
#define WINDOW(TAKES) TAKES(point, sized) TAKES(lengthy, gyre_none)
GYRE_PROTOCOL(window, WINDOW)

static void differs(const gyre_type *a_type, const gyre_type *b_type, const char *words)
{
    gyre_layout *a = layout_of(a_type), *b = layout_of(b_type);
    ck_assert_uint_ne(a->hash, b->hash);
    ck_assert_int_eq(gyre_layout_compare(a, "the kernel", b, "the caller"), GYRE_INCOMPATIBLE);
    const char *text = gyre_error_text();
    char hashes[64];
    snprintf(hashes, sizeof hashes, "(layout hashes %016llx and %016llx)", (unsigned long long)a->hash,
             (unsigned long long)b->hash);
    ck_assert_msg(strstr(text, words) && strstr(text, hashes) &&
                      strstr(text, "message type mismatch: '") == text,
                  "%s", text);
    gyre_layout_destroy(a);
    gyre_layout_destroy(b);
}

/* As of any type, the name of a protocol itself does not count; those of its types do, because senders name them. */
START_TEST(a_protocol_is_known_by_the_names_of_its_types)
{
    gyre_layout *a = layout_of(GYRE_TYPE(counter_request)), *b = layout_of(GYRE_TYPE(till_request));
    ck_assert_str_ne(a->name, b->name);
    ck_assert_int_eq(gyre_layout_compare(a, "kernel 'a'", b, "port 'b.out'"), GYRE_OK);
    gyre_layout_destroy(a);
    gyre_layout_destroy(b);
    differs(GYRE_TYPE(counter_request), GYRE_TYPE(window_request), "has the choice 'sized' as number 2");
    differs(GYRE_TYPE(counter_request), GYRE_TYPE(window_request), "has the choice 'lengthy' as number 2");
}
END_TEST

START_TEST(a_type_may_grow_behind_its_last_byte)
{
    const gyre_type *three[] = {GYRE_TYPE(u32), GYRE_TYPE(u8), GYRE_TYPE(u8), NULL};
    const gyre_type *wide[] = {GYRE_TYPE(u32), GYRE_TYPE(u8), GYRE_TYPE(u32), NULL};
    gyre_type old = {"old", "u32 a;u8 b;", 8, 4, three};
    gyre_type in_padding = {"new", "u32 a;u8 b;u8 c;", 8, 4, three};
    gyre_type behind = {"new", "u32 a;u8 b;u32 c;", 12, 4, wide};
    gyre_layout *a = layout_of(&old), *b = layout_of(&in_padding), *c = layout_of(&behind);
    ck_assert(gyre_layout_extends(c, a) && !gyre_layout_extends(a, c));
    ck_assert(!gyre_layout_extends(b, a) && !gyre_layout_extends(a, a) && !gyre_layout_extends(c, b));
    gyre_layout_destroy(a);
    gyre_layout_destroy(b);
    gyre_layout_destroy(c);
    differs(
        &old, &in_padding,
        "'new' of the caller also has the field 'c' of type u8 at offset 5, within the 8 bytes of 'old' of the "
        "kernel, which end with padding (layout hashes ");
    differs(&old, &in_padding, "append a field aligned to 4 first, such as a u32, or include the same");
    differs(&in_padding, &old, "'new' of the kernel also has the field 'c'");
}
END_TEST

START_TEST(the_first_difference_is_named_with_offsets_and_hashes)
{
    const gyre_type *two[] = {GYRE_TYPE(f32), GYRE_TYPE(f32), NULL};
    const gyre_type *nested[] = {GYRE_TYPE(point), NULL},
                    *mixed_up[] = {GYRE_TYPE(u32), GYRE_TYPE(f32), NULL};
    gyre_type base = {"pair", "f32 a[25];f32 b[25];", 200, 4, two};
    gyre_type shorter = {"pair", "f32 a[25];f32 b[20];", 180, 4, two};
    gyre_type renamed = {"pear", "f32 a[25];f32 c[25];", 200, 4, two};
    gyre_type retyped = {"pair", "u32 a[25];f32 b[25];", 200, 4, mixed_up};
    gyre_type cut = {"pair", "f32 a[25];", 100, 4, two + 1};
    gyre_type box = {"box", "point p;", 16, 8, nested};
    const gyre_type *swapped_types[] = {GYRE_TYPE(f32), GYRE_TYPE(f32), NULL};
    gyre_type flat = {"point", "f32 x;f32 y;", 8, 4, swapped_types};
    const gyre_type *flat_nested[] = {&flat, NULL};
    gyre_type flat_box = {"box", "point p;", 8, 4, flat_nested};
    differs(&base, &shorter,
            "'pair' of the kernel has field 'b' of type f32[25] at offset 100, "
            "'pair' of the caller has field 'b' of type f32[20] at offset 100");
    differs(&base, &renamed, "'pear' of the caller has field 'c' of type f32[25] at offset 100");
    differs(&base, &retyped, "'pair' of the caller has field 'a' of type u32[25] at offset 0");
    differs(&base, &cut, "'pair' of the caller has no field 'b'");
    differs(&box, &flat_box,
            "has field 'p.y' of type f64 at offset 8, "
            "'box' of the caller has field 'p.y' of type f32 at offset 4");
    differs(GYRE_TYPE(f32), GYRE_TYPE(gyre_none), "'f32' of the kernel has 4 bytes (f32)");
}
END_TEST

START_TEST(buffer_declarations_are_read_in_order)
{
    const gyre_type *types[] = {GYRE_TYPE(f32), GYRE_TYPE(point), NULL};
    gyre_buffer_list list;
    ck_assert_int_eq(gyre_buffer_list_init(&list, "in f32 weights;inout point ranks;", types), GYRE_OK);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_str_eq(list.slots[0].name, "weights");
    ck_assert(!list.slots[0].writable && list.slots[1].writable);
    ck_assert_uint_eq(list.slots[1].type->size, sizeof(point));
    gyre_buffer_list_finish(&list);
    ck_assert_int_eq(gyre_buffer_list_init(&list, "", types + 2), GYRE_OK);
    ck_assert_uint_eq(list.count, 0);
    gyre_buffer_list_finish(&list);
}
END_TEST

START_TEST(malformed_buffer_declarations_are_refused)
{
    static const char *const texts[] = {
        "f32 weights;", "in f32;",      "in f32 a",           "out f32 a;",
        "in u8 a;",     "in f32 a[3];", "in f32 a;in f32 a;", "in f32 a;in f32 b;in f32 c;"};
    const gyre_type *types[] = {GYRE_TYPE(f32), GYRE_TYPE(f32), NULL};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        gyre_buffer_list list;
        ck_assert_msg(gyre_buffer_list_init(&list, texts[i], types) == GYRE_INVALID, "%s", texts[i]);
        gyre_buffer_list_finish(&list);
    }
}
END_TEST

START_TEST(a_kernel_has_at_most_8_buffers)
{
    const gyre_type *types[9];
    gyre_buffer_list list;
    for (int i = 0; i < 9; i++)
        types[i] = GYRE_TYPE(u8);
    const char text[] = "in u8 a;in u8 b;in u8 c;in u8 d;in u8 e;in u8 f;in u8 g;in u8 h;in u8 i;";
    ck_assert_int_eq(gyre_buffer_list_init(&list, text, types), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "more than 8 device buffers"));
    gyre_buffer_list_finish(&list);
    char eight[sizeof text] = "";
    memcpy(eight, text, strlen(text) - strlen("in u8 i;"));
    ck_assert_int_eq(gyre_buffer_list_init(&list, eight, types), GYRE_OK);
    ck_assert_uint_eq(list.count, 8);
    gyre_buffer_list_finish(&list);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("types");
    TCase *tcase = tcase_create("types");
    tcase_add_test(tcase, offsets_and_counts_are_those_of_the_compiler);
    tcase_add_test(tcase, canonical_text_names_every_offset);
    tcase_add_test(tcase, a_layout_outlives_the_type_it_came_from);
    tcase_add_test(tcase, scalars_and_nothing_have_layouts);
    tcase_add_test(tcase, array_lengths_are_integer_expressions);
    tcase_add_test(tcase, texts_that_are_no_fields_are_refused);
    tcase_add_test(tcase, a_deeply_nested_length_is_refused_not_a_crash);
    tcase_add_test(tcase, a_tail_beyond_64_kib_is_told_as_such);
    tcase_add_test(tcase, a_message_beyond_64_kib_is_refused);
    tcase_add_test(tcase, types_nested_too_deeply_or_in_themselves_are_refused);
    tcase_add_test(tcase, types_whose_expansion_explodes_are_refused);
    tcase_add_test(tcase, a_size_that_the_compiler_did_not_see_is_named);
    tcase_add_test(tcase, equal_fields_compare_equal_whatever_the_types_are_called);
    tcase_add_test(tcase, a_protocol_is_known_by_the_names_of_its_types);
    tcase_add_test(tcase, a_type_may_grow_behind_its_last_byte);
    tcase_add_test(tcase, the_first_difference_is_named_with_offsets_and_hashes);
    tcase_add_test(tcase, buffer_declarations_are_read_in_order);
    tcase_add_test(tcase, malformed_buffer_declarations_are_refused);
    tcase_add_test(tcase, a_kernel_has_at_most_8_buffers);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
