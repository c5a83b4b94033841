/* SPDX-License-Identifier: Apache-2.0 */
/* Finds names that look like a macro of Gyre's and are none. The parser takes such a name for a declared function. No state. */
#include "cli/check/lost_macros.h"

#include <string.h>

#include "cli/check/places.h"

static const char prefix[] = "GYRE_";

/* The macros that a kernel file declares with, without the prefix. */
static const char *const macros[] = {"KERNEL",
                                     "KERNEL_WITH",
                                     "KERNEL_OF",
                                     "KERNEL_OF_WITH",
                                     "BLOCK_KERNEL",
                                     "BLOCK_KERNEL_OF",
                                     "BLOCK_KERNEL_WITH",
                                     "BLOCK_KERNEL_OF_WITH",
                                     "GRID_KERNEL",
                                     "GRID_KERNEL_WITH",
                                     "ACTOR",
                                     "ACTOR_WITH",
                                     "ACTOR_OF",
                                     "ACTOR_OF_WITH",
                                     "KEYED_ACTOR",
                                     "KEYED_ACTOR_LIVES",
                                     "KEYED_ACTOR_REMINDED",
                                     "KEYED_ACTOR_LIVES_REMINDED",
                                     "BORN",
                                     "PASSIVE",
                                     "REMINDED",
                                     "KERNEL_TO",
                                     "KERNEL_TO_WITH",
                                     "BLOCK_KERNEL_TO",
                                     "BLOCK_KERNEL_TO_WITH",
                                     "GRID_KERNEL_TO",
                                     "GRID_KERNEL_TO_WITH",
                                     "ACTOR_TO",
                                     "ACTOR_TO_WITH",
                                     "KEYED_ACTOR_TO",
                                     "KEYED_ACTOR_LIVES_TO",
                                     "KEYED_ACTOR_REMINDED_TO",
                                     "KEYED_ACTOR_LIVES_REMINDED_TO",
                                     "KERNEL_OF_TO",
                                     "KERNEL_OF_TO_WITH",
                                     "BLOCK_KERNEL_OF_TO",
                                     "BLOCK_KERNEL_OF_TO_WITH",
                                     "ACTOR_OF_TO",
                                     "ACTOR_OF_TO_WITH",
                                     "PORTS",
                                     "HANDLER_TO",
                                     "HANDLER",
                                     "QUERY",
                                     "MIGRATE",
                                     "HELPER",
                                     "CONSTANT",
                                     "BUFFERS",
                                     "MESSAGE",
                                     "MESSAGE_TAIL",
                                     "PROTOCOL",
                                     "SPAN",
                                     "OPTIONAL",
                                     "WIRE"};

static unsigned smallest_of(unsigned a, unsigned b, unsigned c)
{
    const unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

unsigned check_name_distance(const char *a, const char *b)
{
    unsigned row[NAME_SIZE];
    const size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1]; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= length; j++) {
            const unsigned above = row[j];
            row[j] = smallest_of(row[j - 1] + 1, above + 1, corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[length];
}

/* The macro whose name is nearest to a name without the prefix; NULL when none is near. */
static const char *nearest_macro(const char *name)
{
    const char *nearest = NULL;
    unsigned least = (unsigned)(strlen(name) + 1) / 3 + 1;
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++) {
        const unsigned distance = check_name_distance(name, macros[i]);
        if (distance >= least)
            continue;
        least = distance;
        nearest = macros[i];
    }
    return nearest;
}

static void refuse_lost_macro(struct checker *checker, const struct place *place, const char *name)
{
    char question[NAME_SIZE + 32] = "";
    const char *rest = name + sizeof prefix - 1;
    const char *near = strlen(name) < NAME_SIZE ? nearest_macro(rest) : NULL;
    if (near && strcmp(near, rest) != 0) /* where they are equal, the header is missing */
        snprintf(question, sizeof question, "did you mean '%s%s'? ", prefix, near);
    report_refuse(
        &checker->report, "check", place,
        "there is no '%s' here%s%s<gyre/kernel.h>, which a kernel file includes first, has "
        "GYRE_KERNEL, GYRE_BLOCK_KERNEL, GYRE_GRID_KERNEL, GYRE_ACTOR, these with _WITH, GYRE_ACTOR_OF and its kin, "
        "GYRE_KEYED_ACTOR, GYRE_KERNEL_TO and its kin, GYRE_HANDLER, GYRE_QUERY, GYRE_MIGRATE, GYRE_BUFFERS, GYRE_PORTS and GYRE_PORTS_WITH_ASKS, GYRE_HELPER and GYRE_CONSTANT, and "
        "<gyre/message.h> has GYRE_MESSAGE, GYRE_MESSAGE_TAIL and GYRE_PROTOCOL",
        name, question[0] ? "; " : ": ", question);
}

bool check_is_lost_macro(struct checker *checker, const struct place *place, const char *name)
{
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    if (!checker->macro_is_broken)
        refuse_lost_macro(checker, place, name);
    checker->macro_is_broken = true;
    return true;
}

static bool is_macro(const char *name)
{
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++)
        if (strncmp(name, prefix, sizeof prefix - 1) == 0 && strcmp(name + sizeof prefix - 1, macros[i]) == 0)
            return true;
    return false;
}

static enum CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct checker *checker = data;
    const enum CXCursorKind kind = clang_getCursorKind(cursor);
    const CXSourceLocation location = clang_getCursorLocation(cursor);
    char name[128];
    (void)parent;
    if ((kind != CXCursor_FunctionDecl && kind != CXCursor_VarDecl) ||
        check_owner_of_use(checker, location) != OWNER_USER)
        return CXChildVisit_Continue;
    const struct place place = check_place_of(location);
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (!is_macro(name)) /* a wrong call of an existing macro is the parser's error */
        check_is_lost_macro(checker, &place, name);
    return CXChildVisit_Continue;
}

void check_lost_macros(struct checker *checker)
{
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), visit_declaration, checker);
}
