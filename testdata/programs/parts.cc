// parts.cc - long arrays within values: in a structure and its base, in a vector of
// vectors, in a map.
#include <cstdio>
#include <map>
#include <vector>

struct Base { int id; double u[1000]; };
struct Field : Base { int n; std::vector<double> v; char text[500]; };

static Field field;
static Field many[3];

int main()
{
    std::map<int, int> squares;
    std::vector<std::vector<int>> rows(3);
    field.n = 7;
    for (int i = 0; i < 1000; i++) {
        field.u[i] = i;
        field.v.push_back(i * 2);
        squares[i] = i * i;
        rows[1].push_back(i);
    }
    many[1] = field;
    Field *p = &field;
    std::printf("%d\n", p->n);
    return 0;
}
