// plugins.c - a program that loads its solvers when it runs, from files beside it: breakpoints
// in them are pending until then, and gone when a library is closed. Ranks load what suits
// them: the even ones have another solver than the odd ones.
//
// build: gcc -g -O0 -o $OUT/plugins plugins.c -ldl
// mpi: $MPICC -g -O0 -DWITH_MPI -o $OUT/mpiplugins plugins.c -ldl
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "job.h"
#include "plugin.h"

// beside is the path of a file in the directory of this program.
static const char *beside(const char *file, char *path, size_t size)
{
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return file;
    snprintf(path, size, "%s/%s", dirname(self), file);
    return path;
}

struct loaded {
    void *handle;
    const struct plugin *plugin;
};

static struct loaded load(const char *file)
{
    char path[2 * PATH_MAX];
    struct loaded l = {dlopen(beside(file, path, sizeof path), RTLD_NOW), NULL};
    if (l.handle)
        l.plugin = dlsym(l.handle, "plugin");
    if (!l.plugin)
        fprintf(stderr, "%s\n", dlerror());
    return l; // loaded
}

static double run(const struct plugin *plugin, int rank, int steps)
{
    struct state state = {.rank = rank, .value = 1 + rank};
    for (int i = 0; i < steps; i++)
        plugin->evolve(&state, 0.5);
    return state.value;
}

int main(int argc, char **argv)
{
    int rank = job_rank(&argc, &argv);
    double last = 0;
    for (int round = 0; round < 2; round++) {
        struct loaded l = load(rank % 2 ? "libimplicit.so" : "libexplicit.so");
        if (!l.plugin)
            return 1;
        last = run(l.plugin, rank, 3 + round);
        printf("rank %d: %s %.4f\n", rank, l.plugin->name, last);
        dlclose(l.handle); // closed
    }
    long sum = job_sum((long)(last * 10000));
    if (rank == 0)
        printf("sum %ld\n", sum);
    job_end();
    return 0;
}
