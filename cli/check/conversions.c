/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges implicit conversions: C makes some that a device's compiler refuses. CUDA's kernels are compiled as C++, and in OpenCL
 * C a text lies in constant memory. libclang has no kind for an implicit conversion: it is an expression without a kind, whose
 * type differs from the type of its only child. No state.
 */
#include "cli/check/conversions.h"

#include <string.h>

#include "cli/check/places.h"
#include "cli/check/refuse.h"

static enum CXChildVisitResult collect_part(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct parts *parts = data;
    (void)parent;
    if (parts->count < 3)
        parts->cursors[parts->count] = cursor;
    parts->count++;
    return CXChildVisit_Continue;
}

struct parts check_parts_of(CXCursor cursor)
{
    struct parts parts = {.count = 0};
    clang_visitChildren(cursor, collect_part, &parts);
    return parts;
}

CXCursor check_strip_conversions(CXCursor expression)
{
    for (;;) {
        enum CXCursorKind kind = clang_getCursorKind(expression);
        struct parts parts = check_parts_of(expression);
        if ((kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr) || parts.count != 1)
            return expression;
        expression = parts.cursors[0];
    }
}

static CXType type_of(CXCursor expression)
{
    return clang_getCanonicalType(clang_getCursorType(expression));
}

static void spell_type(CXCursor expression, char *name, size_t size)
{
    check_take_string(clang_getTypeSpelling(clang_getCursorType(expression)), name, size);
}

/* ---- pointers ---- */

static bool is_void_pointer(CXType type)
{
    return type.kind == CXType_Pointer &&
           clang_getCanonicalType(clang_getPointeeType(type)).kind == CXType_Void;
}

/* True for a call that another rule refuses for its callee, such as malloc. A sentence about a missing cast would not help. */
static bool is_foreign_call(const struct checker *checker, CXCursor expression)
{
    expression = check_strip_conversions(expression);
    return clang_getCursorKind(expression) == CXCursor_CallExpr &&
           check_owner_of_use(checker, clang_getCursorLocation(clang_getCursorReferenced(expression))) !=
               OWNER_GYRE &&
           clang_Cursor_isNull(clang_getCursorDefinition(clang_getCursorReferenced(expression)));
}

static void check_pointer(struct checker *checker, CXCursor conversion, CXCursor from)
{
    CXType to = type_of(conversion);
    if (is_foreign_call(checker, from))
        return;
    if (to.kind != CXType_Pointer || is_void_pointer(to) || !is_void_pointer(type_of(from)))
        return;
    check_refuse_at(
        checker, from,
        "a pointer to void becomes one to another type: C++, as which CUDA compiles kernels, wants a "
        "cast for that, as in `(u32 *)x` or `(const GYRE_GLOBAL u32 *)x`");
}

/* ---- enumerations ---- */

void check_operator_of(const struct checker *checker, CXCursor expression, char *text, size_t size)
{
    struct parts operands = check_parts_of(expression);
    CXToken *tokens = NULL;
    unsigned count = 0;
    text[0] = '\0';
    if (operands.count != 2)
        return;
    clang_tokenize(checker->unit,
                   clang_getRange(clang_getRangeEnd(clang_getCursorExtent(operands.cursors[0])),
                                  clang_getRangeStart(clang_getCursorExtent(operands.cursors[1]))),
                   &tokens, &count);
    if (count > 0)
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[0]), text, size);
    clang_disposeTokens(checker->unit, tokens, count);
}

/* True when the expression has that enumeration's type in C++, where its constants have that type; in C they are integers. */
static bool is_of(const struct checker *checker, CXCursor expression, CXCursor enumeration)
{
    char operator[8];
    expression = check_strip_conversions(expression);
    struct parts parts = check_parts_of(expression);
    if (clang_equalCursors(clang_getTypeDeclaration(type_of(expression)), enumeration))
        return true;
    switch (clang_getCursorKind(expression)) {
    case CXCursor_DeclRefExpr:
        return clang_equalCursors(clang_getCursorSemanticParent(clang_getCursorReferenced(expression)),
                                  enumeration);
    case CXCursor_ConditionalOperator:
        return parts.count == 3 && is_of(checker, parts.cursors[1], enumeration) &&
               is_of(checker, parts.cursors[2], enumeration);
    case CXCursor_BinaryOperator:
        check_operator_of(checker, expression, operator, sizeof operator);
        return strcmp(operator, ",") == 0 && is_of(checker, parts.cursors[1], enumeration);
    default:
        return false;
    }
}

