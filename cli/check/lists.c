/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the arguments of Gyre's macros. Refuses a list that is not declared, a field that is a pointer, parameters in the
 * place of a message's name, and a ';' in front of a handler's body. Runs before the parser's errors become findings,
 * because these errors follow from such arguments. No state.
 */
#include "cli/check/lists.h"

#include <string.h>

#include "cli/check/lost_macros.h"
#include "cli/check/places.h"

enum { ARGUMENTS_MAX = 8 };

/* Gyre's macros, and which argument, from 0 on, is a list or a number. The other arguments are names of messages, or words. */
static const struct taker {
    const char *macro;
    int list;   /* -1: none */
    int number; /* -1: none */
} takers[] = {
    {"GYRE_MESSAGE", 1, -1},
    {"GYRE_MESSAGE_TAIL", 1, 2},
    {"GYRE_PROTOCOL", 1, -1},
    {"GYRE_BUFFERS", 1, -1},
    {"GYRE_KERNEL", -1, -1},
    {"GYRE_KERNEL_WITH", -1, -1},
    {"GYRE_BLOCK_KERNEL", -1, -1},
    {"GYRE_BLOCK_KERNEL_WITH", -1, -1},
    {"GYRE_GRID_KERNEL", -1, -1},
    {"GYRE_GRID_KERNEL_WITH", -1, -1},
    {"GYRE_ACTOR", -1, -1},
    {"GYRE_ACTOR_WITH", -1, -1},
    {"GYRE_KERNEL_OF", 1, -1},
    {"GYRE_KERNEL_OF_WITH", 1, -1},
    {"GYRE_BLOCK_KERNEL_OF", 1, -1},
    {"GYRE_BLOCK_KERNEL_OF_WITH", 1, -1},
    {"GYRE_ACTOR_OF", 1, -1},
    {"GYRE_ACTOR_OF_WITH", 1, -1},
    {"GYRE_KEYED_ACTOR", -1, -1},
    {"GYRE_KEYED_ACTOR_LIVES", -1, -1},
    {"GYRE_KEYED_ACTOR_REMINDED", -1, -1},
    {"GYRE_KEYED_ACTOR_LIVES_REMINDED", -1, -1},
    {"GYRE_PORTS", 1, -1},
    {"GYRE_PORTS_WITH_ASKS", 1, -1},
    {"GYRE_KERNEL_TO", -1, -1},
    {"GYRE_KERNEL_TO_WITH", -1, -1},
    {"GYRE_BLOCK_KERNEL_TO", -1, -1},
    {"GYRE_BLOCK_KERNEL_TO_WITH", -1, -1},
    {"GYRE_GRID_KERNEL_TO", -1, -1},
    {"GYRE_GRID_KERNEL_TO_WITH", -1, -1},
    {"GYRE_ACTOR_TO", -1, -1},
    {"GYRE_ACTOR_TO_WITH", -1, -1},
    {"GYRE_KEYED_ACTOR_TO", -1, -1},
    {"GYRE_KEYED_ACTOR_LIVES_TO", -1, -1},
    {"GYRE_KEYED_ACTOR_REMINDED_TO", -1, -1},
    {"GYRE_KEYED_ACTOR_LIVES_REMINDED_TO", -1, -1},
    {"GYRE_KERNEL_OF_TO", 1, -1},
    {"GYRE_KERNEL_OF_TO_WITH", 1, -1},
    {"GYRE_BLOCK_KERNEL_OF_TO", 1, -1},
    {"GYRE_BLOCK_KERNEL_OF_TO_WITH", 1, -1},
    {"GYRE_ACTOR_OF_TO", 1, -1},
    {"GYRE_ACTOR_OF_TO_WITH", 1, -1},
    {"GYRE_HANDLER_TO", -1, -1},
    {"GYRE_HANDLER", -1, -1},
    {"GYRE_QUERY", -1, -1},
    {"GYRE_MIGRATE", -1, -1},
};

struct argument {
    char first[NAME_SIZE], second[NAME_SIZE];
    unsigned words;
    CXSourceLocation location;
};

static const struct taker *taker_of(const char *macro)
{
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++)
        if (strcmp(takers[i].macro, macro) == 0)
            return &takers[i];
    return NULL;
}

/* Adds a token to the argument that it belongs to. */
static void add_word(const struct checker *checker, CXToken token, const char *text,
                     struct argument *argument)
{
    if (argument->words == 0) {
        argument->location = clang_getTokenLocation(checker->unit, token);
        snprintf(argument->first, sizeof argument->first, "%s", text);
    } else if (argument->words == 1) {
        snprintf(argument->second, sizeof argument->second, "%s", text);
    }
    argument->words++;
}

