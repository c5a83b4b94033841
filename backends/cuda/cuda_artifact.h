/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled kernel file of the CUDA backend: a cubin, an ELF file, which tells kernels and layouts. For a
 * GPU that the compiler did not know, PTX and this end follow it: then the driver loads the PTX.
 */
#ifndef GYRE_CUDA_ARTIFACT_H
#define GYRE_CUDA_ARTIFACT_H

#include <stdint.h>

#define CUDA_ARTIFACT_MAGIC "GYREPTX"

struct cuda_artifact_end {
    char magic[8];
    uint64_t ptx_size; /* bytes before this end, the last of them 0 */
};

#endif
