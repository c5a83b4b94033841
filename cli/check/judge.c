/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a kernel file as C11 with address spaces, and passes every part of the user's code to the function that judges it. One
 * file, one thread. libclang reports code that it cannot parse as an error.
 */
#include "cli/check/judge.h"

#include <stdint.h>
#include <string.h>

#include "cli/check/calls.h"
#include "cli/check/conversions.h"
#include "cli/check/diagnostics.h"
#include "cli/check/functions.h"
#include "cli/check/hooks.h"
#include "cli/check/includes.h"
#include "cli/check/library_uses.h"
#include "cli/check/lists.h"
#include "cli/check/lost_macros.h"
#include "cli/check/names.h"
#include "cli/check/parts.h"
#include "cli/check/places.h"
#include "cli/check/ports.h"
#include "cli/check/protocols.h"
#include "cli/check/refuse.h"
#include "cli/check/states.h"
#include "cli/check/types.h"
#include "cli/check/variables.h"
#include "cli/check/words.h"

struct body {
    struct checker *checker;
    size_t function;
};

/* Judges an explicit cast, because a cast can hide a change to another kind of memory from the type system. */
static void check_cast(struct checker *checker, CXCursor cast, CXCursor operand)
{
    CXType to = clang_getCanonicalType(clang_getCursorType(cast));
    CXType from = clang_getCanonicalType(clang_getCursorType(operand));
    if (to.kind != CXType_Pointer || from.kind != CXType_Pointer)
        return;
    if (clang_getAddressSpace(clang_getPointeeType(to)) != clang_getAddressSpace(clang_getPointeeType(from)))
        check_refuse_at(
            checker, cast,
            "this cast drops or changes GYRE_GLOBAL, GYRE_SHARED or GYRE_CONSTANT: cast to a pointer with "
            "the same qualifier, as in `(const GYRE_GLOBAL u32 *)x`");
}

/* Judges `.field = value` and `[index] = value`. libclang has no kind for them; they are told by their first token. */
static void check_initializer(struct checker *checker, CXCursor initializer)
{
    char text[32];
    check_first_token(checker, initializer, text, sizeof text);
    if (strcmp(text, ".") == 0 || strcmp(text, "[") == 0)
        check_refuse_at(
            checker, initializer,
            "designated initializer: CUDA's kernels are compiled as C++, which has none here: list the "
            "values in order, or assign them one by one");
}

/*
 * Refuses the name of a function that is used as a value. check_call has judged the calls before; a call with a wrong
 * argument does not appear as a call in the tree, but its line has a finding already.
 */
static void check_reference(struct checker *checker, CXCursor reference)
{
    struct place place = check_place_of(clang_getCursorLocation(reference));
    if (!report_has_line(&checker->report, &place) &&
        clang_getCursorKind(clang_getCursorReferenced(reference)) == CXCursor_FunctionDecl)
        check_refuse_at(checker, reference,
                        "function pointer: a function's name is used as a value, "
                        "which devices cannot do; choose with `switch` or `if` instead");
}

static void check_declaration(struct checker *checker, CXCursor cursor)
{
    check_name(checker, cursor);
    switch (clang_getCursorKind(cursor)) {
    case CXCursor_VarDecl:
        check_variable(checker, cursor, true);
        break;
    case CXCursor_StructDecl:
        check_struct(checker, cursor);
        break;
    case CXCursor_UnionDecl:
    case CXCursor_EnumDecl:
        check_attributes(checker, cursor);
        break;
    case CXCursor_FieldDecl:
        check_member(checker, cursor);
        break;
    case CXCursor_TypedefDecl:
        check_type(checker, cursor, clang_getTypedefDeclUnderlyingType(cursor), "type");
        check_typedef(checker, cursor);
        break;
    case CXCursor_EnumConstantDecl:
        if (clang_getCursorKind(clang_getCursorLexicalParent(clang_getCursorSemanticParent(cursor))) ==
            CXCursor_TranslationUnit)
            check_global_name(checker, cursor);
        break;
    case CXCursor_FunctionDecl:
        check_inner_function(checker, cursor);
        break;
    case CXCursor_ParmDecl:
        check_parameter(checker, cursor);
        break;
    default:
        break;
    }
}

