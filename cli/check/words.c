/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refuses words of C11 and of gcc's C that C++ or OpenCL C lacks. Looks at the user's text word by word, except text that the
 * preprocessor leaves out, and at the macros that the text uses. No state.
 */
#include "cli/check/words.h"

#include <stdlib.h>
#include <string.h>

#include "cli/check/library.h"
#include "cli/check/places.h"

static const struct word {
    const char *word, *advice;
} words[] = {
    {"restrict", "write `__restrict__`, or leave it out"},
    {"_Bool", "use u32 or int for a truth value"},
    {"auto", "leave it out"},
    {"register", "leave it out"},
    {"_Static_assert", "write `typedef char NAME[(CONDITION) ? 1 : -1];`"},
    {"_Generic", "write a GYRE_HELPER function for each type"},
    {"_Alignas", "write `__attribute__((aligned(16)))` behind the name"},
    {"_Alignof", "write `__alignof__`"},
    {"_Noreturn", "leave it out"},
    {"__auto_type", "name the type"},
    {"typeof", "name the type"},
    {"__typeof__", "name the type"},
    {"__typeof", "name the type"},
    {"__extension__", "leave it out"},
    {"__COUNTER__", "write a number, or __LINE__"},
};

static const char *advice_for(const char *text)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, text) == 0)
            return words[i].advice;
    return NULL;
}

/* A word with the words before and behind it, and its place. */
struct pair {
    char earlier[64], before[64], text[64], next[64], after_next[64];
    CXSourceLocation location;
    bool touches; /* no space is between the word and the word before it */
};

/* The brackets that are open. */
struct brackets {
    char open[256];
    unsigned depth; /* number of open brackets, also of those for which there is no room */
};

static void count_bracket(struct brackets *brackets, const char *token)
{
    if (!token[0] || token[1])
        return;
    if (strchr("([{", token[0])) {
        if (brackets->depth < sizeof brackets->open)
            brackets->open[brackets->depth] = token[0];
        brackets->depth++;
    } else if (strchr(")]}", token[0]) && brackets->depth > 0) {
        brackets->depth--;
    }
}

static bool is_in_parentheses(const struct brackets *brackets)
{
    return brackets->depth > 0 && brackets->depth <= sizeof brackets->open &&
           brackets->open[brackets->depth - 1] == '(';
}

static bool ends_text(const char *token)
{
    size_t length = strlen(token);
    return length > 1 && token[0] == '"' && token[length - 1] == '"';
}

static bool is_name(const char *token)
{
    return (token[0] >= 'a' && token[0] <= 'z') || (token[0] >= 'A' && token[0] <= 'Z') || token[0] == '_';
}

static bool is_prefixed_text(const char *token)
{
    return is_name(token) && strpbrk(token, "\"'") != NULL;
}

static bool is_type_word(const char *token)
{
    return strcmp(token, "struct") == 0 || strcmp(token, "union") == 0 || strcmp(token, "enum") == 0;
}

/* True for a name with letters that C++ compilers, NVRTC among them, do not accept. */
static bool is_odd_name(const char *token)
{
    if (!is_name(token) && token[0] != '$' && !((unsigned char)token[0] & 0x80))
        return false;
    for (; *token; token++)
        if (*token == '$' || ((unsigned char)*token & 0x80))
            return !is_prefixed_text(token);
    return false;
}

/* 1LL, 0xffULL, 3llu */
static bool is_long_long(const char *token)
{
    size_t length = strlen(token);
    if (token[0] < '0' || token[0] > '9')
        return false;
    if (token[length - 1] == 'u' || token[length - 1] == 'U')
        length--;
    return length > 2 &&
           (strncmp(token + length - 2, "ll", 2) == 0 || strncmp(token + length - 2, "LL", 2) == 0);
}

/* Refuses `long long`, which has another meaning in OpenCL C; its compilers say nothing. */
static bool check_long_long(struct checker *checker, const struct pair *pair, const struct place *place)
{
    if (strcmp(pair->before, "long") == 0 && strcmp(pair->text, "long") == 0)
        report_refuse(&checker->report, "check", place,
                      "'long long', which has 128 bits in OpenCL C, so that results differ: use i64 or u64");
    else if (is_long_long(pair->text))
        report_refuse(
            &checker->report, "check", place,
            "'%s', which has 128 bits in OpenCL C, so that results differ: write L or UL behind the "
            "number",
            pair->text);
    else
        return false;
    return true;
}