/* Reads the arguments between the brackets. Returns their number; 0 when another macro expands this macro. */
static unsigned read_arguments(const struct checker *checker, CXCursor expansion, const char *macro,
                               struct argument arguments[ARGUMENTS_MAX])
{
    CXToken *tokens = NULL;
    unsigned count = 0, depth = 0, at = 0;
    char text[NAME_SIZE], first[NAME_SIZE];
    memset(arguments, 0, ARGUMENTS_MAX * sizeof arguments[0]);
    if (strcmp(check_first_token(checker, expansion, first, sizeof first), macro) != 0)
        return 0; /* a macro of the user's uses it */
    clang_tokenize(checker->unit, clang_getCursorExtent(expansion), &tokens, &count);
    for (unsigned i = 1; i < count && at < ARGUMENTS_MAX; i++) {
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), text, sizeof text);
        depth -= strcmp(text, ")") == 0;
        if (depth == 1 && strcmp(text, ",") == 0)
            at++;
        else if (depth >= 1 && clang_getTokenKind(tokens[i]) != CXToken_Comment)
            add_word(checker, tokens[i], text, &arguments[at]);
        depth += strcmp(text, "(") == 0;
    }
    clang_disposeTokens(checker->unit, tokens, count);
    return at < ARGUMENTS_MAX ? at + 1 : ARGUMENTS_MAX;
}

/* ---- lists ---- */

/* A search among the macros before an expansion, for the name nearest to an undeclared one. */
struct search {
    const struct checker *checker;
    CXCursor expansion, found;
    const char *name;
    char nearest[NAME_SIZE];
    unsigned least; /* distance of the nearest name */
};

static enum CXChildVisitResult find_macro(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct search *search = data;
    char name[NAME_SIZE];
    (void)parent;
    if (clang_equalCursors(cursor, search->expansion))
        return CXChildVisit_Break;
    if (clang_getCursorKind(cursor) != CXCursor_MacroDefinition)
        return CXChildVisit_Continue;
    check_take_string(clang_getCursorSpelling(cursor), name, sizeof name);
    if (strcmp(name, search->name) == 0)
        search->found = cursor;
    if (check_owner_of_use(search->checker, clang_getCursorLocation(cursor)) != OWNER_USER)
        return CXChildVisit_Continue;
    const unsigned far = check_name_distance(name, search->name);
    if (far < search->least) {
        search->least = far;
        memcpy(search->nearest, name, sizeof name);
    }
    return CXChildVisit_Continue;
}

static void refuse_absent(struct checker *checker, const struct argument *argument,
                          const struct search *search)
{
    const struct place place = check_place_of(argument->location);
    const unsigned allowed = (unsigned)(strlen(argument->first) + 1) / 3;
    if (search->nearest[0] && search->least <= (allowed > 0 ? allowed : 1) &&
        search->least < strlen(argument->first))
        report_refuse(&checker->report, "check", &place, "there is no list %s before it; did you mean %s?",
                      argument->first, search->nearest);
    else
        report_refuse(
            &checker->report, "check", &place,
            "there is no list %s before it: write one, as `#define %s(FIELD) FIELD(u32, a)` for a message, "
            "`#define %s(TAKES) TAKES(request, reply)` for a protocol or `#define %s(PORT) PORT(message, name, 8)` for "
            "ports",
            argument->first, argument->first, argument->first, argument->first);
    checker->macro_is_broken = true; /* later errors may be consequences of this one */
}

/* Refuses pointers as fields, `FIELD(u32 *, a)` and `FIELD(u32, *a)`. A `*` between brackets belongs to an array length. */
static void check_fields(struct checker *checker, CXCursor list)
{
    CXToken *tokens = NULL;
    unsigned count = 0, brackets = 0;
    char text[NAME_SIZE];
    if (check_owner_of_use(checker, clang_getCursorLocation(list)) != OWNER_USER)
        return;
    clang_tokenize(checker->unit, clang_getCursorExtent(list), &tokens, &count);
    for (unsigned i = 0; i < count; i++) {
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), text, sizeof text);
        brackets += strcmp(text, "[") == 0;
        brackets -= strcmp(text, "]") == 0 && brackets > 0;
        if (brackets > 0 || strcmp(text, "*") != 0)
            continue;
        const struct place place = check_place_of(clang_getTokenLocation(checker->unit, tokens[i]));
        report_refuse(
            &checker->report, "check", &place,
            "a field is no pointer, which means nothing elsewhere: what varies in length is utf8 or "
            "span_u32 and its kin in a GYRE_MESSAGE_TAIL, and a gyre_handle names a buffer");
        checker->macro_is_broken = true;
    }
    clang_disposeTokens(checker->unit, tokens, count);
}

