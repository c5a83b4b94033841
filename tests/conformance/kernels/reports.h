/* SPDX-License-Identifier: Apache-2.0 */
/* The same type before and after it grew. */
#ifndef GYRE_CONFORMANCE_REPORTS_H
#define GYRE_CONFORMANCE_REPORTS_H

#include <gyre/message.h>

#define REPORT_OLD(FIELD) FIELD(utf8, title) FIELD(span_u32, values)
#define REPORT_NEW(FIELD) REPORT_OLD(FIELD) FIELD(u32, level) FIELD(utf8, author) FIELD(span_utf8, tags)
GYRE_MESSAGE_TAIL(report_old, REPORT_OLD, 200)
GYRE_MESSAGE_TAIL(report_new, REPORT_NEW, 300)

#endif
