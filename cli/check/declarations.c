/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for what the user declares: types, variables, functions. */
#include "checker.h"

#include <string.h>

/* What arrays and pointers are made of; *pointed tells whether there was a pointer on the way. */
static CXType strip_type(CXType type, bool *pointed)
{
    *pointed = false;
    for (;;) {
        CXType element = clang_getArrayElementType(type);
        if (element.kind != CXType_Invalid) {
            type = element;
        } else if (type.kind == CXType_Pointer) {
            type = clang_getCanonicalType(clang_getPointeeType(type));
            *pointed = true;
        } else {
            return type;
        }
        type = clang_getCanonicalType(type);
    }
}

static const char *unfit_scalar(enum CXTypeKind kind)
{
    switch (kind) {
    case CXType_LongDouble:
    case CXType_Float128:
        return "long double has another size on every device: use f64";
    case CXType_Int128:
    case CXType_UInt128:
        return "128-bit integers do not exist on every device: use two u64";
    case CXType_Vector:
    case CXType_ExtVector:
        return "vector types differ from device to device: use an array or a struct";
    case CXType_Complex:
        return "complex numbers do not exist on every device: use a struct of two f32 or f64";
    case CXType_Atomic:
        return "_Atomic does not exist on every device: use a plain type and gyre_atomic_add and its kin";
    default:
        return NULL;
    }
}

void check_type(struct checker *checker, CXCursor cursor, CXType type, const char *what)
{
    char name[128];
    bool pointed;
    CXSourceLocation location = clang_getCursorLocation(cursor);
    CXType inner = strip_type(clang_getCanonicalType(type), &pointed);
    struct place place = place_of(location);
    take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (pointed && (inner.kind == CXType_FunctionProto || inner.kind == CXType_FunctionNoProto))
        report_refuse(&checker->report, "check", &place,
                      "function pointer: %s '%s' points to a function, "
                      "which devices cannot call; choose with `switch` or `if` instead",
                      what, name);
    const char *reason = unfit_scalar(inner.kind);
    if (!pointed && inner.kind == CXType_Record && clang_isVolatileQualifiedType(inner))
        reason = "a volatile struct cannot be copied in C++: write `volatile` at its members";
    if (reason)
        report_refuse(&checker->report, "check", &place, "type of %s '%s': %s", what, name, reason);
}

static enum CXChildVisitResult count_member(CXCursor cursor, CXCursor parent, CXClientData data)
{
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    (void)parent;
    *(unsigned *)data +=
        kind == CXCursor_FieldDecl || kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl;
    return CXChildVisit_Continue;
}

/* ---- where a name is known ---- */

/* The struct inside of which a type was declared, or a constant's type, or none. */
static CXCursor hiding_struct(CXCursor declared)
{
    if (clang_getCursorKind(declared) == CXCursor_EnumConstantDecl)
        declared = clang_getCursorSemanticParent(declared);
    CXCursor outer = clang_getCursorLexicalParent(declared);
    enum CXCursorKind kind = clang_getCursorKind(declared), around = clang_getCursorKind(outer);
    bool type = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl || kind == CXCursor_EnumDecl;
    return type && (around == CXCursor_StructDecl || around == CXCursor_UnionDecl) ? outer
                                                                                   : clang_getNullCursor();
}

static unsigned offset_of(CXSourceLocation location, CXFile *file)
{
    unsigned offset = 0;
    clang_getFileLocation(location, file, NULL, NULL, &offset);
    return offset;
}

static bool is_inside(CXCursor cursor, CXCursor outer)
{
    CXFile file = NULL, other = NULL;
    CXSourceRange range = clang_getCursorExtent(outer);
    const unsigned at = offset_of(clang_getCursorLocation(cursor), &file);
    const unsigned start = offset_of(clang_getRangeStart(range), &other);
    const unsigned end = offset_of(clang_getRangeEnd(range), &other);
    return clang_File_isEqual(file, other) && at >= start && at < end;
}

void check_hidden(struct checker *checker, CXCursor reference)
{
    char name[128];
    CXCursor declared = clang_getCursorReferenced(reference);
    CXCursor outer = hiding_struct(declared);
    if (clang_Cursor_isNull(outer) || is_inside(reference, outer))
        return;
    take_string(clang_getCursorSpelling(declared), name, sizeof name);
    refuse_at(checker, reference,
              "'%s' was declared inside of a struct, where C++, as which CUDA compiles kernels, keeps it: "
              "declare its type before the struct",
              name);
}

struct attributes {
    unsigned last_member, packed, aligned; /* offsets in the file; 0: none */
};

