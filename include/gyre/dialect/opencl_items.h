/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an OpenCL C file tells the host its declarations. The host cannot read constants of a program, so one kernel at
 * the end of the unit, `gyre_describe`, copies all of them out. Each declaration defines an overload of gyre_item_ for
 * a number of its own. The kernel calls all numbers; a number without a declaration ends in the overload for `void *`,
 * which does nothing.
 *
 * Included by message.h, before any declaration.
 */
#ifndef GYRE_DIALECT_OPENCL_ITEMS_H
#define GYRE_DIALECT_OPENCL_ITEMS_H

#include "gyre/dialect/opencl_module.h"

/** Where gyre_describe writes the items. */
typedef struct gyre_items_ {
    __global gyre_u8 *out;
    gyre_u64 used, room;
} gyre_items_;

static inline __attribute__((__unused__)) void gyre_item_put_(gyre_items_ *items, __constant char *name,
                                                              gyre_u64 size, gyre_u64 alignment,
                                                              __constant gyre_u8 *data, gyre_u32 data_size)
{
    const gyre_u64 at = items->used;
    items->used += sizeof(gyre_item) + (data_size + 7) / 8 * 8;
    if (items->used > items->room)
        return;
    __global gyre_item *item = (__global gyre_item *)(items->out + at);
    __global gyre_u8 *copy = (__global gyre_u8 *)(item + 1);
    gyre_u32 length = 0;
    for (; length < sizeof item->name - 1 && name[length]; length++)
        item->name[length] = name[length];
    item->name[length] = 0;
    item->name_size = length;
    item->size = data_size;
    item->layout[0] = size;
    item->layout[1] = alignment;
    for (gyre_u32 i = 0; i < data_size; i++)
        copy[i] = data[i];
}

static inline __attribute__((__overloadable__, __unused__)) void gyre_item_(gyre_items_ *items, void *number)
{
    (void)items;
    (void)number;
}

#define GYRE_ITEM_2_(number_, name_, size_, alignment_, data_, data_size_)                                   \
    static inline __attribute__((__overloadable__, __unused__)) void gyre_item_(                             \
        gyre_items_ *gyre_items_here_, char(*gyre_number_here_)[(number_) + 1])                              \
    {                                                                                                        \
        gyre_item_put_(gyre_items_here_, #name_, size_, alignment_, (__constant gyre_u8 *)(data_),           \
                       data_size_);                                                                          \
    }
#define GYRE_ITEM_1_(number_, name_, size_, alignment_, data_, data_size_)                                   \
    GYRE_ITEM_2_(number_, name_, size_, alignment_, data_, data_size_)
/* __COUNTER__ counts the expansions in the unit: all compilers based on clang have it */
#define GYRE_ITEM_(name_, size_, alignment_, data_, data_size_)                                              \
    GYRE_ITEM_1_(__COUNTER__, name_, size_, alignment_, data_, data_size_)

#define GYRE_ITEMS_8_(n_)                                                                                    \
    gyre_item_(&gyre_items_here_, (char(*)[(n_) + 1])0);                                                     \
    gyre_item_(&gyre_items_here_, (char(*)[(n_) + 2])0);                                                     \
    gyre_item_(&gyre_items_here_, (char(*)[(n_) + 3])0);                                                     \
    gyre_item_(&gyre_items_here_, (char(*)[(n_) + 4])0);                                                     \
    gyre_item_(&gyre_items_here_, (char(*)[(n_) + 5])0);                                                     \
    gyre_item_(&gyre_items_here_, (char(*)[(n_) + 6])0);                                                     \
    gyre_item_(&gyre_items_here_, (char(*)[(n_) + 7])0);                                                     \
    gyre_item_(&gyre_items_here_, (char(*)[(n_) + 8])0);
#define GYRE_ITEMS_64_(n_)                                                                                   \
    GYRE_ITEMS_8_(n_)                                                                                        \
    GYRE_ITEMS_8_((n_) + 8)                                                                                  \
    GYRE_ITEMS_8_((n_) + 16)                                                                                 \
    GYRE_ITEMS_8_((n_) + 24)                                                                                 \
    GYRE_ITEMS_8_((n_) + 32) GYRE_ITEMS_8_((n_) + 40) GYRE_ITEMS_8_((n_) + 48) GYRE_ITEMS_8_((n_) + 56)

/** Ends the generated unit: defines gyre_describe. */
#define GYRE_EXPORT_KERNELS_                                                                                 \
    __kernel void gyre_describe(__global gyre_item_list *gyre_list_here_, gyre_u64 gyre_room_here_)          \
    {                                                                                                        \
        gyre_items_ gyre_items_here_;                                                                        \
        gyre_items_here_.out = (__global gyre_u8 *)gyre_list_here_;                                          \
        gyre_items_here_.used = sizeof(gyre_item_list);                                                      \
        gyre_items_here_.room = gyre_room_here_;                                                             \
        GYRE_ITEMS_64_(0)                                                                                    \
        GYRE_ITEMS_64_(64)                                                                                   \
        GYRE_ITEMS_64_(128)                                                                                  \
        GYRE_ITEMS_64_(192)                                                                                  \
        GYRE_ITEMS_64_(256)                                                                                  \
        GYRE_ITEMS_64_(320)                                                                                  \
        GYRE_ITEMS_64_(384)                                                                                  \
        GYRE_ITEMS_64_(448)                                                                                  \
        gyre_list_here_->version = GYRE_OPENCL_MODULE_VERSION;                                               \
        gyre_list_here_->count = __COUNTER__;                                                                \
        gyre_list_here_->size = gyre_items_here_.used;                                                       \
    }

#endif
