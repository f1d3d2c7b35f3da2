/* Waits in one call of MPI after another, and writes down what it waits for.
 *
 * Usage: mpitruth DIRECTORY MODE [accept|connect|spawn], on 4 ranks. MODE is all, threads (short, with several),
 * old (without the binding mpi_f08), short (messages, requests, calls from C++), or messages. The last rank takes part in a call only when a byte has come
 * through the FIFO DIRECTORY/go; the others wait in the call until then. Before each call a rank writes into the
 * FIFO DIRECTORY/said a line
 *     RANK CASE FUNCTION[|FUNCTION] name=value...
 * and "RANK CASE left" when the call has returned. Values are constants, parameters and fields of structures.
 * A value of - is any: the library alone knows. */
#include "truth.h"
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

int rank, *buf;
MPI_Comm copy, reversed;
MPI_Datatype pairs;
const char *directory;

static MPI_Comm control;
static int go, said, number;

/* Writes a line at once, so that lines of ranks do not mix. */
static void line(const char *text)
{
	char all[512];
	int n = snprintf(all, sizeof all, "%d %d %s\n", rank, number, text);
	if (write(said, all, n) != n)
		_exit(1);
}

void say(const char *format, ...)
{
	char text[400];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	line(text);
}

/* Ends a case: those who have left wait here until all have. */
void next(void)
{
	line("left");
	MPI_Barrier(control);
	number++;
}

/* Only the last rank: waits for the test. */
void await(void)
{
	char c;
	if (read(go, &c, 1) != 1)
		_exit(1);
}

int partner(void) { return rank == PARTNER; }

void send_all(int count, MPI_Datatype type, int tag, MPI_Comm comm)
{
	int me, n;
	await();
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	for (int i = 0; i < n; i++)
		if (i != me)
			MPI_Send(buf, count, type, i, tag, comm);
}

void receive_all(int count, MPI_Datatype type, int tag, MPI_Comm comm)
{
	int me, n;
	await();
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	for (int i = 0; i < n; i++)
		if (i != me)
			MPI_Recv(buf, count, type, i, tag, comm, MPI_STATUS_IGNORE);
}

#ifdef FORTRAN
void fortran_say(const char *text) { line(text); }
void fortran_send(int count, int tag, MPI_Fint comm) { send_all(count, MPI_INT, tag, MPI_Comm_f2c(comm)); }
void fortran_receive(int count, int tag, MPI_Fint comm) { receive_all(count, MPI_INT, tag, MPI_Comm_f2c(comm)); }
#endif

static int opened(const char *name, int how)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	int fd = open(path, how);
	if (fd < 0)
		_exit(1);
	return fd;
}

/* Before MPI_Init a rank knows from the starter who it is. */
static int rank_of_starter(void)
{
	const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *pmi = getenv("PMI_RANK");
	return atoi(open_mpi ? open_mpi : pmi ? pmi : "-1");
}

static void others(int f08)
{
	(void)f08;
	collectives();
	communicators();
	windows();
	files();
#ifdef FORTRAN
	fortran_mpifh(MPI_Comm_c2f(copy), MPI_Comm_c2f(reversed));
	fortran_usempi(MPI_Comm_c2f(copy), MPI_Comm_c2f(reversed));
	if (f08)
		fortran_f08(MPI_Comm_c2f(copy), MPI_Comm_c2f(reversed));
#endif
}

int main(int argc, char **argv)
{
	const char *mode = argv[2];
	int given, threads = !strcmp(mode, "threads");
	char text[64];
	alarm(180); /* whatever becomes of the test */
	directory = argv[1];
	buf = calloc(BIG, sizeof *buf);
	rank = rank_of_starter();
	said = opened("said", O_WRONLY);
	go = opened("go", O_RDONLY | O_NONBLOCK); /* the test holds the other end */
	fcntl(go, F_SETFL, 0);
	snprintf(text, sizeof text, "pid %d", getpid());
	line(text);
	number++;
	if (partner())
		await();
	else
		say(threads ? "Init_thread" : "Init");
	if (threads)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &control);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	MPI_Comm_set_name(copy, "copy");
	MPI_Comm_set_name(reversed, "reversed");
	MPI_Type_contiguous(2, MPI_INT, &pairs);
	MPI_Type_set_name(pairs, "pairs");
	MPI_Type_commit(&pairs);
	next();
	messages();
	if (strcmp(mode, "messages")) {
		requests();
		templates();
		if (strcmp(mode, "short") && !threads)
			others(strcmp(mode, "old"));
	}
	if (argc > 3)
		connections(argv[3]);
	if (partner())
		await();
	else
		say("Finalize");
	MPI_Finalize();
	return 0;
}
