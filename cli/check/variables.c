/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the variables and parameters that the user declares. */
#include "cli/check/variables.h"

#include <stdlib.h>
#include <string.h>

#include "cli/check/lost_macros.h"
#include "cli/check/places.h"
#include "cli/check/types.h"

/* Whether the type is an array of variable length, or leads to such an array. */
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

/*
 * Refuses a pointer into GYRE_CONSTANT memory. On the CPU and in CUDA, GYRE_CONSTANT stands for words (static,
 * __device__) that cannot be part of a pointer's type.
 */
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
    struct place place = check_place_of(clang_getCursorLocation(cursor));
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
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

/* Whether GYRE_MESSAGE, GYRE_BUFFERS or GYRE_PORTS declares the name beside the struct. */
static bool is_description(const char *name)
{
    return strncmp(name, "gyre_type_", 10) == 0 || strncmp(name, "gyre_fields_", 12) == 0 ||
           strncmp(name, "gyre_buffers_", 13) == 0 || strncmp(name, "gyre_port_types_", 16) == 0;
}

static void check_global(struct checker *checker, CXCursor cursor, const struct place *place,
                         const char *name)
{
    if (check_is_lost_macro(checker, place, name))
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

/* Refuses a variable for whose members C++ demands initial values. */
static void check_members(struct checker *checker, CXCursor cursor, const struct place *place,
                          const char *name)
{
    bool found = false, pointed;
    CXType type = check_strip_type(clang_getCanonicalType(clang_getCursorType(cursor)), &pointed);
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

/*
 * The memory of one lane in bytes: backend.cpu.lane_stack, and 1 MiB more outside of block handlers. If that setting is
 * unknown: the most that CUDA gives a thread. A smaller variable may still be too large for a lane.
 */
static long long own_memory(const struct checker *checker)
{
    static const char option[] = "-DGYRE_LANE_STACK=";
    long long lane_stack = 0;
    for (size_t i = 0; i < checker->option_count; i++)
        if (strncmp(checker->options[i], option, sizeof option - 1) == 0)
            lane_stack = strtoll(checker->options[i] + sizeof option - 1, NULL, 10);
    return lane_stack > 0 ? lane_stack + (1 << 20) : 512 * 1024;
}

static void check_own_memory(struct checker *checker, const struct place *place, CXType type,
                             const char *name)
{
    const long long size = clang_Type_getSizeOf(type), most = own_memory(checker);
    if (size > most)
        report_refuse(
            &checker->report, "check", place,
            "local variable '%s' takes %lld bytes of the lane's own memory, of which there are %lld: use a buffer "
            "(GYRE_BUFFERS), the kernel's state or a block kernel's scratch; on the CPU backend.cpu.lane_stack "
            "gives more",
            name, size, most);
}

/* The local variables of a function that live at the same time. */
struct locals {
    struct checker *checker;
    long long bytes;
};

static bool opens_scope(enum CXCursorKind kind)
{
    return kind == CXCursor_CompoundStmt || kind == CXCursor_ForStmt;
}

/* Refuses the variable with which the variables together become too large. check_own_memory refuses one alone. */
static void add_local(struct locals *locals, CXCursor cursor)
{
    char name[128];
    const long long size = clang_Type_getSizeOf(clang_getCursorType(cursor)),
                    most = own_memory(locals->checker);
    if (size < 0 || size > most || clang_Cursor_getStorageClass(cursor) == CX_SC_Static)
        return;
    locals->bytes += size;
    if (locals->bytes <= most || locals->bytes - size > most)
        return;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    const struct place place = check_place_of(clang_getCursorLocation(cursor));
    report_refuse(
        &locals->checker->report, "check", &place,
        "with '%s', the local variables of this function take %lld bytes of the lane's own memory, of which there are "
        "%lld: use a buffer (GYRE_BUFFERS), the kernel's state or a block kernel's scratch; on the CPU "
        "backend.cpu.lane_stack gives more",
        name, locals->bytes, most);
}

static enum CXChildVisitResult visit_local(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct locals *locals = data;
    const long long before = locals->bytes;
    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_VarDecl)
        add_local(locals, cursor);
    if (!opens_scope(clang_getCursorKind(cursor)))
        return CXChildVisit_Recurse;
    clang_visitChildren(cursor, visit_local, locals);
    locals->bytes = before; /* the next scope uses the same memory */
    return CXChildVisit_Continue;
}

void check_locals(struct checker *checker, CXCursor function)
{
    struct locals locals = {checker, 0};
    clang_visitChildren(function, visit_local, &locals);
}

void check_variable(struct checker *checker, CXCursor cursor, bool in_function)
{
    char name[128];
    CXSourceLocation location = clang_getCursorLocation(cursor);
    struct place place = check_place_of(location);
    CXType type = clang_getCursorType(cursor);
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    check_type(checker, cursor, type, "variable");
    check_length(checker, &place, type, name);
    check_value(checker, cursor, &place, name);
    if (in_function) {
        check_members(checker, cursor, &place, name);
        check_own_memory(checker, &place, type, name);
    }
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
