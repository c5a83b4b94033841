/* SPDX-License-Identifier: Apache-2.0 */
/* Reads requests (request.h). A line ends with a line feed, with a carriage return before it or without. */
#include "cli/web/request.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

typedef struct web_text_part {
    const char *at;
    size_t size;
} web_text_part;

/* Takes the next line out of `rest`. False: there is no whole one. */
static bool take_line(web_text_part *rest, web_text_part *line)
{
    const char *end = memchr(rest->at, '\n', rest->size);
    if (!end)
        return false;
    *line = (web_text_part){rest->at, (size_t)(end - rest->at)};
    rest->size -= line->size + 1;
    rest->at = end + 1;
    if (line->size && line->at[line->size - 1] == '\r')
        line->size--;
    return true;
}

/* Takes what is before the next space out of a line. */
static web_text_part take_word(web_text_part *line)
{
    const char *end = memchr(line->at, ' ', line->size);
    const size_t size = end ? (size_t)(end - line->at) : line->size;
    const web_text_part word = {line->at, size};
    line->at += size + (end != NULL);
    line->size -= size + (end != NULL);
    return word;
}

static bool is_text(web_text_part part, const char *text)
{
    return part.size == strlen(text) && memcmp(part.at, text, part.size) == 0;
}

static bool copy_part(web_text_part part, char *out, size_t room)
{
    if (part.size >= room)
        return false;
    memcpy(out, part.at, part.size);
    out[part.size] = '\0';
    return true;
}

/* ---- the first line ---- */

static bool is_visible(web_text_part part)
{
    for (size_t i = 0; i < part.size; i++)
        if (part.at[i] <= ' ' || part.at[i] >= 0x7f)
            return false;
    return part.size > 0;
}

static web_status read_target(web_text_part target, web_request *out, const char **complaint)
{
    *complaint = "expected a path that begins with / and has visible letters";
    if (!is_visible(target) || target.at[0] != '/')
        return WEB_BAD_REQUEST;
    const char *mark = memchr(target.at, '?', target.size);
    const web_text_part path = {target.at, mark ? (size_t)(mark - target.at) : target.size};
    const web_text_part query = {mark ? mark + 1 : target.at, mark ? target.size - path.size - 1 : 0};
    *complaint = "the path or the query is too long";
    return copy_part(path, out->path, sizeof out->path) && copy_part(query, out->query, sizeof out->query)
               ? WEB_OK
               : WEB_URI_TOO_LONG;
}

static web_status read_first_line(web_text_part line, web_request *out, bool *needs_host,
                                  const char **complaint)
{
    const web_text_part method = take_word(&line), target = take_word(&line), version = line;
    *complaint = "expected a line such as: GET / HTTP/1.1";
    if (!is_visible(method) || !is_visible(target) || version.size < 5 || memcmp(version.at, "HTTP/", 5) != 0)
        return WEB_BAD_REQUEST;
    *needs_host = is_text(version, "HTTP/1.1");
    *complaint = "expected HTTP/1.0 or HTTP/1.1";
    if (!*needs_host && !is_text(version, "HTTP/1.0"))
        return WEB_VERSION;
    out->head_only = is_text(method, "HEAD");
    *complaint = "nothing can be changed here: expected GET or HEAD";
    if (!out->head_only && !is_text(method, "GET"))
        return WEB_NOT_ALLOWED;
    return read_target(target, out, complaint);
}

/* ---- the headers ---- */

/* Copies a host without its port. */
static bool read_host(web_text_part value, char out[WEB_HOST_MAX])
{
    const char *end = value.size && value.at[0] == '[' ? memchr(value.at, ']', value.size) : NULL;
    const char *port = end ? end + 1 : memchr(value.at, ':', value.size);
    if (end && (size_t)(end + 1 - value.at) < value.size && end[1] != ':')
        return false;
    for (const char *at = port; at && at + 1 < value.at + value.size; at++)
        if (!isdigit((unsigned char)at[1]))
            return false;
    if (port && (size_t)(port - value.at) < value.size)
        value.size = (size_t)(port - value.at);
    if (!is_visible(value) || !copy_part(value, out, WEB_HOST_MAX))
        return false;
    for (char *at = out; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return true;
}

static web_text_part trim(web_text_part part)
{
    while (part.size && (part.at[0] == ' ' || part.at[0] == '\t'))
        part.at++, part.size--;
    while (part.size && (part.at[part.size - 1] == ' ' || part.at[part.size - 1] == '\t'))
        part.size--;
    return part;
}

static bool is_name(web_text_part name, const char *wanted)
{
    return name.size == strlen(wanted) && strncasecmp(name.at, wanted, name.size) == 0;
}

/* What headers say of where a request comes from; at NULL: there is no such header. */
typedef struct web_source {
    web_text_part authority, origin; /* authority: the host with its port */
    bool is_other_site;
} web_source;

/* Whether an Origin is that of the host, under either scheme: a server that speaks TLS may stand in front. */
static bool is_own(web_text_part origin, web_text_part authority)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        const size_t length = strlen(schemes[i]);
        if (origin.size == length + authority.size && authority.size &&
            strncasecmp(origin.at, schemes[i], length) == 0 &&
            strncasecmp(origin.at + length, authority.at, authority.size) == 0)
            return true;
    }
    return false;
}

