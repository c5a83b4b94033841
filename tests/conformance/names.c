/* SPDX-License-Identifier: Apache-2.0 */
/* Names of types are the user's: what Gyre puts around a handler does not get in their way. */
#include "conformance.h"
#include "kernels/names.h"

static void answers_with_the_next(struct conformance *test, const char *name)
{
    gyre_kernel *kernel = launch(test, "names.gyre.c", name);
    const uint32_t request = 41;
    uint32_t reply = 0;
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply == 42);
    gyre_kernel_release(kernel);
}

/* Of one word each but for head, whose largest message is asked for. */
static void types_may_have_any_name(struct conformance *test)
{
    static const char *const kernels[] = {"names_1",   "names_2", "names_3", "names_4",
                                          "names_6",   "names_7", "names_8", "names_9",
                                          "arguments", "at_",     "shape",   "called_off_"};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        answers_with_the_next(test, kernels[i]);
    head request;
    queue reply;
    gyre_begin(&request);
    request.number = 6;
    gyre_kernel *kernel = launch(test, "names.gyre.c", "names_5");
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.number == 7);
}

static void a_scratch_may_have_any_name(struct conformance *test)
{
    answers_with_the_next(test, "names_10");
}

const struct conformance_case name_cases[] = {
    {"types_may_have_any_name", types_may_have_any_name},
    {"a_scratch_may_have_any_name", a_scratch_may_have_any_name},
    {NULL, NULL},
};
