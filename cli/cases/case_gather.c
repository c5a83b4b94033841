/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the text of a case file and reads it, so that requests are judged as those of a file are (case_gather.h). */
#include "cli/cases/case_gather.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/calls/request_source.h"
#include "cli/json/json.h"
#include "core/base/error.h"

static const char NAME[] = "request"; /* of such a case, in sentences */

static void write_header(FILE *out, const char *kernel, const char *pipeline)
{
    json_t *header = json_object();
    json_object_set_new(header, "gyre_case", json_integer(1));
    json_object_set_new(header, kernel ? "kernel" : "pipeline", cli_json_text(kernel ? kernel : pipeline));
    char *text = json_dumps(header, JSON_PRESERVE_ORDER | JSON_COMPACT);
    fprintf(out, "%s\n", text ? text : "");
    free(text);
    json_decref(header);
}

/* A pair of a request. Hexadecimal digits, which queues with a wire form take, stand in the file as a text. */
static void write_pair(FILE *out, const char *text, size_t length)
{
    const char *const quote = length && strchr("{[\"", text[0]) ? "" : "\"";
    fprintf(out, "{\"request\":%s", quote);
    for (size_t i = 0; i < length; i++)
        fputc(text[i] == '\n' || text[i] == '\r' ? ' ' : text[i], out);
    fprintf(out, "%s}\n", quote);
}

static int write_pairs(FILE *out, request_source *source)
{
    const char *text;
    size_t length;
    for (;;) {
        switch (request_source_next(source, true, &text, &length)) {
        case REQUEST_READY:
            write_pair(out, text + strspn(text, " \t"), length - strspn(text, " \t"));
            break;
        case REQUEST_NOT_YET:
            break;
        case REQUEST_END:
            return CLI_OK;
        default:
            return cli_error(CLI_FAILED, "%s", gyre_error_text());
        }
    }
}

static int gather(request_source *source, const char *kernel, const char *pipeline, case_file *file)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return cli_error(CLI_FAILED, "out of memory");
    write_header(out, kernel, pipeline);
    int code = write_pairs(out, source);
    if (fclose(out) != 0 && code == CLI_OK)
        code = cli_error(CLI_FAILED, "out of memory");
    if (code == CLI_OK)
        return case_file_take(file, NAME, text, size, 1);
    free(text);
    return code;
}

int case_gather_call(cli_context *cli, const char *pipeline, case_file *file)
{
    request_source source;
    const cli_list *const operands = &cli->operands;
    const size_t first = pipeline ? 0 : 1;
    *file = (case_file){.path = NAME};
    if (!pipeline && (operands->count == 0 || !operands->items[0][0]))
        return cli_usage_error(cli, "expected a kernel file");
    if (operands->count > first)
        request_source_init_texts(&source, operands->items + first, operands->count - first);
    else
        request_source_init_lines(&source, STDIN_FILENO);
    const int code = gather(&source, pipeline ? NULL : operands->items[0], pipeline, file);
    request_source_finish(&source);
    return code;
}

const char *case_gather_pairs(const case_file *file, size_t *length)
{
    const char *const newline = memchr(file->text, '\n', file->length);
    const char *const pairs = newline ? newline + 1 : file->text + file->length;
    *length = file->length - (size_t)(pairs - file->text);
    return pairs;
}
