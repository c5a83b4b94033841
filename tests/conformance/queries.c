/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that ask and change nothing (GYRE_QUERY). */
#include "conformance.h"
#include "kernels/shelf.h"

static gyre_queue *launch_shelf(struct conformance *test, const char *name)
{
    gyre_kernel *kernel = NULL;
    gyre_buffer *places = NULL;
    gyre_launch_desc desc = launch_desc(test, "shelf.gyre.c", name);
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, SHELF_PLACES * sizeof(uint64_t), &places));
    const gyre_binding_name binding = {"places", places};
    desc.bindings = &binding;
    desc.binding_count = 1;
    must(gyre_launch(test->runtime, &desc, &kernel));
    return gyre_kernel_queue(kernel);
}

static void queries_see_what_is_kept(struct conformance *test)
{
    gyre_queue *queue = launch_shelf(test, "shelf");
    for (uint64_t i = 0; i < 300; i++) {
        const shelf_put put = {(u32)(i % SHELF_PLACES), i * i};
        const shelf_look look = {(u32)(i % SHELF_PLACES)}, beyond = {SHELF_PLACES + 1};
        shelf_seen seen = {0};
        must(gyre_call_as(queue, GYRE_TYPE(shelf_put), &put, GYRE_TYPE(shelf_seen), &seen, NULL, soon()));
        require(seen.puts == i + 1);
        must(gyre_call_as(queue, GYRE_TYPE(shelf_look), &look, GYRE_TYPE(shelf_seen), &seen, NULL, soon()));
        require(seen.value == i * i && seen.puts == i + 1);
        require(gyre_call_as(queue, GYRE_TYPE(shelf_look), &beyond, GYRE_TYPE(shelf_seen), &seen, NULL,
                             soon()) == GYRE_FAILED);
        require_sentence("no such place");
    }
}

static void blocks_handle_queries(struct conformance *test)
{
    gyre_queue *queue = launch_shelf(test, "wide");
    for (uint64_t i = 0; i < 30; i++) {
        wide_put put;
        shelf_seen seen = {0};
        for (uint64_t k = 0; k < SHELF_PLACES; k++)
            put.values[k] = i * 1000 + k;
        must(gyre_call_as(queue, GYRE_TYPE(wide_put), &put, GYRE_TYPE(shelf_seen), &seen, NULL, soon()));
        for (uint32_t k = 0; k < SHELF_PLACES; k += 9) {
            const wide_look look = {k};
            must(
                gyre_call_as(queue, GYRE_TYPE(wide_look), &look, GYRE_TYPE(shelf_seen), &seen, NULL, soon()));
            require(seen.value == i * 1000 + k);
        }
    }
}

const struct conformance_case query_cases[] = {
    {"queries_see_what_is_kept", queries_see_what_is_kept},
    {"blocks_handle_queries", blocks_handle_queries},
    {NULL, NULL},
};