static void check_enumeration(struct checker *checker, CXCursor conversion, CXCursor from)
{
    char name[128];
    CXType to = type_of(conversion);
    if (to.kind != CXType_Enum || is_of(checker, from, clang_getTypeDeclaration(to)))
        return;
    spell_type(conversion, name, sizeof name);
    check_refuse_at(
        checker, from,
        "a number becomes an enumeration: C++, as which CUDA compiles kernels, wants a cast for that: "
        "`(%s)(...)`",
        name);
}

/* `++` and `--` begin or end an expression; `*pointer` is a unary operator, too. */
static bool counts_up_or_down(const struct checker *checker, CXCursor operation)
{
    char last[8] = "", first[8];
    CXToken *tokens = NULL;
    unsigned count = 0;
    check_first_token(checker, operation, first, sizeof first);
    clang_tokenize(checker->unit, clang_getCursorExtent(operation), &tokens, &count);
    if (count > 0)
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[count - 1]), last, sizeof last);
    clang_disposeTokens(checker->unit, tokens, count);
    return strcmp(first, "++") == 0 || strcmp(first, "--") == 0 || strcmp(last, "++") == 0 ||
           strcmp(last, "--") == 0;
}

void check_change(struct checker *checker, CXCursor operation)
{
    char name[128];
    if (type_of(operation).kind != CXType_Enum ||
        (clang_getCursorKind(operation) == CXCursor_UnaryOperator && !counts_up_or_down(checker, operation)))
        return;
    spell_type(operation, name, sizeof name);
    check_refuse_at(
        checker, operation,
        "arithmetic on an enumeration: C++, as which CUDA compiles kernels, has none: use a u32, or a "
        "cast, as in `x = (%s)(x + 1)`",
        name);
}

/* ---- texts ---- */

static bool takes_literals(const struct checker *checker, CXCursor place)
{
    char operator[8];
    switch (clang_getCursorKind(place)) {
    case CXCursor_CallExpr: /* gyre_fail and its kin */
        return check_owner_of_use(checker, clang_getCursorLocation(clang_getCursorReferenced(place))) ==
               OWNER_GYRE;
    case CXCursor_BinaryOperator:
        check_operator_of(checker, place, operator, sizeof operator);
        return strcmp(operator, "=") != 0;
    case CXCursor_UnexposedExpr: /* converted once more: that is looked at */
    case CXCursor_ParenExpr:
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_UnaryOperator:
        return true;
    default:
        return false;
    }
}

static void check_text(struct checker *checker, CXCursor parent, CXCursor conversion, CXCursor from)
{
    if (type_of(conversion).kind != CXType_Pointer ||
        clang_getCursorKind(check_strip_conversions(from)) != CXCursor_StringLiteral ||
        takes_literals(checker, parent))
        return;
    check_refuse_at(checker, from,
                    "a pointer to a text: in OpenCL C texts lie in constant memory: declare an array, as in "
                    "`GYRE_CONSTANT u8 name[6] = \"hello\";` at file scope, and use it by its name");
}

/* The bytes of a literal as libclang spells it: `\n`, `\"` and three octal digits are one byte each. */
static long long count_bytes(const char *spelling)
{
    long long bytes = 0;
    for (const char *at = spelling + 1; *at && *at != '"'; bytes++) {
        if (*at++ != '\\')
            continue;
        at += *at >= '0' && *at <= '7' ? 3 : 1;
    }
    return bytes;
}

void check_literal(struct checker *checker, CXCursor literal)
{
    char spelling[1024];
    const long long room = clang_getArraySize(type_of(literal));
    check_take_string(clang_getCursorSpelling(literal), spelling, sizeof spelling);
    if (spelling[0] != '"' || strlen(spelling) == sizeof spelling - 1 || room <= 0 ||
        count_bytes(spelling) < room)
        return;
    struct place place = check_place_of(clang_getCursorLocation(literal));
    report_refuse(
        &checker->report, "check", &place,
        "a text of %lld bytes for an array of %lld: C++, as which CUDA compiles kernels, wants room for "
        "the 0 at its end: give the array one element more, or list the characters",
        room, room);
}

