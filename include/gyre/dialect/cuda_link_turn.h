/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that are handled one message after the other, by one lane or by the block together: those of actors and block kernels, and of all
 * kernels whose pipeline asks. Included by cuda_links.h, behind what handles one message and what completes a warp's.
 */
#ifndef GYRE_DIALECT_CUDA_LINK_TURN_H
#define GYRE_DIALECT_CUDA_LINK_TURN_H

/* Handles one message, or settles it if its handler was called on the short way. Called by thread 0. */
#if GYRE_ASKS
#define GYRE_LINK_HANDLE_(K, links, places, number, ports, message, talked, state, buffers, gyre)            \
    ((talked) ? gyre_talk_settle_<K>((links), (places), (ports), &(message), (gyre))                         \
              : gyre_link_handle_<K>((links), (places).cells, (number), (ports), &(message), (state),        \
                                     (buffers), (gyre)))
#else
#define GYRE_LINK_HANDLE_(K, links, places, number, ports, message, talked, state, buffers, gyre)            \
    gyre_link_handle_<K>((links), (places).cells, (number), (ports), &(message), (state), (buffers), (gyre))
#endif

/* Handles message `number` of the run, and places what it emitted. Called by the whole block. */
template <class K>
GYRE_HELPER void gyre_link_turn_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                 const gyre_link_places_ &places, gyre_u32 number, gyre_cuda_port *ports,
                                 gyre_link_message_ &message, gyre_u32 talked, void *scratch,
                                 const void *buffers, gyre_context *gyre)
{
    gyre_u32 failed = 0;
    if constexpr (GYRE_FORM_SHARES_(K::gyre_its_kernel_form_))
        failed = gyre_link_handle_block_<K>(arguments, links, places.cells, number, ports, &message,
                                            arguments.state, scratch, buffers, gyre);
    else if (threadIdx.x == 0)
        failed = GYRE_LINK_HANDLE_(K, links, places, number, ports, message, talked, arguments.state, buffers,
                                   gyre);
    if (threadIdx.x == 0) {
        GYRE_LINK_PLACE_ASKS_(K, links, places, number, message, ports);
        gyre_link_place_<K>(links, ports, message.next);
        links->to[number] = message.to;
        links->view->failed += failed;
#if GYRE_LIMITED
        links->again = message.again;
        links->origin = message.keeps;
#endif
    }
    if constexpr (GYRE_FORM_SHARES_(K::gyre_its_kernel_form_))
        gyre_together_(); /* no lane looks any more at the words that the lanes shared for this message */
}

/* Stores the completions of a run that was handled in turn, by the first warp: it may have more messages than the block has lanes. */
template <class K>
GYRE_HELPER void gyre_link_complete_turns_(const gyre_link_view_ *links, const gyre_link_places_ &places)
{
#pragma unroll 1
    for (gyre_u32 first = 0; threadIdx.x < 32 && first < links->run.count;
         first += (gyre_u32)__popc(gyre_warp_lanes_()))
        gyre_link_complete_all_<K>(links, places, first + threadIdx.x,
                                   first + threadIdx.x < links->run.count ? links->to[first + threadIdx.x]
                                                                          : 0);
}

/* Handles a run one message after the other, by one lane or by the block together. */
template <class K>
GYRE_HELPER void gyre_link_run_in_turn_(const gyre_cuda_arguments &arguments, gyre_link_view_ *links,
                                        const gyre_link_places_ &places, void *scratch, const void *buffers,
                                        gyre_context *gyre)
{
    gyre_cuda_port ports[gyre_link_shape_<K>::ports + 1];
    gyre_link_message_ message;
    const gyre_u32 emits = links->run.from != GYRE_RUN_QUEUE && threadIdx.x == 0;
    const gyre_u64 started = (gyre_u64)clock64();
    const gyre_u32 talked = GYRE_LINK_TALKED_(links);
    if (!talked) {
        GYRE_LINK_AWAIT_ASKS_(links);
        gyre_link_fetch_<K>(links, places.cells, blockDim.x);
        __syncthreads();
        if (threadIdx.x == 0 && links->run.from == GYRE_RUN_LINK && !GYRE_LINK_IS_KEPT_(links))
            gyre_link_give_back_(links, links->run);
    }
    GYRE_QUEUE_BEGIN_(gyre, gyre_link_queue_(links));
    gyre->ports = ports;
#if GYRE_LIMITED
    gyre->spare = places.thrown;
#endif
    gyre_u32 quick = 0;
    if constexpr (gyre_link_leans_<K>()) {
        quick = gyre_link_may_lean_<K>(links) ? links->run.count : 0;
        if (threadIdx.x == 0 && quick)
            gyre_link_lean_run_<K>(links, places, ports, arguments.state, buffers, gyre);
    }
#if GYRE_POOLS
    gyre_u32 silent = 0;
    if constexpr (gyre_link_leans_block_<K>())
        if (gyre_link_may_lean_<K>(links)) {
            silent = 1;
            quick = gyre_link_lean_blocks_<K>(links, places, ports, arguments.state, scratch, buffers, gyre,
                                              &silent);
            silent = silent && quick == links->run.count;
        }
#endif
#pragma unroll 1
    for (gyre_u32 number = quick; number < links->run.count; number++) {
        gyre_link_aim_<K>(links, places, ports, 0, emits);
        gyre_link_turn_<K>(arguments, links, places, number, ports, message, talked, scratch, buffers, gyre);
    }
    if (threadIdx.x == 0 && links->run.from == GYRE_RUN_LINK)
        gyre_group_close_(links);
    GYRE_LINK_PUBLISH_(links, silent);
    gyre_link_complete_turns_<K>(links, places);
#if GYRE_LIMITED
    if constexpr (GYRE_LINK_REPEATS_(K))
        gyre_link_keep_<K>(links, places);
#endif
#if GYRE_ASKS
    if (threadIdx.x == 0)
        links->talked = 0;
#endif
    if (threadIdx.x == 0)
        gyre_link_adapt_(links, (gyre_u64)clock64() - started);
}

#endif
