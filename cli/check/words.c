/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule: words of C11 and of gcc's C that C++ or OpenCL C lack. Looks at what the user wrote, word by word: where
 * the preprocessor left it in, and in the macros that are used. No state.
 */
#include "checker.h"

#include <stdlib.h>
#include <string.h>

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
};

static const char *advice_for(const char *text)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, text) == 0)
            return words[i].advice;
    return NULL;
}

/* A word and the one before it, and where they are. */
struct pair {
    char before[64], text[64];
    CXSourceLocation location;
    bool touches; /* nothing is between them */
};

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
    return is_name(token) && strchr(token, '"') != NULL;
}

static void check_word(struct checker *checker, const struct pair *pair, bool in_macro)
{
    const char *advice = advice_for(pair->text), *text = pair->text;
    struct place place = place_of(pair->location);
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
    else if (in_macro && library_advice(text) && !library_is_defined(checker, text))
        report_refuse(&checker->report, "check", &place,
                      "'%s' is of C's library, which other devices do not have: %s", text,
                      library_advice(text));
}

static unsigned offset_of(CXSourceLocation location)
{
    unsigned offset = 0;
    clang_getFileLocation(location, NULL, NULL, NULL, &offset);
    return offset;
}

/* Whether the preprocessor left it out. */
static bool is_skipped(const CXSourceRangeList *skipped, unsigned offset)
{
    for (unsigned i = 0; skipped && i < skipped->count; i++)
        if (offset >= offset_of(clang_getRangeStart(skipped->ranges[i])) &&
            offset < offset_of(clang_getRangeEnd(skipped->ranges[i])))
            return true;
    return false;
}

static bool is_directive(CXCursor cursor)
{
    return clang_isPreprocessing(clang_getCursorKind(cursor)) &&
           clang_getCursorKind(cursor) != CXCursor_MacroExpansion;
}

/* `cursors` NULL: the body of a macro. */
static void check_tokens(struct checker *checker, const CXToken *tokens, const CXCursor *cursors,
                         unsigned count, const CXSourceRangeList *skipped)
{
    struct pair pair = {.before = "", .text = ""};
    unsigned end = 0;
    for (unsigned i = 0; i < count; i++) {
        CXSourceRange range = clang_getTokenExtent(checker->unit, tokens[i]);
        if (clang_getTokenKind(tokens[i]) == CXToken_Comment)
            continue;
        pair.location = clang_getRangeStart(range);
        memcpy(pair.before, pair.text, sizeof pair.before);
        take_string(clang_getTokenSpelling(checker->unit, tokens[i]), pair.text, sizeof pair.text);
        pair.touches = offset_of(pair.location) == end;
        end = offset_of(clang_getRangeEnd(range));
        if (!(cursors && is_directive(cursors[i])) && !is_skipped(skipped, offset_of(pair.location)))
            check_word(checker, &pair, !cursors);
    }
}

void check_macro_words(struct checker *checker, CXCursor definition)
{
    CXToken *tokens = NULL;
    unsigned count = 0;
    struct place place = place_of(clang_getCursorLocation(definition));
    if (report_has_line(&checker->report, &place))
        return; /* it was used before */
    clang_tokenize(checker->unit, clang_getCursorExtent(definition), &tokens, &count);
    if (count > 0) /* the first one is its name */
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
    if (owner_of_file(checker, file) != OWNER_USER || !clang_getFileContents(checker->unit, file, &size))
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
