// objects.cc - values of every shape that C++ has: inheritance, references, containers in
// containers, what the library has for one value or none. Rank 2 has others than the rest.
#include <array>
#include <bitset>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
#include <complex>
#include <cstdio>
#include "rank.h"

namespace sim {
enum class Phase { Start, Run, Stop };
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; int id = 1; };
struct Named { std::string name = "square"; };
struct Square : Shape, Named { double side = 2; double area() const override { return side * side; } };
template <class T, int N> struct Box { T items[N]; static int made; };
template <class T, int N> int Box<T, N>::made = 3;
struct Mesh {
    std::vector<double> u;
    std::map<std::string, std::vector<int>> parts;
    std::array<int, 500> fixed;
    std::string label;
};
}

static void look(const std::vector<double> &u, sim::Mesh &mesh, int rank)
{
    std::vector<int> local(3000, rank);
    std::printf("%zu %zu %zu\n", u.size(), mesh.u.size(), local.size());
}

int main()
{
    int rank = my_rank();
    std::vector<double> numbers(100000), empty;
    std::vector<bool> bools(1000);
    std::vector<std::string> names;
    std::vector<sim::Mesh> meshes(3);
    std::vector<std::complex<double>> waves(300, {1, -2});
    std::map<std::string, std::map<int, double>> nested;
    std::unordered_map<int, int> hashed;
    std::set<int> chosen;
    std::list<int> chain;
    std::deque<int> queue;
    std::array<double, 1000> fixed{};
    std::bitset<40> mask(rank);
    std::optional<int> maybe, not_there;
    std::variant<int, std::string> either = "text";
    std::tuple<int, double> both{rank, 1.5};
    std::pair<int, std::string> pair{1, "one"};
    std::string long_text(200000, 'x'), utf = "grüße";
    std::shared_ptr<sim::Square> shared = std::make_shared<sim::Square>();
    std::unique_ptr<int[]> owned(new int[300]{});
    sim::Square square;
    sim::Shape &shape = square, *base = &square;
    sim::Box<int, 400> box{};
    sim::Phase phase = rank == 2 ? sim::Phase::Stop : sim::Phase::Run;
    std::vector<double> &alias = numbers;
    const double *raw = numbers.data();
    int sim::Box<int, 400>::*member = nullptr;
    (void)member;
    for (int i = 0; i < 100000; i++)
        numbers[i] = i * 0.5;
    for (int i = 0; i < 1000; i++) {
        bools[i] = i % 3 == 0;
        names.push_back("name " + std::to_string(i));
        nested["row " + std::to_string(i % 5)][i] = i;
        hashed[i] = i * i;
        chosen.insert(i);
        chain.push_back(i);
        queue.push_back(i);
    }
    if (rank == 2) {
        numbers[70000] = -1;
        queue[5] = -1;
        nested["row 2"][2] = -1;
    }
    maybe = rank;
    if (rank % 2)
        either = rank;
    meshes[1].u.assign(1000, rank);
    meshes[1].parts["left"].assign(500, 7);
    meshes[1].label = "mesh";
    meshes[1].fixed.fill(4);
    square.side = rank;
    owned[3] = raw[1] > 0;
    look(numbers, meshes[1], rank); // all stands
    return int(shape.area() + base->area() + alias[0] + box.items[0] + shared->side + int(phase) + chain.size()) > 1000000;
}
