/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module gyre_kernels._block: blocks of messages in place, `with kernel.reserve(256) as slots:`. They are in C because beginning
 * and ending one is paid for a few hundred messages, and costs Python as much as all of these cost Gyre. What is rare is in
 * places.py, whose classes derive from Block, and is called here by its name.
 *
 * A block that was entered ends in one of three ways: `__exit__` is called; the `with` statement goes without calling it, because a
 * signal came right before that; or the object goes, for a block that was entered by other means. The last two send nothing and give
 * nothing back.
 *
 * Threads: those of Python, which hold its global lock. One thread enters a block, and one ends it: the first that takes what was given.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "batch.h"

#include <stddef.h>
#include <structmember.h>

typedef struct block {
    PyObject_HEAD PyObject *lanes; /* of the port: its `mine` is the lane that blocks use */
    PyObject *leaked; /* the port's list of weak references to arrays that outlived their block */
    PyObject *lane;   /* the one of the last block, which owns the memory of `queue` */
    gyrepy_lane *queue;
    PyObject *span;  /* the array that spans the window; of what is no reply, the array of that block */
    PyObject *array; /* the part of it that was given; NULL outside of a block */
    const void *end; /* the End that was asked for last, outside of a block */
    unsigned long long size, most;
    unsigned int least;
    int is_views, has_deadline, is_entered, is_other;
    gyrepy_slots slots;
    gyrepy_views views; /* with is_views; else `slots` */
} block;

/* The `__exit__` of one `with` statement, which nothing else holds: it goes with the statement. NULL: Block's own. */
typedef struct end {
    PyObject_HEAD block *block;
} end;

static PyTypeObject *block_type, *end_type;
static PyObject *mine_name; /* "mine" */

static size_t given_count(const block *it)
{
    return it->is_views ? it->views.count : it->slots.count;
}

static gyrepy_window *window_of(block *it)
{
    return it->is_views ? &it->views.window : &it->slots.window;
}

