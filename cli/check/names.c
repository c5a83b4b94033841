/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refuses good C that other dialects refuse: names that are keywords or functions in the C++ or OpenCL C of a device, and jumps
 * that C++ forbids. No state.
 */
#include "cli/check/names.h"

#include <ctype.h>
#include <string.h>

#include "cli/check/conversions.h"
#include "cli/check/places.h"
#include "cli/check/refuse.h"

/* Each between spaces. */
static const char cpp_keywords[] =
    " alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class compl concept "
    "const_cast consteval constexpr constinit co_await co_return co_yield decltype delete "
    "dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr "
    "operator or or_eq private protected public reinterpret_cast requires static_assert static_cast "
    "template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq ";
static const char opencl_keywords[] =
    " kernel global local constant generic pipe read_only write_only read_write half uchar ushort uint ulong "
    "vec_step event_t sampler_t image1d_t image2d_t image3d_t queue_t ndrange_t ";

/* Functions of OpenCL C. A kernel cannot have a name of these at file scope. Names that types.h frees are not in the list. */
static const char opencl_functions[] =
    " barrier mem_fence read_mem_fence write_mem_fence get_work_dim get_global_id get_global_size get_local_id "
    "get_local_size get_group_id get_num_groups get_global_offset printf popcount rsqrt mul24 mad24 mul_hi "
    "mad_hi mad_sat hadd rhadd add_sat sub_sat abs_diff upsample clz ctz bitselect smoothstep maxmag minmag pown "
    "powr rootn sinpi cospi tanpi asinpi acospi atanpi atan2pi exp10 sincos fast_length fast_distance "
    "fast_normalize isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered "
    "isunordered isnormal lgamma_r shuffle2 vec_step wait_group_events async_work_group_copy "
    "async_work_group_strided_copy atomic_add atomic_sub atomic_xchg atomic_inc atomic_dec atomic_cmpxchg "
    "atom_add atom_sub atom_xchg atom_inc atom_dec atom_cmpxchg atom_min atom_max atom_and atom_or atom_xor "
    "atomic_min atomic_max atomic_and atomic_or atomic_xor cl_mem_fence_flags kernel_exec isfinite signbit "
    "reserve_id_t dev_image_t dev_sampler_t ";
/* native_sin, half_sin, ... */
static const char opencl_quick[] = " cos divide exp exp2 exp10 log log2 log10 powr recip rsqrt sin sqrt tan ";

/* Macros of OpenCL C, which reach into structs and functions as well. */
static const char opencl_macros[] =
    " CHAR_BIT CHAR_MAX CHAR_MIN SCHAR_MAX SCHAR_MIN UCHAR_MAX SHRT_MAX SHRT_MIN USHRT_MAX INT_MAX INT_MIN "
    "UINT_MAX LONG_MAX LONG_MIN ULONG_MAX MAXFLOAT HUGE_VALF HUGE_VAL INFINITY NAN FLT_DIG FLT_MANT_DIG "
    "FLT_MAX_10_EXP FLT_MAX_EXP FLT_MIN_10_EXP FLT_MIN_EXP FLT_RADIX FLT_MAX FLT_MIN FLT_EPSILON DBL_DIG "
    "DBL_MANT_DIG DBL_MAX_10_EXP DBL_MAX_EXP DBL_MIN_10_EXP DBL_MIN_EXP DBL_RADIX DBL_MAX DBL_MIN DBL_EPSILON "
    "M_E_F M_LOG2E_F M_LOG10E_F M_LN2_F M_LN10_F M_PI_F M_PI_2_F M_PI_4_F M_1_PI_F M_2_PI_F M_2_SQRTPI_F "
    "M_SQRT2_F M_SQRT1_2_F ";

/* Names that NVRTC declares before a kernel's text. */
static const char cuda_names[] = " std dim3 threadIdx blockIdx blockDim gridDim warpSize clock_t va_list ";
/* Functions that CUDA declares. A kernel may declare functions of its own with these names, but nothing else at file scope.
 * Names that C's library has as well are not listed, because the parser finds them. */