/* `struct {` or `enum name {` where C++ knows no type yet: among parameters, in a cast, in `sizeof`. */
static void check_type_place(struct checker *checker, const struct pair *pair,
                             const struct brackets *brackets, const struct place *place)
{
    if (strcmp(pair->text, "{") == 0 && is_in_parentheses(brackets) &&
        (is_type_word(pair->before) || (is_type_word(pair->earlier) && is_name(pair->before))))
        report_refuse(
            &checker->report, "check", place,
            "a type is declared within round brackets, which C++ and so CUDA's compiler does not take: "
            "declare it in a line of its own before");
}

/* True when the word is the whole argument of a macro, and is not a name that Gyre's macros or the fields of a list expect
 * there. */
static bool is_plain_argument(const struct pair *pair, bool in_list)
{
    if (strcmp(pair->next, ",") != 0 && strcmp(pair->next, ")") != 0)
        return false;
    return (strcmp(pair->before, "(") == 0 && strncmp(pair->earlier, "GYRE_", 5) != 0) ||
           (strcmp(pair->before, ",") == 0 && !in_list);
}

/*
 * Refuses a keyword of C that is used as a name: it stands before one of `= ; , ) [ ]`, or, for `asm`, before the parameters
 * of a function. `in_list`: the word is in the definition of a macro, which may be a list of fields.
 */
static bool check_keyword(struct checker *checker, const struct pair *pair, const struct place *place,
                          bool in_list)
{
    static const char keywords[] =
        " inline asm static extern typedef register auto typeof if for while switch case goto "
        "sizeof struct union enum ";
    char word[72];
    snprintf(word, sizeof word, " %s ", pair->text);
    const bool named = strlen(pair->next) == 1 && strchr("=;,)[]", pair->next[0]) != NULL;
    const bool function = strcmp(pair->text, "asm") == 0 && strcmp(pair->next, "(") == 0 &&
                          is_name(pair->before) && pair->after_next[0] != '"';
    if (!strstr(keywords, word) || (!named && !function) || is_plain_argument(pair, in_list))
        return false;
    report_refuse(&checker->report, "check", place, "the name '%s' is a keyword of C: choose another",
                  pair->text);
    return true;
}

static void check_word(struct checker *checker, const struct pair *pair, bool in_macro)
{
    const char *advice = advice_for(pair->text), *text = pair->text;
    struct place place = check_place_of(pair->location);
    if (check_long_long(checker, pair, &place) || check_keyword(checker, pair, &place, false))
        return;
    if (strcmp(pair->before, "[") == 0 && (strcmp(text, "static") == 0 || strcmp(text, "const") == 0 ||
                                           strcmp(text, "volatile") == 0 || strcmp(text, "restrict") == 0))
        report_refuse(&checker->report, "check", &place,
                      "'%s' between the brackets of a parameter, which C++ and so CUDA's compiler does not "
                      "know: leave it out",
                      text);
    else if (advice)
        report_refuse(&checker->report, "check", &place,
                      "'%s', which C++ and so CUDA's compiler, or OpenCL C, does not know: %s", text, advice);
    else if (pair->touches && ends_text(pair->before) && is_name(text))
        report_refuse(&checker->report, "check", &place,
                      "'%s' right behind a text, which C++ takes for a part of it: put a blank between them",
                      text);
    else if (is_prefixed_text(text))
        report_refuse(
            &checker->report, "check", &place,
            "a text with letters before its quotation mark, which OpenCL C does not know: leave them "
            "out");
    else if (is_odd_name(text))
        report_refuse(
            &checker->report, "check", &place,
            "the name '%s' has letters that CUDA's compiler does not take in names: use a to z, digits "
            "and '_'",
            text);
    else if (in_macro && library_advice(text) && !library_is_defined(checker, text))
        report_refuse(&checker->report, "check", &place,
                      "'%s' is of C's library, which other devices do not have: %s", text,
                      library_advice(text));
}

/* True when the preprocessor left out the text at that offset. */
static bool is_skipped(const CXSourceRangeList *skipped, unsigned offset)
{
    for (unsigned i = 0; skipped && i < skipped->count; i++)
        if (offset >= check_offset_of(clang_getRangeStart(skipped->ranges[i]), NULL) &&
            offset < check_offset_of(clang_getRangeEnd(skipped->ranges[i]), NULL))
            return true;
    return false;
}

