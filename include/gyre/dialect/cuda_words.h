/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What handlers of stages say besides emitting, as CUDA C++: GYRE_MORE and GYRE_FLOW. Included by cuda_ports.h. The core defines
 * GYRE_AGAIN and GYRE_FLOWS for a file that has these words; other kernels hold no trace of them (cuda_link_limits.h serves them).
 */
#ifndef GYRE_DIALECT_CUDA_WORDS_H
#define GYRE_DIALECT_CUDA_WORDS_H

/* ---- being called again ---- */

#if GYRE_AGAIN
#define GYRE_MORE gyre_more_((gyre), (ports))

/* Asks for another call with the same message. Its result is one without a reply. */
GYRE_HELPER gyre_result gyre_more_(gyre_context *gyre, const void *)
{
    gyre->again = 1;
    return GYRE_NO_REPLY;
}

GYRE_HELPER gyre_u32 gyre_turn(const gyre_context *gyre)
{
    return gyre->turn;
}
#else
#define GYRE_MORE gyre_more_<0>()

template <int there> GYRE_HELPER gyre_result gyre_more_()
{
    static_assert(
        there,
        "GYRE_MORE stands in another file: add -DGYRE_AGAIN=1 -DGYRE_STAGE=1 to the options of its section");
    return GYRE_NO_REPLY;
}

GYRE_HELPER gyre_u32 gyre_turn(const gyre_context *)
{
    return 0;
}
#endif

/* ---- memory of flows ---- */

/*
 * Bytes in front of a flow's memory at a kernel: a word that says which flow it is of. Only a kernel with such memory looks at it, so
 * that other kernels, which begin flows, need not clear it.
 */
#define GYRE_FLOW_FRONT 16

/** Bytes of memory that each flow has at a kernel. */
template <class K> struct gyre_flow_size_of_ {
    enum : gyre_u32 { size = 0 };
};

#if GYRE_FLOWS
#define GYRE_FLOW(kernel_, type_)                                                                            \
    typedef type_ gyre_flow_of_##kernel_;                                                                    \
    static_assert(sizeof(type_) <= GYRE_FLOW_SIZE_MAX,                                                       \
                  "GYRE_FLOW of kernel " #kernel_ ": at most " GYRE_TEXT_(GYRE_FLOW_SIZE_MAX) " bytes");     \
    struct gyre_traits_of_##kernel_;                                                                         \
    template <> struct gyre_flow_size_of_<gyre_traits_of_##kernel_> {                                        \
        enum : gyre_u32 { size = sizeof(type_) };                                                            \
    };                                                                                                       \
    extern "C" __device__ gyre_u32 gyre_flow_bytes_##kernel_[] = {GYRE_FLOW_FRONT + sizeof(type_)};

#define gyre_flow(gyre_, kernel_)                                                                            \
    ((gyre_flow_of_##kernel_ *)gyre_flow_((gyre_), sizeof(gyre_flow_of_##kernel_)))

GYRE_HELPER void *gyre_flow_(gyre_context *gyre, gyre_u32 size)
{
    if (gyre->memory && gyre->memory_size == size)
        return gyre->memory;
    gyre_fail_(gyre, GYRE_FAILURE_PORT, "gyre_flow: of another kernel than its own");
    return gyre->spare;
}
#endif

#endif