void check_conversion(struct checker *checker, CXCursor parent, CXCursor conversion)
{
    struct parts parts = check_parts_of(conversion);
    if (parts.count != 1 || check_owner_of_text(checker, parts.cursors[0]) != OWNER_USER)
        return; /* NULL, or a conversion that a macro of Gyre makes */
    check_pointer(checker, conversion, parts.cursors[0]);
    check_enumeration(checker, conversion, parts.cursors[0]);
    check_text(checker, parent, conversion, parts.cursors[0]);
}

/* ---- arguments of C's functions for f64 ---- */

/* Functions whose result is the same in f32 and f64, so it does not matter which of the two computes it. */
static const char exact[] = " fabs floor ceil trunc round fmin fmax fmod ";

static bool is_exact(const char *name)
{
    char word[40];
    snprintf(word, sizeof word, " %.32s ", name);
    return strstr(exact, word) != NULL;
}

/* Counts the arguments of that kind of type, before C converts them. */
static int count_arguments(CXCursor call, enum CXTypeKind kind)
{
    int found = 0;
    for (int i = 0; i < clang_Cursor_getNumArguments(call); i++)
        found += type_of(check_strip_conversions(clang_Cursor_getArgument(call, (unsigned)i))).kind == kind;
    return found;
}

void check_math(struct checker *checker, CXCursor call, const char *name, const struct place *place)
{
    const int count = clang_Cursor_getNumArguments(call);
    const int f64s = count_arguments(call, CXType_Double), f32s = count_arguments(call, CXType_Float);
    if (f64s == 0 && f32s == 0)
        report_refuse(
            &checker->report, "check", place,
            "call of '%s' with an integer: C++, as which CUDA compiles kernels, has several '%s' and "
            "cannot choose one: write `(f64)` before the argument",
            name, name);
    else if (f64s == 0 && !is_exact(name))
        report_refuse(
            &checker->report, "check", place,
            "call of '%s' with an f32: C computes that as f64, but CUDA as f32: write '%sf', or `(f64)` before "
            "the argument",
            name, name);
    else if (strcmp(name, "pow") == 0 && f64s < count && count_arguments(call, CXType_Int) + f64s < count)
        report_refuse(&checker->report, "check", place,
                      "call of 'pow' with an f64 and another type: C++, as which CUDA compiles kernels, has "
                      "several 'pow' and cannot choose one: write `(f64)` before the other argument");
}

/* ---- conditions ---- */

void check_choice(struct checker *checker, CXCursor choice)
{
    char name[128];
    const struct parts parts = check_parts_of(choice);
    const enum CXTypeKind kind = type_of(parts.cursors[0]).kind;
    if (parts.count != 3 || (kind != CXType_Float && kind != CXType_Double))
        return;
    spell_type(parts.cursors[0], name, sizeof name);
    check_refuse_at(
        checker, parts.cursors[0],
        "a condition of type %s before `?`, which OpenCL C does not take: compare it with a number, as in "
        "`x != 0 ? a : b`",
        name);
}

/* ---- sizes ---- */

bool check_is_truth_value(const struct checker *checker, CXCursor expression)
{
    static const char truths[] = " < > <= >= == != && || ! ";
    char operator[8] = "", word[12];
    expression = check_strip_conversions(expression);
    if (clang_getCursorKind(expression) == CXCursor_BinaryOperator)
        check_operator_of(checker, expression, operator, sizeof operator);
    if (clang_getCursorKind(expression) == CXCursor_UnaryOperator)
        check_first_token(checker, expression, operator, sizeof operator);
    snprintf(word, sizeof word, " %.7s ", operator);
    return operator[0] && strstr(truths, word);
}

void check_sizeof(struct checker *checker, CXCursor expression)
{
    char first[16];
    struct parts parts = check_parts_of(expression);
    if (parts.count != 1 ||
        strcmp(check_first_token(checker, expression, first, sizeof first), "sizeof") != 0)
        return;
    const CXCursor operand = check_strip_conversions(parts.cursors[0]);
    if (clang_getCursorKind(operand) != CXCursor_CharacterLiteral && !check_is_truth_value(checker, operand))
        return;
    check_refuse_at(
        checker, expression,
        "the size of a letter or of a truth value, which is 4 in C and 1 in C++, as which CUDA compiles "
        "kernels: name the type, as in `sizeof(u8)`");
}
