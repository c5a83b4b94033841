/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of kernels (lane, block and actor) as their authors declare them. Included by all dialects, which define
 *
 *   GYRE_GLOBAL, GYRE_SHARED, GYRE_HELPER, GYRE_RESTRICT_, GYRE_UNUSED_
 *   GYRE_DECLARE_LANE_(form, name, request, reply, scratch, state, buffers)
 *   GYRE_DECLARE_BLOCK_(the same parameters)   both declare gyre_handler_<name>, and define the code that calls it
 *   GYRE_DECLARE_GRID_(the same parameters)
 *   GYRE_DECLARE_KEYED_(name, request, reply, state, key, hooks, reminds), GYRE_DECLARE_LIVES_(name, request, state),
 *   GYRE_DECLARE_REMINDED_(name, state)
 */
#ifndef GYRE_DIALECT_FORMS_H
#define GYRE_DIALECT_FORMS_H

/*
 * Declares a handler. A parameter that its form does not have gets another name, so that handlers may use the usual
 * name for their own variables. The reply is restrict if one lane has it to itself. The lanes of a block share it:
 * there, restrict would let the compiler read, before a barrier, what another lane writes before the barrier (NVIDIA's
 * OpenCL compiler does).
 */
#define GYRE_HANDLER_NAMED_(restrict_, name_, request_, reply_, scratch_, state_, buffers_, the_scratch_,    \
                            the_state_, the_buffers_)                                                        \
    GYRE_HELPER gyre_result gyre_handler_##name_(                                                            \
        const GYRE_GLOBAL request_ *GYRE_RESTRICT_ request GYRE_UNUSED_,                                     \
        GYRE_GLOBAL reply_ *restrict_ reply GYRE_UNUSED_, GYRE_GLOBAL state_ *the_state_ GYRE_UNUSED_,       \
        GYRE_SHARED scratch_ *the_scratch_ GYRE_UNUSED_, const buffers_ *the_buffers_ GYRE_UNUSED_,          \
        gyre_context *gyre GYRE_UNUSED_)
#define GYRE_HANDLER_(name_, request_, reply_, scratch_, state_, buffers_)                                   \
    GYRE_HANDLER_NAMED_(, name_, request_, reply_, scratch_, state_, buffers_, scratch, state, buffers)

/* the numbers are those of gyre_form in backend.h, which kernels do not include */
#define GYRE_FORM_SHARES_(form_) ((form_) == 2 || (form_) == 5)
#define GYRE_PLAIN_KERNEL_(form_, name_, request_, reply_, state_, buffers_)                                 \
    GYRE_DECLARE_LANE_(form_, name_, request_, reply_, gyre_none, state_, buffers_)                          \
    GYRE_HANDLER_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, state_, buffers_, gyre_scratch_, \
                        state, buffers)
#define GYRE_PLAIN_BLOCK_KERNEL_(name_, request_, reply_, scratch_, state_, buffers_)                        \
    GYRE_DECLARE_BLOCK_(2, name_, request_, reply_, scratch_, state_, buffers_)                              \
    GYRE_HANDLER_(name_, request_, reply_, scratch_, state_, buffers_)

#define GYRE_KERNEL_WITH(name_, request_, reply_, state_, buffers_)                                          \
    GYRE_PLAIN_KERNEL_(1, name_, request_, reply_, state_, buffers_)
#define GYRE_KERNEL(name_, request_, reply_)                                                                 \
    GYRE_DECLARE_LANE_(1, name_, request_, reply_, gyre_none, gyre_none, gyre_none)                          \
    GYRE_HANDLER_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, gyre_none, gyre_none,            \
                        gyre_scratch_, gyre_state_, gyre_buffers_)

#define GYRE_BLOCK_KERNEL_WITH(name_, request_, reply_, scratch_, state_, buffers_)                          \
    GYRE_PLAIN_BLOCK_KERNEL_(name_, request_, reply_, scratch_, state_, buffers_)
