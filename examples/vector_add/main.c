/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre.h>
#include <stdio.h>
#include "vector_add.h"

int main(int argc, char **argv)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    add_request request;
    add_reply reply;
    gyre_launch_desc launch = {.size = sizeof launch,
                               .source = argc > 1 ? argv[1] : "vector_add.gyre.c",
                               .request = GYRE_TYPE(add_request),
                               .reply = GYRE_TYPE(add_reply)};
    for (int i = 0; i < 25; i++) {
        request.a[i] = (float)i;
        request.b[i] = 0.5f;
    }
    gyre_status status = gyre_open(NULL, &runtime);
    if (status == GYRE_OK)
        status = gyre_launch(runtime, &launch, &kernel);
    if (status == GYRE_OK)
        status = gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                           gyre_in_ms(1000));
    if (status == GYRE_OK)
        printf("%g + %g = %g\n", request.a[24], request.b[24], reply.sum[24]);
    else
        fprintf(stderr, "%s\n", gyre_error_text());
    gyre_close(runtime);
    return status == GYRE_OK ? 0 : 1;
}
