/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for what is good C and yet no kernel: names that are keywords in the C++ or OpenCL C of a device, and
 * jumps that C++ forbids. No state.
 */
#include "checker.h"

#include <ctype.h>
#include <string.h>

/* Each between spaces. */
static const char cpp_keywords[] =
    " alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class compl concept "
    "const_cast consteval constexpr constinit co_await co_return co_yield decltype delete "
    "dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public reinterpret_cast requires static_assert static_cast "
    "template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq ";
static const char opencl_keywords[] =
    " kernel global local constant generic pipe read_only write_only read_write half uchar ushort uint ulong "
    "event_t sampler_t image1d_t image2d_t image3d_t queue_t ndrange_t ";

/* Functions that a kernel cannot have its own of; those that types.h frees the names of are not among them. */
static const char opencl_functions[] =
    " barrier mem_fence read_mem_fence write_mem_fence get_work_dim get_global_id get_global_size get_local_id "
    "get_local_size get_group_id get_num_groups get_global_offset printf popcount rsqrt mul24 mad24 mul_hi "
    "mad_hi hadd rhadd add_sat sub_sat abs_diff upsample clz bitselect smoothstep maxmag minmag pown powr rootn "
    "sinpi cospi tanpi asinpi acospi atanpi exp10 sincos ";

/* What NVRTC declares before a kernel's text. */
static const char cuda_names[] = " std dim3 threadIdx blockIdx blockDim gridDim warpSize ";

static bool in_list(const char *list, const char *name)
{
    char word[72];
    snprintf(word, sizeof word, " %.64s ", name);
    return strstr(list, word) != NULL;
}

/* float4, uint16, ... */
static bool is_vector(const char *name, const char *elements, const char *widths)
{
    char element[16];
    size_t length = 0;
    while (length < sizeof element - 1 && isalpha((unsigned char)name[length])) {
        element[length] = name[length];
        length++;
    }
    element[length] = '\0';
    const char *width = name + length;
    return in_list(elements, element) && in_list(widths, width);
}

static bool is_opencl_vector(const char *name)
{
    return is_vector(name, " char uchar short ushort int uint long ulong float double half ", " 2 3 4 8 16 ");
}

/* At file scope: elsewhere a name hides them, as names do. */
static bool is_cuda_vector(const char *name)
{
    return is_vector(name, " char uchar short ushort int uint long ulong longlong ulonglong float double ",
                     " 1 2 3 4 ");
}

void check_name(struct checker *checker, CXCursor declaration)
{
    char name[128];
    const char *where = NULL;
    take_string(clang_getCursorSpelling(declaration), name, sizeof name);
    if (in_list(cpp_keywords, name))
        where = "a keyword in C++, which some devices compile kernels as";
    else if (in_list(opencl_keywords, name))
        where = "a keyword in OpenCL C";
    else if (is_opencl_vector(name))
        where = "a type in OpenCL C";
    if (!name[0] || !where)
        return;
    struct place place = place_of(clang_getCursorLocation(declaration));
    report_refuse(&checker->report, "check", &place, "the name '%s' is %s: choose another", name, where);
}

void check_global_name(struct checker *checker, CXCursor declaration)
{
    char name[128];
    const char *whose = NULL;
    take_string(clang_getCursorSpelling(declaration), name, sizeof name);
    if (clang_getCursorKind(declaration) == CXCursor_FunctionDecl && in_list(opencl_functions, name))
        whose = "that of a function in OpenCL C";
    else if (in_list(cuda_names, name) || (!is_opencl_vector(name) && is_cuda_vector(name)))
        whose = "one of CUDA's own at file scope";
    if (!whose)
        return;
    struct place place = place_of(clang_getCursorLocation(declaration));
    report_refuse(&checker->report, "check", &place, "the name '%s' is %s: choose another", name, whose);
}

struct switch_walk {
    struct checker *checker;
    char variable[128]; /* with a value, seen in these braces; "" when none was */
};

static enum CXChildVisitResult find_variable(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct switch_walk *walk = data;
    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_VarDecl &&
        !clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(cursor)))
        take_string(clang_getCursorSpelling(cursor), walk->variable, sizeof walk->variable);
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_part(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct switch_walk *walk = data;
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    (void)parent;
    if (kind == CXCursor_DeclStmt)
        clang_visitChildren(cursor, find_variable, walk);
    if ((kind != CXCursor_CaseStmt && kind != CXCursor_DefaultStmt) || !walk->variable[0])
        return CXChildVisit_Continue;
    struct place place = place_of(clang_getCursorLocation(cursor));
    report_refuse(&walk->checker->report, "check", &place,
                  "this case jumps over the value of '%s', which C++ forbids: "
                  "put braces around the case that declares it",
                  walk->variable);
    return CXChildVisit_Break;
}

