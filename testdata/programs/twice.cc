// twice.cc - one line that is several places: a template made for three types.
#include <cstdio>

template <typename T> T twice(T x)
{
    T y = x + x;
    return y;
}

int main()
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += twice<int>(i);
        sum += twice<double>(i + 0.5);
        sum += twice<long>(i);
    }
    std::printf("sum %g\n", sum);
    return 0;
}
