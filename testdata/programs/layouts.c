// layouts.c - what C can lay out in memory: unions, bit fields, flexible arrays, function
// pointers, enums of flags, numbers of 10 and 16 bytes, texts in UTF-8 and of wide characters,
// numbers that are none.
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <uchar.h>
#include "rank.h"

enum access { READ = 1, WRITE = 2, EXECUTE = 4 };
enum colour { RED = -1, GREEN = 5, BLUE };

union word {
    uint32_t bits;
    float number;
    unsigned char bytes[4];
    struct { uint32_t mantissa : 23, exponent : 8, sign : 1; } parts;
};

struct packet {
    unsigned version : 4;
    signed priority : 3;
    unsigned : 5;
    unsigned checksum : 12;
    uint64_t length : 40;
    enum access rights;
    struct { int x, y; };      // without a name
    union { double real; long whole; };
    int count;
    struct item { short key; char value; } items[]; // flexible
};

struct node {
    int value;
    struct node *next;
};

typedef int (*operation)(int, int);

static int add(int a, int b) { return a + b; }
static int mul(int a, int b) { return a * b; }
static int apply(operation op, int a, int b) { return op(a, b); }

static const struct { const char *name; operation run; } operations[] = {{"add", add}, {"mul", mul}};

static struct packet *make(int rank, int count)
{
    struct packet *p = calloc(1, sizeof *p + count * sizeof p->items[0]);
    p->version = 4, p->priority = -2, p->checksum = 100 + rank, p->length = 1ULL << 33;
    p->rights = READ | EXECUTE, p->x = rank, p->y = -rank, p->real = rank * 0.5, p->count = count;
    for (int i = 0; i < count; i++)
        p->items[i].key = (short)(i * i), p->items[i].value = (char)('a' + i + rank);
    return p;
}

// nan_with is a quiet NaN that has a payload.
static double nan_with(uint64_t payload)
{
    uint64_t bits = 0x7ff8000000000000u | payload;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static int sum_of(const struct node *list)
{
    int sum = 0;
    for (; list; list = list->next)
        sum += list->value; // one node
    return sum;
}

static int table(int rows, int columns, int (*cells)[columns])
{
    int trace = 0;
    for (int i = 0; i < rows && i < columns; i++)
        trace += cells[i][i];
    return trace;
}

int main(void)
{
    int rank = my_rank();
    union word w = {.number = 1.5f};
    struct packet *p = make(rank, 4 + rank % 2);
    struct node third = {30 + rank, NULL}, second = {20, &third}, first = {10, &second};
    enum access rights = p->rights, none = 0, odd = 9;
    enum colour colour = rank % 2 ? BLUE : RED;
    long double precise = 1.0L / 3 + rank;
    __int128 huge = ((__int128)1 << 100) + rank;
    unsigned __int128 most = ~(unsigned __int128)0;
    double complex z = rank + 2.5 * I;
    double nans[] = {nan_with(rank + 1), -NAN, INFINITY, -INFINITY, -0.0};
    float tiny = 1e-42f;
    const char *text = "Grüße, Welt \xe2\x82\xac", *broken = "half \xc3", *escapes = "tab\there\n\"quoted\" \001\177";
    wchar_t wide[] = L"weite Zeichen ß";
    char16_t sixteen[] = u"sechzehn €";
    char raw[8] = {'a', 'b', 0, 'c', (char)rank};
    _Bool yes = 1;
    volatile uint8_t port = (uint8_t)(200 + rank);
    operation op = operations[rank % 2].run;
    int cells[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, rank}};
    int *where = &cells[1][2], **indirect = &where;
    int vla[3 + rank % 3];
    for (int i = 0; i < 3 + rank % 3; i++)
        vla[i] = apply(op, i, rank);
    int total = sum_of(&first) + table(3, 3, cells) + vla[2] + **indirect; // all stands
    printf("rank %d: %d %s %d\n", rank, total, text, (int)creal(z));
    free(p);
    return (wide[0] == L'w') + (sixteen[0] == u's') + yes + (port >= 200) + (precise >= 0) + (huge > 0) + (most > 0) +
        (tiny > 0) + (nans[2] > 0) + (raw[0] == 'a') + (w.bits > 0) + (broken[0] == 'h') + (escapes[0] == 't') +
        (rights > none) + (odd > 0) + (colour != GREEN) - 16;
}
