/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the functions that the user declares. */
#include "cli/check/functions.h"

#include <string.h>

#include "cli/check/lost_macros.h"
#include "cli/check/places.h"
#include "cli/check/refuse.h"
#include "cli/check/types.h"
#include "cli/check/variables.h"

static enum CXChildVisitResult look_for_mark(CXCursor cursor, CXCursor parent, CXClientData data)
{
    char text[64];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_AnnotateAttr)
        return CXChildVisit_Continue;
    *(bool *)data =
        strcmp(check_take_string(clang_getCursorSpelling(cursor), text, sizeof text), "gyre_helper") == 0;
    return CXChildVisit_Break;
}

/* True for a function that is declared with GYRE_HELPER, which dialect/c11.h marks for the check. */
static bool is_helper(CXCursor function)
{
    bool marked = false;
    clang_visitChildren(function, look_for_mark, &marked);
    return marked;
}

/* True when a macro made the function's name, so that the name does not stand in the file. */
static bool is_macros(const struct checker *checker, CXCursor function)
{
    CXFile file = NULL;
    char name[128], written[128] = "";
    const unsigned at = check_offset_of(clang_getCursorLocation(function), &file);
    CXToken *token = clang_getToken(checker->unit, clang_getLocationForOffset(checker->unit, file, at));
    if (token) {
        check_take_string(clang_getTokenSpelling(checker->unit, *token), written, sizeof written);
        clang_disposeTokens(checker->unit, token, 1);
    }
    return strcmp(written, check_take_string(clang_getCursorSpelling(function), name, sizeof name)) != 0;
}

/* Whether the brackets behind the name close before the first parameter is declared. libclang has no word for it. */
static bool is_old_style(const struct checker *checker, CXCursor function)
{
    CXFile file = NULL, other = NULL;
    CXToken *tokens = NULL;
    unsigned count = 0, open = 0;
    bool closed = false;
    char token[8];
    if (clang_Cursor_getNumArguments(function) < 1 || is_macros(checker, function))
        return false;
    const unsigned from = check_offset_of(clang_getCursorLocation(function), &file);
    const unsigned to =
        check_offset_of(clang_getCursorLocation(clang_Cursor_getArgument(function, 0)), &other);
    if (!file || !clang_File_isEqual(file, other) || from >= to)
        return false; /* a macro's */
    clang_tokenize(checker->unit,
                   clang_getRange(clang_getLocationForOffset(checker->unit, file, from),
                                  clang_getLocationForOffset(checker->unit, file, to)),
                   &tokens, &count);
    for (unsigned i = 0; i < count && !closed; i++) {
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), token, sizeof token);
        open += strcmp(token, "(") == 0;
        closed = strcmp(token, ")") == 0 && open-- == 1;
    }
    clang_disposeTokens(checker->unit, tokens, count);
    return closed;
}

/* Refuses `u32 f(a) u32 a; { ... }`, and a type that is declared in the place of the result's type. */
static void check_form(struct checker *checker, CXCursor cursor, const struct place *place, const char *name)
{
    bool pointed;
    CXType result =
        check_strip_type(clang_getCanonicalType(clang_getResultType(clang_getCursorType(cursor))), &pointed);
    if (is_old_style(checker, cursor))
        report_refuse(
            &checker->report, "check", place,
            "function '%s' declares its parameters behind the brackets, which C++ and OpenCL C do not "
            "know: write their types within, as in `u32 %s(u32 n)`",
            name, name);
    const CXCursor type = clang_getTypeDeclaration(result);
    if (clang_isCursorDefinition(type) && check_is_inside(type, cursor) && !is_macros(checker, cursor))
        report_refuse(&checker->report, "check", place,
                      "the result of '%s' declares its type, which C++ and so CUDA's compiler does not take: "
                      "declare it in a line of its own before",
                      name);
}

void check_inner_function(struct checker *checker, CXCursor cursor)
{
    char name[128];
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    check_refuse_at(
        checker, cursor,
        "function '%s' is declared inside of another, where it cannot be GYRE_HELPER: declare it at file "
        "scope",
        name);
}

void check_function(struct checker *checker, CXCursor cursor)
{
    char name[128];
    CXSourceLocation location = clang_getCursorLocation(cursor);
    CXType type = clang_getCursorType(cursor);
    struct place place = check_place_of(location);
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (check_is_lost_macro(checker, &place, name))
        return;
    if (!is_helper(cursor))
        report_refuse(
            &checker->report, "check", &place,
            "function '%s' is not GYRE_HELPER: write `GYRE_HELPER` before its type (in place of `static` and "
            "`inline`), so that every device compiles it",
            name);
    if (clang_isFunctionTypeVariadic(type) && type.kind == CXType_FunctionProto)
        report_refuse(&checker->report, "check", &place,
                      "function '%s' takes a variable number of arguments, which devices cannot pass", name);
    check_type(checker, cursor, clang_getResultType(type), "the result of");
    check_form(checker, cursor, &place, name);
}