static enum CXChildVisitResult find_attributes(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct attributes *found = data;
    CXFile file;
    const unsigned at = offset_of(clang_getCursorLocation(cursor), &file);
    const enum CXCursorKind kind = clang_getCursorKind(cursor);
    (void)parent;
    if (kind == CXCursor_FieldDecl || kind == CXCursor_EnumConstantDecl)
        found->last_member = at;
    if (kind == CXCursor_PackedAttr)
        found->packed = at;
    if (kind == CXCursor_AlignedAttr)
        found->aligned = at;
    return CXChildVisit_Continue;
}

/* CUDA's compiler drops what stands behind, with a typedef or without one, and says nothing. */
void check_attributes(struct checker *checker, CXCursor cursor)
{
    struct attributes found = {0, 0, 0};
    const enum CXCursorKind kind = clang_getCursorKind(cursor);
    const char *word = kind == CXCursor_UnionDecl ? "union" : kind == CXCursor_EnumDecl ? "enum" : "struct";
    clang_visitChildren(cursor, find_attributes, &found);
    const bool packed = found.packed > found.last_member;
    if (packed || found.aligned > found.last_member)
        refuse_at(checker, cursor,
                  "'%s' behind the members, where CUDA's compiler does not see it, so that sizes "
                  "differ: write it before the name, as in `%s __attribute__((%s)) name {`",
                  packed ? "packed" : "aligned", word, packed ? "packed" : "aligned(16)");
}

struct twin {
    CXCursor found;
    char name[128];
};

static enum CXChildVisitResult find_twin(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct twin *twin = data;
    char name[128];
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    (void)parent;
    if (kind != CXCursor_StructDecl && kind != CXCursor_UnionDecl && kind != CXCursor_EnumDecl)
        return CXChildVisit_Continue;
    if (strcmp(take_string(clang_getCursorSpelling(cursor), name, sizeof name), twin->name) != 0)
        return CXChildVisit_Continue;
    twin->found = clang_getCanonicalCursor(cursor);
    return CXChildVisit_Break;
}

void check_typedef(struct checker *checker, CXCursor cursor)
{
    struct twin twin = {clang_getNullCursor(), ""};
    CXType type = clang_getCanonicalType(clang_getTypedefDeclUnderlyingType(cursor));
    take_string(clang_getCursorSpelling(cursor), twin.name, sizeof twin.name);
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_twin, &twin);
    if (!checker->macro_is_broken && !clang_Cursor_isNull(twin.found) &&
        !clang_equalCursors(clang_getCanonicalCursor(clang_getTypeDeclaration(type)), twin.found))
        refuse_at(checker, cursor,
                  "the name '%s' is that of another struct, union or enum as well, of which C++ makes one: "
                  "choose another",
                  twin.name);
}

/* GYRE_PROTOCOL counts its messages in such a struct, with one member before theirs. */
static const char protocol_prefix[] = "gyre_numbers_of_";

void check_struct(struct checker *checker, CXCursor cursor)
{
    char name[128];
    unsigned members = 0;
    if (!clang_isCursorDefinition(cursor))
        return;
    take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    check_attributes(checker, cursor);
    clang_visitChildren(cursor, count_member, &members);
    if (members == 1 && strncmp(name, protocol_prefix, sizeof protocol_prefix - 1) == 0)
        refuse_at(checker, cursor,
                  "protocol '%s' has no messages: its list names at least one, as in `#define DESK(TAKES) "
                  "TAKES(deposit, balance)`",
                  name + sizeof protocol_prefix - 1);
    else if (members == 0)
        refuse_at(checker, cursor,
                  "'%s' has no fields: a message or struct has at least one, as in `#define REQUEST(FIELD) "
                  "FIELD(u32, number)`; where nothing is sent or kept, a kernel names gyre_none",
                  name);
}

void check_member(struct checker *checker, CXCursor cursor)
{
    char name[128];
    take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    check_type(checker, cursor, clang_getCursorType(cursor), "member");
    if (clang_Cursor_isBitField(cursor))
        refuse_at(checker, cursor, "bit-field '%s': OpenCL C has none: use masks and shifts of a u32", name);
    if (clang_getCursorType(cursor).kind == CXType_IncompleteArray)
        refuse_at(checker, cursor,
                  "array '%s' without a length: give it one; what varies in length goes into the tail of a "
                  "message, or into a buffer",
                  name);
}

/* The array itself, or one that a pointer leads to. */
static bool is_variable_length(CXType type)
{
    type = clang_getCanonicalType(type);
    while (type.kind != CXType_Invalid) {
        if (type.kind == CXType_VariableArray)
            return true;
        type = clang_getCanonicalType(type.kind == CXType_Pointer ? clang_getPointeeType(type)
                                                                  : clang_getArrayElementType(type));
    }
    return false;
}

static void check_length(struct checker *checker, const struct place *place, CXType type, const char *name)
{
    if (is_variable_length(type))
        report_refuse(&checker->report, "check", place,
                      "variable-length array '%s': give it a constant length, or use scratch or a buffer",
                      name);
}

