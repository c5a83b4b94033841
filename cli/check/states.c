/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the type of a kernel's state. A state has neither a tail nor parts: a part copied out of a request names items that are
 * gone when the next request comes, and gyre_new and its kin add items only to a reply. No state.
 */
#include "cli/check/states.h"

#include <string.h>

#include "cli/check/parts.h"
#include "cli/check/places.h"
#include "cli/check/refuse.h"

enum { STATE_PARAMETER = 2 }; /* dialect/forms.h */

struct part_search {
    char field[128]; /* name of the first field that is a part, or belongs to a tail; "": none was found */
};

static bool is_tail_field(const char *name)
{
    return strcmp(name, "gyre_used") == 0 || strcmp(name, "gyre_tail") == 0;
}

static CXType element_of(CXType type)
{
    type = clang_getCanonicalType(type);
    for (CXType element = clang_getArrayElementType(type); element.kind != CXType_Invalid;
         element = clang_getArrayElementType(type))
        type = clang_getCanonicalType(element);
    return type;
}

/* Looks into messages within messages, too. A name of one of the user's fields is better than one of Gyre's. */
static enum CXVisitorResult find_part(CXCursor field, CXClientData data)
{
    struct part_search *search = data;
    char name[sizeof search->field];
    const CXType type = element_of(clang_getCursorType(field));
    check_take_string(clang_getCursorSpelling(field), name, sizeof name);
    if (check_is_part(type) || (is_tail_field(name) && !search->field[0]))
        snprintf(search->field, sizeof search->field, "%s", name);
    else if (type.kind == CXType_Record)
        clang_Type_visitFields(type, find_part, search);
    return search->field[0] && !is_tail_field(search->field) ? CXVisit_Break : CXVisit_Continue;
}

void check_state(struct checker *checker, CXCursor handler)
{
    char type_name[128];
    struct part_search search = {""};
    const CXCursor parameter = clang_Cursor_getArgument(handler, STATE_PARAMETER);
    const CXType type = clang_getPointeeType(clang_getCanonicalType(clang_getCursorType(parameter)));
    if (clang_getCanonicalType(type).kind != CXType_Record)
        return;
    clang_Type_visitFields(clang_getCanonicalType(type), find_part, &search);
    if (!search.field[0])
        return;
    check_take_string(clang_getCursorSpelling(clang_getTypeDeclaration(clang_getCanonicalType(type))),
                      type_name, sizeof type_name);
    if (is_tail_field(search.field))
        check_refuse_at(
            checker, handler,
            "the state '%s' has a tail, which only a request or a reply has: declare the state with GYRE_MESSAGE",
            type_name);
    else
        check_refuse_at(
            checker, handler,
            "the field '%s' of the state '%s' is a part (a utf8, span_T or optional_T): a part names items of a "
            "message, and the message is gone when the next request comes. Keep the items themselves: declare the "
            "state with GYRE_MESSAGE and an array, as in `FIELD(u8, %s[40])`, and copy a text with "
            "`gyre_string_store(gyre_string_of(request, request->text), state->%s)`",
            search.field, type_name, search.field, search.field);
}