#define GYRE_BLOCK_KERNEL(name_, request_, reply_, scratch_)                                                 \
    GYRE_DECLARE_BLOCK_(2, name_, request_, reply_, scratch_, gyre_none, gyre_none)                          \
    GYRE_HANDLER_NAMED_(, name_, request_, reply_, scratch_, gyre_none, gyre_none, scratch, gyre_state_,     \
                        gyre_buffers_)

/* A grid kernel is a block kernel whose blocks all work on one message. The check stage knows its handler by the mark. */
#ifdef GYRE_CHECK
#define GYRE_GRID_MARK_(name_) enum { gyre_grid_of_##name_ = 1 };
#else
#define GYRE_GRID_MARK_(name_)
#endif
/* Handlers of keyed actors are known by a mark as well. */
#ifdef GYRE_CHECK
#define GYRE_KEYED_MARK_(name_) enum { gyre_keyed_of_##name_ = 1 };
#else
#define GYRE_KEYED_MARK_(name_)
#endif
#define GYRE_GRID_KERNEL_WITH(name_, request_, reply_, scratch_, state_, buffers_)                           \
    GYRE_GRID_MARK_(name_)                                                                                   \
    GYRE_DECLARE_GRID_(5, name_, request_, reply_, scratch_, state_, buffers_)                               \
    GYRE_HANDLER_(name_, request_, reply_, scratch_, state_, buffers_)
#define GYRE_GRID_KERNEL(name_, request_, reply_, scratch_)                                                  \
    GYRE_GRID_MARK_(name_)                                                                                   \
    GYRE_DECLARE_GRID_(5, name_, request_, reply_, scratch_, gyre_none, gyre_none)                           \
    GYRE_HANDLER_NAMED_(, name_, request_, reply_, scratch_, gyre_none, gyre_none, scratch, gyre_state_,     \
                        gyre_buffers_)

#define GYRE_ACTOR_WITH(name_, request_, reply_, state_, buffers_)                                           \
    GYRE_PLAIN_KERNEL_(3, name_, request_, reply_, state_, buffers_)
#define GYRE_ACTOR(name_, request_, reply_, state_)                                                          \
    GYRE_DECLARE_LANE_(3, name_, request_, reply_, gyre_none, state_, gyre_none)                             \
    GYRE_HANDLER_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, state_, gyre_none,               \
                        gyre_scratch_, state, gyre_buffers_)

/*
 * A keyed actor: an actor for each value of a field of its requests. The hooks of one that says when its keys come and go
 * (LIVES), and of one whose keys are reminded (REMINDED), are declared here and written by GYRE_BORN, GYRE_PASSIVE and
 * GYRE_REMINDED.
 */
#define GYRE_LEAVES 1
#define GYRE_STAYS  0
#define GYRE_KEYED_LIVES_(name_, request_, state_)                                                           \
    typedef request_ gyre_keyed_request_##name_;                                                             \
    typedef state_ gyre_keyed_state_##name_;                                                                 \
    GYRE_HELPER void gyre_born_##name_(const GYRE_GLOBAL request_ *, GYRE_GLOBAL state_ *, gyre_context *);  \
    GYRE_HELPER int gyre_passive_##name_(GYRE_GLOBAL state_ *, gyre_context *);
#define GYRE_KEYED_REMINDED_(name_, state_)                                                                  \
    typedef state_ gyre_reminded_state_##name_;                                                              \
    GYRE_HELPER void gyre_reminded_##name_(GYRE_GLOBAL state_ *, const gyre_reminder *, gyre_context *);
#define GYRE_KEYED_HANDLER_(name_, request_, reply_, state_)                                                 \
    GYRE_KEYED_MARK_(name_)                                                                                  \
    GYRE_HANDLER_NAMED_(GYRE_RESTRICT_, name_, request_, reply_, gyre_none, state_, gyre_none,               \
                        gyre_scratch_, state, gyre_buffers_)
#define GYRE_KEYED_ACTOR(name_, request_, reply_, state_, key_)                                              \
    GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, GYRE_KEYED_NO_HOOKS_, 0)                      \
    GYRE_KEYED_HANDLER_(name_, request_, reply_, state_)
