/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the machine share: decoded code, warps and blocks. Private to this folder.
 *
 * A register is 32 words of 64 bits, one a lane; narrower values lie in the low bits, those of 32-bit registers
 * with zeros above. A predicate is one mask of lanes, in a word behind those of a register's lanes: lanes of one path may be in a
 * function whose registers lie where another path's function, with other registers of its own, has a predicate. Operands are places: a base (registers of
 * the frame, constants of the module, special registers of the warp) and an index of words.
 */
#ifndef GYRE_TESTS_EMULATOR_MACHINE_CORE_H
#define GYRE_TESTS_EMULATOR_MACHINE_CORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "machine.h"

enum {
    LANES = MACHINE_WARP,
    ROW =
        LANES + 8, /* words from a register to the next: of its lanes, of a predicate, and to the next line */
    ALL_LANES = -1, /* as a mask */
    OPERANDS_MAX = 7,
    BARRIERS = 16,
    DEPTH_MAX = 16,      /* of calls */
    SHARED_BEGIN = 1024, /* first address of shared memory: as on the device, none is 0 */
    BASE_SHIFT = 30,
    NO_PLACE = 0x3fffffff /* of a result that nobody wants: '_' */
};

enum base { BASE_REGISTERS, BASE_CONSTANTS, BASE_SPECIALS };

/* Special registers, as rows of BASE_SPECIALS. */
enum special {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANE,
    SPECIAL_WARP,
    SPECIAL_WARPS,
    SPECIAL_UNIT,
    SPECIAL_UNITS,
    SPECIAL_MASK_EQ,
    SPECIAL_MASK_LE,
    SPECIAL_MASK_LT,
    SPECIAL_MASK_GE,
    SPECIAL_MASK_GT,
    SPECIAL_DYNAMIC_SHARED,
    SPECIAL_TOTAL_SHARED,
    SPECIAL_SCRATCH, /* results that nobody wants */
    SPECIALS
};

enum space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_PARAM };

struct warp;
struct instruction;
typedef void run_function(struct warp *warp, const struct instruction *i, uint32_t mask);

/* What a memory instruction does besides. */
struct access {
    uint8_t size;   /* of an element: 1, 2, 4, 8 */
    uint8_t count;  /* elements of a vector */
    uint8_t space;  /* enum space */
    uint8_t extend; /* loads: 0 zeros, else the bits of the signed number that the element becomes */
    bool weak;      /* may be served from the block's cache */
    bool acquire, release;
    bool frame;   /* the address counts from the frame's local memory */
    uint8_t form; /* of atomics: ops_atomic.c; of converts, shuffles and the like: theirs */
    uint8_t type;
    uint8_t results;    /* which of the operands are written, a bit each */
    bool falls_through; /* to the next instruction, for lanes that execute it */
};

struct call;

struct instruction {
    run_function *run;
    uint32_t guard, flip; /* lanes: those of the guard, flipped */
    uint32_t o[OPERANDS_MAX];
    uint32_t line;
    uint64_t address_mask; /* of addresses in 32-bit registers */
    int64_t offset;        /* of an address */
    union {
        const struct instruction *target;
        const struct call *call;
    };
    struct access access;
};

struct variable {
    char *name;
    enum space space;
    uint64_t address; /* in its space; in host memory for global ones */
    uint64_t size;
    void *memory; /* to be freed */
    bool dynamic; /* shared, of the launch: its address is known when all is read */
};

/* A piece of a frame that goes from caller to callee, or back. */
struct passed {
    uint32_t from, to, size;
};

struct call {
    const struct machine_function *callee;
    struct passed *arguments, *results;
    uint32_t argument_count, result_count;
};

struct parameter {
    uint32_t offset, size; /* in the block of a kernel's parameters, or in the frame of a function */
};

struct machine_function {
    char *name;
    struct machine_module *module;
    bool entry, defined;
    struct instruction *code;
    uint32_t code_count;
    uint32_t register_count, registers_total; /* with those of what it calls */
    uint32_t frame_size, frame_total;         /* local memory */
    uint32_t shared_size;                     /* static */
    uint32_t parameters_size, threads_max;
    struct parameter *parameters, *results;
    uint32_t *parameter_sizes;
    uint32_t parameter_count, result_count;
    struct call *calls;
    uint32_t call_count;
    uint32_t depth; /* while totals are made */
};