static void check_statement(struct checker *checker, CXCursor cursor)
{
    if (clang_isDeclaration(clang_getCursorKind(cursor)))
        check_declaration(checker, cursor);
    switch (clang_getCursorKind(cursor)) {
    case CXCursor_SwitchStmt:
        check_switch(checker, cursor);
        break;
    case CXCursor_AsmStmt:
    case CXCursor_MSAsmStmt:
        check_refuse_at(checker, cursor, "assembler: a kernel runs on more than one kind of device");
        break;
    case CXCursor_IndirectGotoStmt:
    case CXCursor_AddrLabelExpr:
        check_refuse_at(checker, cursor, "computed goto: use `switch`");
        break;
    case CXCursor_StmtExpr:
        check_refuse_at(checker, cursor,
                        "statements as an expression, `({ ... })`: write a GYRE_HELPER function");
        break;
    case CXCursor_CompoundLiteralExpr:
        check_refuse_at(
            checker, cursor,
            "compound literal, `(type){...}`: CUDA's kernels are compiled as C++, which has none: declare "
            "a variable");
        break;
    case CXCursor_ForStmt:
        check_for(checker, cursor);
        break;
    case CXCursor_LabelStmt:
        check_name(checker, cursor);
        break;
    case CXCursor_UnaryExpr:
        check_sizeof(checker, cursor);
        break;
    case CXCursor_ConditionalOperator:
        check_choice(checker, cursor);
        break;
    case CXCursor_DeclRefExpr:
        check_reference(checker, cursor);
        check_hidden(checker, cursor);
        break;
    case CXCursor_TypeRef:
        check_library_type(checker, cursor);
        check_hidden(checker, cursor);
        break;
    case CXCursor_StringLiteral:
        check_literal(checker, cursor);
        break;
    case CXCursor_BinaryOperator:
        check_assignment(checker, cursor);
        break;
    case CXCursor_UnaryOperator:
    case CXCursor_CompoundAssignOperator:
        check_change(checker, cursor);
        break;
    default:
        break;
    }
}

static enum CXChildVisitResult visit_body(CXCursor cursor, CXCursor parent, CXClientData data);

struct skip_first {
    struct body *body;
    bool skipped;
};

