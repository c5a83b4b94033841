/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads case files. jansson judges each line; the texts of requests and replies are then cut out of the line as they stand,
 * because numbers of 64 bits would lose digits in jansson.
 */
#include "cli/cases/case_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/input_file.h"
#include "cli/json/message_json.h"
#include "core/base/text.h"

enum { CASE_SIZE_MAX = 256 << 20, SENTENCE_SIZE = 1024, VERSION = 1, CHECKS_MAX = 128 };

static const char *const HEADER_KEYS[] = {
    "gyre_case", "kernel",     "hash",  "lanes",   "blocks",          "device",   "check",
    "seed",      "seeds",      "state", "buffers", "message_buffers", "settings", "config",
    "finding",   "timeout_ms", "ulps",  "orders",  "pipeline",        "switches"};
static const char *const PAIR_KEYS[] = {"request", "request_bytes", "reply",   "reply_bytes",
                                        "failed",  "no_reply",      "dropped", "later"};
static const char *const CHECK_WORDS[] = {"races", "memory", "deadlock", "schedule",
                                          "order", "crash",  "none"};
enum {
    HEADER_KEY_COUNT = sizeof HEADER_KEYS / sizeof *HEADER_KEYS,
    PAIR_KEY_COUNT = sizeof PAIR_KEYS / sizeof *PAIR_KEYS,
    CHECK_WORD_COUNT = sizeof CHECK_WORDS / sizeof *CHECK_WORDS
};

int case_error(const case_file *file, uint64_t line, const char *format, ...)
{
    char sentence[SENTENCE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return cli_error(CLI_FAILED, "%s:%" PRIu64 ": %s", file->path, line, sentence);
}

/* ---- a line ---- */

/* Parses a line, which must be an object. *out is NULL unless CLI_OK. */
static int parse_line(const case_file *file, uint64_t line, case_value text, json_t **out)
{
    size_t quoted_length;
    json_error_t error;
    *out = NULL;
    char *quoted = message_json_quote_numbers(text.text, text.length, &quoted_length);
    if (!quoted)
        return cli_error(CLI_FAILED, "out of memory");
    *out =
        json_loadb(quoted, quoted_length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    const size_t at = error.position > 0 ? (size_t)error.position : 0;
    free(quoted);
    if (!*out)
        return case_error(file, line, "malformed JSON at byte %zu: %s",
                          message_json_unquoted_offset(text.text, text.length, at), error.text);
    if (json_is_object(*out))
        return CLI_OK;
    json_decref(*out);
    *out = NULL;
    return case_error(file, line, "expected a JSON object, one a line");
}

static int check_keys(const case_file *file, uint64_t line, json_t *object, const char *const *keys,
                      size_t count)
{
    const char *key;
    const json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        char hint[GYRE_TEXT_HINT_SIZE], list[256];
        while (i < count && strcmp(keys[i], key) != 0)
            i++;
        if (i == count)
            return case_error(file, line, "unknown member '%.60s'%s; expected one of %s", key,
                              gyre_text_hint(key, keys, count, hint),
                              gyre_text_list(keys, count, list, sizeof list));
    }
    return CLI_OK;
}

/* ---- members of the header ---- */

static int read_number(const case_file *file, const char *key, uint64_t most, uint64_t *out)
{
    const json_t *value = json_object_get(file->header, key);
    if (!value)
        return CLI_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most)
        return case_error(file, file->header_line, "'%s' must be a whole number from 0 to %" PRIu64, key,
                          most);
    *out = (uint64_t)json_integer_value(value);
    return CLI_OK;
}

static int read_text(const case_file *file, const char *key, const char **out)
{
    const json_t *value = json_object_get(file->header, key);
    if (!value)
        return CLI_OK;
    if (!json_is_string(value) || !json_string_length(value) ||
        strlen(json_string_value(value)) != json_string_length(value))
        return case_error(file, file->header_line, "'%s' must be a text", key);
    *out = json_string_value(value);
    return CLI_OK;
}

