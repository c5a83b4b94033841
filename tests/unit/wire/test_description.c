/* SPDX-License-Identifier: Apache-2.0 */
/* GYRE_WIRE: what its words say, where it is found, and how it is refused. */
#include "cli/wire/description.h"
#include "cli/wire/pack.h"
#include "core/base/error.h"
#include "gyre/message.h"
#include "unit/unit.h"

#include <string.h>
#include <unistd.h>

#define PAIR(FIELD) FIELD(u16, left) FIELD(u32, right)
GYRE_MESSAGE(pair, PAIR)
#define NOTE(FIELD) FIELD(u8, level) FIELD(utf8, text) FIELD(pair, where)
GYRE_MESSAGE_TAIL(note, NOTE, 64)
GYRE_OPTIONAL(optional_span, span_u8)
#define ODD(FIELD) FIELD(optional_span, maybe)
GYRE_MESSAGE_TAIL(odd, ODD, 64)

static gyre_pack wire;

static void tear_down(void)
{
    gyre_pack_finish(&wire);
}

static void expect_error(gyre_status found, gyre_status expected, const char *sentence)
{
    ck_assert_int_eq(found, expected);
    ck_assert_msg(strstr(gyre_error_text(), sentence) != NULL, "'%s' is not in '%s'", sentence,
                  gyre_error_text());
}

START_TEST(words_left_out_have_their_first_value)
{
    ck_assert_int_eq(gyre_pack_add(&wire, "a", ""), GYRE_OK);
    ck_assert_int_eq(
        gyre_pack_add(&wire, "b", " form=struct  nullable=bare guid=plain string=utf16 order=x,y"), GYRE_OK);
    ck_assert_uint_eq(wire.record_count, 2);
    const gyre_pack_record *a = &wire.records[0], *b = &wire.records[1];
    ck_assert(a->options.form == GYRE_PACK_OBJECT && a->options.nullable == GYRE_PACK_NULLABLE_PADDED &&
              a->options.string == GYRE_PACK_UTF8 && a->options.guid == GYRE_PACK_GUID_DOTNET && !a->fields);
    ck_assert(b->options.form == GYRE_PACK_STRUCT && b->options.nullable == GYRE_PACK_NULLABLE_BARE &&
              b->options.string == GYRE_PACK_UTF16 && b->options.guid == GYRE_PACK_GUID_PLAIN);
    ck_assert_uint_eq(b->field_count, 2);
    ck_assert_str_eq(b->fields[1], "y");
}
END_TEST

START_TEST(words_that_are_none_are_refused)
{
    expect_error(gyre_pack_add(&wire, "a", "from=packed"), GYRE_INVALID, "did you mean 'form'?");
    expect_error(gyre_pack_add(&wire, "a", "form=pack"), GYRE_INVALID,
                 "expected form=object, packed or struct, found 'pack'");
    expect_error(gyre_pack_add(&wire, "a", "guid=dot"), GYRE_INVALID,
                 "expected guid=dotnet or plain, found 'dot'");
    expect_error(gyre_pack_add(&wire, "a", "packed"), GYRE_INVALID, "expected word=value, found 'packed'");
    expect_error(gyre_pack_add(&wire, "a", "form=packed form=packed"), GYRE_INVALID,
                 "'form' stands there twice");
    expect_error(gyre_pack_add(&wire, "a", "order="), GYRE_INVALID, "expected order=field,field");
    ck_assert_uint_eq(wire.record_count, 0);
    ck_assert_int_eq(gyre_pack_add(&wire, "a", "form=packed"), GYRE_OK);
    expect_error(gyre_pack_add(&wire, "a", "form=packed"), GYRE_INVALID, "two wire descriptions");
}
END_TEST

/* What is said of note and pair does, or does not, fit these types. */
static void expect_check(const gyre_type *type, const char *of_note, const char *of_pair,
                         const char *sentence)
{
    gyre_layout *layout = NULL;
    ck_assert_int_eq(gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &layout), GYRE_OK);
    ck_assert_int_eq(gyre_pack_add(&wire, "note", of_note), GYRE_OK);
    ck_assert_int_eq(gyre_pack_add(&wire, "pair", of_pair), GYRE_OK);
    gyre_status status = gyre_pack_check(&wire, layout);
    if (sentence)
        expect_error(status, GYRE_INVALID, sentence);
    else
        ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    gyre_layout_destroy(layout);
    gyre_pack_finish(&wire);
}

