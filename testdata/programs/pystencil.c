// pystencil.c - an extension of Python, which waves.py imports as "stencil": a frame of C below
// frames of Python, in a library that is loaded late.
//
// python: gcc -g -O0 -shared -fPIC $(/usr/bin/python3-config --includes) -o $OUT/stencil.so pystencil.c
#define PY_SSIZE_T_CLEAN
#include <Python.h>

struct wave {
    Py_ssize_t length;
    double *now, *next;
};

// step is one step of the wave; it returns the energy.
static double step(struct wave *w, double c, int rank)
{
    double energy = 0;
    for (Py_ssize_t i = 0; i < w->length; i++) {
        double left = w->now[i ? i - 1 : w->length - 1], right = w->now[(i + 1) % w->length];
        w->next[i] = w->now[i] + c * (left - 2 * w->now[i] + right);
        energy += w->next[i] * w->next[i]; // of one point
    }
    double *old = w->now;
    w->now = w->next, w->next = old;
    return energy + rank;
}

// values copies a list of numbers; NULL and an exception where it is none.
static double *values(PyObject *list, Py_ssize_t length)
{
    double *all = PyMem_Calloc(length + 1, sizeof *all);
    for (Py_ssize_t i = 0; all && i < length; i++) {
        all[i] = PyFloat_AsDouble(PyList_GET_ITEM(list, i));
        if (PyErr_Occurred()) {
            PyMem_Free(all);
            return NULL;
        }
    }
    return all;
}

static PyObject *advance(PyObject *self, PyObject *args)
{
    PyObject *list;
    double c, energy = 0;
    int steps, rank;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!dii", &PyList_Type, &list, &c, &steps, &rank))
        return NULL;
    struct wave w = {.length = PyList_GET_SIZE(list)};
    w.now = values(list, w.length);
    w.next = PyMem_Calloc(w.length + 1, sizeof *w.next);
    if (!w.now || !w.next)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    for (int i = 0; i < steps; i++)
        energy = step(&w, c, rank);
    for (Py_ssize_t i = 0; i < w.length; i++)
        PyList_SetItem(list, i, PyFloat_FromDouble(w.now[i]));
    PyMem_Free(w.now);
    PyMem_Free(w.next);
    return PyFloat_FromDouble(energy);
}

static PyMethodDef methods[] = {
    {"advance", advance, METH_VARARGS, "advance(list, c, steps, rank): the energy"}, {0},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "stencil", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_stencil(void)
{
    return PyModule_Create(&module);
}
