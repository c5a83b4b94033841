/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refuses types and macros of C's library (library.c) in a kernel, unless the user's text defines the name. Also sees the
 * macros that a kernel expands, in their order: judges a macro of the user word by word, and notes a macro of Gyre that comes
 * too early. No state.
 */
#include "cli/check/library_uses.h"

#include <string.h>

#include "cli/check/includes.h"
#include "cli/check/library.h"
#include "cli/check/places.h"
#include "cli/check/words.h"

static void refuse_library_name(struct checker *checker, const struct place *place, const char *name)
{
    const char *advice = library_advice(name);
    report_refuse(&checker->report, "check", place,
                  "'%s' is of C's library, which other devices do not have: %s", name,
                  advice ? advice : "use what <gyre/kernel.h> names, or a definition of your own");
}

/* True when every dialect has the name without a header. */
static bool is_everywhere(const char *name)
{
    return strcmp(name, "size_t") == 0 || strcmp(name, "ptrdiff_t") == 0 || strcmp(name, "NULL") == 0;
}

/* True when the name stands there in the user's text, so that no macro made it. */
static bool is_written(const struct checker *checker, CXCursor cursor, const char *name)
{
    char text[128];
    return strcmp(check_first_token(checker, cursor, text, sizeof text), name) == 0;
}

void check_library_type(struct checker *checker, CXCursor reference)
{
    char name[128];
    CXCursor type = clang_getCursorReferenced(reference);
    check_take_string(clang_getCursorSpelling(type), name, sizeof name);
    if (clang_getCursorKind(type) != CXCursor_TypedefDecl || is_everywhere(name) ||
        check_owner_of_use(checker, clang_getCursorLocation(type)) != OWNER_SYSTEM ||
        !is_written(checker, reference, name))
        return;
    struct place place = check_place_of(clang_getCursorLocation(reference));
    refuse_library_name(checker, &place, name);
}

void check_expansion(struct checker *checker, CXCursor expansion)
{
    char name[128];
    CXSourceLocation location = clang_getCursorLocation(expansion);
    if (check_owner_of_use(checker, location) != OWNER_USER)
        return;
    CXCursor macro = clang_getCursorReferenced(expansion);
    enum owner owner = check_owner_of_use(checker, clang_getCursorLocation(macro));
    check_take_string(clang_getCursorSpelling(expansion), name, sizeof name);
    struct place place = check_place_of(location);
    if (owner == OWNER_GYRE)
        check_note_declaration(checker, name);
    if (owner == OWNER_USER)
        check_macro_words(checker, macro);
    else if (owner == OWNER_SYSTEM && !is_everywhere(name) && is_written(checker, expansion, name) &&
             !library_is_defined(checker, name))
        refuse_library_name(checker, &place, name);
}