/* Takes over a text that was made for a member. NULL without memory. */
static const char *own(case_file *file, char *text)
{
    if (text && cli_list_add(&file->owned, text))
        return text;
    free(text);
    return NULL;
}

/* A path in a file, which counts from the file's folder, as a path from the current folder. NULL without memory. */
static const char *path_of(case_file *file, const char *prefix, const char *path)
{
    const char *slash = strrchr(file->path, '/');
    const size_t folder = slash && path[0] != '/' ? (size_t)(slash - file->path) + 1 : 0;
    const size_t size = strlen(prefix) + folder + strlen(path) + 1;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s%.*s%s", prefix, (int)folder, file->path, path);
    return own(file, text);
}

/* Refuses members that say how one kernel is launched. */
static int refuse_with_pipeline(const case_file *file)
{
    static const char *const members[] = {"lanes", "blocks", "device", "state", "buffers", "message_buffers"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_object_get(file->header, members[i]))
            return case_error(
                file, file->header_line,
                "'%s' is for a kernel that is launched; [kernel.NAME] in 'config', or 'settings', "
                "configure those of a pipeline",
                members[i]);
    return CLI_OK;
}

/* A kernel is a path, unless it has no letter that only a path has: then it is the name of a configured kernel. */
static int read_kernel(case_file *file)
{
    const char *kernel = NULL;
    int code = read_text(file, "kernel", &kernel);
    if (code != CLI_OK)
        return code;
    if (code == CLI_OK)
        code = read_text(file, "pipeline", &file->pipeline);
    if (code != CLI_OK)
        return code;
    if (kernel && file->pipeline)
        return case_error(file, file->header_line, "'kernel' and 'pipeline' exclude each other");
    if (file->pipeline)
        return refuse_with_pipeline(file);
    if (!kernel)
        return case_error(file, file->header_line,
                          "the header has no 'kernel': the path of a handler's file; or a 'pipeline'");
    file->kernel = strpbrk(kernel, "/.:") ? path_of(file, "", kernel) : kernel;
    return file->kernel ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

static int read_paths(case_file *file)
{
    const char *config = NULL;
    int code = read_text(file, "config", &config);
    if (code == CLI_OK && config && !(file->config = path_of(file, "", config)))
        code = cli_error(CLI_FAILED, "out of memory");
    return code;
}

/* The state: a text that begins with '@' is the path of a file, everything else is the state itself. */
static int read_state(case_file *file)
{
    const json_t *value = json_object_get(file->header, "state");
    case_value text = {0};
    if (!value)
        return CLI_OK;
    if (json_is_string(value) && json_string_value(value)[0] == '@') {
        file->state = path_of(file, "@", json_string_value(value) + 1);
    } else if (case_slice(file->header_text, "state", &text)) {
        file->state = own(file, strndup(text.text, text.length));
    }
    return file->state ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

static int read_settings(case_file *file)
{
    const json_t *values = json_object_get(file->header, "settings");
    if (values && !json_is_array(values))
        return case_error(file, file->header_line,
                          "'settings' must be an array of texts such as \"gyre.log_level=info\"");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *text = json_string_value(json_array_get(values, i));
        if (!text || !strchr(text, '='))
            return case_error(file, file->header_line,
                              "settings[%zu] must be a text such as \"gyre.log_level=info\"", i);
        if (!cli_list_add(&file->settings, text))
            return cli_error(CLI_FAILED, "out of memory");
    }
    return CLI_OK;
}

/* "NAME=FILE" or "NAME=zeros:BYTES", as --buffer takes it. */
static const char *buffer_spec(case_file *file, const char *name, const char *content)
{
    char *text = NULL;
    const bool zeros = strncmp(content, "zeros:", 6) == 0;
    const char *path = zeros ? content : path_of(file, "", content);
    if (!path)
        return NULL;
    const size_t size = strlen(name) + strlen(path) + 2;
    if ((text = malloc(size)))
        snprintf(text, size, "%s=%s", name, path);
    return own(file, text);
}

static int read_buffers(case_file *file, const char *key, cli_list *specs)
{
    json_t *values = json_object_get(file->header, key);
    const char *name;
    json_t *value;
    if (values && !json_is_object(values))
        return case_error(file, file->header_line, "'%s' must be an object such as {\"gain\":\"zeros:64\"}",
                          key);
    json_object_foreach(values, name, value)
    {
        const char *content = json_string_value(value);
        if (!content || !*content || !*name || strchr(name, '='))
            return case_error(file, file->header_line,
                              "buffer '%.60s' in '%s' must be the path of a file, or \"zeros:BYTES\"", name,
                              key);
        const char *spec = buffer_spec(file, name, content);
        if (!spec || !cli_list_add(specs, spec))
            return cli_error(CLI_FAILED, "out of memory");
    }
    return CLI_OK;
}

bool case_check_words(const char *check, char *why, size_t size)
{
    char words[CHECKS_MAX], *rest = words;
    if (strlen(check) >= sizeof words) {
        snprintf(why, size, "expected at most %d bytes of checks", CHECKS_MAX - 1);
        return false;
    }
    snprintf(words, sizeof words, "%s", check);
    for (char *word; (word = strtok_r(rest, ", ", &rest));) {
        size_t i = 0;
        char hint[GYRE_TEXT_HINT_SIZE], list[128];
        while (i < CHECK_WORD_COUNT && strcmp(word, CHECK_WORDS[i]) != 0)
            i++;
        if (i < CHECK_WORD_COUNT)
            continue;
        snprintf(why, size, "expected checks out of %s, found '%s'%s",
                 gyre_text_list(CHECK_WORDS, CHECK_WORD_COUNT, list, sizeof list), word,
                 gyre_text_hint(word, CHECK_WORDS, CHECK_WORD_COUNT, hint));
        return false;
    }
    return true;
}

static int read_check(case_file *file)
{
    char why[SENTENCE_SIZE / 2];
    const int code = read_text(file, "check", &file->check);
    if (code != CLI_OK || !file->check || case_check_words(file->check, why, sizeof why))
        return code;
    return case_error(file, file->header_line, "%s", why);
}

static int read_version(const case_file *file)
{
    uint64_t version = 0;
    int code = read_number(file, "gyre_case", UINT32_MAX, &version);
    if (code == CLI_OK && version != VERSION)
        code = case_error(
            file, file->header_line,
            version ? "'gyre_case' is %" PRIu64 ": this version of Gyre reads case files of version 1"
                    : "the first line is no header: expected {\"gyre_case\":1,\"kernel\":\"FILE.gyre.c\"}",
            version);
    return code;
}

static int read_numbers(case_file *file)
{
    uint64_t switches = 0;
    const struct {
        const char *key;
        uint64_t most, *out;
    } numbers[] = {{"lanes", UINT32_MAX, &file->lanes},   {"blocks", UINT32_MAX, &file->blocks},
                   {"device", UINT32_MAX, &file->device}, {"seed", UINT64_C(1) << 62, &file->seed},
                   {"seeds", 1000000, &file->seeds},      {"timeout_ms", UINT32_MAX, &file->timeout_ms},
                   {"ulps", UINT32_MAX, &file->ulps},     {"orders", 100000, &file->orders},
                   {"switches", 1000000, &switches}};
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < sizeof numbers / sizeof *numbers; i++)
        code = read_number(file, numbers[i].key, numbers[i].most, numbers[i].out);
    if (code != CLI_OK || !switches)
        return code;
    snprintf(file->switches, sizeof file->switches, "backend.cpu.switches=%" PRIu64, switches);
    return cli_list_add(&file->settings, file->switches) ? CLI_OK : cli_error(CLI_FAILED, "out of memory");
}