static const char cuda_functions[] =
    " abs all any ballot clock clock64 dadd dmul dsub erfcinv erfcinvf erfcx erfcxf erfinv erfinvf exp10 exp10f "
    "fdivide fdividef float2double int2double uint2double ll2double ull2double free labs llabs llmax llmin "
    "malloc max min norm norm3d norm3df norm4d norm4df normcdf normcdff normcdfinv normcdfinvf normf printf "
    "rcbrt rcbrtf rhypot rhypotf rnorm rnorm3d rnorm3df rnorm4d rnorm4df rnormf rsqrt rsqrtf sincos sincosf "
    "sincospi sincospif sinpi sinpif cospi cospif cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f "
    "atomicAdd atomicSub atomicExch atomicMin atomicMax atomicInc atomicDec atomicCAS atomicAnd atomicOr "
    "atomicXor syncthreads_and syncthreads_count syncthreads_or ullmax ullmin umax umin ";

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

/* CUDA's vector types. Refused at file scope only, because an inner name hides CUDA's, as any inner name does. */
static bool is_cuda_vector(const char *name)
{
    return is_vector(name, " char uchar short ushort int uint long ulong longlong ulonglong float double ",
                     " 1 2 3 4 ");
}

static bool begins_with(const char *name, const char *beginning)
{
    return strncmp(name, beginning, strlen(beginning)) == 0;
}

static bool begins_with_one_of(const char *name, const char *const beginnings[])
{
    for (size_t i = 0; beginnings[i]; i++)
        if (begins_with(name, beginnings[i]))
            return true;
    return false;
}

/* image2d_array_t, ...: a type in some versions of OpenCL C, and unknown in other dialects. */
static bool is_opencl_image(const char *name)
{
    const size_t length = strlen(name);
    return begins_with(name, "image") && name[5] >= '1' && name[5] <= '3' && name[6] == 'd' && length > 9 &&
           strcmp(name + length - 2, "_t") == 0;
}

/* double4_16a, ... */
static bool is_aligned_cuda_vector(const char *name)
{
    char vector[16];
    const char *behind = strchr(name, '_');
    snprintf(vector, sizeof vector, "%.*s", behind ? (int)(behind - name) : 0, name);
    return behind && in_list(" 16a 32a ", behind + 1) && is_cuda_vector(vector);
}

/* Whether the name stands in the file as a word, perhaps as a macro's argument: no macro made it. */
static bool is_written(const struct checker *checker, CXCursor declaration, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    CXFile file = NULL;
    check_offset_of(clang_getCursorLocation(declaration), &file);
    const char *text = file ? clang_getFileContents(checker->unit, file, NULL) : NULL;
    const size_t length = strlen(name);
    for (const char *at = text ? strstr(text, name) : NULL; at; at = strstr(at + 1, name))
        if ((at == text || !strchr(letters, at[-1])) && (!at[length] || !strchr(letters, at[length])))
            return true;
    return false;
}

void check_name(struct checker *checker, CXCursor declaration)
{
    static const char *const opencl_beginnings[] = {"CLK_", "CL_VERSION_", "cl_khr_", "POCL_", "LLVM_", NULL};
    static const char *const cuda_beginnings[] = {"CUDART", "NV_IF_", "NV_TARGET_", "NV_DISPATCH_", NULL};
    static const char *const own_beginnings[] = {"gyre_", NULL}; /* except names that `gyre wire` writes */
    char name[128];
    const char *where = NULL;
    check_take_string(clang_getCursorSpelling(declaration), name, sizeof name);
    if (in_list(cpp_keywords, name))
        where = "a keyword in C++, which some devices compile kernels as";
    else if (in_list(opencl_keywords, name))
        where = "a keyword in OpenCL C";
    else if (is_opencl_vector(name) || is_opencl_image(name))
        where = "a type in OpenCL C";
    else if (in_list(opencl_macros, name) || begins_with_one_of(name, opencl_beginnings))
        where = "a macro in OpenCL C";
    else if (begins_with_one_of(name, cuda_beginnings))
        where = "a macro of CUDA";
    if (clang_getCursorKind(declaration) != CXCursor_FunctionDecl &&
        begins_with_one_of(name, own_beginnings) && !begins_with(name, "gyre_wire_type_") &&
        is_written(checker, declaration, name))
        check_refuse_at(checker, declaration, "the name '%s' begins as Gyre's own do: choose another", name);
    if (!name[0] || !where)
        return;
    check_refuse_at(checker, declaration, "the name '%s' is %s: choose another", name, where);
}

