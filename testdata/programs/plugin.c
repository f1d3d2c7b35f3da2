// plugin.c - a solver that plugins.c loads: the explicit one, or with -DIMPLICIT the other.
//
// build: gcc -g -O0 -shared -fPIC -o $OUT/libexplicit.so plugin.c
// build: gcc -g -O0 -shared -fPIC -DIMPLICIT -o $OUT/libimplicit.so plugin.c
#include "plugin.h"

static int calls; // each plugin has its own

static double slope(double value, int rank)
{
    return -value / (rank + 2);
}

#ifdef IMPLICIT
static void evolve(struct state *state, double dt)
{
    double next = state->value;
    for (int i = 0; i < 5; i++)
        next = state->value + dt * slope(next, state->rank);
    state->history[state->steps++ % 16] = state->value;
    state->value = next; // implicit
    calls++;
}
const struct plugin plugin = {"implicit", evolve};
#else
static void evolve(struct state *state, double dt)
{
    double change = dt * slope(state->value, state->rank);
    state->history[state->steps++ % 16] = state->value;
    state->value += change; // explicit
    calls++;
}
const struct plugin plugin = {"explicit", evolve};
#endif
