/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the hooks of keyed actors: GYRE_KEYED_ACTOR_LIVES declares two functions (dialect/forms.h), which GYRE_BORN and
 * GYRE_PASSIVE define, and GYRE_KEYED_ACTOR_REMINDED one, which GYRE_REMINDED defines. A hook that was left out would be found by the linker alone, one without its
 * actor by a compiler that knows neither. No state.
 */
#include "cli/check/hooks.h"

#include <string.h>

#include "cli/check/places.h"
#include "cli/check/refuse.h"

static const struct hook {
    const char *prefix; /* of the function */
    const char *macro, *form, *what;
} hooks[] = {
    {"gyre_born_", "GYRE_BORN", "GYRE_KEYED_ACTOR_LIVES", "fills in the state of a new key"},
    {"gyre_passive_", "GYRE_PASSIVE", "GYRE_KEYED_ACTOR_LIVES",
     "returns GYRE_LEAVES or GYRE_STAYS when the table is full"},
    {"gyre_reminded_", "GYRE_REMINDED", "GYRE_KEYED_ACTOR_REMINDED", "handles the reminders of keys"},
};

/* Whether a hook is defined that no keyed actor declared. */
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
            check_refuse_at(checker, cursor,
                            "%s(%s) stands behind no %s(%s, ...): declare the keyed actor "
                            "with that, in front of it, or take the hook away",
                            hooks[i].macro, name + length, hooks[i].form, name + length);
        else if (is_left_out)
            check_refuse_at(checker, cursor,
                            "the keyed actor '%s' is declared with %s and has no %s(%s): write it, it "
                            "%s, or declare the actor with GYRE_KEYED_ACTOR",
                            name + length, hooks[i].form, hooks[i].macro, name + length, hooks[i].what);
    }
    return CXChildVisit_Continue;
}

void check_hooks(struct checker *checker)
{
    if (!checker->macro_is_broken)
        clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), visit_function, checker);
}