struct machine_module {
    struct machine_function **functions;
    uint32_t function_count;
    struct variable *variables;
    uint32_t variable_count;
    uint64_t *constants; /* rows of 32 */
    uint32_t constant_count, constant_room;
    uint32_t *constant_index; /* by hash: row + 1 */
    uint32_t shared_size;     /* of the module's own variables */
    uint32_t dynamic_begin;   /* address of dynamic shared memory */
    uint32_t dynamic_row;     /* the constant that holds it, 0 when unused */
};

/* ---- memory ---- */

struct range {
    uint64_t from, end, version;
};

extern atomic_uint_fast64_t machine_memory_version;
/** The range that holds the address, and the version of the list that it was found in. */
bool machine_memory_find(uint64_t address, struct range *range);

/* ---- the cache of a block ---- */

enum { CACHE_LINES = 1024, CACHE_WAYS = 4, CACHE_LINE = 128, CACHE_SECTOR = 32 };

struct cache_line {
    uint64_t tag; /* address of the line + 1 */
    uint64_t age; /* of the cache when it came: older ones are gone */
    uint32_t sectors;
    uint8_t bytes[CACHE_LINE];
};

struct stores;

struct cache {
    struct cache_line *lines;
    uint64_t age; /* one more with each acquire */
    uint64_t random;
};

/* ---- stores of a block on their way ---- */

enum { HELD_LINES = 64 };

struct held_line {
    uint64_t address;
    uint64_t bits[2]; /* which bytes are held */
    uint32_t turns;   /* left until they go */
    uint8_t bytes[CACHE_LINE];
};

struct stores {
    struct held_line *lines;
    uint32_t count;
    bool on;
    uint64_t random;
};

/* ---- running ---- */

enum path_state { PATH_READY, PATH_SLEEPING, PATH_AT_WARP, PATH_AT_BARRIER };

/* Lanes of a warp that are at one place. */
struct path {
    const struct instruction *pc;
    const struct machine_function *function;
    uint64_t *registers;
    uint32_t mask, depth, frame;
    enum path_state state;
    uint32_t barrier;
    uint64_t wake_ns;
};

/* Where a lane goes on after a call. */
struct comeback {
    const struct instruction *pc; /* of the call */
    const struct machine_function *function;
    uint64_t *registers;
    uint32_t frame;
};

struct warp {
    uint64_t *base[3]; /* of registers: those of the function that runs */
    uint64_t *registers;
    struct block *block;
    /* the path that runs */
    const struct instruction *pc, *meet;
    uint32_t mask, frame;
    int left; /* instructions until the path is looked at again; 0 ends its turn at once */
    struct path *now;
    struct path paths[LANES];
    int path_count;
    bool rests;     /* its turn is over */
    uint32_t turns; /* since it last looked, slept or waited for other warps */
    uint32_t live;
    int spell;      /* instructions that the path has run while others wait */
    uint32_t carry; /* of add.cc and the like */
    uint8_t *local; /* of lane 0 */
    uint32_t local_size;
    struct range range;
    struct comeback *comebacks; /* [DEPTH_MAX][LANES] */
    uint64_t *specials;
    uint32_t number;
};

struct barrier {
    uint32_t arrived, expected; /* expected: 0 for all that live */
    uint32_t count;             /* of those whose predicate is true */
};

/* A copy of the block that is under way. */
struct copy {
    uint64_t from;
    uint32_t to, size, barrier;
    uint32_t turns; /* left until it is done */
    const struct instruction *i;
};

enum { COPIES_MAX = 256 };

struct block {
    struct machine_grid *grid;
    uint32_t index[3], number;
    pthread_t thread;
    struct warp *warps;
    uint32_t warp_count, live; /* threads */
    uint8_t *shared;
    uint32_t shared_size;
    struct barrier barriers[BARRIERS];
    struct cache cache;
    struct stores stores;
    struct copy copies[COPIES_MAX];
    uint32_t copy_count;
    bool stored;    /* something that others may see, since it was last asked */
    uint32_t looks; /* at what others may change, and sleeps, since it last stored to memory of all blocks */
    uint64_t random;
};

struct machine_grid {
    const struct machine_function *function;
    uint32_t size[3], block_size[3];
    uint32_t dynamic_shared;
    uint8_t *parameters;
    struct block *blocks;
    uint32_t block_count, started;
    atomic_bool ending;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    uint32_t running;
    struct machine_fault fault;
};

static inline void machine_warp_looks(struct warp *warp)
{
    warp->turns = 0;
    warp->block->looks++;
}

