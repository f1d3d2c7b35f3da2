// Values that a front end of Eclipse PTP shows: see cmd/internal/check/e2e/eclipse_values_test.go.
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum color { RED, GREEN = 5 };
enum flags { A = 1, B = 2, C = 4 };
enum high { LOW, HIGH = 2147483648u };
enum __attribute__((packed)) tiny { NO, YES };

struct person {
    char name[8];
    int age;
    double pay;
    char *title;
};
struct flexible {
    int n;
    char data[];
};
union number {
    int i;
    double d;
};
struct anonymous {
    union {
        int i;
        float f;
    };
    struct {
        int a;
        float b;
    };
};
struct node {
    int value;
    struct node *next;
};
struct large {
    double before[20000];
    int key;
};
struct bits {
    unsigned low : 3;
    int high : 5;
    enum flags both : 3;
};

int8_t small = -5;
unsigned big = 3000000000u;
unsigned long huge = 18446744073709551615ul, usual = 7;
__int128 wide = -42;
char letter = 'A', newline = '\n';
bool yes = true;
float quarter = 0.25f;
double half = 0.5;
long double more = 2.5L, beyond[2] = {1, -1e4000L};
double complex turned = 1.0 + 2.0 * I;
enum color green = GREEN, none = 7;
enum flags both = A | C;
enum high high = HIGH;
enum tiny little = YES;
struct person person = {"Ada", 36, 1000, "h\303\251 \"x\"\n"}, people[2] = {{"Bob", 1, 2, 0}, {"Eve", 3, 4, "it"}};
struct flexible flexible = {5};
union number number = {.d = 2.5};
struct anonymous anonymous = {{.i = 1}, {2, 1.5f}};
struct node last = {8, 0}, first = {7, &last}, *list = &first, *empty = 0;
struct {
    int before;
    struct {
        int y;
    } in[2];
} nested = {1, {{2}, {3}}};
struct bits bits = {5, -3, B | C};
struct large large = {{1}, 42}, table[3] = {{{1}, 7}, {{2}, 8}, {{3}, 9}};
int matrix[2][2] = {{1, 2}, {3, 4}}, hollow[0], many[20000] = {[100] = 4711, [19999] = 4712}, *pointer = &many[100];
char *text = "h\303\251", *nothing = 0, *broken = (char *)1, *restrict alone = "alone";
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
char *longer = HUNDRED HUNDRED HUNDRED "...";
const int *const pinned = &many[100];
char *words[2] = {"one", "two"};
unsigned long mixed[2] = {1, 18446744073709551615ul};

int main(int argc, char **argv)
{
    (void)argv;
    puts("first"); // stops here
    puts("second");
    return argc - 1;
}
