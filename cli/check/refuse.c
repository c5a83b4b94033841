/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a finding for a broken rule, at the place of a cursor (a node of the syntax tree). No state. */
#include "cli/check/refuse.h"

#include <stdarg.h>

#include "cli/check/places.h"

void check_refuse_at(struct checker *checker, CXCursor cursor, const char *format, ...)
{
    struct place place = check_place_of(clang_getCursorLocation(cursor));
    char text[sizeof((struct finding *)NULL)->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    report_refuse(&checker->report, "check", &place, "%s", text);
}
