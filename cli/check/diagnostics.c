/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the parser's errors into findings. An error that breaks a rule of the dialect becomes a refusal; other errors are
 * passed on. */
#include "cli/check/diagnostics.h"

#include <stdio.h>
#include <string.h>

#include "cli/check/conversions.h"
#include "cli/check/includes.h"
#include "cli/check/library.h"
#include "cli/check/lost_macros.h"
#include "cli/check/places.h"
#include "cli/check/ports.h"
#include "cli/check/protocols.h"
#include "cli/check/usage.h"

static const char twin_prefix[] = "redefinition of 'gyre_handler_";
static const char defined[] = "previous de";                  /* -finition, -claration */
static const char called[] = "previous implicit declaration"; /* by a call */

/* Takes NAME out of a diagnostic "'NAME' file not found". False for another diagnostic. */
static bool missing_file(const char *text, char *name, size_t size)
{
    const char *end = strstr(text, "' file not found");
    if (text[0] != '\'' || !end)
        return false;
    snprintf(name, size, "%.*s", (int)(end - text - 1), text + 1);
    return true;
}

/*
 * The line of the first note with these words that leads into the user's file: where the other definition, or
 * declaration, is. 0: there is none.
 */
static unsigned noted_line(const struct checker *checker, CXDiagnostic diagnostic, const char *words)
{
    CXDiagnosticSet notes = clang_getChildDiagnostics(diagnostic);
    unsigned line = 0;
    for (unsigned i = 0; line == 0 && i < clang_getNumDiagnosticsInSet(notes); i++) {
        char text[256];
        CXDiagnostic note = clang_getDiagnosticInSet(notes, i);
        CXSourceLocation location = clang_getDiagnosticLocation(note);
        check_take_string(clang_getDiagnosticSpelling(note), text, sizeof text);
        if (strstr(text, words) && check_owner_of_use(checker, location) == OWNER_USER)
            line = check_place_of(location).line;
        clang_disposeDiagnostic(note);
    }
    clang_disposeDiagnosticSet(notes);
    return line;
}

static void refuse_twin(struct checker *checker, CXDiagnostic diagnostic, const struct place *place,
                        const char *text)
{
    static const char migration[] = "gyre_migrate_"; /* what GYRE_MIGRATE defines; dialect/forms.h */
    const char *name = text + sizeof twin_prefix - 1;
    if (strncmp(name, migration, sizeof migration - 1) == 0) {
        name += sizeof migration - 1;
        report_refuse(
            &checker->report, "check", place,
            "GYRE_MIGRATE says twice how a state of '%.*s' goes on, the other time in line %u: leave one",
            (int)strcspn(name, "'"), name, noted_line(checker, diagnostic, defined));
        return;
    }
    report_refuse(&checker->report, "discover", place,
                  "two kernels are named '%.*s', the other one in line %u: rename one",
                  (int)strcspn(name, "'"), name, noted_line(checker, diagnostic, defined));
}