static int read_header(case_file *file, uint64_t line, case_value text)
{
    file->header_line = line;
    file->header_text = text;
    int code = parse_line(file, line, text, &file->header);
    if (code == CLI_OK)
        code = read_version(file);
    if (code == CLI_OK)
        code = check_keys(file, line, file->header, HEADER_KEYS, HEADER_KEY_COUNT);
    if (code == CLI_OK)
        code = read_kernel(file);
    if (code == CLI_OK)
        code = read_numbers(file);
    if (code == CLI_OK)
        code = read_check(file);
    if (code == CLI_OK)
        code = read_text(file, "finding", &file->finding);
    if (code == CLI_OK)
        code = read_text(file, "hash", &file->hash);
    if (code == CLI_OK)
        code = read_paths(file);
    if (code == CLI_OK)
        code = read_state(file);
    if (code == CLI_OK)
        code = read_settings(file);
    if (code == CLI_OK)
        code = read_buffers(file, "buffers", &file->buffers);
    return code == CLI_OK ? read_buffers(file, "message_buffers", &file->named_buffers) : code;
}

/* ---- pairs ---- */

/* {"code":7,"text":"..."}; the text may be missing. */
static int read_failure(const case_file *file, case_pair *pair, json_t *failure)
{
    static const char *const keys[] = {"code", "text"};
    const json_t *code = json_object_get(failure, "code"), *text = json_object_get(failure, "text");
    if (!json_is_object(failure) || !json_is_integer(code) || json_integer_value(code) < INT32_MIN ||
        json_integer_value(code) > INT32_MAX || (text && !json_is_string(text)))
        return case_error(file, pair->line,
                          "'failed' must be as {\"code\":7} or {\"code\":7,\"text\":\"too large\"}");
    pair->failure_code = (int32_t)json_integer_value(code);
    pair->failure_text = json_string_value(text);
    return check_keys(file, pair->line, failure, keys, 2);
}