static PyObject *none(void)
{
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *fail(PyObject *kind, const char *sentence)
{
    PyErr_SetString(kind, sentence);
    return NULL;
}

/* ---- the end of a block ---- */

/* Remembers for the port that an array of the block is left. Runs no Python, where a signal could come: the list itself takes the
 * reference out once the array is gone. */
static void array_remember(block *it)
{
    PyObject *forget = PyObject_GetAttrString(it->leaked, "remove");
    PyObject *left = forget ? PyWeakref_NewRef(it->span, forget) : NULL;
    if (!left || PyList_Append(it->leaked, left))
        PyErr_Clear(); /* no memory */
    Py_XDECREF(left);
    Py_XDECREF(forget);
}

/* Whether no array of the block is left. One that is left is told to the port, and later blocks get another span. */
static bool array_let_go(block *it)
{
    Py_CLEAR(it->array);
    if (!it->span)
        return true;
    const bool is_alone =
        (uint32_t)Py_REFCNT(it->span) == 1; /* 32 bits: from CPython 3.14 on there are flags above */
    if (!is_alone)
        array_remember(it);
    if (!is_alone || it->is_other) {
        *window_of(it) = (gyrepy_window){0};
        Py_CLEAR(it->span);
    }
    return is_alone;
}

/* How much was given, for whoever ends the block: from here on nobody else finds anything to end. */
static size_t given_take(block *it)
{
    return __atomic_exchange_n(it->is_views ? &it->views.count : &it->slots.count, 0, __ATOMIC_SEQ_CST);
}

static int given_end(const block *it, size_t count, bool all)
{
    gyrepy_slots slots = {.count = count};
    gyrepy_views views = {.count = count};
    int status;
    Py_BEGIN_ALLOW_THREADS;
    status =
        it->is_views ? gyrepy_release_views(it->queue, &views, all) : gyrepy_commit(it->queue, &slots, all);
    Py_END_ALLOW_THREADS;
    return status;
}

/* Ends the block as an exception in it would, and keeps the exception that there is. */
static void block_abandon(block *it)
{
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    const size_t count = given_take(it);
    (void)array_let_go(it);
    if (count)
        (void)given_end(it, count, false);
    it->is_entered = 0;
    PyErr_Restore(kind, value, trace);
}

static PyObject *block_exit(block *it, const PyObject *kind)
{
    const size_t count = given_take(it);
    if (!count) {
        if (kind == Py_None)
            return fail(PyExc_BufferError, "a block of messages in place ends once, after it was entered");
        return none(); /* the exception tells more */
    }
    const bool is_free = array_let_go(it);
    const int status = given_end(it, count, is_free && kind == Py_None);
    it->is_entered = 0;
    if (status)
        return PyObject_CallMethod((PyObject *)it, "_refused", "i", status);
    if (!is_free && kind == Py_None)
        return PyObject_CallMethod((PyObject *)it, "_outlived", NULL);
    return none();
}

/* ---- the beginning of a block ---- */

static bool lane_find(block *it)
{
    PyObject *mine = PyObject_GetAttr(it->lanes, mine_name);
    if (!mine)
        return false;
    const bool is_known = mine == it->lane && mine != Py_None;
    Py_DECREF(mine);
    if (is_known)
        return true;
    PyObject *found =
        PyObject_CallMethod((PyObject *)it, "_own_lane", NULL); /* the lane, and where its memory is */
    PyObject *lane = NULL;
    unsigned long long address = 0;
    const bool is_found = found && PyArg_ParseTuple(found, "OK", &lane, &address);
    if (is_found) {
        Py_INCREF(lane);
        Py_XDECREF(it->lane);
        it->lane = lane;
        it->queue = (gyrepy_lane *)(uintptr_t)address;
    }
    Py_XDECREF(found);
    return is_found;
}

static bool deadline_find(block *it, uint64_t *deadline_ns)
{
    *deadline_ns = GYRE_FOREVER;
    if (!it->has_deadline)
        return true;
    PyObject *deadline = PyObject_CallMethod((PyObject *)it, "_deadline", NULL);
    if (!deadline)
        return false;
    *deadline_ns = PyLong_AsUnsignedLongLong(deadline);
    Py_DECREF(deadline);
    return !PyErr_Occurred();
}

/* Waits for messages, a slice at a time; -1 with an exception. */
static int given_wait(block *it, uint64_t deadline_ns)
{
    int status;
    do {
        Py_BEGIN_ALLOW_THREADS;
        status = it->is_views
                     ? gyrepy_views_peek(it->queue, it->size, it->most, &it->views, deadline_ns)
                     : gyrepy_reserve(it->queue, it->size, it->least, it->most, &it->slots, deadline_ns);
        Py_END_ALLOW_THREADS;
        if (status == GYREPY_MORE && PyErr_CheckSignals())
            return -1;
    } while (status == GYREPY_MORE);
    return status;
}

static bool span_replace(block *it, PyObject *array)
{
    Py_XDECREF(it->span);
    it->span = array;
    return array;
}

static PyObject *slice_of_span(block *it)
{
    const gyrepy_window *const window = window_of(it);
    PyObject *first = PyLong_FromSize_t(window->begin), *last = PyLong_FromSize_t(window->end);
    PyObject *slice = first && last ? PySlice_New(first, last, NULL) : NULL;
    PyObject *array = slice ? PyObject_GetItem(it->span, slice) : NULL;
    Py_XDECREF(slice);
    Py_XDECREF(last);
    Py_XDECREF(first);
    return array;
}

/* For completions that are no reply, or may be shorter than their type: places.py makes an array, and says what they are. */
static bool others_take(block *it)
{
    const gyrepy_views *const views = &it->views;
    it->is_other = 1;
    *window_of(it) = (gyrepy_window){.end = views->count};
    return span_replace(it, PyObject_CallMethod((PyObject *)it, "_look", "KKKI",
                                                (unsigned long long)(uintptr_t)views->first,
                                                (unsigned long long)views->count,
                                                (unsigned long long)views->stride, views->length));
}

static bool array_take(block *it, int status)
{
    const gyrepy_window *const window = window_of(it);
    if (status == GYREPY_OTHER) {
        if (!others_take(it))
            return false;
    } else if (status == GYREPY_WIDER &&
               !span_replace(it, PyObject_CallMethod((PyObject *)it, "_span", "KKK",
                                                     (unsigned long long)window->first,
                                                     (unsigned long long)window->count,
                                                     (unsigned long long)window->stride))) {
        *window_of(it) = (gyrepy_window){0};
        return false;
    }
    it->array = slice_of_span(it);
    return it->array;
}

static bool block_begin(block *it)
{
    uint64_t deadline_ns;
    if (it->is_other) { /* what the last block said */
        PyObject *forgotten = PyObject_CallMethod((PyObject *)it, "_forget", NULL);
        if (!forgotten)
            return false;
        Py_DECREF(forgotten);
        it->is_other = 0;
    }
    if (!lane_find(it) || !deadline_find(it, &deadline_ns))
        return false;
    const int status = given_wait(it, deadline_ns);
    if (given_count(it))
        return array_take(it, status);
    if (status >= 0)
        Py_XDECREF(PyObject_CallMethod((PyObject *)it, "_refused", "i", status));
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_BufferError, "another thread ended this block of messages in place");
    return false;
}