static void refuse_address_space(struct checker *checker, const struct place *place, const char *text)
{
    if (strstr(text, "address space of pointer") || strstr(text, "address space of nested pointer"))
        report_refuse(
            &checker->report, "check", place,
            "a pointer to GYRE_GLOBAL (request, reply, state, buffers), GYRE_SHARED (scratch) or "
            "GYRE_CONSTANT memory becomes one to other memory: write the same qualifier at the "
            "parameter or variable, as in `GYRE_HELPER f32 sum(const GYRE_GLOBAL f32 *x)`; a table in "
            "GYRE_CONSTANT memory is used by its name");
    else if (strstr(text, "parameter may not be qualified"))
        report_refuse(
            &checker->report, "check", place,
            "an array among the parameters lies in memory of the caller's own: for GYRE_GLOBAL or "
            "GYRE_SHARED memory write a pointer, as in `const GYRE_GLOBAL u16 *row` or, for several "
            "dimensions, `const GYRE_GLOBAL u16 (*rows)[12]`");
    else
        report_refuse(&checker->report, "check", place,
                      "GYRE_GLOBAL, GYRE_SHARED and GYRE_CONSTANT say what "
                      "memory a pointer leads to and belong before the `*`: %s",
                      text);
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Refuses a call of a function that is declared only behind the call. */
static bool refuse_late_function(struct checker *checker, CXDiagnostic diagnostic, const struct place *place,
                                 const char *text)
{
    const char *name = strchr(text, '\'');
    const unsigned line = noted_line(checker, diagnostic, called);
    if (line == 0 || !name)
        return false;
    report_refuse(&checker->report, "check", place,
                  "'%.*s' is called before it is defined, in line %u: move it in front of that",
                  (int)strcspn(name + 1, "'"), name + 1, line);
    return true;
}

/* Refuses a declaration of the name of a function that C's compilers know, or that C's headers declare. */
static bool refuse_taken_name(struct checker *checker, CXDiagnostic diagnostic, const struct place *place,
                              const char *text)
{
    const char *name = strchr(text, '\'');
    const bool other_kind =
        begins_with(text, "redefinition of '") && strstr(text, "as different kind of symbol") != NULL;
    const bool other_function =
        begins_with(text, "static declaration of '") || begins_with(text, "conflicting types for '");
    if ((!other_kind && !other_function) || begins_with(name, "'gyre_") ||
        noted_line(checker, diagnostic, defined) != 0)
        return false;
    report_refuse(&checker->report, "check", place,
                  "the name '%.*s' is that of a function of C's library: choose another",
                  (int)strcspn(name + 1, "'"), name + 1);
    checker->macro_is_broken = true; /* where it was GYRE_MESSAGE, the rest of that is wrong as well */
    return true;
}

static const char field_prefix[] = "use of undeclared identifier 'gyre_type_";
static const char message_prefix[] = "use of undeclared identifier 'gyre_size_";
static const char twice_static[] = "duplicate 'static' declaration specifier";
static const char twice_inline[] = "duplicate 'inline' declaration specifier";
static const char form_prefix[] = "use of undeclared identifier '";
static const char bad_macro[] = "macro invocation";

/* A search for the message of the user's whose name is nearest to a mistyped one. */
struct message_search {
    const struct checker *checker;
    const char *name;
    char nearest[NAME_SIZE];
    unsigned least; /* distance of the nearest name */
};

static enum CXChildVisitResult find_message(CXCursor cursor, CXCursor parent, CXClientData data)
{
    static const char prefix[] = "gyre_size_"; /* what GYRE_MESSAGE defines for each; message.h */
    struct message_search *search = data;
    char name[NAME_SIZE + sizeof prefix];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_EnumConstantDecl)
        return clang_getCursorKind(cursor) == CXCursor_EnumDecl ? CXChildVisit_Recurse
                                                                : CXChildVisit_Continue;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    const char *message = name + sizeof prefix - 1;
    if (!begins_with(name, prefix) || strlen(message) >= NAME_SIZE ||
        check_owner_of_use(search->checker, clang_getCursorLocation(cursor)) != OWNER_USER)
        return CXChildVisit_Continue;
    const unsigned distance = check_name_distance(message, search->name);
    if (distance < search->least) {
        search->least = distance;
        snprintf(search->nearest, sizeof search->nearest, "%s", message);
    }
    return CXChildVisit_Continue;
}

/* Writes "; did you mean 'NAME'? ", or ": " where no message has a name like that. `text`: the name, and a quote behind it. */
static const char *message_hint(const struct checker *checker, const char *text, char hint[NAME_SIZE + 32])
{
    char name[NAME_SIZE];
    const size_t length = strcspn(text, "'");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    struct message_search search = {checker, name, "", (unsigned)(length + 1) / 3 + 1};
    if (length < NAME_SIZE)
        clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_message, &search);
    if (search.nearest[0])
        snprintf(hint, NAME_SIZE + 32, "; did you mean '%s'? ", search.nearest);
    else
        snprintf(hint, NAME_SIZE + 32, ": ");
    return hint;
}

static void refuse_field_type(struct checker *checker, const struct place *place, const char *text)
{
    char hint[NAME_SIZE + 32];
    const char *name = text + sizeof field_prefix - 1;
    report_refuse(
        &checker->report, "check", place,
        "'%.*s' is no type of a message%sfields are i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 id128 gyre_handle, messages "
        "declared before with GYRE_MESSAGE and, in a GYRE_MESSAGE_TAIL, utf8, span_T and optional_T, as span_u32",
        (int)strcspn(name, "'"), name, message_hint(checker, name, hint));
}

/* GYRE_KERNEL_OF and its kin have messages of these names from their protocol. */
static bool is_of_protocol(const char *name, int length)
{
    static const char *const endings[] = {"_request'", "_reply'"};
    for (size_t i = 0; i < 2; i++) {
        const int ending = (int)strlen(endings[i]) - 1;
        if (length > ending && strncmp(name + length - ending, endings[i], strlen(endings[i])) == 0)
            return true;
    }
    return false;
}

