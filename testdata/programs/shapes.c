// shapes.c - values of every shape that C has: long arrays, pointers to them, texts, rows,
// unions, bit fields, enumerations, wide and narrow numbers. Rank 2 has others than the rest.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <complex.h>
#include <uchar.h>
#include "rank.h"

enum colour { RED, GREEN = 5, BLUE };
enum flags { A = 1, B = 2, C = 4 };
union number { int i; float f; char bytes[4]; };
struct bits { unsigned low : 3, high : 5; signed sign : 2; enum colour hue : 4; };
struct point { double x, y; };
struct node { int value; struct node *next; };
struct cell { int id; double u[1000]; struct { int inner; union { int a; float b; }; }; char name[16]; };

double field[100000], *heap;
int matrix[300][400], cube[4][5][6];
long space[200][200][200];              // 64 MB, of which nothing is written
struct { int n; double u[300000]; } all; // 2.4 MB
struct point points[500];
struct cell cells[20], *where;
union number both;
struct bits bits;
enum colour colour, colours[300];
enum flags flags;
bool truths[300], truth;
__int128 huge;
unsigned __int128 huges[300];
long double wide = 1.5L;
#ifdef __FLT16_MAX__
_Float16 half = 1.5;
#else
float half = 1.5;
#endif
double odd[4];
double complex spin[300];
float complex turn;
wchar_t broad[300];
char16_t sixteen[300];
char text[300], *words[300], letters[40][20];
unsigned char raw[300];
char *long_text;
struct node list[3];
int *none, *target, **twice = &target;
void (*handler)(int);
int (*row)[400] = matrix;
unsigned short port;
signed char small;

static double sum(const double *a, int n)
{
    double total = 0;
    int scratch[5000];
    char note[4000];
    struct cell here = cells[1];
    memset(note, 'n', sizeof note - 1);
    note[sizeof note - 1] = 0;
    for (int i = 0; i < 5000; i++)
        scratch[i] = i * port;
    for (int i = 0; i < n; i++)
        total += a[i];
    return total + scratch[7] + note[3] + here.id; // locals stand
}

static void other(int n) { (void)n; }

int main(void)
{
    int rank = my_rank();
    heap = malloc(100000 * sizeof *heap);
    long_text = malloc(200001);
    for (int i = 0; i < 200000; i++)
        long_text[i] = 'a' + i % 26;
    long_text[200000] = 0;
    if (rank == 2)
        long_text[150000] = '#';
    for (int i = 0; i < 100000; i++)
        heap[i] = field[i] = i * 0.5;
    for (int i = 0; i < 300; i++) {
        for (int j = 0; j < 400; j++)
            matrix[i][j] = i * 1000 + j;
        colours[i] = i % 3 == 0 ? RED : i % 3 == 1 ? GREEN : BLUE;
        truths[i] = i % 2;
        huges[i] = (unsigned __int128)1 << (i % 128);
        spin[i] = i - 2 * i * I;
        broad[i] = L'ä' + i % 20;
        sixteen[i] = u'ä' + i % 20;
        words[i] = i % 2 ? "odd" : "even, not odd";
        raw[i] = i;
        memcpy(text + i / 2 * 2, "ü", 2);
    }
    text[298] = text[299] = 0;
    for (int i = 0; i < 40; i++)
        snprintf(letters[i], sizeof letters[i], "name %d", i);
    for (int i = 0; i < 500; i++)
        points[i] = (struct point){i, -i};
    for (int i = 0; i < 20; i++) {
        cells[i].id = i;
        cells[i].u[i] = i + rank;
        cells[i].inner = rank;
        strcpy(cells[i].name, "cell");
    }
    where = &cells[3];
    all.n = 7;
    both.f = 1.5f;
    bits = (struct bits){.low = rank, .high = 17, .sign = -1, .hue = BLUE};
    colour = rank == 2 ? BLUE : GREEN;
    flags = A | C;
    truth = rank % 2;
    huge = ((__int128)1 << 100) + rank;
    turn = 1 + rank * I;
    odd[0] = NAN, odd[1] = INFINITY, odd[2] = -INFINITY, odd[3] = -0.0;
    for (int i = 0; i < 3; i++)
        list[i] = (struct node){i, &list[(i + 1) % 3]};
    target = rank == 2 ? &matrix[1][1] : &matrix[0][0];
    handler = rank == 2 ? other : 0;
    port = 8000 + rank;
    small = 'a' + rank;
    for (int i = 0; rank == 2 && i < 6; i++)
        field[70000 + i] = matrix[200][i] = points[300].y = cells[7].u[500] = -1 - i;
    return sum(field, 100000) < 0;
}