static enum CXChildVisitResult visit_arguments(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct skip_first *state = data;
    const bool refused =
        clang_equalRanges(clang_getCursorExtent(cursor), state->body->checker->refused_argument);
    if (state->skipped && !refused && visit_body(cursor, parent, state->body) == CXChildVisit_Recurse)
        clang_visitChildren(cursor, visit_body, state->body);
    state->skipped = true;
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_body(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct body *body = data;
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    if (clang_getCursorKind(parent) == CXCursor_CStyleCastExpr && clang_isExpression(kind)) {
        check_cast(body->checker, parent, cursor);
        check_items(body->checker, parent, cursor);
    }
    if (clang_getCursorKind(parent) == CXCursor_InitListExpr)
        check_initializer(body->checker, cursor);
    if (kind == CXCursor_UnexposedExpr)
        check_conversion(body->checker, parent, cursor);
    if (kind == CXCursor_CallExpr) {
        struct skip_first state = {body, false};
        check_call(body->checker, cursor, body->function);
        clang_visitChildren(cursor, visit_arguments, &state);
        return CXChildVisit_Continue;
    }
    check_statement(body->checker, cursor);
    return CXChildVisit_Recurse;
}

/* True for the handler of a kernel of which one lane handles a message. Only kernels of blocks have a scratch parameter of
 * that name. */
static bool works_alone(CXCursor handler)
{
    char name[32];
    check_take_string(clang_getCursorSpelling(clang_Cursor_getArgument(handler, 3)), name, sizeof name);
    return strcmp(name, "scratch") != 0;
}

/* True for a handler that only runs a migration (GYRE_MIGRATE). Such a handler is no kernel of the file. */
static bool is_migrations(const char *handler)
{
    static const char migration[] = "gyre_migrate_"; /* dialect/forms.h */
    return strncmp(handler + sizeof handler_prefix - 1, migration, sizeof migration - 1) == 0;
}

static void add_kernel(struct checker *checker, CXCursor handler, const char *name)
{
    const struct place place = check_place_of(clang_getCursorLocation(handler));
    report_kernel(&checker->report, name, &place, check_has_ports(handler));
}

static void note_form(const struct checker *checker, struct user_function *function, CXCursor handler,
                      const char *kernel)
{
    function->works_alone = works_alone(handler);
    function->is_handler = true;
    function->is_grid = strcmp(checker->grid, kernel) == 0;
    function->is_keyed = strcmp(checker->keyed, kernel) == 0;
}

/* Takes the name of the kernel that a constant announces (GYRE_GRID_MARK_ and GYRE_KEYED_MARK_ in dialect/forms.h). */
static enum CXChildVisitResult take_mark(CXCursor cursor, CXCursor parent, CXClientData data)
{
    static const char grid[] = "gyre_grid_of_", keyed[] = "gyre_keyed_of_";
    struct checker *checker = data;
    char name[128];
    (void)parent;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (strncmp(name, grid, sizeof grid - 1) == 0)
        snprintf(checker->grid, sizeof checker->grid, "%s", name + sizeof grid - 1);
    if (strncmp(name, keyed, sizeof keyed - 1) == 0)
        snprintf(checker->keyed, sizeof checker->keyed, "%s", name + sizeof keyed - 1);
    return CXChildVisit_Break;
}

static void visit_function(struct checker *checker, CXCursor cursor)
{
    char name[256];
    if (!clang_isCursorDefinition(cursor))
        return;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    bool handler = strncmp(name, handler_prefix, sizeof handler_prefix - 1) == 0;
    if (handler && !is_migrations(name))
        add_kernel(checker, cursor, name + sizeof handler_prefix - 1);
    else if (!handler)
        check_function(checker, cursor);
    if (handler)
        check_state(checker, cursor);
    check_locals(checker, cursor);
    struct body body = {checker, check_find_function(checker, cursor)};
    if (handler && body.function != SIZE_MAX)
        note_form(checker, &checker->functions[body.function], cursor, name + sizeof handler_prefix - 1);
    clang_visitChildren(cursor, visit_body, &body);
}

/* libclang has no kind of its own for assembler at file scope. */
static void check_unexposed(struct checker *checker, CXCursor cursor)
{
    char text[32];
    check_first_token(checker, cursor, text, sizeof text);
    if (strcmp(text, "asm") == 0 || strcmp(text, "__asm__") == 0 || strcmp(text, "__asm") == 0)
        check_refuse_at(checker, cursor, "assembler: a kernel runs on more than one kind of device");
}

static enum CXChildVisitResult visit_top(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct checker *checker = data;
    struct body nowhere = {checker, SIZE_MAX};
    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_InclusionDirective) {
        check_include(checker, cursor);
        return CXChildVisit_Continue;
    }
    if (clang_getCursorKind(cursor) == CXCursor_MacroExpansion) {
        check_expansion(checker, cursor);
        return CXChildVisit_Continue;
    }
    if (clang_isPreprocessing(clang_getCursorKind(cursor)) ||
        check_owner_of_use(checker, clang_getCursorLocation(cursor)) != OWNER_USER)
        return CXChildVisit_Continue;
    switch (clang_getCursorKind(cursor)) {
    case CXCursor_FunctionDecl:
        check_name(checker, cursor);
        check_global_name(checker, cursor);
        visit_function(checker, cursor);
        break;
    case CXCursor_VarDecl:
        check_name(checker, cursor);
        check_global_name(checker, cursor);
        check_variable(checker, cursor, false);
        clang_visitChildren(cursor, visit_body, &nowhere);
        break;
    case CXCursor_EnumDecl:
        clang_visitChildren(cursor, take_mark, checker);
        check_global_name(checker, cursor);
        check_statement(checker, cursor);
        clang_visitChildren(cursor, visit_body, &nowhere);
        break;
    case CXCursor_UnexposedDecl:
        check_unexposed(checker, cursor);
        break;
    default:
        if (clang_isDeclaration(clang_getCursorKind(cursor)))
            check_global_name(checker, cursor);
        check_statement(checker, cursor);
        clang_visitChildren(cursor, visit_body, &nowhere);
        break;
    }
    return CXChildVisit_Continue;
}