static void refuse_plain_type(struct checker *checker, const struct place *place, const char *text)
{
    char hint[NAME_SIZE + 32];
    const char *name = text + sizeof message_prefix - 1;
    const int length = (int)strcspn(name, "'");
    report_refuse(
        &checker->report, "check", place,
        "'%.*s' is no message%sthe request, reply and state of a kernel are declared with "
        "GYRE_MESSAGE, so that the host knows their layout; a scratch may be any struct%s",
        length, name, message_hint(checker, name, hint),
        is_of_protocol(name, length)
            ? "; a kernel of several types (GYRE_KERNEL_OF and its kin) has the name of its GYRE_PROTOCOL"
            : "");
}

/* True for an unknown `state`, `scratch` or `buffers` in a kernel whose form lacks that parameter. */
static bool is_absent_parameter(const char *text)
{
    const char *name = text + sizeof form_prefix - 1;
    return strncmp(text, form_prefix, sizeof form_prefix - 1) == 0 &&
           (!strncmp(name, "state'", 6) || !strncmp(name, "scratch'", 8) || !strncmp(name, "buffers'", 8));
}

static void refuse_absent_parameter(struct checker *checker, const struct place *place, const char *text)
{
    const char *name = text + sizeof form_prefix - 1;
    bool scratch = name[1] == 'c';
    report_refuse(&checker->report, "check", place,
                  "this kernel or helper has no '%.*s': "
                  "kernels declared with %s have, helpers take it as a parameter",
                  (int)strcspn(name, "'"), name,
                  scratch ? "GYRE_BLOCK_KERNEL" : "GYRE_KERNEL_WITH and the like");
}

/* Refuses a type that cannot stand where it stands: the parser then misses a name that Gyre's macros make from the type's
 * name. False: the error is about something else. */
static bool refuse_type(struct checker *checker, const struct place *place, const char *text)
{
    if (checker->macro_is_broken)
        return false;
    if (strncmp(text, field_prefix, sizeof field_prefix - 1) == 0)
        refuse_field_type(checker, place, text);
    else if (strncmp(text, message_prefix, sizeof message_prefix - 1) == 0)
        refuse_plain_type(checker, place, text);
    else
        return false;
    return true;
}

/* Code that C's compilers warn of and a device's compiler refuses; judge.c turns these warnings into errors. */
static const struct option_reason {
    const char *option, *reason;
} option_reasons[] = {
    {"-Wint-conversion",
     "a number becomes a pointer, or a pointer a number: cast it, through u64, where that is meant"},
    {"-Wincompatible-pointer-types",
     "a pointer becomes one to another type: write a cast, with GYRE_GLOBAL or GYRE_SHARED before the `*` where "
     "it has one"},
    {"-Wincompatible-pointer-types-discards-qualifiers",
     "a pointer to what may only be read becomes one that writes: write `const` at the parameter or variable"},
    {"-Wincompatible-function-pointer-types", "function pointers, which devices cannot call"},
    {"-Wpointer-sign",
     "a pointer becomes one to numbers of the other sign: write a cast, with GYRE_GLOBAL or GYRE_SHARED before "
     "the `*` where it has one"},
    {"-Wcompare-distinct-pointer-types", "two pointers to different types are compared: cast one of them"},
    {"-Wpointer-integer-compare", "a pointer is compared with a number: compare it with NULL, or cast it"},
    {"-Wpointer-arith", "arithmetic with void, which has no size on devices: cast to a pointer to u8"},
    {"-Wgnu-pointer-arith", "arithmetic with void, which has no size on devices: cast to a pointer to u8"},
    {"-Wgnu-case-range", "a range of cases, which C++ does not have: write each, or `if`"},
    {"-Wgnu-conditional-omitted-operand", "`x ?: y`, which C++ does not have: write `x ? x : y`"},
    {"-Wzero-length-array",
     "an array of length 0, which C++ does not have: give it a length, or leave it out"},
    {"-Wshift-count-overflow",
     "a shift by as many bits as the number has, or more, which every device answers in its own way: shift a "
     "u64, or by less"},
    {"-Wshift-count-negative", "a shift by less than nothing, which every device answers in its own way"},
    {"-Wdivision-by-zero",
     "a division of an integer by zero, which every device answers in its own way: look at the divisor before"},
    {"-Wreturn-type", "a function that returns a value can end without one: write a `return` with a value"},
};

