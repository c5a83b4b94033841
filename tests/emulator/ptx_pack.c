/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_module.h"

bool ptx_registers_pack(struct machine_function *function)
{
    (void)function;
    return true;
}