/* Of the CPU's and CUDA's GYRE_CONSTANT more is to be declared than of what a pointer leads to. */
static void check_constant_pointer(struct checker *checker, CXCursor cursor, const struct place *place,
                                   const char *what, const char *name)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
    if (type.kind == CXType_Pointer && clang_getAddressSpace(clang_getPointeeType(type)) == 2)
        report_refuse(
            &checker->report, "check", place,
            "%s '%s' leads to GYRE_CONSTANT memory, which only tables at file scope are in: use the table "
            "by its name; of several choose with `switch`, or by the first index of one",
            what, name);
}

void check_parameter(struct checker *checker, CXCursor cursor)
{
    char name[128];
    struct place place = place_of(clang_getCursorLocation(cursor));
    take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    check_type(checker, cursor, clang_getCursorType(cursor), "parameter");
    check_length(checker, &place, clang_getCursorType(cursor), name);
    check_constant_pointer(checker, cursor, &place, "parameter", name);
}

static bool is_constant(CXType type)
{
    CXType element = clang_getArrayElementType(type);
    while (element.kind != CXType_Invalid) {
        type = element;
        element = clang_getArrayElementType(clang_getCanonicalType(type));
    }
    return clang_isConstQualifiedType(type) || clang_isConstQualifiedType(clang_getCanonicalType(type));
}

/* GYRE_CONSTANT, as dialect/c11.h defines it for the check. */
static bool is_in_constant_memory(CXType type)
{
    CXType element = clang_getArrayElementType(type);
    if (element.kind != CXType_Invalid)
        return is_in_constant_memory(element);
    return clang_getAddressSpace(type) == 2;
}

/* What GYRE_MESSAGE and GYRE_BUFFERS declare beside the struct. */
static bool is_description(const char *name)
{
    return strncmp(name, "gyre_type_", 10) == 0 || strncmp(name, "gyre_fields_", 12) == 0 ||
           strncmp(name, "gyre_buffers_", 13) == 0;
}

/*
 * A macro of Gyre that there is not, or that was called wrongly, looks like a declaration of that name. When it
 * was the call, the parser has said so.
 */
static bool is_lost_macro(struct checker *checker, const struct place *place, const char *name)
{
    if (strncmp(name, "GYRE_", 5) != 0)
        return false;
    if (!checker->macro_is_broken)
        report_refuse(&checker->report, "check", place,
                      "there is no '%s' here: <gyre/kernel.h>, which a kernel file includes first, has "
                      "GYRE_KERNEL, GYRE_BLOCK_KERNEL, GYRE_ACTOR, these with _WITH, GYRE_HELPER and "
                      "GYRE_CONSTANT, and <gyre/message.h> has GYRE_MESSAGE and GYRE_PROTOCOL",
                      name);
    return true;
}

static void check_global(struct checker *checker, CXCursor cursor, const struct place *place,
                         const char *name)
{
    if (is_lost_macro(checker, place, name))
        return;
    if (is_in_constant_memory(clang_getCursorType(cursor)) || is_description(name))
        return;
    if (is_constant(clang_getCursorType(cursor)))
        report_refuse(
            &checker->report, "check", place,
            "constant '%s' is not GYRE_CONSTANT: write `GYRE_CONSTANT` in place of `static const`, so that "
            "every device puts it into constant memory",
            name);
    else
        report_refuse(&checker->report, "check", place,
                      "global variable '%s': what a kernel remembers is its state (GYRE_ACTOR, "
                      "GYRE_KERNEL_WITH) or a buffer",
                      name);
}

static void check_value(struct checker *checker, CXCursor cursor, const struct place *place, const char *name)
{
    CXType type = clang_getCursorType(cursor);
    if (!checker->macro_is_broken && (is_constant(type) || is_in_constant_memory(type)) &&
        !is_description(name) && clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(cursor)))
        report_refuse(&checker->report, "check", place,
                      "constant '%s' has no value, which C++ and OpenCL C want: write it behind a `=`", name);
}

static enum CXVisitorResult find_constant_member(CXCursor member, CXClientData data)
{
    *(bool *)data = is_constant(clang_getCursorType(member));
    return *(bool *)data ? CXVisit_Break : CXVisit_Continue;
}

/* A variable whose members C++ wants values for. */
static void check_members(struct checker *checker, CXCursor cursor, const struct place *place,
                          const char *name)
{
    bool found = false, pointed;
    CXType type = strip_type(clang_getCanonicalType(clang_getCursorType(cursor)), &pointed);
    if (!pointed && type.kind == CXType_Record &&
        clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(cursor)))
        clang_Type_visitFields(type, find_constant_member, &found);
    if (found)
        report_refuse(
            &checker->report, "check", place,
            "'%s' has a `const` member without a value, which C++ wants: give the variable a value, or "
            "leave the member's `const` out",
            name);
}