/* A number that becomes a pointer because it is the result of a function that nobody declared: check_call refuses that. */
static bool is_undeclared_call(const struct checker *checker, CXDiagnostic diagnostic)
{
    CXCursor place = clang_getCursor(checker->unit, clang_getDiagnosticLocation(diagnostic));
    struct parts parts = check_parts_of(place);
    if (clang_getCursorKind(place) == CXCursor_VarDecl && parts.count > 0)
        place = parts.cursors[parts.count < 3 ? parts.count - 1 : 2];
    place = check_strip_conversions(place);
    const CXCursor function = clang_getCursorReferenced(place);
    return clang_getCursorKind(place) == CXCursor_CallExpr &&
           clang_Cursor_isNull(clang_getCursorDefinition(function)) &&
           check_owner_of_use(checker, clang_getCursorLocation(function)) != OWNER_GYRE;
}

/* A search for a call that check_call refuses, with an argument that begins at the place of a diagnostic. */
struct call_search {
    const struct checker *checker;
    CXFile file;
    unsigned offset;
    bool found;
};

static bool is_foreign_function(const struct checker *checker, CXCursor function)
{
    return clang_getCursorKind(function) == CXCursor_FunctionDecl &&
           clang_Cursor_isNull(clang_getCursorDefinition(function)) &&
           check_owner_of_use(checker, clang_getCursorLocation(function)) != OWNER_GYRE;
}

static enum CXChildVisitResult find_foreign_call(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct call_search *search = data;
    const bool top = clang_getCursorKind(parent) == CXCursor_TranslationUnit;
    if (top && check_owner_of_use(search->checker, clang_getCursorLocation(cursor)) != OWNER_USER)
        return CXChildVisit_Continue;
    if (clang_getCursorKind(cursor) != CXCursor_CallExpr ||
        !is_foreign_function(search->checker, clang_getCursorReferenced(cursor)))
        return CXChildVisit_Recurse;
    for (int i = 0; !search->found && i < clang_Cursor_getNumArguments(cursor); i++) {
        CXFile file = NULL;
        const CXCursor argument = clang_Cursor_getArgument(cursor, (unsigned)i);
        const unsigned at = check_offset_of(clang_getRangeStart(clang_getCursorExtent(argument)), &file);
        search->found = at == search->offset && clang_File_isEqual(file, search->file);
    }
    return search->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* True for an argument of a function that kernels do not have: check_call refuses the call, and a cast would not help. */
static bool is_foreign_argument(const struct checker *checker, CXDiagnostic diagnostic)
{
    char text[512];
    struct call_search search = {.checker = checker};
    check_take_string(clang_getDiagnosticSpelling(diagnostic), text, sizeof text);
    if (!strstr(text, "passing"))
        return false;
    search.offset = check_offset_of(clang_getDiagnosticLocation(diagnostic), &search.file);
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_foreign_call, &search);
    return search.found;
}

static bool refuse_option(struct checker *checker, CXDiagnostic diagnostic, const struct place *place)
{
    char option[96];
    if (checker->macro_is_broken)
        return false;
    check_take_string(clang_getDiagnosticOption(diagnostic, NULL), option, sizeof option);
    if (strcmp(option, "-Wint-conversion") == 0 && is_undeclared_call(checker, diagnostic))
        return true;
    if (option[0] && is_foreign_argument(checker, diagnostic))
        return true;
    if (strstr(" -Wint-conversion -Wincompatible-pointer-types ", option) && option[0] &&
        check_arguments(checker, diagnostic, place))
        return true;
    for (size_t i = 0; i < sizeof option_reasons / sizeof option_reasons[0]; i++) {
        if (strcmp(option_reasons[i].option, option) != 0)
            continue;
        report_refuse(&checker->report, "check", place, "%s", option_reasons[i].reason);
        return true;
    }
    return false;
}

/* Refuses an unknown name, of C's library or another dialect, for which library.c has an advice. */
static bool refuse_library_name(struct checker *checker, const struct place *place, const char *text)
{
    static const char *const beginnings[] = {form_prefix, "unknown type name '"};
    char name[64];
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        const size_t length = strlen(beginnings[i]);
        if (strncmp(text, beginnings[i], length) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(text + length, "'"), text + length);
        if (!library_advice(name))
            return false;
        report_refuse(&checker->report, "check", place, "'%s' is nothing that kernels have: %s", name,
                      library_advice(name));
        return true;
    }
    return false;
}

static void refuse_missing_file(struct checker *checker, const struct place *place, const char *name)
{
    report_refuse(&checker->report, "check", place,
                  "%s: no such file, neither beside this one nor in a folder that -I names", name);
    checker->lacks_file = checker->macro_is_broken = true;
}

