// SPDX-License-Identifier: Apache-2.0
#include <gyre/gyre.hpp>
#include <cstdio>
#include "vector_add.h"

int main()
{
    gyre::runtime runtime;
    const auto vector_add = runtime.launch("vector_add.gyre.c", GYRE_MESSAGES(add_request, add_reply));
    const add_reply reply = vector_add.call({{1, 2, 3}, {10, 20, 30}});
    std::printf("%g %g %g\n", reply.sum[0], reply.sum[1], reply.sum[2]);
}
