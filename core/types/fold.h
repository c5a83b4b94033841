/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combines arrays of numbers element by element: sums, minima, maxima. Integers wrap around. Sums of floats are rounded to their type
 * after each addition. Minima and maxima of floats are those of IEEE 754-2019 (-0 below +0, and a NaN wins). Each NaN that is computed has the
 * same bits, so the result's bytes follow from the operands alone.
 *
 * No state, any thread. A caller that wants the same bytes as every other thread computes between gyre_fold_enter and
 * gyre_fold_leave: a program may have set rounding, or flushing of small numbers to zero.
 */
#ifndef GYRE_CORE_TYPES_FOLD_H
#define GYRE_CORE_TYPES_FOLD_H

#include <fenv.h>
#include <stddef.h>

#include "core/types/types.h"

/** As gyre_collect_rule of gyre/collect.h. */
enum gyre_fold_rule { GYRE_FOLD_SUM = 1, GYRE_FOLD_MIN = 2, GYRE_FOLD_MAX = 3 };

/** Bytes of an element that can be combined: u32, i32, u64, i64, f32, f64; 0 for every other type. */
size_t gyre_fold_size(gyre_scalar scalar);

/** out[i] = left[i] RULE right[i], for `count` elements. `out` may be `left`, and overlaps nothing else. Aligned as the type. */
void gyre_fold(gyre_scalar scalar, enum gyre_fold_rule rule, void *out, const void *left, const void *right,
               size_t count);

/** Sets the thread's floating-point arithmetic to the default of the standard. */
void gyre_fold_enter(fenv_t *before);
void gyre_fold_leave(const fenv_t *before);

#endif
