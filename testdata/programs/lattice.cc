// lattice.cc - templates and inlined code as optimised C++ has them: frames that are inlined,
// variables that are optimised out, one line in many instances, exceptions that are caught.
//
// build: g++ -g -O2 -o $OUT/lattice lattice.cc
#include <cstdio>
#include "lattice.h"
#include "rank.h"

using lattice::BadSite;
using lattice::Clamped;
using lattice::Lattice;
using lattice::Periodic;
using lattice::Vec;

using Spin = Vec<double, 3>;

// One step of a relaxation: every site takes the mean of its neighbours.
template <class Border> __attribute__((noinline)) double relax(Lattice<Spin, Border> &now, int step, int rank)
{
    Lattice<Spin, Border> next(now.size());
    double change = 0;
    for (long i = 0; i < now.size(); i++) {
        Spin sum = now(i - 1);
        sum += now(i + 1);
        next(i) = 0.5 * sum;
        change += next(i).dot(next(i)); // of the site
    }
    now = next;
    return change + step * 1e-3 + rank;
}

// The same, with a function that is a template of a function.
template <class Border> static inline double energy(const Lattice<Spin, Border> &l)
{
    return l.fold([](const Spin &s) { return s.dot(s); });
}

// A site that is not there: thrown two frames below, caught here.
__attribute__((noinline)) static long missing(Lattice<Spin, Clamped> &l, long i)
{
    try {
        return long(l.checked(i)[0]);
    } catch (const BadSite &bad) {
        return -bad.site; // caught
    }
}

// Recursion that keeps its frames at -O2.
__attribute__((noinline)) static double refine(double x, int depth, int rank)
{
    if (depth == 0)
        return x + rank; // deepest
    volatile double half = x / 2;
    return refine(half, depth - 1, rank) + half;
}

struct Result {
    double periodic, clamped;
    long caught;
};

template <class Border> __attribute__((noinline)) double run(Lattice<Spin, Border> &l, int steps, int rank)
{
    double last = 0;
    for (int step = 0; step < steps; step++)
        last = relax(l, step, rank);
    return last + energy(l);
}

__attribute__((noinline)) static Result all(int rank, int steps)
{
    Lattice<Spin, Periodic> ring(64);
    Lattice<Spin, Clamped> rod(32);
    for (long i = 0; i < 64; i++)
        ring(i)[i % 3] = double(rank + 1);
    rod(0)[0] = 1.5;
    Result r{};
    r.periodic = run(ring, steps, rank);
    r.clamped = run(rod, steps, rank);
    r.caught = missing(rod, 40 + rank);
    return r; // all done
}

int main(int argc, char **argv)
{
    const int rank = my_rank();
    const int steps = argc > 1 ? atoi(argv[1]) : 12;
    Result result = all(rank, steps);
    double deep = refine(1.0, 10, rank);
    std::printf("rank %d: %.6f %.6f %ld %.6f\n", rank, result.periodic, result.clamped, result.caught, deep);
    return 0;
}
