/* SPDX-License-Identifier: Apache-2.0 */
/* Judges includes: a kernel includes only Gyre's headers and the user's own, because no other header exists on every device. */
#include "cli/check/includes.h"

#include <string.h>

#include "cli/check/places.h"
#include "cli/check/refuse.h"

static const struct header_reason {
    const char *name, *reason;
} reasons[] = {
    {"stdio.h", "a device has no stdio: reply, gyre_fail or gyre_log"},
    {"stdlib.h", "a device has neither allocation nor processes: use state, scratch and buffers"},
    {"malloc.h", "a device has no allocation: use state, scratch and buffers"},
    {"stdint.h", "Gyre's names for its types work everywhere: i8 to i64, u8 to u64, f32, f64"},
    {"inttypes.h", "Gyre's names for its types work everywhere: i8 to i64, u8 to u64, f32, f64"},
    {"stdbool.h", "use u32 or int for a truth value"},
    {"math.h", "<gyre/kernel.h> brings the functions of <math.h> that every device has"},
    {"string.h", "assign structs or copy in a loop"},
    {"stdatomic.h", "use gyre_atomic_add and its kin"},
    {"assert.h", "use gyre_assert"},
    {"time.h", "use gyre_time_ns"},
    {"setjmp.h", "a handler returns; it does not jump out"},
    {"pthread.h", "lanes and blocks are the threads of a kernel"},
    {"threads.h", "lanes and blocks are the threads of a kernel"},
};

bool check_is_vendor_header(const char *name)
{
    static const char *const beginnings[] = {"cuda",    "nv",      "cooperative_groups",
                                             "device_", "sm_",     "vector_types",
                                             "CL/",     "OpenCL/", "opencl",
                                             "hip/",    "cub/",    "thrust/",
                                             "mma.h"};
    static const char *const intrinsics[] = {"immintrin.h", "x86intrin.h", "xmmintrin.h",
                                             "emmintrin.h", "arm_neon.h",  "arm_sve.h"};
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof intrinsics / sizeof intrinsics[0]; i++)
        if (strcmp(name, intrinsics[i]) == 0)
            return true;
    return false;
}

static const char *reason_for(const char *name)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (strcmp(name, reasons[i].name) == 0)
            return reasons[i].reason;
    return "it does not exist on every device";
}

/* True for `#include NAME` with a macro NAME. Code that follows includes without a preprocessor (OpenCL's reader, the cache's
 * list of included files) cannot know the file. */
static bool is_by_macro(const struct checker *checker, CXCursor directive, char *name, size_t size)
{
    CXToken *tokens = NULL;
    unsigned count = 0;
    clang_tokenize(checker->unit, clang_getCursorExtent(directive), &tokens, &count);
    const bool found = count > 2 && clang_getTokenKind(tokens[2]) == CXToken_Identifier;
    if (found)
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[2]), name, size);
    clang_disposeTokens(checker->unit, tokens, count);
    return found;
}

/* True for Gyre's headers for programs, which only compilers of the host can read. */
static bool is_host_header(const char *path)
{
    static const char *const names[] = {"gyre.h", "attach.h", "shards.h", "keyed.h", "backend.h"};
    const char *folder = strrchr(path, '/');
    for (size_t i = 0; folder && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(folder + 1, names[i]) == 0)
            return true;
    return false;
}

void check_note_declaration(struct checker *checker, const char *macro)
{
    static const char *const macros[] = {"GYRE_MESSAGE",  "GYRE_MESSAGE_TAIL", "GYRE_SPAN",
                                         "GYRE_OPTIONAL", "GYRE_PROTOCOL",     "GYRE_WIRE"};
    for (size_t i = 0; !checker->has_kernel_header && i < sizeof macros / sizeof macros[0]; i++)
        if (!checker->early[0] && strcmp(macro, macros[i]) == 0)
            snprintf(checker->early, sizeof checker->early, "%s", macro);
}

/* Refuses <gyre/kernel.h> behind a declaration of a message, because that header extends the declaration for handlers. */
static void check_order(struct checker *checker, CXCursor directive, const char *path)
{
    const char *name = strrchr(path, '/');
    if (checker->has_kernel_header || !name || strcmp(name, "/kernel.h") != 0)
        return;
    checker->has_kernel_header = true;
    if (!checker->early[0])
        return;
    /* unknown names in such a message are a consequence of this, and are not reported */
    checker->macro_is_broken = true;
    check_refuse_at(
        checker, directive,
        "<gyre/kernel.h> comes behind %s: a message that was declared before it is none that a handler can "
        "take: include it first, before your own headers",
        checker->early);
}

/* Judges the include of a header of Gyre. */
static void check_own(struct checker *checker, CXCursor directive, CXFile included, bool by_user)
{
    char path[1024];
    check_take_string(clang_getFileName(included), path, sizeof path);
    check_order(checker, directive, path);
    if (by_user && is_host_header(path))
        check_refuse_at(
            checker, directive,
            "<gyre%s> is for host programs: a kernel file includes <gyre/kernel.h>, and a header that both "
            "include, <gyre/message.h>",
            strrchr(path, '/'));
}

void check_include(struct checker *checker, CXCursor directive)
{
    char name[256];
    CXSourceLocation location = clang_getCursorLocation(directive);
    const bool by_user = check_owner_of_use(checker, location) == OWNER_USER;
    if (check_owner_of_file(checker, clang_getIncludedFile(directive)) == OWNER_GYRE)
        check_own(checker, directive, clang_getIncludedFile(directive), by_user);
    if (!by_user)
        return;
    if (is_by_macro(checker, directive, name, sizeof name))
        check_refuse_at(
            checker, directive,
            "`#include %s`: not every backend knows there what a macro stands for: write the file's name itself",
            name);
    enum owner included = check_owner_of_file(checker, clang_getIncludedFile(directive));
    check_take_string(clang_getCursorSpelling(directive), name, sizeof name);
    struct place place = check_place_of(location);
    if (included != OWNER_USER && included != OWNER_GYRE && check_is_vendor_header(name))
        report_refuse(&checker->report, "check", &place,
                      "vendor header <%s>: a kernel includes only <gyre/kernel.h> "
                      "and your own headers, so that it runs on every backend",
                      name);
    else if (included == OWNER_SYSTEM)
        report_refuse(&checker->report, "check", &place,
                      "system header <%s>: a kernel includes only <gyre/kernel.h> and your own headers; %s",
                      name, reason_for(name));
}
