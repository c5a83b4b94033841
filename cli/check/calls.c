/* SPDX-License-Identifier: Apache-2.0 */
/* Judges calls in a kernel: which functions a kernel may call, and that no function calls itself, also not by way of others. */
#include "cli/check/calls.h"

#include <stdint.h>
#include <string.h>

#include "cli/check/conversions.h"
#include "cli/check/places.h"
#include "cli/check/protocols.h"
#include "cli/check/refuse.h"

/* ---- functions that are not the user's ---- */

static const char *const math[] = {"sqrt", "fabs",  "floor", "ceil", "trunc", "round", "fmin",
                                   "fmax", "fma",   "sin",   "cos",  "tan",   "asin",  "acos",
                                   "atan", "atan2", "exp",   "exp2", "log",   "log2",  "log10",
                                   "pow",  "fmod",  "hypot", "cbrt", "tanh",  "sinh",  "cosh"};

static const struct group {
    const char *reason;
    const char *names; /* names, each between spaces; "x*" stands for every name that begins with x */
} groups[] = {
    {"allocation: a device has none; use state, scratch or buffers",
     " malloc calloc realloc reallocarray free aligned_alloc posix_memalign memalign valloc alloca "
     "__builtin_alloca __builtin_alloca_with_align __builtin_malloc __builtin_calloc __builtin_realloc "
     "__builtin_free strdup strndup asprintf mmap munmap sbrk brk "},
    {"stdio: a device has none; reply, gyre_fail or gyre_log",
     " printf fprintf sprintf snprintf vprintf vfprintf vsnprintf puts "
     "putchar putc fputs fputc fopen fclose fread fwrite fflush scanf fscanf "
     "sscanf getchar getc fgets perror __builtin_printf __builtin_puts "},
    {"a handler cannot end the program: return gyre_fail(gyre, code, \"text\")",
     " exit abort _exit _Exit quick_exit __builtin_trap "
     "__builtin_abort raise signal kill system fork execve "},
    {"use gyre_assert(gyre, condition)", " __assert_fail __assert assert "},
    {"a handler returns; it does not jump out",
     " setjmp _setjmp longjmp sigsetjmp siglongjmp __builtin_setjmp __builtin_longjmp "},
    {"threads: lanes and blocks are the threads of a kernel",
     " pthread_* thrd_* mtx_* cnd_* tss_* sem_* call_once sched_yield "},
    {"assign structs or copy in a loop",
     " memcpy memmove memset memcmp mempcpy __builtin_memcpy __builtin_memset __builtin_memmove "
     "__builtin_memcmp "},
    {"a text knows its length, `request->name.count`; of an array take gyre_string_array(request->name).count",
     " strlen strnlen __builtin_strlen "},
    {"texts are compared by gyre_string_equal, gyre_string_compare and gyre_string_is, as in "
     "`gyre_string_is(gyre_string_of(request, request->name), \"Ada\")`",
     " strcmp strncmp strcasecmp strncasecmp strcoll __builtin_strcmp __builtin_strncmp "},
    {"texts are searched by gyre_string_find, which gives the place, or GYRE_NOWHERE",
     " strchr strrchr strstr strpbrk memchr strspn strcspn index rindex "},
    {"texts are copied by gyre_new_string into a reply's text, by gyre_string_store into an array",
     " strcpy strncpy strcat strncat stpcpy strlcpy strlcat "},
    {"numbers of a text are made by gyre_append_u64, gyre_append_i64 and gyre_append_f64, and read in a loop over its letters",
     " atoi atol atoll atof strtol strtoul strtoll strtoull strtod strtof itoa "},
    {"use gyre_atomic_add and its kin", " __atomic_* __sync_* __c11_atomic_* atomic_* "},
    {"use gyre_popcount_u32, gyre_clz_u32, gyre_ctz_u32 and their kin",
     " __builtin_popcount* __builtin_clz* __builtin_ctz* "
     "__builtin_ffs* __builtin_bswap* __builtin_rotate* ffs "},
    {"keep the generator's state in the kernel's state", " rand srand random srandom drand48 rand_r "},
    {"use gyre_time_ns(gyre)", " time clock clock_gettime gettimeofday nanosleep usleep sleep "},
    {"a queue of this kernel has a wire form: include what `gyre wire FILE` writes behind the messages' header",
     " gyre_decode_* gyre_encode_* "},
    {"compilers for other devices do not have it", " __builtin_* "},
};

