/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of a compiled kernel file of the CUDA backend. The file is a cubin (an ELF file for one GPU
 * architecture), whose symbols describe the kernels and layouts. For a GPU that the compiler did not know,
 * PTX (the vendor's portable code) and the end record below follow the cubin: then the driver loads the PTX.
 */
#ifndef GYRE_CUDA_ARTIFACT_H
#define GYRE_CUDA_ARTIFACT_H

#include <stdint.h>

#define CUDA_ARTIFACT_MAGIC "GYREPTX"

struct cuda_artifact_end {
    char magic[8];
    uint64_t ptx_size; /* bytes of PTX before this end record; the last byte is 0 */
};

#endif