/* Refuses a list and a name that stand in each other's place: `GYRE_ACTOR_OF(DESK, desk, ledger)`. */
static bool refuse_swapped(struct checker *checker, CXCursor expansion, const char *macro,
                           const struct argument *name, const struct argument *list)
{
    struct search search = {checker, expansion, clang_getNullCursor(), name->first, "", NAME_SIZE};
    if (name->words != 1)
        return false;
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_macro, &search);
    if (clang_Cursor_isNull(search.found) || !clang_Cursor_isMacroFunctionLike(search.found))
        return false;
    const struct place place = check_place_of(name->location);
    report_refuse(
        &checker->report, "check", &place,
        "the arguments of %s are swapped: '%s' is a list, and '%s' is none; the name comes first: write %s(%s, "
        "%s%s)",
        macro, name->first, list->first, macro, list->first, name->first,
        strstr(macro, "_OF") || strstr(macro, "TAIL") ? ", ..." : "");
    checker->macro_is_broken = true; /* later errors may be consequences of this one */
    return true;
}

/* ---- names in a list ---- */

static bool is_word(const char *text)
{
    return (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') || text[0] == '_';
}

/* True for a word that C has itself, so that nothing can be called by it. */
static bool is_word_of_c(const char *text)
{
    static const char words[] =
        " asm auto break case char const continue default do double else enum extern float for goto if inline int long "
        "register restrict return short signed sizeof static struct switch typedef typeof union unsigned void volatile "
        "while NULL ";
    char word[NAME_SIZE + 2];
    snprintf(word, sizeof word, " %s ", text);
    return strstr(words, word) != NULL;
}

/* Refuses a name that is a word of C. The parser's words about it are many, and name no name. */
static bool refuse_word_of_c(struct checker *checker, const char *name, CXSourceLocation location)
{
    const struct place place = check_place_of(location);
    if (!is_word_of_c(name))
        return false;
    report_refuse(&checker->report, "check", &place, "the name '%s' is a %s of C: choose another", name,
                  strcmp(name, "NULL") == 0 ? "macro" : "keyword");
    checker->macro_is_broken = true; /* later errors may be consequences of this one */
    return true;
}

/* What a list declares by: the parameters of its macro, as in `#define PORTS_OF_MINE(PORT, ASK)`. */
struct declarers {
    char names[2][NAME_SIZE];
    unsigned count;
};

/* The number of the parameter, from 1 on; 0: none of that name. */
static unsigned declarer_of(const struct declarers *declarers, const char *name)
{
    for (unsigned i = 0; i < declarers->count; i++)
        if (strcmp(declarers->names[i], name) == 0)
            return i + 1;
    return 0;
}

/* Reads `NAME(FIRST, SECOND)` at the start of a macro's definition. Returns the index of the first token behind it. */
static unsigned read_declarers(const struct checker *checker, const CXToken *tokens, unsigned count,
                               struct declarers *declarers)
{
    char text[NAME_SIZE];
    *declarers = (struct declarers){.count = 0};
    for (unsigned i = 2; i < count; i++) {
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), text, sizeof text);
        if (strcmp(text, ")") == 0)
            return i + 1;
        if (is_word(text) && declarers->count < 2)
            memcpy(declarers->names[declarers->count++], text, sizeof text);
    }
    return count;
}

/* Judges the name that `FIELD(type, name ...` declares. `second`: it stands behind the second comma, as in ASK(request, reply, name, 1). */
static void check_name(struct checker *checker, const CXToken *tokens, unsigned count, bool second,
                       const struct declarers *declarers)
{
    char text[NAME_SIZE];
    unsigned commas = 0, i = 0;
    for (; i < count && commas < (second ? 2u : 1u); i++)
        commas +=
            strcmp(check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), text, sizeof text),
                   ",") == 0;
    if (i >= count)
        return;
    const CXSourceLocation location = clang_getTokenLocation(checker->unit, tokens[i]);
    const struct place place = check_place_of(location);
    check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), text, sizeof text);
    if (refuse_word_of_c(checker, text, location) || !declarer_of(declarers, text))
        return;
    report_refuse(
        &checker->report, "check", &place,
        "the name '%s' is that of the list's own parameter, which the preprocessor replaces: choose another",
        text);
    checker->macro_is_broken = true; /* later errors may be consequences of this one */
}

