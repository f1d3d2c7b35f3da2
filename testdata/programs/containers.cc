// containers.cc - what C++ programs hold: containers, a long array, a long text,
// text that is not ASCII, an exception that is thrown and caught.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static int squares[100000];
static char letters[1000];

int main()
{
    std::vector<int> numbers;
    std::map<std::string, int> words;
    std::string greeting = "grüße";
    for (int i = 0; i < 100000; i++) {
        numbers.push_back(i);
        squares[i] = i % 1000 * (i % 1000);
    }
    for (int i = 0; i < 999; i++)
        letters[i] = 'a' + i % 26;
    words["one"] = 1;
    words["two"] = 2;
    try {
        throw std::runtime_error("thrown on purpose");
    } catch (const std::exception &e) {
        std::puts(e.what());
    }
    return 0;
}