static PyObject *block_enter(PyObject *self, PyObject *Py_UNUSED(none))
{
    block *const it = (block *)self;
    if (!it->lanes)
        return fail(PyExc_TypeError, "a block of messages in place is what reserve and peek give");
    if (__atomic_exchange_n(&it->is_entered, 1, __ATOMIC_SEQ_CST))
        return fail(PyExc_BufferError, "a block of messages in place is entered again only after its end");
    if (!block_begin(it)) {
        block_abandon(it);
        return NULL;
    }
    Py_INCREF(self);
    return self;
}

/* ---- the object ---- */

static int block_init(PyObject *self, PyObject *args, PyObject *Py_UNUSED(names))
{
    block *const it = (block *)self;
    PyObject *lanes, *leaked;
    int is_views, has_deadline;
    unsigned long long size, most;
    unsigned int least;
    if (!PyArg_ParseTuple(args, "OO!pKIKp", &lanes, &PyList_Type, &leaked, &is_views, &size, &least, &most,
                          &has_deadline))
        return -1;
    if (it->lanes) {
        PyErr_SetString(PyExc_TypeError, "a block of messages in place is made once");
        return -1;
    }
    it->is_views = is_views;
    it->has_deadline = has_deadline;
    it->size = size;
    it->least = least;
    it->most = most;
    Py_INCREF(lanes);
    it->lanes = lanes;
    Py_INCREF(leaked);
    it->leaked = leaked;
    return 0;
}

static void block_finalize(PyObject *self)
{
    if (((block *)self)->is_entered)
        block_abandon((block *)self);
}

static int block_traverse(PyObject *self, visitproc visit, void *arg)
{
    const block *const it = (const block *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(it->array);
    Py_VISIT(it->span);
    Py_VISIT(it->lane);
    Py_VISIT(it->leaked);
    Py_VISIT(it->lanes);
    return 0;
}

static int block_clear(PyObject *self)
{
    block *const it = (block *)self;
    block_finalize(self); /* Python calls it once, and the object may have come back and been entered since */
    Py_CLEAR(it->array);
    Py_CLEAR(it->span);
    Py_CLEAR(it->lane);
    Py_CLEAR(it->leaked);
    Py_CLEAR(it->lanes);
    return 0;
}

static void object_free(PyObject *self)
{
    PyTypeObject *const type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static void block_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    (void)block_clear(self);
    object_free(self);
}

static PyObject *block_array(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *const array = ((block *)self)->array;
    if (!array)
        return fail(PyExc_BufferError, "messages in place are there inside of their `with` block alone");
    Py_INCREF(array);
    return array;
}

static Py_ssize_t block_length(PyObject *self)
{
    PyObject *array = block_array(self, NULL);
    const Py_ssize_t length = array ? PyObject_Size(array) : -1;
    Py_XDECREF(array);
    return length;
}

static PyObject *block_get(PyObject *self, PyObject *key)
{
    PyObject *array = block_array(self, NULL);
    PyObject *value = array ? PyObject_GetItem(array, key) : NULL;
    Py_XDECREF(array);
    return value;
}

static PyObject *block_item(PyObject *self, Py_ssize_t number)
{
    PyObject *array = block_array(self, NULL);
    PyObject *value = array ? PySequence_GetItem(array, number) : NULL;
    Py_XDECREF(array);
    return value;
}

static int block_set(PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *array = block_array(self, NULL);
    int failed = -1;
    if (array)
        failed = value ? PyObject_SetItem(array, key, value) : PyObject_DelItem(array, key);
    Py_XDECREF(array);
    return failed;
}

static end *end_make(block *it)
{
    end *made = PyObject_GC_New(end, end_type);
    if (!made)
        return NULL;
    Py_XINCREF((PyObject *)it);
    made->block = it;
    PyObject_GC_Track(made);
    return made;
}

/* Block's `__exit__`, an End of no block, becomes one of this block. A `with` statement asks for it right before it enters the block;
 * what is asked for inside of a block is not the statement's. */
static PyObject *end_of_block(PyObject *self, PyObject *owner, PyObject *Py_UNUSED(type))
{
    block *const it = (block *)owner;
    if (!it || ((end *)self)->block) {
        Py_INCREF(self);
        return self;
    }
    end *made = end_make(it);
    if (made && !it->is_entered)
        it->end = made;
    return (PyObject *)made;
}

/* As a function of its block, or of the block that is given first. */
static PyObject *end_call(PyObject *self, PyObject *args, PyObject *Py_UNUSED(names))
{
    PyObject *first, *kind = NULL, *error = NULL, *trace = NULL;
    if (!PyArg_UnpackTuple(args, "__exit__", 1, 4, &first, &kind, &error, &trace))
        return NULL;
    if (((end *)self)->block)
        return block_exit(((end *)self)->block, first);
    if (!kind || !PyObject_TypeCheck(first, block_type))
        return fail(PyExc_TypeError,
                    "__exit__: expected a block of messages in place and an exception or None");
    return block_exit((block *)first, kind);
}

static int end_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT((PyObject *)((end *)self)->block);
    return 0;
}

