/* SPDX-License-Identifier: Apache-2.0 */
/* Collects findings and writes the report. The storage is fixed: a finding that does not fit is left out. */
#include "cli/check/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* True when the line of that place is settled: an earlier finding is the only one that is reported for it. */
static bool is_settled(const struct report *report, const struct place *place)
{
    for (size_t i = 0; i < report->settled; i++)
        if (report->findings[i].place.line == place->line &&
            strcmp(report->findings[i].place.file, place->file) == 0)
            return true;
    return false;
}

void report_settle(struct report *report)
{
    report->settled = report->finding_count;
}

static struct finding *add_finding(struct report *report, const char *kind, const char *stage,
                                   const struct place *place)
{
    if (report->finding_count == REPORT_FINDINGS_MAX || is_settled(report, place))
        return NULL;
    const size_t number = report->finding_count++;
    size_t file = 0;
    while (file < number && strcmp(report->findings[file].place.file, place->file) != 0)
        file++;
    report->findings[number] =
        (struct finding){.kind = kind, .stage = stage, .file = file, .number = number, .place = *place};
    return &report->findings[number];
}

void report_refuse(struct report *report, const char *stage, const struct place *place, const char *format,
                   ...)
{
    struct finding *finding = add_finding(report, "refuse", stage, place);
    va_list args;
    if (!finding)
        return;
    va_start(args, format);
    vsnprintf(finding->text, sizeof finding->text, format, args);
    va_end(args);
}

void report_error(struct report *report, const struct place *place, const char *text, bool elsewhere)
{
    struct finding *finding = add_finding(report, "error", "parse", place);
    if (!finding)
        return;
    finding->elsewhere = elsewhere;
    snprintf(finding->text, sizeof finding->text, "%s", text);
}

void report_forget_elsewhere(struct report *report)
{
    size_t kept = 0;
    bool refused = false;
    for (size_t i = 0; i < report->finding_count; i++)
        refused = refused || strcmp(report->findings[i].kind, "refuse") == 0;
    for (size_t i = 0; i < report->finding_count; i++)
        if (!refused || !report->findings[i].elsewhere)
            report->findings[kept++] = report->findings[i];
    report->finding_count = kept;
}

void report_kernel(struct report *report, const char *name, const struct place *place, bool has_ports)
{
    if (report->kernel_count == REPORT_KERNELS_MAX)
        return;
    struct found_kernel *kernel = &report->kernels[report->kernel_count++];
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    kernel->place = *place;
    kernel->has_ports = has_ports;
}

void report_only_some(struct report *report, const char *word, bool asks, const struct place *place)
{
    struct rare_word *rare = asks ? &report->asks : &report->rare;
    if (rare->word[0])
        return;
    snprintf(rare->word, sizeof rare->word, "%s", word);
    rare->place = *place;
}

bool report_has_line(const struct report *report, const struct place *place)
{
    for (size_t i = 0; i < report->finding_count; i++)
        if (report->findings[i].place.line == place->line &&
            strcmp(report->findings[i].place.file, place->file) == 0)
            return true;
    return false;
}

bool report_has_errors(const struct report *report)
{
    for (size_t i = 0; i < report->finding_count; i++)
        if (strcmp(report->findings[i].kind, "error") == 0)
            return true;
    return false;
}

static int compare_findings(const void *a, const void *b)
{
    const struct finding *left = a, *right = b;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    if (left->place.line != right->place.line)
        return left->place.line < right->place.line ? -1 : 1;
    int kinds = strcmp(right->kind, left->kind); /* a refusal before an error */
    if (kinds != 0)
        return kinds;
    if (strcmp(left->kind, "refuse") == 0 && left->place.column != right->place.column)
        return left->place.column < right->place.column ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* True when an earlier one of the sorted findings has the same place. */
static bool was_written(const struct report *report, size_t index)
{
    const struct finding *finding = &report->findings[index];
    for (size_t i = index; i > 0 && report->findings[i - 1].file == finding->file; i--)
        if (report->findings[i - 1].place.line == finding->place.line &&
            report->findings[i - 1].place.column == finding->place.column)
            return true;
    return false;
}

static void write_field(const char *text, FILE *out)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
}

static void write_kernel(const struct found_kernel *kernel, FILE *out)
{
    fprintf(out, "kernel\t%s\t%u\n", kernel->name, kernel->place.line);
    if (!kernel->has_ports)
        return;
    fprintf(out, "ports\t%s\t", kernel->name);
    write_field(kernel->place.file, out);
    fprintf(out, "\t%u\n", kernel->place.line);
}

static void write_rare(const struct rare_word *rare, FILE *out)
{
    if (!rare->word[0])
        return;
    fprintf(out, "rare\t%s\t", rare->word);
    write_field(rare->place.file, out);
    fprintf(out, "\t%u\n", rare->place.line);
}

static void write_finding(const struct finding *finding, FILE *out)
{
    fprintf(out, "%s\t%s\t", finding->kind, finding->stage);
    write_field(finding->place.file, out);
    fprintf(out, "\t%u\t%u\t", finding->place.line, finding->place.column);
    write_field(finding->text, out);
    fputc('\n', out);
}

void report_write(struct report *report, FILE *out)
{
    if (report->unable[0]) {
        fputs("unable\t", out);
        write_field(report->unable, out);
        fputs("\ndone\n", out);
        return;
    }
    qsort(report->findings, report->finding_count, sizeof report->findings[0], compare_findings);
    for (size_t i = 0; i < report->kernel_count; i++)
        write_kernel(&report->kernels[i], out);
    write_rare(&report->rare, out);
    write_rare(&report->asks, out);
    for (size_t i = 0; i < report->finding_count; i++)
        if (!was_written(report, i))
            write_finding(&report->findings[i], out);
    fputs("done\n", out);
}