/* Notes a header that tells where the request comes from. Of several, one that is foreign counts. */
static void note_source(web_text_part name, web_text_part value, web_source *source)
{
    if (is_name(name, "sec-fetch-site") && !is_text(value, "same-origin") && !is_text(value, "none"))
        source->is_other_site = true;
    if (!is_name(name, "origin"))
        return;
    source->is_other_site = source->is_other_site || source->origin.at;
    source->origin = value;
}

static web_status read_header(web_text_part line, web_request *out, web_source *source,
                              const char **complaint)
{
    const char *colon = memchr(line.at, ':', line.size);
    *complaint = "expected headers of the form NAME: VALUE";
    if (!colon || !is_visible((web_text_part){line.at, (size_t)(colon - line.at)}) ||
        memchr(line.at, '\0', line.size) || memchr(line.at, '\r', line.size))
        return WEB_BAD_REQUEST;
    const web_text_part name = {line.at, (size_t)(colon - line.at)};
    const web_text_part value = trim((web_text_part){colon + 1, line.size - name.size - 1});
    note_source(name, value, source);
    if (!is_name(name, "host"))
        return WEB_OK;
    *complaint = "expected one Host";
    source->authority = value;
    return !out->host[0] && read_host(value, out->host) ? WEB_OK : WEB_BAD_REQUEST;
}

web_status web_request_read(const char *bytes, size_t size, web_request *out, const char **complaint)
{
    web_text_part rest = {bytes, size}, line;
    web_source source = {.is_other_site = false};
    bool needs_host = false;
    *out = (web_request){0};
    *complaint = "the first line is too long";
    if (!take_line(&rest, &line))
        return size >= WEB_REQUEST_MAX ? WEB_URI_TOO_LONG : (web_status)0;
    web_status status = read_first_line(line, out, &needs_host, complaint);
    while (status == WEB_OK) {
        *complaint = "the headers are too long";
        if (!take_line(&rest, &line))
            return size >= WEB_REQUEST_MAX ? WEB_HEADERS_TOO_LARGE : (web_status)0;
        if (line.size == 0)
            break;
        status = read_header(line, out, &source, complaint);
    }
    if (status == WEB_OK && needs_host && !out->host[0]) {
        *complaint = "HTTP/1.1 needs a Host";
        return WEB_BAD_REQUEST;
    }
    out->is_cross_site =
        source.is_other_site || (source.origin.at && !is_own(source.origin, source.authority));
    return status;
}

/* ---- the query ---- */

static int digit_of(char letter)
{
    const char *digits = "0123456789abcdef";
    const char *found = letter ? strchr(digits, tolower((unsigned char)letter)) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Decodes a value up to '&'. False: it is no text, or has no room. */
static bool decode(const char *from, char *value, size_t size)
{
    size_t used = 0;
    for (; *from && *from != '&'; from++) {
        char letter = *from == '+' ? ' ' : *from;
        if (letter == '%') {
            const int high = digit_of(from[1]), low = high < 0 ? -1 : digit_of(from[2]);
            if (low < 0)
                return false;
            letter = (char)(high * 16 + low);
            from += 2;
        }
        if (!letter || used + 1 >= size)
            return false;
        value[used++] = letter;
    }
    value[used] = '\0';
    return true;
}

bool web_request_parameter(const web_request *request, const char *name, char *value, size_t size)
{
    const size_t length = strlen(name);
    const char *at = request->query;
    while (strncmp(at, name, length) != 0 || at[length] != '=') {
        at = strchr(at, '&');
        if (!at)
            return false;
        at++;
    }
    return decode(at + length + 1, value, size);
}