static bool in_names(const char *names, const char *name)
{
    while (*names) {
        names += strspn(names, " ");
        size_t length = strcspn(names, " ");
        if (length && names[length - 1] == '*' && strncmp(names, name, length - 1) == 0)
            return true;
        if (length && length == strlen(name) && strncmp(names, name, length) == 0)
            return true;
        names += length;
    }
    return false;
}

static bool is_math(const char *name)
{
    for (size_t i = 0; i < sizeof math / sizeof math[0]; i++) {
        size_t length = strlen(math[i]);
        if (strncmp(name, math[i], length) == 0 && (!name[length] || strcmp(name + length, "f") == 0))
            return true;
    }
    return false;
}

static void check_foreign(struct checker *checker, CXCursor call, const char *name, const struct place *place)
{
    if (checker->macro_is_broken && strncmp(name, "gyre_", 5) == 0)
        return; /* the broken macro was reported; what it therefore did not declare is no further error */
    if (check_refuse_unhandled(checker, name, place))
        return;
    if (is_math(name)) {
        if (name[strlen(name) - 1] != 'f')
            check_math(checker, call, name, place);
        return;
    }
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (!in_names(groups[i].names, name))
            continue;
        report_refuse(&checker->report, "check", place, "call of '%s': %s", name, groups[i].reason);
        return;
    }
    report_refuse(
        &checker->report, "check", place,
        "call of '%s': kernels call their own GYRE_HELPER functions, those of <gyre/kernel.h> and the math "
        "functions it names; others do not exist on every device",
        name);
}

/* Refuses a constant failure code below 0. A code that turns out to be below 0 only while the handler runs becomes
 * GYRE_FAILURE_CODE. */
static void check_fail_code(struct checker *checker, CXCursor call, const struct place *place)
{
    CXEvalResult code = clang_Cursor_Evaluate(clang_Cursor_getArgument(call, 1));
    if (code && clang_EvalResult_getKind(code) == CXEval_Int && clang_EvalResult_getAsInt(code) < 0)
        report_refuse(&checker->report, "check", place,
                      "gyre_fail with the code %d: codes below 0 are Gyre's; a handler's own are 0 and up",
                      clang_EvalResult_getAsInt(code));
    clang_EvalResult_dispose(code);
}

/* Gyre's functions that take a text only as a literal: which argument is the text, and what to do instead when the text
 * varies. In OpenCL C other texts lie in another kind of memory, and the text of a failure is read only after the handler
 * has returned. */
static const struct text_taker {
    const char *name, *shown;
    unsigned argument;
    const char *advice;
} text_takers[] = {
    {"gyre_fail", "gyre_fail", 2, "call gyre_fail once for each text"},
    {"gyre_log", "gyre_log", 1, "call gyre_log once for each text, and log what varies as its value"},
    {"gyre_append_text_", "gyre_append_text", 4, "append a gyre_string with gyre_append"},
    {"gyre_string_is_", "gyre_string_is", 1, "compare two strings with gyre_string_equal"},
    {"gyre_string_begins_", "gyre_string_begins", 1,
     "compare a part of it, gyre_string_cut, with gyre_string_equal"},
    {"gyre_new_text_", "gyre_new_text", 3,
     "call gyre_new_text once for each text, or make what varies with gyre_new and gyre_set"}};

/* True for a string literal, and for a member of Gyre's own structs that holds a literal, such as `in.problem`. */
static bool is_literal(const struct checker *checker, CXCursor argument)
{
    argument = check_strip_conversions(argument);
    if (clang_getCursorKind(argument) == CXCursor_StringLiteral)
        return true;
    const CXCursor member = clang_getCursorReferenced(argument);
    return clang_getCursorKind(argument) == CXCursor_MemberRefExpr &&
           check_owner_of_use(checker, clang_getCursorLocation(member)) == OWNER_GYRE;
}

