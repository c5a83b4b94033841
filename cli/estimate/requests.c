/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of an estimate (requests.h). */
#include "cli/estimate/requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json/message_json.h"

static int no_memory(void)
{
    return cli_error(CLI_FAILED, "out of memory for the requests");
}

/* Takes over `text`, which may be NULL. */
static int add(estimate_requests *requests, char *text)
{
    char **const more = text ? realloc(requests->texts, (requests->count + 1) * sizeof *more) : NULL;
    if (!more) {
        free(text);
        return no_memory();
    }
    requests->texts = more;
    more[requests->count++] = text;
    return CLI_OK;
}

int requests_read(estimate_requests *requests, const char *path, uint64_t most)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int code = CLI_OK;
    FILE *const file = fopen(path, "re");
    if (!file)
        return cli_error(CLI_FAILED, "the messages '%s' cannot be read: %s", path, strerror(errno));
    while (code == CLI_OK && requests->count < most && (length = getline(&line, &size, file)) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[strspn(line, " \t")])
            code = add(requests, strdup(line));
    }
    if (code == CLI_OK && ferror(file))
        code = cli_error(CLI_FAILED, "the messages '%s' cannot be read: %s", path, strerror(errno));
    free(line);
    fclose(file);
    if (code == CLI_OK && !requests->count)
        code = cli_error(CLI_FAILED, "the messages '%s' are none: expected a line of JSON for each", path);
    return code;
}

int requests_copy(estimate_requests *requests, const char *const *texts, size_t count)
{
    int code = CLI_OK;
    for (size_t i = 0; i < count && code == CLI_OK; i++)
        code = add(requests, strdup(texts[i]));
    return code;
}

/* ---- made ones ---- */

static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33);
}

static void put_scalar(gyre_scalar scalar, unsigned char *at, size_t size, uint64_t *seed)
{
    const uint32_t drawn = draw(seed);
    const float single = (float)(drawn % 10000) / 100;
    const double precise = (double)(drawn % 10000) / 100;
    const uint64_t whole = drawn % 100;
    if (scalar == GYRE_SCALAR_F32)
        memcpy(at, &single, sizeof single);
    else if (scalar == GYRE_SCALAR_F64)
        memcpy(at, &precise, sizeof precise);
    else
        memcpy(at, &whole, size < sizeof whole ? size : sizeof whole); /* little-endian */
}

static void put_fields(const gyre_layout *layout, unsigned char *at, uint64_t *seed)
{
    if (layout->scalar != GYRE_SCALAR_NO) {
        put_scalar(layout->scalar, at, (size_t)layout->size, seed);
        return;
    }
    for (uint32_t i = 0; i < layout->field_count; i++)
        for (uint64_t j = 0; j < layout->fields[i].count; j++)
            put_fields(layout->fields[i].type,
                       at + layout->fields[i].offset + j * layout->fields[i].type->size, seed);
}

static int make_one(estimate_requests *requests, const gyre_layout *layout, unsigned char *bytes,
                    uint64_t *seed)
{
    char *text = NULL;
    size_t length = 0;
    put_fields(layout, bytes, seed);
    FILE *const out = open_memstream(&text, &length);
    if (!out)
        return no_memory();
    message_json_write(layout, bytes, out);
    if (fclose(out) == 0)
        return add(requests, text);
    free(text);
    return no_memory();
}

int requests_make(estimate_requests *requests, const gyre_layout *layout, uint64_t count)
{
    uint64_t seed = 1;
    int code = CLI_OK;
    if (layout->has_parts || layout->choice_count || layout->shape != GYRE_SHAPE_PLAIN)
        return cli_error(
            CLI_FAILED,
            "requests of type '%s' cannot be made of random fields, because they have parts or several types: "
            "give some by --messages FILE",
            layout->name);
    unsigned char *const bytes = calloc(1, layout->size + 8);
    for (uint64_t i = 0; bytes && i < count && code == CLI_OK; i++)
        code = make_one(requests, layout, bytes, &seed);
    free(bytes);
    requests->made = true;
    return bytes ? code : no_memory();
}

void requests_finish(estimate_requests *requests)
{
    for (size_t i = 0; i < requests->count; i++)
        free(requests->texts[i]);
    free(requests->texts);
    *requests = (estimate_requests){.texts = NULL};
}
