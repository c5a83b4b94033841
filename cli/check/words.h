/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for words of C that C++ or OpenCL C lack. */
#ifndef GYRE_CHECK_WORDS_H
#define GYRE_CHECK_WORDS_H

#include "cli/check/checker.h"

/** Refuses such words, and names that a device takes for something else, in every file of the user. */
void check_words(struct checker *checker);
/** The same in the body of a macro of the user. */
void check_macro_words(struct checker *checker, CXCursor definition);

#endif