void check_variable(struct checker *checker, CXCursor cursor, bool in_function)
{
    char name[128];
    CXSourceLocation location = clang_getCursorLocation(cursor);
    struct place place = place_of(location);
    CXType type = clang_getCursorType(cursor);
    take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    check_type(checker, cursor, type, "variable");
    check_length(checker, &place, type, name);
    check_value(checker, cursor, &place, name);
    if (in_function)
        check_members(checker, cursor, &place, name);
    check_constant_pointer(checker, cursor, &place, "variable", name);
    if (clang_getCursorTLSKind(cursor) != CXTLS_None)
        report_refuse(&checker->report, "check", &place,
                      "thread-local variable '%s': a lane's own values are local variables", name);
    else if (!in_function)
        check_global(checker, cursor, &place, name);
    else if (clang_Cursor_getStorageClass(cursor) == CX_SC_Static)
        report_refuse(
            &checker->report, "check", &place,
            "static variable '%s' in a function: a constant table goes to file scope as GYRE_CONSTANT, what "
            "a kernel remembers goes into its state",
            name);
    else if (clang_Cursor_getStorageClass(cursor) == CX_SC_Extern)
        report_refuse(&checker->report, "check", &place,
                      "extern variable '%s': a kernel file is complete in itself", name);
}

static enum CXChildVisitResult look_for_mark(CXCursor cursor, CXCursor parent, CXClientData data)
{
    char text[64];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_AnnotateAttr)
        return CXChildVisit_Continue;
    *(bool *)data =
        strcmp(take_string(clang_getCursorSpelling(cursor), text, sizeof text), "gyre_helper") == 0;
    return CXChildVisit_Break;
}

/* Declared with GYRE_HELPER, which dialect/c11.h marks for the check. */
static bool is_helper(CXCursor function)
{
    bool marked = false;
    clang_visitChildren(function, look_for_mark, &marked);
    return marked;
}

/* A macro made the name, so what stands in the file are the macro's words. */
static bool is_macros(const struct checker *checker, CXCursor function)
{
    CXFile file = NULL;
    char name[128], written[128] = "";
    const unsigned at = offset_of(clang_getCursorLocation(function), &file);
    CXToken *token = clang_getToken(checker->unit, clang_getLocationForOffset(checker->unit, file, at));
    if (token) {
        take_string(clang_getTokenSpelling(checker->unit, *token), written, sizeof written);
        clang_disposeTokens(checker->unit, token, 1);
    }
    return strcmp(written, take_string(clang_getCursorSpelling(function), name, sizeof name)) != 0;
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
    const unsigned from = offset_of(clang_getCursorLocation(function), &file);
    const unsigned to = offset_of(clang_getCursorLocation(clang_Cursor_getArgument(function, 0)), &other);
    if (!file || !clang_File_isEqual(file, other) || from >= to)
        return false; /* a macro's */
    clang_tokenize(checker->unit,
                   clang_getRange(clang_getLocationForOffset(checker->unit, file, from),
                                  clang_getLocationForOffset(checker->unit, file, to)),
                   &tokens, &count);
    for (unsigned i = 0; i < count && !closed; i++) {
        take_string(clang_getTokenSpelling(checker->unit, tokens[i]), token, sizeof token);
        open += strcmp(token, "(") == 0;
        closed = strcmp(token, ")") == 0 && open-- == 1;
    }
    clang_disposeTokens(checker->unit, tokens, count);
    return closed;
}

/* `u32 f(a) u32 a; { ... }`, and a type that is declared where the result's stands. */
static void check_form(struct checker *checker, CXCursor cursor, const struct place *place, const char *name)
{
    bool pointed;
    CXType result =
        strip_type(clang_getCanonicalType(clang_getResultType(clang_getCursorType(cursor))), &pointed);
    if (is_old_style(checker, cursor))
        report_refuse(
            &checker->report, "check", place,
            "function '%s' declares its parameters behind the brackets, which C++ and OpenCL C do not "
            "know: write their types within, as in `u32 %s(u32 n)`",
            name, name);
    const CXCursor type = clang_getTypeDeclaration(result);
    if (clang_isCursorDefinition(type) && is_inside(type, cursor) && !is_macros(checker, cursor))
        report_refuse(&checker->report, "check", place,
                      "the result of '%s' declares its type, which C++ and so CUDA's compiler does not take: "
                      "declare it in a line of its own before",
                      name);
}

void check_inner_function(struct checker *checker, CXCursor cursor)
{
    char name[128];
    take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    refuse_at(
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
    struct place place = place_of(location);
    take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (is_lost_macro(checker, &place, name))
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