#define GYRE_KEYED_ACTOR_LIVES(name_, request_, reply_, state_, key_)                                        \
    GYRE_DECLARE_LIVES_(name_, request_, state_)                                                             \
    GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, GYRE_KEYED_HOOKS_(name_), 0)                  \
    GYRE_KEYED_HANDLER_(name_, request_, reply_, state_)
#define GYRE_KEYED_ACTOR_REMINDED(name_, request_, reply_, state_, key_)                                     \
    GYRE_DECLARE_REMINDED_(name_, state_)                                                                    \
    GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, GYRE_KEYED_REMINDS_(name_),                   \
                        gyre_fires_##name_)                                                                  \
    GYRE_KEYED_HANDLER_(name_, request_, reply_, state_)
#define GYRE_KEYED_ACTOR_LIVES_REMINDED(name_, request_, reply_, state_, key_)                               \
    GYRE_DECLARE_LIVES_(name_, request_, state_)                                                             \
    GYRE_DECLARE_REMINDED_(name_, state_)                                                                    \
    GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, GYRE_KEYED_ALL_HOOKS_(name_),                 \
                        gyre_fires_##name_)                                                                  \
    GYRE_KEYED_HANDLER_(name_, request_, reply_, state_)
#define GYRE_BORN(name_)                                                                                     \
    GYRE_HELPER void gyre_born_##name_(const GYRE_GLOBAL gyre_keyed_request_##name_ *request GYRE_UNUSED_,   \
                                       GYRE_GLOBAL gyre_keyed_state_##name_ *state GYRE_UNUSED_,             \
                                       gyre_context *gyre GYRE_UNUSED_)
#define GYRE_PASSIVE(name_)                                                                                  \
    GYRE_HELPER int gyre_passive_##name_(GYRE_GLOBAL gyre_keyed_state_##name_ *state GYRE_UNUSED_,           \
                                         gyre_context *gyre GYRE_UNUSED_)

#define GYRE_REMINDED(name_)                                                                                 \
    GYRE_HELPER void gyre_reminded_##name_(GYRE_GLOBAL gyre_reminded_state_##name_ *state GYRE_UNUSED_,      \
                                           const gyre_reminder *reminder GYRE_UNUSED_,                       \
                                           gyre_context *gyre GYRE_UNUSED_)

/*
 * Declares a migration of a state. A migration is an actor that the core launches on the kernel's device when a
 * journal holds a state of the old type. It gets both states as buffers, and one message without content. Kernels with
 * this prefix do not count as kernels of the file.
 */
#define GYRE_MIGRATE(old_, new_)                                                                             \
    GYRE_MIGRATION_BUFFERS_(gyre_migration_##old_, old_, new_)                                               \
    GYRE_HELPER void gyre_migrate_to_##new_##_from_##old_(const GYRE_GLOBAL old_ *, GYRE_GLOBAL new_ *);     \
    GYRE_DECLARE_LANE_(3, gyre_migrate_##old_, gyre_none, gyre_none, gyre_none, gyre_none,                   \
                       gyre_migration_##old_)                                                                \
    GYRE_HANDLER_NAMED_(GYRE_RESTRICT_, gyre_migrate_##old_, gyre_none, gyre_none, gyre_none, gyre_none,     \
                        gyre_migration_##old_, gyre_scratch_, gyre_state_, gyre_its_buffers_)                \
    {                                                                                                        \
        gyre_migrate_to_##new_##_from_##old_(gyre_its_buffers_->gyre_before_,                                \
                                             gyre_its_buffers_->gyre_after_);                                \
        return GYRE_NO_REPLY;                                                                                \
    }                                                                                                        \
    GYRE_HELPER void gyre_migrate_to_##new_##_from_##old_(const GYRE_GLOBAL old_ *before GYRE_UNUSED_,       \
                                                          GYRE_GLOBAL new_ *state GYRE_UNUSED_)

#endif
