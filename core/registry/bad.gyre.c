#include <gyre/kernel.h>
#include "add.h"
GYRE_HELPER f32 plus(f32 a, f32 b)
{
    return a + b;
}
GYRE_KERNEL(vector_add, add_request, add_reply)
{
    for (u32 i = 0; i < 25; i++)
        reply->sum[i] = plus(request->a[i], request->q[i]);
    return GYRE_REPLY;
}
