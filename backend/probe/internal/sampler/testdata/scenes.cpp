// A program whose threads stand where exceptions, templates and virtual functions lead. It writes r when they do.
#include <poll.h>
#include <semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

static sem_t ready;
static volatile int over, sink;

__attribute__((noinline)) static void wait_here()
{
	sem_post(&ready);
	while (!over)
		poll(0, 0, 100000);
}

struct Waits {
	~Waits() { wait_here(); }
};

__attribute__((noinline)) static void throws(int n)
{
	if (n == 0)
		throw std::runtime_error("text");
	throws(n - 1);
	sink = n;
}

static void in_catch()
{
	try {
		throws(5);
	} catch (const std::exception &) {
		wait_here();
	}
}

__attribute__((noinline)) static void unwinds()
{
	Waits w;
	throws(3);
}

static void in_destructor()
{
	try {
		unwinds();
	} catch (...) {
		sink = 1;
	}
}

static void in_sort()
{
	std::vector<int> v{5, 2, 9, 1};
	std::sort(v.begin(), v.end(), [](int a, int b) { wait_here(); return a < b; });
	sink = v[0];
}

struct A {
	virtual int f(int) { return 0; }
	virtual ~A() {}
	int a = 1;
};
struct B {
	virtual int g(int) = 0;
	virtual ~B() {}
};
struct C : A, B {
	int g(int n) override
	{
		wait_here();
		return n + a;
	}
};

__attribute__((noinline)) static int through(B *b, int n) { return b->g(n) + 1; }

static void in_thunk()
{
	C c;
	sink = through(&c, 2);
}

static void in_function()
{
	std::function<int(int)> f = [](int n) { wait_here(); return n; };
	sink = f(3) + 1;
}

int main()
{
	sem_init(&ready, 0, 0);
	std::vector<std::thread> all;
	for (auto f : {in_catch, in_destructor, in_sort, in_thunk, in_function}) {
		all.emplace_back(f);
		while (sem_wait(&ready) != 0)
			;
	}
	sink = write(1, "r", 1);
	for (auto &t : all)
		t.join();
}
