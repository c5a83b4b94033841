/* SPDX-License-Identifier: Apache-2.0 */
/* Judges uses of the parts of messages: texts, spans and optional values, whose items lie in a tail. No state. */
#include "cli/check/parts.h"

#include <string.h>

#include "cli/check/conversions.h"
#include "cli/check/places.h"
#include "cli/check/refuse.h"

bool check_is_part(CXType type)
{
    char name[64];
    type = clang_getCanonicalType(type);
    check_take_string(clang_getCursorSpelling(clang_getTypeDeclaration(type)), name, sizeof name);
    return type.kind == CXType_Record && strcmp(name, "gyre_part") == 0;
}

/* ---- assignments ---- */

/* The variable at the begin of a chain of members; a NULL cursor when the chain begins with something else, such as a call. */
static CXCursor root_of(CXCursor expression)
{
    for (;;) {
        expression = check_strip_conversions(expression);
        const enum CXCursorKind kind = clang_getCursorKind(expression);
        const struct parts parts = check_parts_of(expression);
        if (kind == CXCursor_DeclRefExpr)
            return clang_getCursorReferenced(expression);
        if (kind != CXCursor_MemberRefExpr || parts.count < 1)
            return clang_getNullCursor();
        expression = parts.cursors[0];
    }
}

void check_assignment(struct checker *checker, CXCursor operation)
{
    char operator[8], to[64], from[64];
    const struct parts parts = check_parts_of(operation);
    if (parts.count != 2 || !check_is_part(clang_getCursorType(parts.cursors[0])))
        return;
    check_operator_of(checker, operation, operator, sizeof operator);
    check_take_string(clang_getCursorSpelling(root_of(parts.cursors[0])), to, sizeof to);
    check_take_string(clang_getCursorSpelling(root_of(parts.cursors[1])), from, sizeof from);
    if (strcmp(operator, "=") == 0 && strcmp(to, "reply") == 0 && strcmp(from, "request") == 0)
        check_refuse_at(
            checker, operation,
            "a part says where its items lie in its own message, and these stay behind: copy them, as in "
            "`reply->text = gyre_copy(gyre, u8, reply, request, request->text)`");
}

/* ---- types of items ---- */

/* The items of the built-in parts (gyre/parts.h), with their sizes in bytes. */
static const struct element {
    const char *name;
    long long size;
} elements[] = {{"i8", 1},  {"u8", 1},  {"i16", 2}, {"u16", 2}, {"i32", 4},  {"u32", 4},
                {"f32", 4}, {"i64", 8}, {"u64", 8}, {"f64", 8}, {"utf8", 8}, {"id128", 16}};

/* The items of a part whose type is utf8, span_T or optional_T; NULL for another part, such as one of GYRE_SPAN. */
static const struct element *element_of(CXCursor part, char *type, size_t size)
{
    const CXCursor declared = clang_getTypeDeclaration(clang_getCursorType(part));
    check_take_string(clang_getCursorSpelling(declared), type, size);
    const char *name = strcmp(type, "utf8") == 0 ? "u8" : "";
    if (strncmp(type, "span_", 5) == 0)
        name = type + 5;
    else if (strncmp(type, "optional_", 9) == 0)
        name = type + 9;
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
        if (strcmp(elements[i].name, name) == 0)
            return &elements[i];
    return NULL;
}

/* The part that a call of a function behind gyre_items and its kin takes; a NULL cursor for another call. */
static CXCursor part_taken_by(CXCursor call)
{
    static const char functions[] = " gyre_items_at_ gyre_writable_at_ gyre_item_at_ ";
    char name[64], word[72];
    check_take_string(clang_getCursorSpelling(clang_getCursorReferenced(call)), name, sizeof name);
    snprintf(word, sizeof word, " %s ", name);
    for (int i = 0; strstr(functions, word) && i < clang_Cursor_getNumArguments(call); i++) {
        const CXCursor argument = check_strip_conversions(clang_Cursor_getArgument(call, (unsigned)i));
        if (check_is_part(clang_getCursorType(argument)))
            return argument;
    }
    return clang_getNullCursor();
}

void check_items(struct checker *checker, CXCursor cast, CXCursor operand)
{
    char part_type[128];
    const CXCursor call = check_strip_conversions(operand);
    const CXCursor part =
        clang_getCursorKind(call) == CXCursor_CallExpr ? part_taken_by(call) : clang_getNullCursor();
    const struct element *element =
        clang_Cursor_isNull(part) ? NULL : element_of(part, part_type, sizeof part_type);
    const CXType pointee = clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(cast)));
    if (!element || clang_Type_getSizeOf(pointee) == element->size)
        return;
    check_refuse_at(
        checker, cast,
        "the items of this part (%s) are of the type %s, and its number of items counts these: an item of %lld bytes "
        "is read or written as one of %lld. Write %s as the type, as in `gyre_items(%s, request, request->part)`",
        part_type, element->name, element->size, clang_Type_getSizeOf(pointee), element->name, element->name);
}
