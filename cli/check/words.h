/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses words of C that C++ or OpenCL C lacks. */
#ifndef GYRE_CHECK_WORDS_H
#define GYRE_CHECK_WORDS_H

#include "cli/check/checker.h"

/** Refuses words that C++ or OpenCL C lacks, and names with another meaning on a device, in every file of the user. */
void check_words(struct checker *checker);
/** Does what check_words does, in the body of a macro of the user. */
void check_macro_words(struct checker *checker, CXCursor definition);

#endif
