/* SPDX-License-Identifier: Apache-2.0 */
#include <gyre/gyre.h>
#include <stdio.h>
#include "vector_add.h"

int main(int argc, char **argv)
{
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    add_request request = {.a = {1, 2, 3}, .b = {10, 20, 30}};
    add_reply reply;
    gyre_launch_desc launch = {.size = sizeof launch,
                               .source = argc > 1 ? argv[1] : "vector_add.gyre.c",
                               .request = GYRE_TYPE(add_request),
                               .reply = GYRE_TYPE(add_reply)};
    gyre_status status = gyre_open(NULL, &runtime);
    if (status == GYRE_OK)
        status = gyre_launch(runtime, &launch, &kernel);
    if (status == GYRE_OK)
        status = gyre_send(gyre_kernel_queue(kernel), &request, sizeof request, NULL, gyre_in_ms(1000));
    if (status == GYRE_OK)
        status = gyre_receive(gyre_kernel_queue(kernel), &reply, sizeof reply, NULL, gyre_in_ms(1000));
    if (status == GYRE_OK)
        printf("%g %g %g\n", reply.sum[0], reply.sum[1], reply.sum[2]);
    else
        fprintf(stderr, "%s: %s\n", gyre_status_word(status), gyre_error_text());
    gyre_close(runtime);
    return status != GYRE_OK;
}