static inline uint64_t *lanes_at(const struct warp *warp, uint32_t place)
{
    return warp->base[place >> BASE_SHIFT] + (place & NO_PLACE);
}

static inline uint32_t predicate_at(const struct warp *warp, uint32_t place)
{
    return (uint32_t)*lanes_at(warp, place);
}

/* Only the lanes of the mask get their bits. */
static inline void set_predicate(struct warp *warp, uint32_t place, uint32_t mask, uint32_t bits)
{
    uint64_t *predicate = lanes_at(warp, place);
    *predicate = ((uint32_t)*predicate & ~mask) | (bits & mask);
}

/** For each lane of a mask, from the first. */
#define FOR_LANES(lane_, mask_)                                                                              \
    for (uint32_t rest_##lane_ = (mask_), lane_ = 0;                                                         \
         rest_##lane_ && (lane_ = (uint32_t)__builtin_ctz(rest_##lane_), true);                              \
         rest_##lane_ &= rest_##lane_ - 1)

/** The block's fault, unless it has one: all of the grid ends. */
void machine_fault(struct warp *warp, const struct instruction *i, enum machine_fault_kind kind,
                   uint32_t lane, uint64_t address);
uint64_t machine_now_ns(void);
uint64_t machine_random(uint64_t *state);

/* machine_warp.c */
/** Runs what can run of the warp, about so many instructions. Returns how many ran. */
int machine_warp_turn(struct warp *warp, int quantum);
/** Parts the lanes of `mask` from the path that runs: they go on at `pc`. */
struct path *machine_warp_part(struct warp *warp, uint32_t mask, const struct instruction *pc);
/** The running path waits for what others of the block do: it goes on in the warp's next turn. */
void machine_warp_rest(struct warp *warp);
/** The paths that wait within the warp look again. */
void machine_warp_look_again(struct warp *warp);
/** What nobody could ever end: the first place where somebody waits. */
bool machine_block_stuck(const struct block *block);

/* ops_barrier.c */
/** Paths that wait at a barrier go on when all are there, also since fewer live. */
void machine_barriers_look_again(struct block *block);
/** Carries on copies of the block. */
void machine_copies_turn(struct block *block);

/* machine_cache.c */
bool machine_cache_init(struct cache *cache, uint64_t seed);
void machine_cache_finish(struct cache *cache);
/** Where the bytes of an address lie in the cache; they are fetched, with what is held, unless they are there. */
const uint8_t *machine_cache_load(struct cache *cache, struct stores *stores, uint64_t address);
/** What the block itself stores or takes away. */
void machine_cache_store(struct cache *cache, uint64_t address, const void *bytes, uint32_t size);
void machine_cache_drop(struct cache *cache, uint64_t address);
static inline void machine_cache_drop_all(struct cache *cache)
{
    cache->age++;
}

/* machine_stores.c */
bool machine_stores_init(struct stores *stores, uint64_t seed);
void machine_stores_finish(struct stores *stores);
/** An aligned store of 1, 2, 4 or 8 bytes goes on its way. */
void machine_stores_hold(struct stores *stores, uint64_t address, uint64_t value, uint32_t size);
/** What the block's threads see where `value` was loaded. */
uint64_t machine_stores_overlay(struct stores *stores, uint64_t address, uint64_t value, uint32_t size);
/** What is held of the line of an address is stored; everything is; what has been held for long. */
void machine_stores_let_go(struct stores *stores, uint64_t address);
void machine_stores_let_all_go(struct stores *stores);
void machine_stores_turn(struct stores *stores);

/*
 * 16 aligned bytes: a device moves them as one, and so do the processors that this machine runs on, by one instruction. In two
 * halves, another block would see a new sequence beside what stood there before.
 */
typedef uint64_t machine_pair __attribute__((vector_size(16)));

static inline machine_pair machine_load_pair(const void *at)
{
    return *(const volatile machine_pair *)at;
}

static inline void machine_store_pair(void *at, machine_pair pair)
{
    *(volatile machine_pair *)at = pair;
}

/** Aligned, at once, as seen by others. */
static inline void machine_store(void *at, uint32_t size, uint64_t value)
{
    switch (size) {
    case 1:
        __atomic_store_n((uint8_t *)at, (uint8_t)value, __ATOMIC_RELAXED);
        break;
    case 2:
        __atomic_store_n((uint16_t *)at, (uint16_t)value, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((uint32_t *)at, (uint32_t)value, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n((uint64_t *)at, value, __ATOMIC_RELAXED);
        break;
    }
}

#endif