START_TEST(a_description_fits_its_type)
{
    expect_check(GYRE_TYPE(note), "order=where,text,level", "form=struct", NULL);
    expect_check(GYRE_TYPE(note), "form=struct", "", "has variable parts, so its form cannot be 'struct'");
    expect_check(GYRE_TYPE(note), "order=level,text", "", "has 3 fields, found an order of 2");
    expect_check(GYRE_TYPE(note), "order=level,text,there", "", "type 'note' has no field 'there'");
    expect_check(GYRE_TYPE(note), "", "order=left,left", "type 'pair' names field 'left' twice");
    expect_check(GYRE_TYPE(odd), "", "", "an optional part of a part, which has no form");
}
END_TEST

static gyre_status scan_text(const char *text)
{
    char path[] = "/tmp/gyre-wire-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    gyre_status status = gyre_pack_scan(&wire, path);
    unlink(path);
    return status;
}

START_TEST(descriptions_are_found_in_files)
{
    ck_assert_msg(scan_text("/* GYRE_WIRE(no, \"\") */ // GYRE_WIRE(no, \"\")\n"
                            "const char *text = \"GYRE_WIRE(no, 1)\", quote = '\"';\n"
                            "#define GYRE_WIRE(a, b) \\\n  GYRE_WIRE(a, 1)\n"
                            "NOT_GYRE_WIRE(no, \"\") GYRE_WIRES(no)\n"
                            "GYRE_WIRE( yes , /* both */ \"form=packed \"\n \\\n \"guid=plain\" )\n"
                            "#include \"missing.h\"\n#include <stdio.h>\n") == GYRE_OK,
                  "%s", gyre_error_text());
    ck_assert_uint_eq(wire.record_count, 1);
    ck_assert_str_eq(wire.records[0].type, "yes");
    ck_assert(wire.records[0].options.guid == GYRE_PACK_GUID_PLAIN);
}
END_TEST

START_TEST(a_file_is_refused_with_its_line)
{
    expect_error(scan_text("\n\nGYRE_WIRE(a, packed)\n"), GYRE_INVALID,
                 ":3: expected GYRE_WIRE(type, \"word=value");
    expect_error(scan_text("\nGYRE_WIRE(a, \"form=\")\n"), GYRE_INVALID, ":2: wire description of 'a'");
    expect_error(scan_text("GYRE_WIRE(a, \"form=packed"), GYRE_INVALID, ":1: expected GYRE_WIRE");
    expect_error(gyre_pack_scan(&wire, "/nowhere/at/all.h"), GYRE_NOT_FOUND,
                 "cannot read '/nowhere/at/all.h'");
}
END_TEST

START_TEST(includes_are_followed_once)
{
    char folder[] = "/tmp/gyre-wire-XXXXXX", a[80], b[80];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(a, sizeof a, "%s/a.h", folder);
    snprintf(b, sizeof b, "%s/b.h", folder);
    FILE *out = fopen(a, "w");
    ck_assert_ptr_nonnull(out);
    fputs("#include \"b.h\"\n#include \"a.h\"\nGYRE_WIRE(one, \"\")\n", out);
    fclose(out);
    out = fopen(b, "w");
    ck_assert_ptr_nonnull(out);
    fputs("# include \"a.h\"\nGYRE_WIRE(two, \"\")\n", out);
    fclose(out);
    gyre_status status = gyre_pack_scan(&wire, a);
    unlink(a);
    unlink(b);
    rmdir(folder);
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(wire.record_count, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire description");
    TCase *tests = tcase_create("words");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, words_left_out_have_their_first_value);
    tcase_add_test(tests, words_that_are_none_are_refused);
    tcase_add_test(tests, a_description_fits_its_type);
    tcase_add_test(tests, descriptions_are_found_in_files);
    tcase_add_test(tests, a_file_is_refused_with_its_line);
    tcase_add_test(tests, includes_are_followed_once);
    suite_add_tcase(suite, tests);
    return unit_run(suite);
}