static void check_any_kernel(struct checker *checker, const char *path)
{
    struct place place = {.line = 1, .column = 1};
    snprintf(place.file, sizeof place.file, "%s", path);
    if (checker->report.kernel_count == 0 && !checker->macro_is_broken &&
        !report_has_errors(&checker->report))
        report_refuse(
            &checker->report, "discover", &place,
            "no kernel in it: a kernel file declares at least "
            "one with GYRE_KERNEL, GYRE_BLOCK_KERNEL, GYRE_GRID_KERNEL, GYRE_ACTOR or GYRE_KEYED_ACTOR");
}

enum { OPTIONS_MAX = 64 };

/* Turns on the warnings that are errors to gcc, NVRTC or an OpenCL compiler; diagnostics.c has their sentences. */
static const char *const fixed_options[] = {"-x",
                                            "c",
                                            "-std=gnu11",
                                            "-DGYRE_CHECK=1",
                                            "-ferror-limit=20",
                                            "-Wno-everything",
                                            "-Wcast-qual", /* refused in files with queries */
                                            "-Werror=duplicate-decl-specifier",
                                            "-Werror=implicit-int",
                                            "-Werror=int-conversion",
                                            "-Werror=incompatible-pointer-types",
                                            "-Werror=pointer-sign",
                                            "-Werror=compare-distinct-pointer-types",
                                            "-Werror=pointer-integer-compare",
                                            "-Werror=pointer-arith",
                                            "-Werror=gnu-case-range",
                                            "-Werror=gnu-conditional-omitted-operand",
                                            "-Werror=zero-length-array",
                                            "-Werror=shift-count-overflow",
                                            "-Werror=shift-count-negative",
                                            "-Werror=division-by-zero",
                                            "-Werror=return-type"};
enum { FIXED_OPTIONS = sizeof fixed_options / sizeof fixed_options[0] };

static enum CXErrorCode parse_file(struct checker *checker, CXIndex index, const char *path, const char *text,
                                   size_t text_size)
{
    char folder[1024];
    const char *slash = strrchr(path, '/');
    struct CXUnsavedFile replaced = {path, text, text_size};
    snprintf(folder, sizeof folder, "-I%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    const char *arguments[FIXED_OPTIONS + 3 + OPTIONS_MAX];
    int count = 0;
    while (count < FIXED_OPTIONS) {
        arguments[count] = fixed_options[count];
        count++;
    }
    arguments[count++] = folder;
    arguments[count++] = "-isystem";
    arguments[count++] = checker->headers;
    for (size_t i = 0; i < checker->option_count && i < OPTIONS_MAX; i++)
        arguments[count++] = checker->options[i];
    return clang_parseTranslationUnit2(
        index, path, arguments, count, &replaced, text ? 1 : 0,
        CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_KeepGoing, &checker->unit);
}

void checker_run(struct checker *checker, const char *path, const char *text, size_t text_size,
                 const char *headers)
{
    CXIndex index = clang_createIndex(0, 0);
    checker->headers = headers;
    checker->refused_argument = clang_getNullRange();
    enum CXErrorCode code = parse_file(checker, index, path, text, text_size);
    if (code != CXError_Success) {
        snprintf(checker->report.unable, sizeof checker->report.unable,
                 "libclang could not parse it (error %d)", (int)code);
    } else {
        check_lost_macros(checker);
        check_lists(checker);
        check_diagnostics(checker);
        clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), visit_top, checker);
        check_words(checker);
        check_recursion(checker);
        check_meetings(checker);
        check_protocols(checker);
        check_hooks(checker);
        check_any_kernel(checker, path);
        report_forget_elsewhere(&checker->report);
        clang_disposeTranslationUnit(checker->unit);
    }
    clang_disposeIndex(index);
}
