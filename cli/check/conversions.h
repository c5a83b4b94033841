/* SPDX-License-Identifier: Apache-2.0 */
/* Judges conversions that C makes by itself and C++ or OpenCL C does not. */
#ifndef GYRE_CHECK_CONVERSIONS_H
#define GYRE_CHECK_CONVERSIONS_H

#include "cli/check/checker.h"

/** The expressions inside an expression, the first three of them. */
struct parts {
    CXCursor cursors[3];
    unsigned count; /* number of all parts, also beyond three */
};

/** The expressions that an expression consists of. */
struct parts check_parts_of(CXCursor cursor);
/** The expression inside brackets and implicit conversions. */
CXCursor check_strip_conversions(CXCursor expression);
/** Writes the operator between the two operands of an expression into `text`; "" when the text does not show it. */
void check_operator_of(const struct checker *checker, CXCursor expression, char *text, size_t size);
/** Refuses an implicit conversion that C++ or OpenCL C does not make. */
void check_conversion(struct checker *checker, CXCursor parent, CXCursor conversion);
/** Refuses a text that fills its array to the last byte. */
void check_literal(struct checker *checker, CXCursor literal);
/** Refuses `++`, `--` and `+=` on an enumeration. */
void check_change(struct checker *checker, CXCursor operation);
/** Refuses a floating-point number as the condition of `?:`. */
void check_choice(struct checker *checker, CXCursor choice);
/** Whether an expression is of type bool in C++. */
bool check_is_truth_value(const struct checker *checker, CXCursor expression);
/** Refuses `sizeof` of an expression that has another type in C++. */
void check_sizeof(struct checker *checker, CXCursor expression);
/** Refuses a call of one of C's functions for f64, whose name ends without f. */
void check_math(struct checker *checker, CXCursor call, const char *name, const struct place *place);

#endif
