/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the handlers of a protocol's types, and migrations: each type has a handler, and each handler and migration has a
 * caller. No state.
 */
#include "cli/check/protocols.h"

#include <string.h>

#include "cli/check/places.h"
#include "cli/check/refuse.h"

static const char takes_prefix[] = "gyre_takes_";        /* dialect/choices.h */
static const char migrate_prefix[] = "gyre_migrate_to_"; /* dialect/forms.h */

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Writes the name of the type to which a pointer parameter points; "" for another parameter. */
static void parameter_type(CXCursor function, unsigned index, char *name, size_t size)
{
    const CXType pointer = clang_getCursorType(clang_Cursor_getArgument(function, index));
    const CXCursor type = clang_getTypeDeclaration(
        clang_getCanonicalType(clang_getPointeeType(clang_getCanonicalType(pointer))));
    check_take_string(clang_getCursorSpelling(type), name, size);
}

/* ---- protocols ---- */

/* A type of a protocol, with the kernel that takes it and the type of that kernel's reply. */
struct taken {
    const char *function; /* gyre_takes_TYPE */
    unsigned line;        /* line of the kernel; 0: no kernel takes the type */
    char kernel[128], reply[128];
};

static enum CXChildVisitResult find_taken(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct taken *taken = data;
    char name[256];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl)
        return CXChildVisit_Continue;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    const unsigned line = check_place_of(clang_getCursorLocation(cursor)).line;
    if (taken->line == 0 && strcmp(name, taken->function) == 0 && !clang_isCursorDefinition(cursor)) {
        taken->line = line;
        parameter_type(cursor, 1, taken->reply, sizeof taken->reply);
    } else if (taken->line == line && begins_with(name, handler_prefix)) {
        snprintf(taken->kernel, sizeof taken->kernel, "%s", name + sizeof handler_prefix - 1);
        return CXChildVisit_Break;
    }
    return CXChildVisit_Continue;
}

/* Finds the kernel by its own declaration of the function that handles the type. */
static bool look_up(const struct checker *checker, const char *function, struct taken *taken)
{
    *taken = (struct taken){.function = function};
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_taken, taken);
    return taken->kernel[0] && taken->reply[0];
}

bool check_refuse_unhandled(struct checker *checker, const char *function, const struct place *place)
{
    struct taken taken;
    if (!begins_with(function, takes_prefix) || !look_up(checker, function, &taken))
        return false;
    const char *type = function + sizeof takes_prefix - 1;
    report_refuse(
        &checker->report, "check", place,
        "'%s' takes '%s' and gives '%s', for which there is no handler: write GYRE_HANDLER(%s, %s, %s)",
        taken.kernel, type, taken.reply, taken.kernel, type, taken.reply);
    return true;
}

/* Takes the name behind the prefix out of a diagnostic that speaks of 'PREFIX...'. */
static bool named_behind(const char *text, const char *beginning, char *name, size_t size)
{
    const size_t length = strlen(beginning);
    if (!begins_with(text, beginning))
        return false;
    snprintf(name, size, "%.*s", (int)strcspn(text + length, "'"), text + length);
    return true;
}

static void refuse_other_reply(struct checker *checker, const char *type, const struct place *place)
{
    char function[160];
    struct taken taken;
    snprintf(function, sizeof function, "%s%s", takes_prefix, type);
    if (look_up(checker, function, &taken))
        report_refuse(
            &checker->report, "check", place,
            "this handler gives another reply than its protocol says: '%s' takes '%s' and gives '%s': write "
            "GYRE_HANDLER(%s, %s, %s)",
            taken.kernel, type, taken.reply, taken.kernel, type, taken.reply);
    else
        report_refuse(&checker->report, "check", place,
                      "there is another handler of '%s', with another reply", type);
}

