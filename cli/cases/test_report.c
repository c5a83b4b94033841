/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of `gyre test` (test_report.h). */
#include "cli/cases/test_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json/json.h"
#include "cli/base/output_file.h"
#include "core/base/text.h"

static const char OWN_NAME[] = "gyre: "; /* in front of each line that the command says */

static const char *result_word(test_result result)
{
    return result == TEST_PASSED ? "passed" : result == TEST_SKIPPED ? "skipped" : "failed";
}

static const char *backend_of(const test_job *job)
{
    return job->backend ? job->backend : "configured";
}

static double seconds(const test_job *job)
{
    return (double)job->took_ns / 1e9;
}

test_counts test_report_count(const test_jobs *jobs)
{
    test_counts counts = {0};
    for (size_t i = 0; i < jobs->count; i++) {
        counts.passed += jobs->jobs[i].result == TEST_PASSED;
        counts.skipped += jobs->jobs[i].result == TEST_SKIPPED;
        counts.failed += jobs->jobs[i].result == TEST_FAILED;
    }
    return counts;
}

/* Calls `write` for each line of a text, without the command's own name in front. */
static void each_line(const char *text, void (*write)(FILE *out, const char *line, size_t length), FILE *out)
{
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        const size_t name = strncmp(text, OWN_NAME, sizeof OWN_NAME - 1) == 0 ? sizeof OWN_NAME - 1 : 0;
        write(out, text + name, length - name);
        text += length + (text[length] == '\n');
    }
}

static void write_indented(FILE *out, const char *line, size_t length)
{
    fprintf(out, "    %.*s\n", (int)length, line);
}

void test_report_line(void *context, const test_job *job)
{
    (void)context;
    printf("%-7s %7.2f s  %s%s%s\n", result_word(job->result), seconds(job), job->path,
           job->backend ? " on " : "", job->backend ? job->backend : "");
    each_line(job->said, write_indented, stdout);
    fflush(stdout);
}

void test_report_counts(const test_counts *counts)
{
    fprintf(stderr, "gyre: %zu passed, %zu failed, %zu skipped\n", counts->passed, counts->failed,
            counts->skipped);
}

int test_report_json(const test_jobs *jobs)
{
    json_t *cases = json_array();
    for (size_t i = 0; i < jobs->count; i++) {
        const test_job *job = &jobs->jobs[i];
        json_t *row = cli_json_object("ssssf", "case", job->path, "backend", job->backend, "result",
                                      result_word(job->result), "said",
                                      job->said && job->said[0] ? job->said : NULL, "seconds", seconds(job));
        json_array_append_new(cases, row ? row : json_null());
    }
    return cli_print_json(cases);
}

/* ---- JUnit ---- */

/* Writes text into XML. Bytes that XML cannot have become a question mark. */
static void write_escaped(FILE *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        const size_t step = gyre_text_character((const unsigned char *)text + at, length - at);
        const char letter = text[at];
        if (letter == '&' || letter == '<' || letter == '>' || letter == '"')
            fputs(letter == '&' ? "&amp;" : letter == '<' ? "&lt;" : letter == '>' ? "&gt;" : "&quot;", out);
        else if (step == 0 || ((unsigned char)letter < ' ' && letter != '\n' && letter != '\t') ||
                 letter == 0x7f)
            fputc('?', out);
        else
            fwrite(text + at, 1, step, out);
        at += step ? step : 1;
    }
}

static void write_escaped_line(FILE *out, const char *line, size_t length)
{
    write_escaped(out, line, length);
    fputc('\n', out);
}

/* Writes why a case failed or was skipped: the first line as the message, and all lines. */
static void write_reason(FILE *out, const test_job *job)
{
    const bool failed = job->result == TEST_FAILED;
    const char *said = job->said ? job->said : "";
    const size_t skipped = strncmp(said, OWN_NAME, sizeof OWN_NAME - 1) == 0 ? sizeof OWN_NAME - 1 : 0;
    fprintf(out, "\n      <%s message=\"", failed ? "failure" : "skipped");
    write_escaped(out, said + skipped, strcspn(said + skipped, "\n"));
    fputs(failed ? "\">" : "\"/>\n    ", out);
    if (!failed)
        return;
    each_line(said, write_escaped_line, out);
    fputs("</failure>\n    ", out);
}

static void write_case(FILE *out, const test_job *job)
{
    fputs("    <testcase classname=\"gyre.", out);
    write_escaped(out, backend_of(job), strlen(backend_of(job)));
    fputs("\" name=\"", out);
    write_escaped(out, job->path, strlen(job->path));
    fprintf(out, "\" time=\"%.3f\">", seconds(job));
    if (job->result != TEST_PASSED) {
        write_reason(out, job);
    } else if (job->said && job->said[0]) {
        fputs("\n      <system-err>", out);
        each_line(job->said, write_escaped_line, out);
        fputs("</system-err>\n    ", out);
    }
    fputs("</testcase>\n", out);
}

static void write_document(FILE *out, const test_jobs *jobs)
{
    const test_counts counts = test_report_count(jobs);
    double time = 0;
    for (size_t i = 0; i < jobs->count; i++)
        time += seconds(&jobs->jobs[i]);
    fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    fprintf(
        out,
        "  <testsuite name=\"gyre\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"%.3f\">\n",
        jobs->count, counts.failed, counts.skipped, time);
    for (size_t i = 0; i < jobs->count; i++)
        write_case(out, &jobs->jobs[i]);
    fputs("  </testsuite>\n</testsuites>\n", out);
}

int test_report_junit(const test_jobs *jobs, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out)
        write_document(out, jobs);
    const bool whole = out && fclose(out) == 0;
    int code = whole ? CLI_OK : cli_error(CLI_FAILED, "out of memory for '%s'", path);
    if (whole && !output_file_write(path, text, size))
        code = cli_error(CLI_FAILED, "--junit: cannot write '%s': %s", path, strerror(errno));
    free(text);
    return code;
}
