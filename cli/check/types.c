/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the types that the user declares: structs and their members, typedefs, and where a type's name is known. */
#include "cli/check/types.h"

#include <string.h>

#include "cli/check/places.h"
#include "cli/check/ports.h"
#include "cli/check/refuse.h"

CXType check_strip_type(CXType type, bool *pointed)
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
    CXType inner = check_strip_type(clang_getCanonicalType(type), &pointed);
    struct place place = check_place_of(location);
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
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

/*
 * The struct inside of which a type was declared; for an enumeration constant, the struct around its type. Null: there is
 * none.
 */
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

void check_hidden(struct checker *checker, CXCursor reference)
{
    char name[128];
    CXCursor declared = clang_getCursorReferenced(reference);
    CXCursor outer = hiding_struct(declared);
    if (clang_Cursor_isNull(outer) || check_is_inside(reference, outer))
        return;
    check_take_string(clang_getCursorSpelling(declared), name, sizeof name);
    check_refuse_at(
        checker, reference,
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
    const unsigned at = check_offset_of(clang_getCursorLocation(cursor), NULL);
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

/* CUDA's compiler silently ignores attributes behind the members, with a typedef or without one. */
void check_attributes(struct checker *checker, CXCursor cursor)
{
    struct attributes found = {0, 0, 0};
    const enum CXCursorKind kind = clang_getCursorKind(cursor);
    const char *word = kind == CXCursor_UnionDecl ? "union" : kind == CXCursor_EnumDecl ? "enum" : "struct";
    clang_visitChildren(cursor, find_attributes, &found);
    const bool packed = found.packed > found.last_member;
    if (packed || found.aligned > found.last_member)
        check_refuse_at(checker, cursor,
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
    if (strcmp(check_take_string(clang_getCursorSpelling(cursor), name, sizeof name), twin->name) != 0)
        return CXChildVisit_Continue;
    twin->found = clang_getCanonicalCursor(cursor);
    return CXChildVisit_Break;
}

/*
 * True for `typedef struct NAME {...} NAME` at the top of the file. There is no other struct, union or enum of that name
 * then.
 */
static bool is_named_alike(CXCursor declared, const char *name)
{
    char own[128];
    return clang_getCursorKind(clang_getCursorSemanticParent(declared)) == CXCursor_TranslationUnit &&
           strcmp(check_take_string(clang_getCursorSpelling(declared), own, sizeof own), name) == 0;
}

void check_typedef(struct checker *checker, CXCursor cursor)
{
    struct twin twin = {clang_getNullCursor(), ""};
    CXType type = clang_getCanonicalType(clang_getTypedefDeclUnderlyingType(cursor));
    check_take_string(clang_getCursorSpelling(cursor), twin.name, sizeof twin.name);
    if (is_named_alike(clang_getTypeDeclaration(type), twin.name))
        return;
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_twin, &twin);
    if (!checker->macro_is_broken && !clang_Cursor_isNull(twin.found) &&
        !clang_equalCursors(clang_getCanonicalCursor(clang_getTypeDeclaration(type)), twin.found))
        check_refuse_at(
            checker, cursor,
            "the name '%s' is that of another struct, union or enum as well, of which C++ makes one: "
            "choose another",
            twin.name);
}

/*
 * GYRE_PROTOCOL counts its messages in a struct with such a name, which has one member of its own and one for each
 * message.
 */
static const char protocol_prefix[] = "gyre_numbers_of_";

void check_struct(struct checker *checker, CXCursor cursor)
{
    char name[128];
    unsigned members = 0;
    if (!clang_isCursorDefinition(cursor))
        return;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    check_attributes(checker, cursor);
    clang_visitChildren(cursor, count_member, &members);
    if (members == 1 && strncmp(name, protocol_prefix, sizeof protocol_prefix - 1) == 0)
        check_refuse_at(
            checker, cursor,
            "protocol '%s' has no messages: its list names at least one, as in `#define DESK(TAKES) "
            "TAKES(deposit, balance)`",
            name + sizeof protocol_prefix - 1);
    else if (members == 0 && !checker->macro_is_broken &&
             !check_is_of_ports(checker, clang_getCursorLocation(cursor)))
        check_refuse_at(
            checker, cursor,
            "'%s' has no fields: a message or struct has at least one, as in `#define REQUEST(FIELD) "
            "FIELD(u32, number)`; where nothing is sent or kept, a kernel names gyre_none",
            name);
}

void check_member(struct checker *checker, CXCursor cursor)
{
    char name[128];
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    check_type(checker, cursor, clang_getCursorType(cursor), "member");
    if (clang_Cursor_isBitField(cursor))
        check_refuse_at(checker, cursor, "bit-field '%s': OpenCL C has none: use masks and shifts of a u32",
                        name);
    if (clang_getCursorType(cursor).kind == CXType_IncompleteArray)
        check_refuse_at(
            checker, cursor,
            "array '%s' without a length: give it one; what varies in length goes into the tail of a "
            "message, or into a buffer",
            name);
}
