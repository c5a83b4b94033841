/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts: the code of a resident kernel that is the same for all kernels. Gyre's build compiles the parts once
 * for each architecture, and the linker joins them with NVRTC's object of a handler. That spares NVRTC two
 * thirds of its time. Without parts, or without the vendor's linker, kernels are compiled whole, with the
 * same result. Private to this folder.
 *
 * A file of parts is FOLDER/sm_90-DIGEST.cubin. The digest is taken of the kernel headers' text, so parts are
 * never linked with a kernel that was compiled from other headers.
 */
#ifndef GYRE_CUDA_PARTS_H
#define GYRE_CUDA_PARTS_H

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/compile/cuda_source.h"

/** The unit of source that compiles to the parts. */
#define CUDA_PARTS_UNIT "#define GYRE_CUDA_PARTS 1\n#include <gyre/kernel.h>\n"

/** A cubin in memory. The owner frees `bytes` with free(). */
struct cuda_image {
    void *bytes;
    size_t size;
};

/**
 * Writes the name of the file of parts for an architecture and the headers in `folders`. False when the
 * headers cannot be read.
 */
bool cuda_parts_name(const char *sm, const char *const *folders, char *name, size_t size);

/**
 * Reads the parts for that architecture and the headers in `folders`. The headers are in `files` afterwards.
 * False when there are no parts. Any thread may call it.
 */
bool cuda_parts_read(const gyre_device *device, struct cuda_files *files, const char *sm,
                     const char *const *folders, struct cuda_image *parts);

/**
 * Links a relocatable cubin with parts, by the vendor's nvJitLink of NVRTC's version. UNAVAILABLE when there
 * is no such library, FAILED with the linker's words. Any thread may call it; it needs no GPU.
 */
gyre_status cuda_link(const gyre_host *host, const struct cuda_nvrtc *nvrtc, const char *sm,
                      const struct cuda_image *kernel, const struct cuda_image *parts,
                      struct cuda_image *out);

/**
 * Writes the parts for the device's architecture into `folder`, compiled from the headers in
 * `include_folder`.
 */
gyre_status cuda_parts_make(gyre_device *device, const char *include_folder, const char *folder);

#endif
