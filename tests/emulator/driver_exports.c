/* SPDX-License-Identifier: Apache-2.0 */
/* That the driver has all functions which the backend looks up: linking fails when one is missing. */
#include "backends/cuda/driver/cuda_driver.h"

typedef void (*function)(void);

#define EXPORTED_(name) (function) name,

extern const function driver_exports[];
const function driver_exports[] = {CUDA_DRIVER_FUNCTIONS(EXPORTED_, EXPORTED_)};