static void check_given_text(struct checker *checker, CXCursor call, const char *name)
{
    for (size_t i = 0; i < sizeof text_takers / sizeof text_takers[0]; i++) {
        const struct text_taker *taker = &text_takers[i];
        const CXCursor argument = clang_Cursor_getArgument(call, taker->argument);
        if (strcmp(taker->name, name) != 0 || clang_Cursor_isNull(argument) || is_literal(checker, argument))
            continue;
        check_refuse_at(checker, argument, "%s takes a text only as a literal, \"like this\": %s",
                        taker->shown, taker->advice);
        checker->refused_argument = clang_getCursorExtent(argument);
    }
}

/* ---- the user's functions ---- */

size_t check_find_function(struct checker *checker, CXCursor cursor)
{
    CXCursor canonical = clang_getCanonicalCursor(cursor);
    for (size_t i = 0; i < checker->function_count; i++)
        if (clang_equalCursors(checker->functions[i].cursor, canonical))
            return i;
    if (checker->function_count == FUNCTIONS_MAX)
        return SIZE_MAX;
    struct user_function *function = &checker->functions[checker->function_count];
    function->cursor = canonical;
    check_take_string(clang_getCursorSpelling(cursor), function->name, sizeof function->name);
    return checker->function_count++;
}

/* Names of functions that CUDA has for several types, by the number of their arguments. A kernel may have its own function
 * of such a name. */
static const char *const overloaded[] = {
    NULL,
    " abs labs llabs any all ballot rcbrt rcbrtf normcdf normcdff normcdfinv normcdfinvf erfinv erfinvf erfcinv "
    "erfcinvf erfcx erfcxf sinpif cospif exp10f rsqrtf cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f "
    "float2double int2double uint2double ll2double ull2double free malloc syncthreads_and syncthreads_count "
    "syncthreads_or make_char1 make_uchar1 make_short1 make_ushort1 make_int1 make_uint1 make_long1 make_ulong1 "
    "make_longlong1 make_ulonglong1 make_float1 make_double1 ",
    " min max umin umax llmin llmax ullmin ullmax rhypot rhypotf fdivide fdividef norm normf rnorm rnormf dadd dsub "
    "dmul ",
    " norm3d norm3df rnorm3d rnorm3df ", " norm4d norm4df rnorm4d rnorm4df "};

static bool is_overloaded(const char *name, int arguments)
{
    return arguments > 0 && arguments < (int)(sizeof overloaded / sizeof overloaded[0]) &&
           in_names(overloaded[arguments], name);
}

/* True for a number type: CUDA's overloaded functions take only numbers. */
static bool is_number(CXType type)
{
    return type.kind != CXType_Pointer && type.kind != CXType_Record;
}

/* True for i64 and u64, which are `long` in C and `long long` in CUDA; false for a type that is `long` in both. */
static bool is_wide(CXType type)
{
    char name[32];
    while (type.kind == CXType_Elaborated || type.kind == CXType_Typedef) {
        if (type.kind == CXType_Elaborated) {
            type = clang_Type_getNamedType(type);
            continue;
        }
        const CXCursor declared = clang_getTypeDeclaration(type);
        check_take_string(clang_getCursorSpelling(declared), name, sizeof name);
        if (strcmp(name, "gyre_i64") == 0 || strcmp(name, "gyre_u64") == 0)
            return true;
        type = clang_getTypedefDeclUnderlyingType(declared);
    }
    return false;
}

static bool is_long(CXType type)
{
    const enum CXTypeKind kind = clang_getCanonicalType(type).kind;
    return kind == CXType_Long || kind == CXType_ULong;
}

/*
 * Whether an expression is wide (is_wide) in C++: it is as soon as one of the operands that decide its type is wide. A
 * condition does not decide the type, nor does the count of a shift.
 */
