/* SPDX-License-Identifier: Apache-2.0 */
/* Texts with which platforms and devices describe themselves. Private to this folder. */
#ifndef GYRE_OPENCL_TEXT_H
#define GYRE_OPENCL_TEXT_H

#include "backends/opencl/platforms/opencl_loader.h"

/** Reads a text with which a platform or a device describes itself; "" when it does not. */
void opencl_platform_text(const struct opencl_loader *cl, cl_platform_id platform, cl_platform_info what,
                          char *text, size_t size);
void opencl_device_text(const struct opencl_loader *cl, cl_device_id device, cl_device_info what, char *text,
                        size_t size);

#endif
