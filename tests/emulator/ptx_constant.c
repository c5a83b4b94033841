/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of a module: rows like registers, each value once, found by its hash. */
#include "ptx_module.h"

#include <stdlib.h>
#include <string.h>

static bool grow_constants(struct machine_module *module)
{
    const uint32_t room = module->constant_room ? module->constant_room * 2 : 1024;
    uint64_t *constants = aligned_alloc(64, (size_t)room * LANES * sizeof *constants);
    uint32_t *index = calloc((size_t)room * 2, sizeof *index);
    if (!constants || !index) {
        free(constants);
        free(index);
        return false;
    }
    if (module->constants)
        memcpy(constants, module->constants, (size_t)module->constant_count * LANES * sizeof *constants);
    for (uint32_t row = 0; row < module->constant_count; row++) {
        if (row == module->dynamic_row && row > 0)
            continue;
        uint64_t at = constants[(size_t)row * LANES] * UINT64_C(0x9e3779b97f4a7c15) >> 32;
        while (index[at % (room * 2)])
            at++;
        index[at % (room * 2)] = row + 1;
    }
    free(module->constants);
    free(module->constant_index);
    module->constants = constants;
    module->constant_index = index;
    module->constant_room = room;
    return true;
}

static uint32_t add_constant(struct machine_module *module, uint64_t value)
{
    for (int lane = 0; lane < LANES; lane++)
        module->constants[(size_t)module->constant_count * LANES + (size_t)lane] = value;
    return module->constant_count++;
}

/* Of dynamic shared memory the address is known when the module is read: a row that no value finds. */
uint32_t ptx_constant_dynamic(struct machine_module *module)
{
    if (!module->dynamic_row) {
        if (module->constant_count + 1 >= module->constant_room && !grow_constants(module))
            return NO_PLACE;
        module->dynamic_row = add_constant(module, 0);
    }
    return (uint32_t)BASE_CONSTANTS << BASE_SHIFT | module->dynamic_row * LANES;
}

uint32_t ptx_constant(struct machine_module *module, uint64_t value)
{
    if (module->constant_count + 1 >= module->constant_room && !grow_constants(module))
        return NO_PLACE;
    const uint32_t slots = module->constant_room * 2;
    uint64_t at = value * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    while (module->constant_index[at % slots]) {
        const uint32_t row = module->constant_index[at % slots] - 1;
        if (module->constants[(size_t)row * LANES] == value)
            return (uint32_t)BASE_CONSTANTS << BASE_SHIFT | row * LANES;
        at++;
    }
    const uint32_t row = add_constant(module, value);
    module->constant_index[at % slots] = row + 1;
    return (uint32_t)BASE_CONSTANTS << BASE_SHIFT | row * LANES;
}