/* A message under one of two keys: as JSON, or as bytes. */
static int read_message(const case_file *file, const case_pair *pair, case_value line, const char *key,
                        const char *bytes_key, case_value *value, bool *as_bytes)
{
    *as_bytes = case_slice(line, bytes_key, value);
    if (*as_bytes && !json_is_string(json_object_get(pair->object, bytes_key)))
        return case_error(file, pair->line, "'%s' must be a text of hexadecimal digits", bytes_key);
    if (*as_bytes && json_object_get(pair->object, key))
        return case_error(file, pair->line, "'%s' and '%s' exclude each other", key, bytes_key);
    const bool sliced = *as_bytes || case_slice(line, key, value);
    if (!sliced && (json_object_get(pair->object, key) || json_object_get(pair->object, bytes_key)))
        return case_error(file, pair->line, "'%s' must be written without escapes in its name", key);
    return CLI_OK;
}

/* Counts how many of the expectations a pair has: it may have one. */
static size_t expectations(const case_pair *pair)
{
    size_t count = pair->reply.text != NULL;
    count += json_object_get(pair->object, "failed") != NULL;
    count += json_object_get(pair->object, "no_reply") != NULL;
    count += json_object_get(pair->object, "dropped") != NULL;
    return count;
}

static int read_expectation(const case_file *file, case_pair *pair)
{
    json_t *failure = json_object_get(pair->object, "failed"),
           *none = json_object_get(pair->object, "no_reply"),
           *dropped = json_object_get(pair->object, "dropped");
    if (expectations(pair) > 1)
        return case_error(file, pair->line, "a pair has one of 'reply', 'failed', 'no_reply' and 'dropped'");
    if ((none && !json_is_true(none)) || (dropped && !json_is_true(dropped)))
        return case_error(file, pair->line, "'%s' can only be true", none ? "no_reply" : "dropped");
    pair->expectation = pair->reply.text ? CASE_REPLY
                        : failure        ? CASE_FAILURE
                        : none           ? CASE_NO_REPLY
                        : dropped        ? CASE_DROPPED
                                         : CASE_ANY;
    return failure ? read_failure(file, pair, failure) : CLI_OK;
}

static int read_later(case_file *file, case_pair *pair)
{
    const json_t *later = json_object_get(pair->object, "later");
    if (later && !json_is_true(later))
        return case_error(file, pair->line, "'later' can only be true");
    pair->later = later != NULL;
    file->has_later = file->has_later || pair->later;
    return CLI_OK;
}