static int end_clear(PyObject *self)
{
    block *const it = ((end *)self)->block;
    ((end *)self)->block = NULL;
    if (it && it->end == self) {
        it->end = NULL;
        if (given_count(it))
            block_abandon(it);
    }
    Py_XDECREF((PyObject *)it);
    return 0;
}

static void end_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    (void)end_clear(self);
    object_free(self);
}

static PyMethodDef block_methods[] = {
    {"__enter__", block_enter, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef block_properties[] = {
    {"array", block_array, NULL, "All of it as one structured array; drop every view before the block ends.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef block_members[] = {
    {"index", T_ULONGLONG, offsetof(block, views.index), READONLY, NULL},
    {"outcome", T_INT, offsetof(block, views.outcome), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Spec block_spec = {
    .name = "gyre_kernels._block.Block",
    .basicsize = sizeof(block),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots =
        (PyType_Slot[]){
            {Py_tp_init, block_init},
            {Py_tp_finalize, block_finalize},
            {Py_tp_traverse, block_traverse},
            {Py_tp_clear, block_clear},
            {Py_tp_dealloc, block_dealloc},
            {Py_tp_methods, block_methods},
            {Py_tp_getset, block_properties},
            {Py_tp_members, block_members},
            {Py_mp_length, block_length},
            {Py_sq_length, block_length},
            {Py_sq_item, block_item},
            {Py_mp_subscript, block_get},
            {Py_mp_ass_subscript, block_set},
            {0, NULL},
        },
};

static PyType_Spec end_spec = {
    .name = "gyre_kernels._block.End",
    .basicsize = sizeof(end),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots =
        (PyType_Slot[]){
            {Py_tp_call, end_call},
            {Py_tp_descr_get, end_of_block},
            {Py_tp_traverse, end_traverse},
            {Py_tp_clear, end_clear},
            {Py_tp_dealloc, end_dealloc},
            {0, NULL},
        },
};

static PyModuleDef block_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "gyre_kernels._block",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__block(void);

PyMODINIT_FUNC PyInit__block(void)
{
    block_type = (PyTypeObject *)PyType_FromSpec(&block_spec);
    end_type = (PyTypeObject *)PyType_FromSpec(&end_spec);
    mine_name = PyUnicode_InternFromString("mine");
    PyObject *const module = PyModule_Create(&block_module);
    end *const of_none = end_type ? end_make(NULL) : NULL;
    if (!block_type || !mine_name || !module || !of_none)
        return NULL;
    const int failed = PyObject_SetAttrString((PyObject *)block_type, "__exit__", (PyObject *)of_none);
    Py_DECREF((PyObject *)of_none);
    Py_INCREF((PyObject *)block_type); /* one is the module's, one is kept here */
    if (failed || PyModule_AddObject(module, "Block", (PyObject *)block_type))
        return NULL;
#ifdef Py_GIL_DISABLED
    PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    return module;
}
