/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for includes. */
#ifndef GYRE_CHECK_INCLUDES_H
#define GYRE_CHECK_INCLUDES_H

#include "cli/check/checker.h"

/** Refuses an #include that other devices cannot follow. */
void check_include(struct checker *checker, CXCursor directive);
/** The user calls a macro of Gyre: notes the macro when it comes too early. */
void note_declaration(struct checker *checker, const char *macro);
/** Whether a header of that name belongs to a vendor's toolkit. */
bool is_vendor_header(const char *name);

#endif
