#include <gyre/kernel.h>
#include "add.h"
GYRE_HELPER f32 first(const f32 *x)
{
    return x[0];
}
GYRE_HELPER f32 firstg(const GYRE_GLOBAL f32 *x)
{
    return x[0];
}
GYRE_KERNEL(vector_add, add_request, add_reply)
{
    f32 local[4] = {0};
    reply->sum[0] = first(request->a);
    reply->sum[1] = firstg(local);
    const f32 *p = request->a;
    f32 *q = (f32 *)request->a;
    memcpy(local, request->a, 16);
    gyre_atomic_add((GYRE_GLOBAL u32 *)reply->sum, 1u);
    return GYRE_REPLY;
}
GYRE_KERNEL(vector_add, add_request, add_reply)
{
    return GYRE_REPLY;
}