static bool is_made_wide(const struct checker *checker, CXCursor expression)
{
    char operator[8] = "";
    expression = check_strip_conversions(expression);
    const enum CXCursorKind kind = clang_getCursorKind(expression);
    const CXType type = clang_getCursorType(expression);
    if (!is_long(type))
        return false;
    if (kind != CXCursor_BinaryOperator && kind != CXCursor_ConditionalOperator)
        return is_wide(type);
    const struct parts parts = check_parts_of(expression);
    if (kind == CXCursor_BinaryOperator)
        check_operator_of(checker, expression, operator, sizeof operator);
    const bool last = kind == CXCursor_ConditionalOperator || strcmp(operator, ",") == 0;
    const bool first = in_names(" << >> = ", operator);
    for (unsigned i = last; i < (first ? 1 : parts.count) && i < 3; i++)
        if (is_made_wide(checker, parts.cursors[i]))
            return true;
    return false;
}

/* True when the argument has the type of the parameter in C++, after C's promotion. */
static bool is_of_type(const struct checker *checker, CXCursor argument, CXType parameter)
{
    if (clang_getCanonicalType(clang_getCursorType(argument)).kind != clang_getCanonicalType(parameter).kind)
        return false;
    return !is_long(parameter) || is_made_wide(checker, argument) == is_wide(parameter);
}

/* Whether CUDA has an overload of the function for truth values, which are of type bool in C++. */
static bool takes_truth(const char *name)
{
    return in_names(" any all ballot ", name);
}

/* C++ takes the overload that the arguments fit best. It takes the kernel's function, as C does, only where the arguments are
 * of its parameters' types. */
static void check_overload(struct checker *checker, CXCursor call, CXCursor definition, const char *name,
                           const struct place *place)
{
    char type[64];
    const CXType function = clang_getCursorType(definition);
    const int arguments = clang_Cursor_getNumArguments(call);
    if (!is_overloaded(name, arguments))
        return;
    for (int i = 0; i < arguments; i++) {
        const CXType parameter = clang_getArgType(function, (unsigned)i);
        const CXCursor argument = check_strip_conversions(clang_Cursor_getArgument(call, (unsigned)i));
        const bool truth = takes_truth(name) && check_is_truth_value(checker, argument);
        if (!is_number(clang_getCanonicalType(parameter)) ||
            (!truth && is_of_type(checker, argument, parameter)))
            continue;
        check_take_string(clang_getTypeSpelling(parameter), type, sizeof type);
        report_refuse(
            &checker->report, "check", place,
            "call of '%s' with %s than the parameter's, '%s': CUDA has functions of that name, "
            "too, and would take one of them: cast the argument, or choose another name",
            name, truth ? "a truth value, which in C++ is of another type" : "an argument of another type",
            type);
        return;
    }
}

static void check_user_call(struct checker *checker, CXCursor call, CXCursor target, size_t from,
                            const struct place *place)
{
    CXCursor definition = clang_getCursorDefinition(target);
    char name[128];
    check_take_string(clang_getCursorSpelling(target), name, sizeof name);
    if (clang_Cursor_isNull(definition)) {
        check_foreign(checker, call, name, place);
        return;
    }
    if (clang_getCursorType(definition).kind == CXType_FunctionNoProto &&
        clang_Cursor_getNumArguments(call) > 0)
        report_refuse(
            &checker->report, "check", place,
            "call of '%s' with arguments, where its `()` says nothing of any: devices take that for "
            "none: name its parameters",
            name);
    check_overload(checker, call, definition, name, place);
    size_t to = check_find_function(checker, definition);
    if (to != SIZE_MAX && checker->call_count < CALLS_MAX)
        checker->calls[checker->call_count++] = (struct user_call){from, to, *place};
}

static enum CXChildVisitResult take_first(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(CXCursor *)data = cursor;
    return CXChildVisit_Break;
}

/* True for functions that all lanes of a block call together: gyre_barrier (a macro, which calls through a member), and
 * gyre_block_sum_u32 and the like. */
static bool meets_lanes(const char *name)
{
    return in_names(
        " barrier gyre_barrier gyre_grid_barrier_ gyre_block_sum_* gyre_block_min_* gyre_block_max_* gyre_block_broadcast_* ",
        name);
}

static void note_meeting(struct checker *checker, size_t function, const struct place *place)
{
    if (function == SIZE_MAX || checker->functions[function].meets)
        return;
    checker->functions[function].meets = true;
    checker->functions[function].meeting = *place;
}

