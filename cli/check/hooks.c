/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the hooks of keyed actors: GYRE_KEYED_ACTOR_LIVES declares two functions (dialect/forms.h), which GYRE_BORN and
 * GYRE_PASSIVE define. A hook that was left out would be found by the linker alone, one without its
 * actor by a compiler that knows neither. No state.
 */
#include "cli/check/hooks.h"

#include <string.h>

#include "cli/check/places.h"
#include "cli/check/refuse.h"

static const struct hook {
    const char *prefix; /* of the function */
    const char *macro, *what;
} hooks[] = {
    {"gyre_born_", "GYRE_BORN", "fills in the state of a new key"},
    {"gyre_passive_", "GYRE_PASSIVE", "returns GYRE_LEAVES or GYRE_STAYS when the table is full"},
};

/* Whether a hook is defined that no GYRE_KEYED_ACTOR_LIVES declared. */
static bool is_undeclared(CXCursor cursor)
{
    return clang_isCursorDefinition(cursor) && clang_equalCursors(clang_getCanonicalCursor(cursor), cursor);
}

static enum CXChildVisitResult visit_function(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct checker *checker = data;
    char name[128];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl)
        return CXChildVisit_Continue;
    const bool is_left_out = clang_Cursor_isNull(clang_getCursorDefinition(cursor));
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++) {
        const size_t length = strlen(hooks[i].prefix);
        if (strncmp(name, hooks[i].prefix, length) != 0)
            continue;
        if (is_undeclared(cursor))
            check_refuse_at(
                checker, cursor,
                "%s(%s) stands behind no GYRE_KEYED_ACTOR_LIVES(%s, ...): declare the keyed actor "
                "with that, in front of it, or take the hook away",
                hooks[i].macro, name + length, name + length);
        else if (is_left_out)
            check_refuse_at(
                checker, cursor,
                "the keyed actor '%s' is declared with GYRE_KEYED_ACTOR_LIVES and has no %s(%s): write it, it "
                "%s, or declare the actor with GYRE_KEYED_ACTOR",
                name + length, hooks[i].macro, name + length, hooks[i].what);
    }
    return CXChildVisit_Continue;
}

void check_hooks(struct checker *checker)
{
    if (!checker->macro_is_broken)
        clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), visit_function, checker);
}
