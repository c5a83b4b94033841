/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ICD loader, libOpenCL.so.1, as a table of functions, opened at run time: Gyre does not link it. Private
 * to this folder.
 *
 * The table is made once in a process and never freed, because platforms cannot be unloaded. Any thread may
 * use it. It has the functions of OpenCL 1.2, which every loader has, and a few of 2.0, which are NULL if the
 * loader lacks them.
 */
#ifndef GYRE_OPENCL_LOADER_H
#define GYRE_OPENCL_LOADER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include "gyre/backend.h"

#define OPENCL_FUNCTIONS(F)                                                                                  \
    F(clGetPlatformIDs)                                                                                      \
    F(clGetPlatformInfo)                                                                                     \
    F(clGetDeviceIDs)                                                                                        \
    F(clGetDeviceInfo)                                                                                       \
    F(clCreateContext)                                                                                       \
    F(clReleaseContext)                                                                                      \
    F(clCreateCommandQueue)                                                                                  \
    F(clReleaseCommandQueue)                                                                                 \
    F(clCreateProgramWithSource)                                                                             \
    F(clCreateProgramWithBinary)                                                                             \
    F(clBuildProgram)                                                                                        \
    F(clReleaseProgram)                                                                                      \
    F(clGetProgramInfo)                                                                                      \
    F(clGetProgramBuildInfo)                                                                                 \
    F(clCreateKernel)                                                                                        \
    F(clReleaseKernel)                                                                                       \
    F(clSetKernelArg)                                                                                        \
    F(clGetKernelWorkGroupInfo)                                                                              \
    F(clCreateSubBuffer)                                                                                     \
    F(clCreateBuffer)                                                                                        \
    F(clRetainMemObject)                                                                                     \
    F(clGetMemObjectInfo)                                                                                    \
    F(clReleaseMemObject)                                                                                    \
    F(clEnqueueNDRangeKernel)                                                                                \
    F(clEnqueueReadBuffer)                                                                                   \
    F(clEnqueueWriteBuffer)                                                                                  \
    F(clEnqueueFillBuffer)                                                                                   \
    F(clEnqueueCopyBuffer)                                                                                   \
    F(clEnqueueMapBuffer)                                                                                    \
    F(clEnqueueUnmapMemObject)                                                                               \
    F(clWaitForEvents)                                                                                       \
    F(clGetEventInfo)                                                                                        \
    F(clGetEventProfilingInfo)                                                                               \
    F(clReleaseEvent)                                                                                        \
    F(clEnqueueMarkerWithWaitList)                                                                           \
    F(clFlush)                                                                                               \
    F(clFinish)

#define OPENCL_OPTIONAL_FUNCTIONS(F)                                                                         \
    F(clGetExtensionFunctionAddressForPlatform)                                                              \
    F(clSVMAlloc)                                                                                            \
    F(clSVMFree)                                                                                             \
    F(clSetKernelExecInfo)                                                                                   \
    F(clSetKernelArgSVMPointer)                                                                              \
    F(clEnqueueSVMMemcpy)                                                                                    \
    F(clEnqueueSVMMemFill)

struct opencl_loader {
#define OPENCL_DECLARE_(name) __typeof__(&name) name;
    OPENCL_FUNCTIONS(OPENCL_DECLARE_)
    OPENCL_OPTIONAL_FUNCTIONS(OPENCL_DECLARE_)
#undef OPENCL_DECLARE_
    char path[256]; /* the file that the loader was loaded from */
};

/** Opens the loader. UNAVAILABLE when there is none, with the names that were tried and what to install. */
gyre_status opencl_loader_open(const gyre_host *host, const struct opencl_loader **out);

/** The name of an error code: "CL_OUT_OF_RESOURCES"; "an unknown error" for codes of vendors. */
const char *opencl_code_name(cl_int code);

#endif