static void check_diagnostic(struct checker *checker, CXDiagnostic diagnostic)
{
    char text[512], name[256];
    CXSourceLocation location = clang_getDiagnosticLocation(diagnostic);
    struct place place = check_place_of(location);
    enum owner owner = check_owner_of_use(checker, location);
    check_take_string(clang_getDiagnosticSpelling(diagnostic), text, sizeof text);
    if (!place.file[0])
        return; /* "too many errors" */
    checker->macro_is_broken |= strstr(text, bad_macro) != NULL;
    bool missing = missing_file(text, name, sizeof name);
    if (missing && (owner == OWNER_GYRE || owner == OWNER_SYSTEM))
        snprintf(checker->report.unable, sizeof checker->report.unable,
                 "libclang does not find <%s>: its own headers are "
                 "missing (Debian, Ubuntu: apt install libclang-dev)",
                 name);
    else if (missing && check_is_vendor_header(name))
        return; /* check_include refuses it */
    else if (missing)
        refuse_missing_file(checker, &place, name);
    else if (checker->lacks_file)
        return; /* the error may be a consequence of the missing file */
    else if (check_usage(checker, diagnostic, &place, text))
        return;
    else if (check_refuse_protocol(checker, &place, text, noted_line(checker, diagnostic, defined)))
        return;
    else if (check_refuse_port(checker, diagnostic, &place, text))
        return;
    else if (strncmp(text, twin_prefix, sizeof twin_prefix - 1) == 0)
        refuse_twin(checker, diagnostic, &place, text);
    else if (refuse_option(checker, diagnostic, &place) || refuse_type(checker, &place, text) ||
             refuse_library_name(checker, &place, text) ||
             refuse_late_function(checker, diagnostic, &place, text) ||
             refuse_taken_name(checker, diagnostic, &place, text))
        return;
    else if (strstr(text, "not compatible with any generic association type"))
        report_refuse(
            &checker->report, "check", &place,
            "a pointer that this function does not take: gyre_atomic_add and its kin take one to u32, i32, "
            "u64 or i64 in state, buffers or scratch");
    else if (strcmp(text, twice_static) == 0)
        report_refuse(&checker->report, "check", &place,
                      "GYRE_HELPER and GYRE_CONSTANT are static already: leave `static` out");
    else if (strcmp(text, twice_inline) == 0)
        report_refuse(&checker->report, "check", &place, "GYRE_HELPER is inline already: leave `inline` out");
    else if (!checker->macro_is_broken && is_absent_parameter(text))
        refuse_absent_parameter(checker, &place, text);
    else if (strstr(text, "address space"))
        refuse_address_space(checker, &place, text);
    /* else the error may be a consequence of a finding that settled its line */
    else if (checker->report.settled == 0)
        report_error(&checker->report, &place, text, owner == OWNER_GYRE || owner == OWNER_SYSTEM);
}

/* ---- queries ---- */

static enum CXChildVisitResult find_mark(CXCursor cursor, CXCursor parent, CXClientData found)
{
    char name[64];
    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_EnumDecl)
        return CXChildVisit_Recurse;
    if (clang_getCursorKind(cursor) != CXCursor_EnumConstantDecl)
        return CXChildVisit_Continue;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (!begins_with(name, "gyre_query_of_"))
        return CXChildVisit_Continue;
    *(bool *)found = true;
    return CXChildVisit_Break;
}

/* Refuses a cast that takes `const` away in a file with queries: a query could change its state, and the compilers of devices
 * do not see that. */
static void check_cast(struct checker *checker, CXDiagnostic diagnostic)
{
    char option[96];
    const CXSourceLocation location = clang_getDiagnosticLocation(diagnostic);
    const struct place place = check_place_of(location);
    check_take_string(clang_getDiagnosticOption(diagnostic, NULL), option, sizeof option);
    if (strcmp(option, "-Wcast-qual") == 0 && check_owner_of_use(checker, location) == OWNER_USER)
        report_refuse(
            &checker->report, "check", &place,
            "a cast takes `const` away, in a file with GYRE_QUERY, whose handlers change nothing: keep "
            "`const` in the cast; what changes the state is a GYRE_HANDLER");
}

void check_diagnostics(struct checker *checker)
{
    unsigned count = clang_getNumDiagnostics(checker->unit);
    bool has_queries = false;
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_mark, &has_queries);
    for (unsigned i = 0; i < count; i++) {
        CXDiagnostic diagnostic = clang_getDiagnostic(checker->unit, i);
        if (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error)
            check_diagnostic(checker, diagnostic);
        else if (has_queries)
            check_cast(checker, diagnostic);
        clang_disposeDiagnostic(diagnostic);
    }
}
