// values.cc - values that are hard to show: references, numbers that are close, constants, large objects.
#include <cmath>
#include <cstdio>
#include <vector>
#include "rank.h"

enum Color { RED, GREEN = 2, BLUE = 4 };

struct Point {
    int x, y;
};

struct Object {
    size_t count;
    Color color;
    Point at;
    const size_t &size() const { return count; }
    const Color &hue() const { return color; }
    const Point &where() const { return at; }
};

struct Large {
    int head;
    double a[300], b[300], c[300], d[300], e[300], f[300];
    int tail;
};

static Large large;
static double later[10000];
static int numbers[] = {4, 8, 15, 16, 23, 42};

int main()
{
    int rank = my_rank();
    Object object = {size_t(5 + rank), BLUE, {1, rank}};
    size_t &count = object.count;
    Point &at = object.at;
    int *pointer = numbers + 2;
    double near = 0.1, off = 1 + rank * 1e-12;
    for (int i = 0; i < rank; i++)
        near = std::nextafter(near, 1);
    Color color = rank % 2 ? RED : BLUE;
    bool early = rank < 3;
    double field[1000];
    for (int i = 0; i < 1000; i++)
        field[i] = i + 0.5 * rank;
    if (rank == 1)
        field[7] = field[9] = NAN;
    std::vector<double> close(500, 1.0);
    close[3] += rank * 1e-12;
    if (rank == 3)
        close[499] = 2;
    for (int i = 0; i < 300; i++)
        large.a[i] = large.b[i] = large.c[i] = large.d[i] = large.e[i] = large.f[i] = 1 / (i + 3.0);
    large.tail = 77;
    for (int i = 0; i < 10000; i++)
        later[i] = i;
    if (rank == 3)
        later[5000] = -1;
    printf("%zu\n", count + at.x + *pointer); // all is set
    return near > 1 || off > 2 || color == GREEN || early > 1 || object.size() + object.hue() + object.where().x == 0;
}