bool check_refuse_protocol(struct checker *checker, const struct place *place, const char *text,
                           unsigned other_line)
{
    static const char *const of_kernel[] = {"unknown type name 'gyre_state_of_",
                                            "unknown type name 'gyre_visible_to_",
                                            "unknown type name 'gyre_scratch_of_"};
    char name[128];
    for (size_t i = 0; i < sizeof of_kernel / sizeof of_kernel[0]; i++) {
        if (!named_behind(text, of_kernel[i], name, sizeof name))
            continue;
        if (!checker->macro_is_broken)
            report_refuse(
                &checker->report, "check", place,
                "no kernel of several types is named '%s' before this handler: declare GYRE_ACTOR_OF(%s, LIST, "
                "state), GYRE_KERNEL_OF or GYRE_BLOCK_KERNEL_OF first",
                name, name);
        return true;
    }
    if (named_behind(text, "conflicting types for 'gyre_takes_", name, sizeof name))
        refuse_other_reply(checker, name, place);
    else if (named_behind(text, "redefinition of 'gyre_takes_", name, sizeof name))
        report_refuse(
            &checker->report, "check", place,
            "two handlers take '%s', the other one in line %u: in a file a type has one; leave one out", name,
            other_line);
    else
        return begins_with(text, "redefinition of 'gyre_typed_") ||
               begins_with(text, "conflicting types for 'gyre_typed_"); /* the same once more */
    return true;
}

/* Refuses the handler of a type that no kernel before it names. */
static void check_handler(struct checker *checker, CXCursor definition, const char *type)
{
    if (!checker->macro_is_broken && clang_equalCursors(clang_getCanonicalCursor(definition), definition))
        check_refuse_at(
            checker, definition,
            "no protocol of a kernel before it takes '%s', so that this handler never runs: name it in the list, as "
            "in TAKES(%s, reply)",
            type, type);
}

/* ---- migrations ---- */

struct states {
    char state[128]; /* the type of the state that is looked for */
    bool found;
};

static enum CXChildVisitResult find_state(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct states *states = data;
    char name[256], type[128];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl)
        return CXChildVisit_Continue;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (begins_with(name, handler_prefix))
        parameter_type(cursor, 2, type, sizeof type);
    else if (begins_with(name, migrate_prefix)) /* the next migration goes on from there */
        parameter_type(cursor, 0, type, sizeof type);
    else
        return CXChildVisit_Continue;
    states->found = strcmp(type, states->state) == 0;
    return states->found ? CXChildVisit_Break : CXChildVisit_Continue;
}

static void check_migration(struct checker *checker, CXCursor definition)
{
    struct states states = {"", false};
    char before[sizeof states.state];
    parameter_type(definition, 0, before, sizeof before);
    parameter_type(definition, 1, states.state, sizeof states.state);
    if (checker->macro_is_broken || !states.state[0])
        return;
    if (strcmp(before, states.state) == 0) {
        check_refuse_at(
            checker, definition,
            "GYRE_MIGRATE(old, new) leads from '%s' to itself: the old state is that of an earlier version of "
            "the file, which keeps its declaration under another name",
            before);
        return;
    }
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_state, &states);
    if (!states.found)
        check_refuse_at(
            checker, definition,
            "'%s' is the state of no kernel in this file, so that this migration never runs: GYRE_MIGRATE(old, new) "
            "names the state that a kernel has as the new one",
            states.state);
}

static enum CXChildVisitResult visit_definition(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct checker *checker = data;
    char name[256];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl || !clang_isCursorDefinition(cursor) ||
        check_owner_of_use(checker, clang_getCursorLocation(cursor)) != OWNER_USER)
        return CXChildVisit_Continue;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (begins_with(name, takes_prefix))
        check_handler(checker, cursor, name + sizeof takes_prefix - 1);
    else if (begins_with(name, migrate_prefix))
        check_migration(checker, cursor);
    return CXChildVisit_Continue;
}

void check_protocols(struct checker *checker)
{
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), visit_definition, checker);
}