static enum CXChildVisitResult visit_switch(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_CompoundStmt)
        clang_visitChildren(cursor, visit_part, data);
    return CXChildVisit_Continue;
}

/* ---- values of cases ---- */

static enum CXChildVisitResult take_first(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(CXCursor *)data = cursor;
    return CXChildVisit_Break;
}

/* Whether C++ takes the value of a case for one of the switch's type. */
static bool fits(CXCursor value, enum CXTypeKind type)
{
    bool fits = true;
    CXEvalResult result = clang_Cursor_Evaluate(value);
    if (result && clang_EvalResult_getKind(result) == CXEval_Int) {
        const bool is_unsigned = clang_EvalResult_isUnsignedInt(result) != 0;
        const long long number = clang_EvalResult_getAsLongLong(result);
        switch (type) {
        case CXType_UInt:
            fits = number >= 0 && number <= 0xffffffffLL;
            break;
        case CXType_Int:
            fits = number >= -0x80000000LL && number <= 0x7fffffffLL;
            break;
        case CXType_ULong:
            fits = is_unsigned || number >= 0;
            break;
        case CXType_Long:
            fits = !is_unsigned || number >= 0;
            break;
        default:
            break;
        }
    }
    clang_EvalResult_dispose(result);
    return fits;
}

struct cases {
    struct checker *checker;
    enum CXTypeKind type;
};

static enum CXChildVisitResult visit_case(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct cases *cases = data;
    CXCursor value = clang_getNullCursor();
    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_SwitchStmt)
        return CXChildVisit_Continue; /* it is looked at by itself */
    if (clang_getCursorKind(cursor) != CXCursor_CaseStmt)
        return CXChildVisit_Recurse;
    clang_visitChildren(cursor, take_first, &value);
    if (!fits(strip_conversions(value), cases->type)) {
        struct place place = place_of(clang_getCursorLocation(cursor));
        report_refuse(
            &cases->checker->report, "check", &place,
            "the value of this case does not fit the type of the switch, which C++ and so CUDA's compiler "
            "does not take: write a cast, of the switch's expression or of the value");
    }
    return CXChildVisit_Recurse;
}

void check_switch(struct checker *checker, CXCursor statement)
{
    struct switch_walk walk = {checker, ""};
    CXCursor choice = clang_getNullCursor();
    clang_visitChildren(statement, visit_switch, &walk);
    clang_visitChildren(statement, take_first, &choice);
    struct cases cases = {checker, clang_getCanonicalType(clang_getCursorType(choice)).kind};
    clang_visitChildren(statement, visit_case, &cases);
}

/* ---- variables in loops ---- */

enum { LOOP_NAMES = 8 };

struct loop {
    struct checker *checker;
    char names[LOOP_NAMES][128];
    unsigned count;
    bool in_braces; /* names are looked for, not collected */
};

static enum CXChildVisitResult visit_declared(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct loop *loop = data;
    char name[128];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_VarDecl)
        return CXChildVisit_Continue;
    take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (!loop->in_braces && loop->count < LOOP_NAMES)
        memcpy(loop->names[loop->count++], name, sizeof name);
    for (unsigned i = 0; loop->in_braces && i < loop->count; i++) {
        if (strcmp(loop->names[i], name) != 0)
            continue;
        struct place place = place_of(clang_getCursorLocation(cursor));
        report_refuse(
            &loop->checker->report, "check", &place,
            "'%s' is the name of a variable in the head of this loop, which C++ does not let its braces "
            "have again: choose another",
            name);
    }
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult visit_loop(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct loop *loop = data;
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    (void)parent;
    if (kind == CXCursor_DeclStmt)
        clang_visitChildren(cursor, visit_declared, loop);
    if (kind == CXCursor_CompoundStmt && !loop->in_braces) {
        loop->in_braces = true;
        clang_visitChildren(cursor, visit_loop, loop);
        loop->in_braces = false;
    }
    return CXChildVisit_Continue;
}

void check_for(struct checker *checker, CXCursor statement)
{
    struct loop loop = {.checker = checker};
    clang_visitChildren(statement, visit_loop, &loop);
}
