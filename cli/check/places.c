/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the place and the owner (the user, Gyre, the system) of a piece of source text. No state. */
#include "cli/check/places.h"

#include <string.h>

char *check_take_string(CXString string, char *text, size_t size)
{
    const char *from = clang_getCString(string);
    snprintf(text, size, "%s", from ? from : "");
    clang_disposeString(string);
    return text;
}

struct place check_place_of(CXSourceLocation location)
{
    struct place place = {.line = 0};
    CXFile file = NULL;
    clang_getFileLocation(location, &file, &place.line, &place.column, NULL);
    if (file)
        check_take_string(clang_getFileName(file), place.file, sizeof place.file);
    return place;
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

enum owner check_owner_of_file(const struct checker *checker, CXFile file)
{
    char path[1024];
    if (!file)
        return OWNER_NOBODY;
    check_take_string(clang_getFileName(file), path, sizeof path);
    if (is_below(path, checker->headers) && is_below(path + strlen(checker->headers) + 1, "gyre"))
        return OWNER_GYRE;
    CXSourceLocation start = clang_getLocation(checker->unit, file, 1, 1);
    return clang_Location_isInSystemHeader(start) ? OWNER_SYSTEM : OWNER_USER;
}

enum owner check_owner_of_use(const struct checker *checker, CXSourceLocation location)
{
    CXFile file = NULL;
    clang_getFileLocation(location, &file, NULL, NULL, NULL);
    return check_owner_of_file(checker, file);
}

/* The text of a macro belongs to the file in which the macro was written, not to the file that uses it. */
enum owner check_owner_of_text(const struct checker *checker, CXCursor cursor)
{
    CXToken *token = clang_getToken(checker->unit, clang_getRangeStart(clang_getCursorExtent(cursor)));
    if (!token)
        return OWNER_NOBODY;
    enum owner owner = check_owner_of_use(checker, clang_getTokenLocation(checker->unit, *token));
    clang_disposeTokens(checker->unit, token, 1);
    return owner;
}

char *check_first_token(const struct checker *checker, CXCursor cursor, char *text, size_t size)
{
    CXToken *token = clang_getToken(checker->unit, clang_getRangeStart(clang_getCursorExtent(cursor)));
    text[0] = '\0';
    if (!token)
        return text;
    check_take_string(clang_getTokenSpelling(checker->unit, *token), text, size);
    clang_disposeTokens(checker->unit, token, 1);
    return text;
}

unsigned check_offset_of(CXSourceLocation location, CXFile *file)
{
    unsigned offset = 0;
    clang_getFileLocation(location, file, NULL, NULL, &offset);
    return offset;
}

bool check_is_inside(CXCursor cursor, CXCursor outer)
{
    CXFile file = NULL, other = NULL;
    CXSourceRange range = clang_getCursorExtent(outer);
    const unsigned at = check_offset_of(clang_getCursorLocation(cursor), &file);
    const unsigned start = check_offset_of(clang_getRangeStart(range), &other);
    const unsigned end = check_offset_of(clang_getRangeEnd(range), &other);
    return clang_File_isEqual(file, other) && at >= start && at < end;
}
