/* What all cases share; see main.c. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PARTNER 3 /* in the world */
#define NOINLINE __attribute__((noinline))

#ifdef __cplusplus
extern "C" {
#endif

enum { BIG = 1 << 20 }; /* integers that no library sends before they are asked for */

extern int rank, *buf;
extern MPI_Comm copy, reversed; /* duplicate of the world; all ranks in reversed order */
extern MPI_Datatype pairs;      /* two integers, with a name */
extern const char *directory;

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void next(void);
void await(void);
int partner(void);
void send_all(int count, MPI_Datatype type, int tag, MPI_Comm comm);
void receive_all(int count, MPI_Datatype type, int tag, MPI_Comm comm);

/* A call of all, in which the partner is absent until the test says so. */
#define TOGETHER(text, call)   \
	do {                   \
		if (partner()) \
			await(); \
		else           \
			say text; \
		call;          \
		next();        \
	} while (0)

/* One way for the partner, another one for those who wait. */
#define BLOCKED(theirs, text, call) \
	do {                        \
		if (partner()) {    \
			theirs;     \
		} else {            \
			say text;   \
			call;       \
		}                   \
		next();             \
	} while (0)

void messages(void);
void requests(void);
void collectives(void);
void communicators(void);
void connections(const char *call);
void windows(void);
void files(void);
void templates(void);
#ifdef FORTRAN
void fortran_mpifh(int copy, int reversed);
void fortran_usempi(int copy, int reversed);
void fortran_f08(int copy, int reversed);
#endif

#ifdef __cplusplus
}
#endif
