// hybrid.cc - MPI with OpenMP: each rank has a team of threads that share arrays, with
// reductions, private variables, critical sections and tasks. Alone it is a program of threads.
//
// build: g++ -g -O0 -fopenmp -o $OUT/hybrid hybrid.cc
// mpi: $MPICXX -g -O0 -DWITH_MPI -fopenmp -o $OUT/mpihybrid hybrid.cc
#include <cmath>
#include <cstdio>
#include <omp.h>
#include <vector>
#include "job.h"

struct Grid {
    int rows, columns;
    std::vector<double> cells;
    double &at(int row, int column) { return cells[size_t(row) * columns + column]; }
};

// The cells of a row, by one thread.
static double row_of(Grid &grid, int row, int rank)
{
    double sum = 0;
    for (int column = 0; column < grid.columns; column++) {
        double &cell = grid.at(row, column);
        cell = std::sqrt(row * 100.0 + column) + rank;
        sum += cell; // in a row
    }
    return sum;
}

static double sweep(Grid &grid, int rank, int *busy)
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int row = 0; row < grid.rows; row++) {
        int thread = omp_get_thread_num();
        double mine = row_of(grid, row, rank);
        sum += mine; // of a row
#pragma omp critical
        busy[thread]++;
    }
    return sum;
}

static long tree(int depth)
{
    if (depth == 0)
        return 1; // leaf
    long left = 0, right = 0;
#pragma omp task shared(left)
    left = tree(depth - 1);
#pragma omp task shared(right)
    right = tree(depth - 1);
#pragma omp taskwait
    return left + right;
}

static long leaves(int depth)
{
    long n = 0;
#pragma omp parallel
#pragma omp single
    n = tree(depth);
    return n;
}

int main(int argc, char **argv)
{
    int rank = job_rank(&argc, &argv);
    const int threads = 3;
    int busy[threads] = {};
    omp_set_num_threads(threads);
    Grid grid{12, 50, std::vector<double>(600)};
    double last = 0;
    for (int step = 0; step < 4; step++)
        last = sweep(grid, rank, busy); // one step
    long found = leaves(5);
    long all = job_sum(long(last) + found);
    std::printf("rank %d: %.3f %ld, rows %d %d %d, all %ld\n", rank, last, found, busy[0], busy[1], busy[2], all);
    job_end();
    return 0;
}