static void note_grid_meeting(struct checker *checker, size_t function, const struct place *place)
{
    if (function == SIZE_MAX || checker->functions[function].meets_grid)
        return;
    checker->functions[function].meets_grid = true;
    checker->functions[function].grid_meeting = *place;
}

static void note_reminding(struct checker *checker, size_t function, const struct place *place)
{
    if (function == SIZE_MAX || checker->functions[function].reminds)
        return;
    checker->functions[function].reminds = true;
    checker->functions[function].reminding = *place;
}

/* Notes a call of what not every backend has yet. */
static void note_rare(struct checker *checker, const char *name, const struct place *place)
{
    static const char *const rare[][2] = {{"gyre_more_", "GYRE_MORE"},
                                          {"gyre_turn", "gyre_turn"},
                                          {"gyre_flow_", "GYRE_FLOW"},
                                          {"gyre_token", "gyre_token"},
                                          {"gyre_round", "gyre_round"}};
    for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++)
        if (strcmp(name, rare[i][0]) == 0)
            report_only_some(&checker->report, rare[i][1],
                             strcmp(name, "gyre_token") == 0 || strcmp(name, "gyre_round") == 0, place);
}

void check_call(struct checker *checker, CXCursor call, size_t function)
{
    char name[128];
    CXCursor callee = clang_getNullCursor();
    clang_visitChildren(call, take_first, &callee);
    struct place place = check_place_of(clang_getCursorLocation(callee));
    if (!place.file[0]) /* after an error in the arguments, libclang gives the callee no place */
        place = check_place_of(clang_getCursorLocation(call));
    CXCursor target = clang_getCursorReferenced(call);
    if (clang_Cursor_isNull(target))
        target = clang_getCursorReferenced(callee);
    enum owner owner = check_owner_of_use(checker, clang_getCursorLocation(target));
    check_take_string(clang_getCursorSpelling(target), name, sizeof name);
    if (strncmp(name, "__builtin_", 10) == 0)
        /* clang reports it as declared where it was used first, which may be in Gyre's headers */
        owner = OWNER_NOBODY;
    if (owner == OWNER_GYRE) { /* Gyre's functions, and the members that its macros call through */
        if (strcmp(name, "gyre_fail") == 0)
            check_fail_code(checker, call, &place);
        check_given_text(checker, call, name);
        note_rare(checker, name, &place);
        if (meets_lanes(name))
            note_meeting(checker, function, &place);
        if (strcmp(name, "gyre_grid_barrier_") == 0)
            note_grid_meeting(checker, function, &place);
        if (strcmp(name, "gyre_remind") == 0 || strcmp(name, "gyre_unremind") == 0)
            note_reminding(checker, function, &place);
        return;
    }
    if (clang_getCursorKind(target) != CXCursor_FunctionDecl) {
        report_refuse(
            &checker->report, "check", &place,
            "call through a function pointer, which devices cannot do: choose with `switch` or `if` instead");
        return;
    }
    if (owner == OWNER_USER) {
        check_user_call(checker, call, target, function, &place);
        return;
    }
    check_foreign(checker, call, name, &place);
}

/* ---- recursion ---- */

enum color { NOT_SEEN, ON_PATH, FINISHED };

struct walk {
    unsigned char colors[FUNCTIONS_MAX];
    size_t next_call[FUNCTIONS_MAX]; /* where to go on among all calls */
    size_t path[FUNCTIONS_MAX], depth;
};

/* Refuses a cycle of calls. The sentence shows it as "a -> b -> a", from its begin on the path. */
static void refuse_cycle(struct checker *checker, const struct walk *walk, const struct user_call *closing)
{
    char cycle[384] = "";
    size_t used = 0, start = 0;
    while (walk->path[start] != closing->to)
        start++;
    for (size_t i = start; i < walk->depth && used < sizeof cycle; i++)
        used += (size_t)snprintf(cycle + used, sizeof cycle - used, "%s -> ",
                                 checker->functions[walk->path[i]].name);
    report_refuse(&checker->report, "check", &closing->place,
                  "recursion: %s%s; devices have no call stack for it: use a loop", cycle,
                  checker->functions[closing->to].name);
}