static int read_pair(case_file *file, uint64_t line, case_value text)
{
    case_pair *pairs = file->pairs;
    if ((file->count & (file->count - 1)) == 0) { /* room for twice as many */
        pairs = realloc(file->pairs, (file->count ? 2 * file->count : 1) * sizeof *pairs);
        if (!pairs)
            return cli_error(CLI_FAILED, "out of memory");
        file->pairs = pairs;
    }
    case_pair *pair = &pairs[file->count];
    *pair = (case_pair){.line = line};
    int code = parse_line(file, line, text, &pair->object);
    if (code != CLI_OK)
        return code;
    file->count++;
    code = check_keys(file, line, pair->object, PAIR_KEYS, PAIR_KEY_COUNT);
    if (code == CLI_OK)
        code =
            read_message(file, pair, text, "request", "request_bytes", &pair->request, &pair->request_bytes);
    if (code == CLI_OK && !pair->request.text)
        code = case_error(file, line, "a pair needs a 'request'");
    if (code == CLI_OK)
        code = read_later(file, pair);
    if (code == CLI_OK)
        code = read_message(file, pair, text, "reply", "reply_bytes", &pair->reply, &pair->reply_bytes);
    return code == CLI_OK ? read_expectation(file, pair) : code;
}

/* ---- the file ---- */

static int read_lines(case_file *file)
{
    uint64_t line = 0;
    int code = CLI_OK;
    for (size_t at = 0; code == CLI_OK && at < file->length; line++) {
        const char *begin = file->text + at, *newline = memchr(begin, '\n', file->length - at);
        case_value text = {begin, newline ? (size_t)(newline - begin) : file->length - at};
        at += text.length + 1;
        size_t blank = 0;
        while (blank < text.length && (begin[blank] == ' ' || begin[blank] == '\t' || begin[blank] == '\r'))
            blank++;
        if (memchr(begin, '\0', text.length))
            return case_error(file, line + 1, "a NUL byte: this is no text");
        if (blank == text.length || begin[blank] == '#')
            continue;
        code =
            file->header ? read_pair(file, line + 1 - file->before, text) : read_header(file, line + 1, text);
    }
    if (code == CLI_OK && !file->header)
        return cli_error(CLI_FAILED,
                         "%s: there is no header: expected {\"gyre_case\":1,\"kernel\":\"FILE.gyre.c\"}",
                         file->path);
    if (code == CLI_OK && !file->count)
        return cli_error(CLI_FAILED, "%s: there are no requests: expected lines such as {\"request\":{...}}",
                         file->path);
    return code;
}

int case_file_read(case_file *file, const char *path)
{
    input_file input;
    const input_wait wait = {10000, NULL};
    uint64_t size = 0;
    *file = (case_file){.path = path};
    int code = input_file_open(&input, "case", path);
    if (code == CLI_OK)
        code = input_file_read(&input, CASE_SIZE_MAX + 1, &wait, &file->text, &size);
    input_file_close(&input);
    if (code == CLI_OK && size > CASE_SIZE_MAX)
        code = cli_error(CLI_FAILED, "case file '%s' is longer than %d MiB", path, CASE_SIZE_MAX >> 20);
    file->length = code == CLI_OK ? (size_t)size : 0;
    return code == CLI_OK ? read_lines(file) : code;
}

int case_file_take(case_file *file, const char *path, char *text, size_t length, uint64_t before)
{
    *file = (case_file){.path = path, .text = text, .length = length, .before = before};
    return read_lines(file);
}

void case_file_finish(case_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        json_decref(file->pairs[i].object);
    for (size_t i = 0; i < file->owned.count; i++)
        free((char *)(uintptr_t)file->owned.items[i]);
    cli_list_finish(&file->settings);
    cli_list_finish(&file->buffers);
    cli_list_finish(&file->named_buffers);
    cli_list_finish(&file->owned);
    json_decref(file->header);
    free(file->pairs);
    free(file->text);
    *file = (case_file){0};
}
