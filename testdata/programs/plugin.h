// plugin.h - what plugins.c and its plugins agree on.
#pragma once

struct state {
    int rank, steps;
    double value, history[16];
};

struct plugin {
    const char *name;
    void (*evolve)(struct state *state, double dt);
};

extern const struct plugin plugin;