/* as_uint, convert_float4, vload2, native_sin, ... */
static bool is_opencl_function(const char *name)
{
    static const char elements[] = " char uchar short ushort int uint long ulong float double half ";
    const char *behind = strchr(name, '_');
    char type[16];
    behind = behind ? behind + 1 : "";
    snprintf(type, sizeof type, "%.*s", (int)strcspn(behind, "_"), behind); /* convert_int4_sat_rte */
    static const char *const beginnings[] = {"get_image_",  "read_image",  "write_image",  "vload_half",
                                             "vstore_half", "vloada_half", "vstorea_half", NULL};
    if (in_list(opencl_functions, name) || begins_with_one_of(name, beginnings))
        return true;
    if (begins_with(name, "as_") || begins_with(name, "convert_"))
        return in_list(elements, type) || in_list(" size_t ptrdiff_t intptr_t uintptr_t ", behind) ||
               is_opencl_vector(type);
    if (begins_with(name, "native_") || begins_with(name, "half_"))
        return in_list(opencl_quick, behind);
    return is_vector(name, " vload vstore ", " 2 3 4 8 16 ");
}

/* atomicAdd, atomicCAS_system, double2int, ... */
static bool is_cuda_function(const char *name)
{
    char plain[32];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, "_"), name);
    if (begins_with(name, "double2") || begins_with(name, "float2"))
        return in_list(" int uint ll ull double ", strchr(name, '2') + 1);
    return in_list(cuda_functions, begins_with(name, "atomic") ? plain : name);
}

/* True for a declaration, other than a function, that shares the names of functions. Structs and the like have names of their
 * own. */
static bool is_beside_functions(enum CXCursorKind kind)
{
    return kind == CXCursor_TypedefDecl || kind == CXCursor_EnumConstantDecl || kind == CXCursor_VarDecl;
}

void check_global_name(struct checker *checker, CXCursor declaration)
{
    char name[128];
    const char *whose = NULL;
    const enum CXCursorKind kind = clang_getCursorKind(declaration);
    check_take_string(clang_getCursorSpelling(declaration), name, sizeof name);
    if ((kind == CXCursor_FunctionDecl || is_beside_functions(kind)) && is_opencl_function(name))
        whose = "that of a function in OpenCL C";
    else if (in_list(cuda_names, name) || is_aligned_cuda_vector(name) ||
             (!is_opencl_vector(name) && is_cuda_vector(name)) || begins_with(name, "cudaRound") ||
             (is_beside_functions(kind) && is_cuda_function(name)))
        whose = "one of CUDA's own at file scope";
    else if (kind == CXCursor_FunctionDecl && in_list(" assert va_arg va_copy va_end va_start ", name))
        whose = "that of a macro of CUDA";
    if (!whose)
        return;
    check_refuse_at(checker, declaration, "the name '%s' is %s: choose another", name, whose);
}

struct switch_walk {
    struct checker *checker;
    char variable[128]; /* a variable with a value, seen in these braces; "": none was seen */
};

static enum CXChildVisitResult find_variable(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct switch_walk *walk = data;
    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_VarDecl &&
        !clang_Cursor_isNull(clang_Cursor_getVarDeclInitializer(cursor)))
        check_take_string(clang_getCursorSpelling(cursor), walk->variable, sizeof walk->variable);
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
    check_refuse_at(walk->checker, cursor,
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

/* True when C++ can convert the value of a case to the type of the switch. */
static bool value_fits(CXCursor value, enum CXTypeKind type)
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
    if (!value_fits(check_strip_conversions(value), cases->type)) {
        check_refuse_at(
            cases->checker, cursor,
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
    bool in_braces; /* true: looks for the names; false: collects them */
};

static enum CXChildVisitResult visit_declared(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct loop *loop = data;
    char name[128];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_VarDecl)
        return CXChildVisit_Continue;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (!loop->in_braces && loop->count < LOOP_NAMES)
        memcpy(loop->names[loop->count++], name, sizeof name);
    for (unsigned i = 0; loop->in_braces && i < loop->count; i++) {
        if (strcmp(loop->names[i], name) != 0)
            continue;
        check_refuse_at(
            loop->checker, cursor,
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