/* Whether `FIELD(type, name)` in front of the token `behind` has that name, from the token `first` on. */
static bool is_declared_before(const struct checker *checker, const CXToken *tokens, unsigned first,
                               unsigned behind, const char *name, const struct declarers *declarers)
{
    char text[3][NAME_SIZE];
    for (unsigned i = first; i + 4 < behind; i++) {
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), text[0], NAME_SIZE);
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i + 3]), text[1], NAME_SIZE);
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i + 4]), text[2], NAME_SIZE);
        if (declarer_of(declarers, text[0]) && strcmp(text[1], ",") == 0 && strcmp(text[2], name) == 0)
            return true;
    }
    return false;
}

/* Refuses a field that is called as the type of a later one: CUDA compiles as C++, where that name is no type any more. */
static void refuse_hidden_type(struct checker *checker, const CXToken *tokens, unsigned first, unsigned at,
                               const struct declarers *declarers)
{
    char type[NAME_SIZE];
    check_take_string(clang_getTokenSpelling(checker->unit, tokens[at + 2]), type, sizeof type);
    if (!is_declared_before(checker, tokens, first, at, type, declarers))
        return;
    const struct place place = check_place_of(clang_getTokenLocation(checker->unit, tokens[at + 2]));
    report_refuse(
        &checker->report, "check", &place,
        "a field is called '%s' as the type of a later field of its message, which C++ and so CUDA's compiler does "
        "not take: give that field another name",
        type);
    checker->macro_is_broken = true; /* later errors may be consequences of this one */
}

/* Judges the names that a list of fields, buffers or ports declares. */
static void check_names(struct checker *checker, const char *macro, CXCursor list)
{
    CXToken *tokens = NULL;
    unsigned count = 0;
    char text[NAME_SIZE];
    struct declarers declarers;
    if (check_owner_of_use(checker, clang_getCursorLocation(list)) != OWNER_USER)
        return;
    clang_tokenize(checker->unit, clang_getCursorExtent(list), &tokens, &count);
    const unsigned first = read_declarers(checker, tokens, count, &declarers);
    for (unsigned i = first; i + 2 < count; i++) {
        const unsigned declarer =
            declarer_of(&declarers, check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), text,
                                                      sizeof text));
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i + 1]), text, sizeof text);
        if (declarer == 0 || strcmp(text, "(") != 0)
            continue;
        if (strncmp(macro, "GYRE_MESSAGE", 12) == 0)
            refuse_hidden_type(checker, tokens, first, i, &declarers);
        check_name(checker, tokens + i + 2, count - i - 2,
                   declarer == 2 && strcmp(macro, "GYRE_PORTS_WITH_ASKS") == 0, &declarers);
    }
    clang_disposeTokens(checker->unit, tokens, count);
}

/* True for macros whose first argument becomes a type; that of the others only a part of names. */
static bool declares_type(const char *macro)
{
    static const char *const declaring[] = {"GYRE_MESSAGE", "GYRE_MESSAGE_TAIL", "GYRE_BUFFERS", "GYRE_PORTS",
                                            "GYRE_PORTS_WITH_ASKS"};
    for (size_t i = 0; i < sizeof declaring / sizeof declaring[0]; i++)
        if (strcmp(macro, declaring[i]) == 0)
            return true;
    return false;
}

/* `name`: the argument in front of the list. */
static void check_list(struct checker *checker, CXCursor expansion, const char *macro,
                       const struct argument *name, const struct argument *list)
{
    struct search search = {checker, expansion, clang_getNullCursor(), list->first, "", NAME_SIZE};
    if (list->words != 1)
        return;
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), find_macro, &search);
    const bool absent = clang_Cursor_isNull(search.found);
    if (absent && refuse_swapped(checker, expansion, macro, name, list))
        return;
    if (absent)
        refuse_absent(checker, list, &search);
    else if (strncmp(macro, "GYRE_MESSAGE", 12) == 0)
        check_fields(checker, search.found);
    if (!absent && declares_type(macro)) {
        refuse_word_of_c(checker, name->first, name->location);
        check_names(checker, macro, search.found);
    }
}

/* ---- names of messages ---- */

/* Refuses parameters like those of a function: `GYRE_KERNEL(add, u32 a, u32 b)`. */
static void check_argument(struct checker *checker, const struct argument *argument, const char *macro)
{
    const struct place place = check_place_of(argument->location);
    if (argument->words < 2 || !is_word(argument->first) || !is_word(argument->second) ||
        strcmp(argument->first, "struct") == 0 || strcmp(argument->first, "union") == 0)
        return; /* a type of two words, which a scratch may have */
    report_refuse(
        &checker->report, "check", &place,
        "'%s %s' is a parameter, where %s takes the name of a message: declare that with GYRE_MESSAGE, and "
        "write its name alone",
        argument->first, argument->second, macro);
    checker->macro_is_broken = true;
}

