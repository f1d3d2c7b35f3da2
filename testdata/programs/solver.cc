// solver.cc - C++ as large codes write it: virtual bases, references to references' owners,
// containers of containers of objects, exceptions that cross several frames, casts, lambdas,
// operators, static members, a namespace in a namespace.
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include "rank.h"

namespace physics {
inline namespace v2 {

struct Object {
    virtual ~Object() = default;
    virtual std::string kind() const { return "object"; }
    int id = 7;
    static int alive;
};
int Object::alive = 0;

struct Timed : virtual Object {
    double when = 0.25;
    std::string kind() const override { return "timed"; }
};

struct Placed : virtual Object {
    double where[3] = {1, 2, 3};
};

// A diamond: one Object, two ways to it.
struct Event : Timed, Placed {
    explicit Event(int rank) : weight(rank + 0.5) { id = 100 + rank; alive++; }
    std::string kind() const override { return "event"; }
    double &heavy() { return weight; }
    double weight;
};

struct Diverged : std::runtime_error {
    int step;
    Diverged(int s) : std::runtime_error("diverged in step " + std::to_string(s)), step(s) {}
};

using Series = std::vector<double>;
using Table = std::map<std::string, std::vector<std::pair<int, Series>>>;

class Solver {
public:
    Solver(int rank, Event &owner) : rank_(rank), owner_(owner)
    {
        for (const char *name : {"density", "energy", "pressure"})
            for (int level = 0; level < 3; level++)
                table_[name].push_back({level, Series(4 + level, rank + level * 0.5)});
        index_[rank] = {{"left", {rank - 1}}, {"right", {rank + 1, rank + 2}}};
    }
    double step(int n)
    {
        double &last = table_["energy"].back().second.back();
        last = last * 1.5 + n;
        if (n == 4 + rank_ % 2)
            fail(n); // throws
        return last;
    }
    const Table &table() const { return table_; }
    Event &owner() { return owner_; }
    bool operator<(const Solver &o) const { return rank_ < o.rank_; }

private:
    void fail(int n)
    {
        auto report = [this, n](int code) {
            owner_.weight += code;
            throw Diverged(n);
        };
        report(10 * rank_);
    }
    int rank_;
    Event &owner_;
    Table table_;
    std::unordered_map<int, std::map<std::string, std::vector<int>>> index_;
};

}
}

using physics::Diverged;
using physics::Event;
using physics::Solver;

static int solve(Solver &solver, int steps)
{
    for (int n = 0; n < steps; n++) {
        double value = solver.step(n);
        if (!std::isfinite(value))
            return -1;
    }
    return steps;
}

static int guarded(Solver &solver, std::string &why)
{
    try {
        return solve(solver, 10);
    } catch (const Diverged &d) {
        why = d.what(); // caught
        return d.step;
    }
}

int main()
{
    int rank = my_rank();
    auto event = std::make_shared<Event>(rank);
    physics::Object &base = *event;
    physics::Placed *placed = event.get();
    auto back = dynamic_cast<physics::Timed *>(&base);
    Solver solver(rank, *event);
    std::map<int, std::unique_ptr<Event>> owned;
    owned[rank] = std::make_unique<Event>(rank);
    std::function<double(double)> twice = [rank](double x) { return 2 * x + rank; };
    std::string why;
    int reached = guarded(solver, why);
    std::printf("rank %d: %s, %s, %d, %.2f %.2f %.2f\n", rank, base.kind().c_str(), why.c_str(), reached,
        back->when + placed->where[1], solver.owner().heavy(), twice(event->heavy())); // all stands
    return reached == 4 + rank % 2 ? 0 : 1;
}
