/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of which a line, or more, is the case: every one is the same but for that. */
#ifndef GYRE_TESTS_CHECK_FRAME_H
#define GYRE_TESTS_CHECK_FRAME_H

#include "cli/check/checker.h"
#include "cli/check/judge.h"
#include "unit/unit.h"

#include <string.h>

struct case_of_rule {
    const char *helpers, *body; /* `helpers` starts in line 7 */
    unsigned line;              /* of the finding */
    const char *says;           /* part of its text */
};

static const char frame_before[] = "#include <gyre/kernel.h>\n"
                                   "#define REQUEST(FIELD) FIELD(u32, n) FIELD(f32, a[8])\n"
                                   "GYRE_MESSAGE(request_type, REQUEST)\n"
                                   "#define REPLY(FIELD) FIELD(u32, n) FIELD(f32, a[8])\n"
                                   "GYRE_MESSAGE(reply_type, REPLY)\n"
                                   "\n";
static const char frame_kernel[] = "\nGYRE_KERNEL(k, request_type, reply_type)\n{\n    ";
static const char frame_after[] = "\n    return GYRE_REPLY;\n}\n";
enum { HELPERS = 7, BODY = 10 };

static inline struct checker *judge(const char *text)
{
    struct checker *checker = calloc(1, sizeof *checker);
    ck_assert_ptr_nonnull(checker);
    checker_run(checker, "/nowhere/k.gyre.c", text, strlen(text), GYRE_HEADERS);
    ck_assert_str_eq(checker->report.unable, "");
    return checker;
}

static inline struct checker *judge_parts(const char *helpers, const char *body)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s%s%s", frame_before, helpers ? helpers : "", frame_kernel,
             body ? body : "", frame_after);
    return judge(text);
}

static inline void show(const struct report *report)
{
    for (size_t i = 0; i < report->finding_count; i++)
        fprintf(stderr, "%s %s:%u: %s\n", report->findings[i].kind, report->findings[i].place.file,
                report->findings[i].place.line, report->findings[i].text);
}

static inline bool has_finding(const struct report *report, const struct case_of_rule *expected)
{
    for (size_t i = 0; i < report->finding_count; i++)
        if (strcmp(report->findings[i].kind, "refuse") == 0 &&
            report->findings[i].place.line == expected->line &&
            strstr(report->findings[i].text, expected->says))
            return true;
    return false;
}

#endif
