/* SPDX-License-Identifier: Apache-2.0 */
/* Judges the includes of a kernel file. */
#ifndef GYRE_CHECK_INCLUDES_H
#define GYRE_CHECK_INCLUDES_H

#include "cli/check/checker.h"

/** Refuses an #include that other devices cannot follow. */
void check_include(struct checker *checker, CXCursor directive);
/** Call when the user expands a macro of Gyre: notes a macro that stands before <gyre/kernel.h>. */
void check_note_declaration(struct checker *checker, const char *macro);
/** True when a header of that name belongs to a vendor's toolkit. */
bool check_is_vendor_header(const char *name);

#endif
