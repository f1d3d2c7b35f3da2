// lattice.h - templates whose members the compiler inlines: a vector of N numbers, a
// lattice of them, and policies that say what is beyond its border.
#pragma once
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace lattice {

template <class T, std::size_t N> struct Vec {
    std::array<T, N> at{};
    T &operator[](std::size_t i) { return at[i]; }
    const T &operator[](std::size_t i) const { return at[i]; }
    Vec &operator+=(const Vec &o)
    {
        for (std::size_t i = 0; i < N; i++)
            at[i] += o.at[i];
        return *this;
    }
    friend Vec operator*(T factor, Vec v)
    {
        for (auto &x : v.at)
            x *= factor;
        return v;
    }
    T dot(const Vec &o) const
    {
        T sum{};
        for (std::size_t i = 0; i < N; i++)
            sum += at[i] * o.at[i];
        return sum;
    }
};

struct Periodic {
    static long wrap(long i, long n) { return (i % n + n) % n; }
    static constexpr const char *name = "periodic";
};

struct Clamped {
    static long wrap(long i, long n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
    static constexpr const char *name = "clamped";
};

// A failure that tells which site it is about.
struct BadSite : std::out_of_range {
    long site;
    BadSite(const std::string &what, long s) : std::out_of_range(what), site(s) {}
};

template <class Site, class Border = Periodic> class Lattice {
public:
    explicit Lattice(long n) : sites_(n) {}
    long size() const { return long(sites_.size()); }
    Site &operator()(long i) { return sites_[Border::wrap(i, size())]; }
    const Site &operator()(long i) const { return sites_[Border::wrap(i, size())]; }
    Site &checked(long i)
    {
        if (i < 0 || i >= size())
            throw BadSite(std::string(Border::name) + " lattice has no such site", i);
        return sites_[i];
    }
    template <class F> auto fold(F f) const
    {
        decltype(f(sites_[0])) sum{};
        for (const Site &s : sites_)
            sum += f(s);
        return sum;
    }

private:
    std::vector<Site> sites_;
};

}
