/* SPDX-License-Identifier: Apache-2.0 */
/* A system of linear equations in local memory. */
#include <gyre/kernel.h>

#include "solve.h"

typedef struct system {
    f64 a[SOLVE_N][SOLVE_N + 1];
} system_of_equations;

GYRE_HELPER u32 find_pivot(const system_of_equations *s, u32 column)
{
    u32 best = column;
    for (u32 row = column + 1; row < SOLVE_N; row++)
        if (fabs(s->a[row][column]) > fabs(s->a[best][column]))
            best = row;
    return best;
}

GYRE_HELPER void swap_rows(system_of_equations *s, u32 a, u32 b)
{
    for (u32 i = 0; i <= SOLVE_N; i++) {
        const f64 kept = s->a[a][i];
        s->a[a][i] = s->a[b][i];
        s->a[b][i] = kept;
    }
}

GYRE_HELPER void eliminate(system_of_equations *s, u32 column)
{
    for (u32 row = column + 1; row < SOLVE_N; row++) {
        const f64 factor = s->a[row][column] / s->a[column][column];
        for (u32 i = column; i <= SOLVE_N; i++)
            s->a[row][i] = s->a[row][i] - factor * s->a[column][i];
    }
}

GYRE_KERNEL(solve, solve_request, solve_reply)
{
    system_of_equations s;
    f64 determinant = 1;
    u32 swaps = 0;
    for (u32 row = 0; row < SOLVE_N; row++) {
        for (u32 column = 0; column < SOLVE_N; column++)
            s.a[row][column] = request->a[row][column];
        s.a[row][SOLVE_N] = request->b[row];
    }
    for (u32 column = 0; column < SOLVE_N; column++) {
        const u32 pivot = find_pivot(&s, column);
        if (s.a[pivot][column] == 0)
            return gyre_fail(gyre, (i32)column, "the matrix is singular");
        if (pivot != column) {
            swap_rows(&s, pivot, column);
            swaps++;
        }
        determinant = determinant * s.a[column][column];
        eliminate(&s, column);
    }
    for (u32 row = SOLVE_N; row-- > 0;) {
        f64 sum = s.a[row][SOLVE_N];
        for (u32 i = row + 1; i < SOLVE_N; i++)
            sum = sum - s.a[row][i] * reply->x[i];
        reply->x[row] = sum / s.a[row][row];
    }
    reply->determinant = swaps % 2 ? -determinant : determinant;
    reply->swaps = swaps;
    return GYRE_REPLY;
}
