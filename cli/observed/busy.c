/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how busy blocks are (busy.h). No state. */
#include "cli/observed/busy.h"

#include "cli/json/json.h"

static double share_of(const gyre_observe_block *block)
{
    return (double)block->share / GYRE_OBSERVE_WHOLE;
}

busy_kernel busy_of_kernel(const struct gyre_observed *seen, uint32_t kernel)
{
    busy_kernel busy = {.least = 1};
    gyre_observe_block block;
    for (uint32_t place = 0; gyre_observed_block(seen, kernel, &place, &block);) {
        const double share = share_of(&block);
        busy.seconds += (double)block.busy_ns / 1e9;
        if (!block.known)
            continue;
        busy.known++;
        busy.mean += share;
        busy.least = share < busy.least ? share : busy.least;
        busy.most = share > busy.most ? share : busy.most;
    }
    busy.mean = busy.known ? busy.mean / busy.known : 0;
    return busy;
}

json_t *busy_json(const struct gyre_observed *seen, uint32_t kernel)
{
    const busy_kernel busy = busy_of_kernel(seen, kernel);
    gyre_observe_block block;
    if (!busy.known)
        return json_null();
    json_t *shares = json_array();
    for (uint32_t place = 0; gyre_observed_block(seen, kernel, &place, &block);)
        json_array_append_new(shares, block.known ? json_real(share_of(&block)) : json_null());
    return cli_json_object("fffo", "least", busy.least, "mean", busy.mean, "most", busy.most, "shares",
                           shares);
}
