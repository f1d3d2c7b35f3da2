// classes.cc - classes with bases, and what pretty-printers show, whose members are listed; rank 1 has other values.
//
// build: g++ -g -O0 -o $OUT/classes classes.cc
// build: g++ -g -O2 -o $OUT/classes-O2 classes.cc
#include <cstdio>
#include <map>
#include <string>
#include <vector>
#include "rank.h"

struct Base {
    int id = 1;
    virtual ~Base() {}
};
template <class T> struct Left {
    T left = 2;
};
struct Wrapped {
    int *p;
    int &operator*() const { return *p; }
    int operator[](int i) const { return p[i]; }
};
class Whole : public Base, private Left<long> {
public:
    std::string name = "whole";
    std::vector<int> list{1, 2, 3};
    std::vector<std::vector<int>> rows{{1, 2}, {3}};
    std::map<std::string, double> named{{"one", 1.5}, {"two", 2.5}};
    static int count;
    Whole *self = this;
    int &shared = count;

protected:
    int kept = 4;

private:
    double hidden = 5.5;
};
int Whole::count = 6;

std::vector<double> big(3000);
int numbers[4] = {10, 11, 12, 13};
Wrapped wrapped{numbers};
Whole whole;

__attribute__((noinline)) static int stop(Base *base, Whole *w)
{
    return std::printf("%d %zu %g %d %d\n", base->id, w->list.size(), big[3], *wrapped, wrapped[1]); // stops here
}

int main()
{
    whole.id = 3 + (my_rank() == 1);
    for (int i = 0; i < 3000; i++)
        big[i] = i;
    return stop(&whole, &whole) < 0;
}