/* ---- what stands behind a macro ---- */

/* True for macros that end with the head of a handler, whose body stands behind them. */
static bool has_body(const char *macro)
{
    static const char *const bodiless[] = {"GYRE_MESSAGE", "GYRE_PROTOCOL", "GYRE_BUFFERS", "GYRE_PORTS"};
    for (size_t i = 0; i < sizeof bodiless / sizeof bodiless[0]; i++)
        if (strncmp(macro, bodiless[i], strlen(bodiless[i])) == 0)
            return false;
    return strstr(macro, "_OF") == NULL;
}

/* The location that many letters behind another one, or the end of the file. */
static CXSourceLocation location_behind(const struct checker *checker, CXSourceLocation location,
                                        unsigned letters)
{
    CXFile file = NULL;
    size_t size = 0;
    const unsigned offset = check_offset_of(location, &file) + letters;
    clang_getFileContents(checker->unit, file, &size);
    return clang_getLocationForOffset(checker->unit, file, offset < size ? offset : (unsigned)size);
}

/* The ';' between a macro's brackets and a '{' behind it; a null location when these two do not stand there. */
static CXSourceLocation semicolon_behind(const struct checker *checker, CXCursor expansion)
{
    enum { LOOKED_AT = 300 }; /* letters: room for a comment */
    CXToken *tokens = NULL;
    unsigned count = 0, seen = 0;
    char text[NAME_SIZE], found[3] = "";
    CXSourceLocation semicolon = clang_getNullLocation();
    const CXSourceLocation end = clang_getRangeEnd(clang_getCursorExtent(expansion));
    clang_tokenize(checker->unit,
                   clang_getRange(location_behind(checker, end, 0), location_behind(checker, end, LOOKED_AT)),
                   &tokens, &count);
    for (unsigned i = 0; i < count && seen < 2; i++) {
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), text, sizeof text);
        if (clang_getTokenKind(tokens[i]) == CXToken_Comment || (seen == 0 && strcmp(text, ")") == 0))
            continue;
        if (seen == 0)
            semicolon = clang_getTokenLocation(checker->unit, tokens[i]);
        found[seen++] = text[0];
    }
    clang_disposeTokens(checker->unit, tokens, count);
    return strcmp(found, ";{") == 0 ? semicolon : clang_getNullLocation();
}

/* Refuses `GYRE_KERNEL(add, add_request, add_reply); { ... }`. */
static void check_semicolon(struct checker *checker, CXCursor expansion, const char *macro)
{
    if (!has_body(macro))
        return;
    const struct place place = check_place_of(semicolon_behind(checker, expansion));
    if (!place.file[0])
        return;
    report_refuse(
        &checker->report, "check", &place,
        "a ';' stands between %s(...) and the body of its handler: leave the ';' out, so that the '{' "
        "follows the ')'",
        macro);
    checker->macro_is_broken = true; /* later errors may be consequences of this one */
}

static enum CXChildVisitResult visit_expansion(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct checker *checker = data;
    struct argument arguments[ARGUMENTS_MAX];
    char macro[NAME_SIZE];
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_MacroExpansion ||
        check_owner_of_use(checker, clang_getCursorLocation(cursor)) != OWNER_USER)
        return CXChildVisit_Continue;
    const struct taker *taker =
        taker_of(check_take_string(clang_getCursorSpelling(cursor), macro, sizeof macro));
    if (strcmp(macro, "GYRE_PORTS_WITH_ASKS") == 0) {
        const struct place place = check_place_of(clang_getCursorLocation(cursor));
        report_only_some(&checker->report, "ASK", true, &place);
    }
    const unsigned count = taker ? read_arguments(checker, cursor, macro, arguments) : 0;
    if (count > 0)
        check_semicolon(checker, cursor, macro);
    for (int i = 0; i < (int)count; i++) {
        if (i == taker->list)
            check_list(checker, cursor, macro, &arguments[i - 1], &arguments[i]);
        else if (i != taker->number)
            check_argument(checker, &arguments[i], macro);
    }
    return CXChildVisit_Continue;
}

void check_lists(struct checker *checker)
{
    clang_visitChildren(clang_getTranslationUnitCursor(checker->unit), visit_expansion, checker);
    report_settle(&checker->report);
}
