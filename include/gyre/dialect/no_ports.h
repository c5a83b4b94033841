/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with ports, in files that are compiled without GYRE_STAGE, and on OpenCL with mode = resident: their
 * declarations are an error with a sentence. Included by device.h. The check stage refuses such a kernel before it is
 * compiled; this text is for files that are not checked. Gyre defines GYRE_STAGE for a file that has the word GYRE_PORTS.
 *
 * A kernel without ports may ask for its flow: outside of a pipeline both answers are 0.
 */
#ifndef GYRE_DIALECT_NO_PORTS_H
#define GYRE_DIALECT_NO_PORTS_H

#ifdef GYRE_DIALECT_CUDA
#define GYRE_NO_PORTS_ASSERT_(text_) static_assert(sizeof(gyre_u32) == 0, text_);
#else
#define GYRE_NO_PORTS_ASSERT_(text_) _Static_assert(sizeof(gyre_u32) == 0, text_);
#endif
#ifdef GYRE_OPENCL_STAY
#define GYRE_NO_PORTS_WHY_                                                                                   \
    "' has ports, which kernels that stay do not have: leave mode = resident out, or declare it without ports"
#else
#define GYRE_NO_PORTS_WHY_                                                                                   \
    "' has ports, and GYRE_PORTS stands in another file: add -DGYRE_STAGE=1 to the options of its section"
#endif
#define GYRE_NO_PORTS_(name_, request_, reply_, ports_)                                                      \
    GYRE_NO_PORTS_ASSERT_("kernel '" #name_ GYRE_NO_PORTS_WHY_)                                              \
    GYRE_HELPER gyre_result gyre_handler_##name_(                                                            \
        const GYRE_GLOBAL request_ *request, GYRE_GLOBAL reply_ *reply, gyre_context *gyre, ports_ *ports)

#define GYRE_PORTS(name_, LIST_)                        typedef struct name_ name_;
#define GYRE_KERNEL_TO(name_, request_, reply_, ports_) GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_KERNEL_TO_WITH(name_, request_, reply_, ports_, state_, buffers_)                               \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_BLOCK_KERNEL_TO(name_, request_, reply_, ports_, scratch_)                                      \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_BLOCK_KERNEL_TO_WITH(name_, request_, reply_, ports_, scratch_, state_, buffers_)               \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_GRID_KERNEL_TO(name_, request_, reply_, ports_, scratch_)                                       \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_GRID_KERNEL_TO_WITH(name_, request_, reply_, ports_, scratch_, state_, buffers_)                \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_ACTOR_TO(name_, request_, reply_, ports_, state_) GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_ACTOR_TO_WITH(name_, request_, reply_, ports_, state_, buffers_)                                \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_KEYED_ACTOR_TO(name_, request_, reply_, ports_, state_, key_)                                   \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_KEYED_ACTOR_LIVES_TO(name_, request_, reply_, ports_, state_, key_)                             \
    GYRE_KEYED_LIVES_(name_, request_, state_)                                                               \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_KEYED_ACTOR_REMINDED_TO(name_, request_, reply_, ports_, state_, key_)                          \
    GYRE_KEYED_REMINDED_(name_, state_)                                                                      \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_KEYED_ACTOR_LIVES_REMINDED_TO(name_, request_, reply_, ports_, state_, key_)                    \
    GYRE_KEYED_LIVES_(name_, request_, state_)                                                               \
    GYRE_KEYED_REMINDED_(name_, state_)                                                                      \
    GYRE_NO_PORTS_(name_, request_, reply_, ports_)
#define GYRE_KERNEL_OF_TO(name_, LIST_, ports_) GYRE_NO_PORTS_(name_, name_##_request, name_##_reply, ports_);
#define GYRE_KERNEL_OF_TO_WITH(name_, LIST_, ports_, state_, buffers_)                                       \
    GYRE_NO_PORTS_(name_, name_##_request, name_##_reply, ports_);
#define GYRE_BLOCK_KERNEL_OF_TO(name_, LIST_, ports_, scratch_)                                              \
    GYRE_NO_PORTS_(name_, name_##_request, name_##_reply, ports_);
#define GYRE_BLOCK_KERNEL_OF_TO_WITH(name_, LIST_, ports_, scratch_, state_, buffers_)                       \
    GYRE_NO_PORTS_(name_, name_##_request, name_##_reply, ports_);
#define GYRE_ACTOR_OF_TO(name_, LIST_, ports_, state_)                                                       \
    GYRE_NO_PORTS_(name_, name_##_request, name_##_reply, ports_);
#define GYRE_ACTOR_OF_TO_WITH(name_, LIST_, ports_, state_, buffers_)                                        \
    GYRE_NO_PORTS_(name_, name_##_request, name_##_reply, ports_);
#define GYRE_HANDLER_TO(name_, request_, reply_)                                                             \
    GYRE_HELPER gyre_result gyre_typed_##request_(const GYRE_GLOBAL request_ *request,                       \
                                                  GYRE_GLOBAL reply_ *reply, gyre_context *gyre)
#define gyre_emit(gyre_, port_) 0

#define gyre_hop(gyre_) ((void)(gyre_), (gyre_u32)0)
#ifdef GYRE_DIALECT_OPENCL
#define gyre_turn(gyre_)  ((void)(gyre_), (gyre_u32)0)
#define gyre_token(gyre_) ((void)(gyre_), (gyre_u32)0)
#define gyre_round(gyre_) ((void)(gyre_), (gyre_u32)0)
#endif
#define gyre_flow_id(gyre_) ((void)(gyre_), (gyre_u64)0)

#endif