/* The next call out of the function on top of the path, or NULL. */
static const struct user_call *next_call(const struct checker *checker, struct walk *walk)
{
    size_t top = walk->path[walk->depth - 1];
    while (walk->next_call[top] < checker->call_count) {
        const struct user_call *call = &checker->calls[walk->next_call[top]++];
        if (call->from == top)
            return call;
    }
    return NULL;
}

static void walk_from(struct checker *checker, struct walk *walk, size_t root)
{
    walk->path[0] = root;
    walk->depth = 1;
    walk->colors[root] = ON_PATH;
    while (walk->depth > 0) {
        const struct user_call *call = next_call(checker, walk);
        if (!call) {
            walk->colors[walk->path[--walk->depth]] = FINISHED;
        } else if (walk->colors[call->to] == ON_PATH) {
            refuse_cycle(checker, walk, call);
        } else if (walk->colors[call->to] == NOT_SEEN) {
            walk->colors[call->to] = ON_PATH;
            walk->path[walk->depth++] = call->to;
        }
    }
}

/* ---- barriers where no lanes meet ---- */

static void refuse_meeting(struct checker *checker, size_t kernel, size_t function)
{
    const char *name = checker->functions[kernel].name + sizeof handler_prefix - 1;
    report_refuse(
        &checker->report, "check", &checker->functions[function].meeting,
        "a barrier, or a function of a block, in the kernel '%s', of which one lane works on a message: "
        "declare it with GYRE_BLOCK_KERNEL, or leave that out",
        name);
}

static void refuse_grid_meeting(struct checker *checker, size_t kernel, size_t function)
{
    report_refuse(
        &checker->report, "check", &checker->functions[function].grid_meeting,
        "gyre_grid_barrier in the kernel '%s', whose blocks work on messages of their own: declare it with "
        "GYRE_GRID_KERNEL, or meet the lanes of the block with gyre_barrier",
        checker->functions[kernel].name + sizeof handler_prefix - 1);
}

static void refuse_reminding(struct checker *checker, size_t kernel, size_t function)
{
    report_refuse(
        &checker->report, "check", &checker->functions[function].reminding,
        "gyre_remind or gyre_unremind in the kernel '%s', which has no keys to remind: declare it with "
        "GYRE_KEYED_ACTOR_REMINDED, or leave that out",
        checker->functions[kernel].name + sizeof handler_prefix - 1);
}

/* A function that the kernel calls: whether the kernel's lanes can meet where it wants, and has keys that it can remind. */
static void check_meeting(struct checker *checker, size_t kernel, size_t function)
{
    const struct user_function *handler = &checker->functions[kernel];
    if (checker->functions[function].reminds && !handler->is_keyed)
        refuse_reminding(checker, kernel, function);
    if (checker->functions[function].meets_grid && !handler->is_grid)
        refuse_grid_meeting(checker, kernel, function);
    else if (checker->functions[function].meets && handler->works_alone && !handler->is_grid)
        refuse_meeting(checker, kernel, function);
}

void check_meetings(struct checker *checker)
{
    static struct walk walk;
    for (size_t kernel = 0; kernel < checker->function_count; kernel++) {
        if (!checker->functions[kernel].is_handler)
            continue;
        memset(&walk, 0, sizeof walk);
        walk.path[walk.depth++] = kernel;
        walk.colors[kernel] = ON_PATH;
        while (walk.depth > 0) {
            const size_t top = walk.path[walk.depth - 1];
            const struct user_call *call = next_call(checker, &walk);
            if (!call) {
                check_meeting(checker, kernel, top);
                walk.depth--;
            } else if (walk.colors[call->to] == NOT_SEEN) {
                walk.colors[call->to] = ON_PATH;
                walk.path[walk.depth++] = call->to;
            }
        }
    }
}

void check_recursion(struct checker *checker)
{
    static struct walk walk; /* too large for a stack; the program checks one file */
    memset(&walk, 0, sizeof walk);
    for (size_t i = 0; i < checker->function_count; i++)
        if (walk.colors[i] == NOT_SEEN)
            walk_from(checker, &walk, i);
}
