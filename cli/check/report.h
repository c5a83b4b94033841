/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of gyre-check: lines of fields separated by tabs, read by core/pipeline/check.c.
 *
 *     kernel  NAME    LINE
 *     ports   NAME    FILE  LINE                   a kernel with ports, once more
 *     refuse  STAGE   FILE  LINE  COLUMN  TEXT     a rule of the dialect is broken; stage discover or check
 *     error   parse   FILE  LINE  COLUMN  TEXT     the parser's own error
 *     unable  TEXT                                 the check cannot be made here
 *     done
 *
 * Tabs, newlines and control characters inside a field become spaces.
 */
#ifndef GYRE_CHECK_REPORT_H
#define GYRE_CHECK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { REPORT_FINDINGS_MAX = 64, REPORT_KERNELS_MAX = 1024 };

struct place {
    char file[512];
    unsigned line, column;
};

struct finding {
    const char *kind, *stage; /* string literals */
    size_t file, number;      /* in the order of discovery: the file's first finding, and this finding */
    struct place place;
    bool elsewhere; /* an error in a header that is not the user's */
    char text[640];
};

struct found_kernel {
    char name[128];
    struct place place;
    bool has_ports;
};

/** A word of the dialect that not every backend has. */
struct rare_word {
    char word[32]; /* "": the file uses none */
    struct place place;
};

struct report {
    size_t finding_count, kernel_count;
    size_t settled; /* this many first findings are settled: the only ones for their lines */
    struct finding findings[REPORT_FINDINGS_MAX]; /* further findings are left out */
    struct found_kernel kernels[REPORT_KERNELS_MAX];
    struct rare_word rare, asks; /* the first one of each kind */
    char unable[512];            /* "" unless the check cannot be made */
};

void report_refuse(struct report *report, const char *stage, const struct place *place, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));
void report_error(struct report *report, const struct place *place, const char *text, bool elsewhere);
/** Drops errors in headers that are not the user's when a rule was refused, because these errors follow from it. Call when
 * all findings are there. */
void report_forget_elsewhere(struct report *report);
void report_kernel(struct report *report, const char *name, const struct place *place, bool has_ports);
/** Notes a use of a word that not every backend has. `asks`: one of kernels that ask each other. */
void report_only_some(struct report *report, const char *word, bool asks, const struct place *place);
/** Settles the lines of all findings so far: no further finding is reported for these lines. */
void report_settle(struct report *report);

/** True when that line has a finding. */
bool report_has_line(const struct report *report, const struct place *place);
/** True when the parser found an error. */
bool report_has_errors(const struct report *report);

/**
 * Writes all findings, each place once. Files, and the errors of one line, stand in the order in which they were found, because
 * an error in a header comes before the errors that follow from it elsewhere. Lines, and the refusals of one line, stand by
 * place.
 */
void report_write(struct report *report, FILE *out);

#endif