static bool is_directive(CXCursor cursor)
{
    return clang_isPreprocessing(clang_getCursorKind(cursor)) &&
           clang_getCursorKind(cursor) != CXCursor_MacroExpansion;
}

/* Spells the next token that is no comment; "" behind the last. *index becomes its index. */
static void spell_next(const struct checker *checker, const CXToken *tokens, unsigned count, unsigned *index,
                       char *text, size_t size)
{
    text[0] = '\0';
    do
        ++*index;
    while (*index < count && clang_getTokenKind(tokens[*index]) == CXToken_Comment);
    if (*index < count)
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[*index]), text, size);
}

/* Judges the words of a file or, with `cursors` NULL, of a macro's body. */
static void check_tokens(struct checker *checker, const CXToken *tokens, const CXCursor *cursors,
                         unsigned count, const CXSourceRangeList *skipped)
{
    struct pair pair = {.before = "", .text = ""};
    struct brackets brackets = {.depth = 0};
    unsigned end = 0;
    for (unsigned i = 0; i < count; i++) {
        CXSourceRange range = clang_getTokenExtent(checker->unit, tokens[i]);
        if (clang_getTokenKind(tokens[i]) == CXToken_Comment)
            continue;
        pair.location = clang_getRangeStart(range);
        memcpy(pair.earlier, pair.before, sizeof pair.earlier);
        memcpy(pair.before, pair.text, sizeof pair.before);
        check_take_string(clang_getTokenSpelling(checker->unit, tokens[i]), pair.text, sizeof pair.text);
        unsigned behind = i;
        spell_next(checker, tokens, count, &behind, pair.next, sizeof pair.next);
        spell_next(checker, tokens, count, &behind, pair.after_next, sizeof pair.after_next);
        pair.touches = check_offset_of(pair.location, NULL) == end;
        end = check_offset_of(clang_getRangeEnd(range), NULL);
        if (is_skipped(skipped, check_offset_of(pair.location, NULL)))
            continue;
        struct place place = check_place_of(pair.location);
        if (cursors && is_directive(cursors[i])) {
            if (clang_getCursorKind(cursors[i]) == CXCursor_MacroDefinition)
                check_keyword(checker, &pair, &place, true);
            continue;
        }
        check_word(checker, &pair, !cursors);
        check_type_place(checker, &pair, &brackets, &place);
        count_bracket(&brackets, pair.text);
    }
}

void check_macro_words(struct checker *checker, CXCursor definition)
{
    CXToken *tokens = NULL;
    unsigned count = 0;
    struct place place = check_place_of(clang_getCursorLocation(definition));
    if (report_has_line(&checker->report, &place))
        return; /* the macro was used before, and was judged then */
    clang_tokenize(checker->unit, clang_getCursorExtent(definition), &tokens, &count);
    if (count > 0) /* the first token is the macro's name */
        check_tokens(checker, tokens + 1, NULL, count - 1, NULL);
    clang_disposeTokens(checker->unit, tokens, count);
}

static void check_file(CXFile file, CXSourceLocation *stack, unsigned depth, CXClientData data)
{
    struct checker *checker = data;
    CXToken *tokens = NULL;
    unsigned count = 0;
    size_t size = 0;
    (void)stack;
    (void)depth;
    if (check_owner_of_file(checker, file) != OWNER_USER ||
        !clang_getFileContents(checker->unit, file, &size))
        return;
    CXSourceRange whole = clang_getRange(clang_getLocationForOffset(checker->unit, file, 0),
                                         clang_getLocationForOffset(checker->unit, file, (unsigned)size));
    clang_tokenize(checker->unit, whole, &tokens, &count);
    CXCursor *cursors = calloc(count + 1, sizeof *cursors);
    if (cursors) {
        CXSourceRangeList *skipped = clang_getSkippedRanges(checker->unit, file);
        clang_annotateTokens(checker->unit, tokens, count, cursors);
        check_tokens(checker, tokens, cursors, count, skipped);
        clang_disposeSourceRangeList(skipped);
    }
    free(cursors);
    clang_disposeTokens(checker->unit, tokens, count);
}

void check_words(struct checker *checker)
{
    clang_getInclusions(checker->unit, check_file, checker);
}
