/* Waits in one call of MPI after another, and writes down what it waits for.
 *
 * Usage: mpitruth DIRECTORY, on 4 ranks. The last rank takes part in a call only when a byte has come
 * through the FIFO DIRECTORY/go; the others wait in the call until then. Rank N appends to the file
 * DIRECTORY/N before each call a line
 *     CASE FUNCTION name=value...
 * and "left" when the call has returned. Values are constants, parameters and fields of structures, on
 * three communicators: the world, a duplicate, and one with all ranks in reversed order. */
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PARTNER 3 /* in the world */
#define NOINLINE __attribute__((noinline))

static FILE *out;
static int go, rank, number;
static MPI_Comm control, copy, reversed;
static MPI_Datatype pairs;

struct message {
	int peer, tag, count;
	MPI_Comm comm;
	MPI_Datatype type;
	int *buf;
};

static void say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(out, "%d ", number);
	vfprintf(out, format, args);
	fputc('\n', out);
	fflush(out);
	va_end(args);
}

/* Ends a case: those who have left wait here until all have. */
static void next(void)
{
	fprintf(out, "left\n");
	fflush(out);
	MPI_Barrier(control);
	number++;
}

/* Only the last rank: waits for the test. */
static void await(void)
{
	char c;
	if (read(go, &c, 1) != 1)
		_exit(1);
}

static int partner(void) { return rank == PARTNER; }

/* ---- point to point ---- */

static NOINLINE void receive(int *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm)
{
	MPI_Recv(buf, count, type, source, tag, comm, MPI_STATUS_IGNORE);
}

static NOINLINE void receive_message(struct message *m)
{
	MPI_Status status;
	MPI_Recv(m->buf, m->count, m->type, m->peer, m->tag, m->comm, &status);
	if (status.MPI_TAG != m->tag)
		_exit(2);
}

static void send_all(int count, MPI_Datatype type, int tag, MPI_Comm comm, int *buf)
{
	int me, n;
	await();
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	for (int i = 0; i < n; i++)
		if (i != me)
			MPI_Send(buf, count, type, i, tag, comm);
}

static void receive_all(int count, MPI_Datatype type, int tag, MPI_Comm comm, int *buf)
{
	int me, n;
	await();
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	for (int i = 0; i < n; i++)
		if (i != me)
			MPI_Recv(buf, count, type, i, tag, comm, MPI_STATUS_IGNORE);
}

static void pointToPoint(int *buf, int big)
{
	MPI_Status status;
	struct message m = { 0, 31, 2, reversed, pairs, buf };

	if (partner())
		send_all(5, MPI_INT, 11, MPI_COMM_WORLD, buf);
	else {
		say("Recv count=5 type=MPI_INT source=3 tag=11 comm=world");
		MPI_Recv(buf, 5, MPI_INT, 3, 11, MPI_COMM_WORLD, &status);
	}
	next();
	if (partner())
		send_all(6, MPI_DOUBLE, 12, copy, buf);
	else {
		say("Recv count=9 type=MPI_DOUBLE source=any tag=any comm=copy");
		receive(buf, 9, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, copy);
	}
	next();
	if (partner())
		send_all(m.count, m.type, m.tag, m.comm, buf);
	else {
		say("Recv count=2 type=pairs source=0 tag=31 comm=reversed");
		receive_message(&m);
	}
	next();
	if (partner())
		receive_all(7, MPI_CHAR, 13, MPI_COMM_WORLD, buf);
	else {
		say("Ssend count=7 type=MPI_CHAR dest=3 tag=13 comm=world");
		MPI_Ssend(buf, 7, MPI_CHAR, 3, 13, MPI_COMM_WORLD);
	}
	next();
	if (partner())
		receive_all(big, MPI_INT, 14, reversed, buf);
	else {
		say("Send count=%d type=MPI_INT dest=0 tag=14 comm=reversed", big);
		MPI_Send(buf, big, MPI_INT, 0, 14, reversed);
	}
	next();
	if (partner()) {
		int in[4];
		await();
		for (int i = 0; i < 3; i++)
			MPI_Sendrecv(in, 1, MPI_INT, i, 22, in + 1, 1, MPI_INT, i, 21, MPI_COMM_WORLD, &status);
	} else {
		say("Sendrecv sendcount=1 sendtype=MPI_INT dest=3 sendtag=21 recvcount=2 recvtype=MPI_INT source=3 recvtag=22 comm=world");
		MPI_Sendrecv(buf, 1, MPI_INT, 3, 21, buf + 8, 2, MPI_INT, 3, 22, MPI_COMM_WORLD, &status);
	}
	next();
	if (partner()) {
		await();
		for (int i = 0; i < 3; i++)
			MPI_Sendrecv_replace(buf, 3, MPI_FLOAT, i, 24, i, 23, copy, &status);
	} else {
		say("Sendrecv_replace count=3 type=MPI_FLOAT dest=3 sendtag=23 source=3 recvtag=24 comm=copy");
		MPI_Sendrecv_replace(buf, 3, MPI_FLOAT, 3, 23, 3, 24, copy, &status);
	}
	next();
	if (partner())
		send_all(1, MPI_INT, 15, copy, buf);
	else {
		say("Probe source=3 tag=15 comm=copy");
		MPI_Probe(3, 15, copy, &status);
		MPI_Recv(buf, 1, MPI_INT, 3, 15, copy, &status);
	}
	next();
	if (partner())
		send_all(1, MPI_INT, 16, reversed, buf);
	else {
		MPI_Message message;
		say("Mprobe source=0 tag=16 comm=reversed");
		MPI_Mprobe(0, 16, reversed, &message, &status);
		MPI_Mrecv(buf, 1, MPI_INT, &message, &status);
	}
	next();
}

/* ---- requests ---- */

static NOINLINE void wait_for(MPI_Request *r) { MPI_Wait(r, MPI_STATUS_IGNORE); }

static void requests(int *buf)
{
	MPI_Request r[3];
	int index, n, which[3];

	if (partner())
		send_all(2, MPI_INT, 41, MPI_COMM_WORLD, buf);
	else {
		MPI_Irecv(buf, 2, MPI_INT, 3, 41, MPI_COMM_WORLD, r);
		say("Wait requests=receive:3:41:world");
		wait_for(r);
	}
	next();
	if (partner())
		receive_all(3, MPI_INT, 42, copy, buf);
	else {
		MPI_Issend(buf, 3, MPI_INT, 3, 42, copy, r);
		say("Wait requests=send:3:42:copy");
		wait_for(r);
	}
	next();
	for (int kind = 0; kind < 3; kind++) {
		if (partner()) {
			await();
			for (int i = 1; i < 4; i++)
				MPI_Send(buf, 1, MPI_INT, i, 43, reversed);
			for (int i = 1; i < 4; i++)
				MPI_Send(buf, 1, MPI_INT, i, 44, reversed);
		} else {
			MPI_Irecv(buf, 1, MPI_INT, 0, 43, reversed, r);
			MPI_Irecv(buf + 1, 1, MPI_INT, MPI_ANY_SOURCE, 44, reversed, r + 1);
			say("%s count=2 requests=receive:0:43:reversed,receive:any:44:reversed", kind == 0 ? "Waitall" : kind == 1 ? "Waitany" : "Waitsome");
			if (kind == 1)
				MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
			else if (kind == 2)
				MPI_Waitsome(2, r, &n, which, MPI_STATUSES_IGNORE);
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		}
		next();
	}
}

/* ---- collectives, in which the last rank is absent ---- */

static NOINLINE void reduce_all(void *in, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	MPI_Allreduce(in, to, n, type, op, comm);
}

#define TOGETHER(text, call)   \
	do {                   \
		if (partner()) \
			await(); \
		else           \
			say text; \
		call;          \
		next();        \
	} while (0)

static void collectives(int *buf)
{
	int counts[4] = { 1, 1, 1, 1 }, displs[4] = { 0, 1, 2, 3 };
	int *to = buf + 64;
	MPI_Comm made;
	MPI_Win win;

	TOGETHER(("Barrier comm=world"), MPI_Barrier(MPI_COMM_WORLD));
	TOGETHER(("Barrier comm=copy"), MPI_Barrier(copy));
	TOGETHER(("Barrier comm=reversed"), MPI_Barrier(reversed));
	TOGETHER(("Bcast count=4 type=MPI_INT root=3 comm=world"), MPI_Bcast(buf, 4, MPI_INT, 3, MPI_COMM_WORLD));
	TOGETHER(("Bcast count=3 type=pairs root=0 comm=reversed"), MPI_Bcast(buf, 3, pairs, 0, reversed));
	TOGETHER(("Reduce count=2 type=MPI_INT op=MPI_MAX root=0 comm=world"), MPI_Reduce(buf, to, 2, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD));
	TOGETHER(("Allreduce count=1 type=MPI_DOUBLE op=MPI_SUM comm=world"), MPI_Allreduce(buf, to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
	TOGETHER(("Allreduce count=3 type=MPI_INT op=MPI_BOR comm=reversed"), reduce_all(buf, to, 3, MPI_INT, MPI_BOR, reversed));
	TOGETHER(("Gather sendcount=1 sendtype=MPI_INT recvcount=1 recvtype=MPI_INT root=1 comm=copy"), MPI_Gather(buf, 1, MPI_INT, to, 1, MPI_INT, 1, copy));
	TOGETHER(("Scatter sendcount=1 sendtype=MPI_INT recvcount=1 recvtype=MPI_INT root=3 comm=world"), MPI_Scatter(buf, 1, MPI_INT, to, 1, MPI_INT, 3, MPI_COMM_WORLD));
	TOGETHER(("Gatherv sendcount=1 sendtype=MPI_INT recvtype=MPI_INT root=2 comm=world"), MPI_Gatherv(buf, 1, MPI_INT, to, counts, displs, MPI_INT, 2, MPI_COMM_WORLD));
	TOGETHER(("Scatterv sendtype=MPI_INT recvcount=1 recvtype=MPI_INT root=0 comm=reversed"), MPI_Scatterv(buf, counts, displs, MPI_INT, to, 1, MPI_INT, 0, reversed));
	TOGETHER(("Allgather sendcount=2 sendtype=MPI_INT recvcount=2 recvtype=MPI_INT comm=world"), MPI_Allgather(buf, 2, MPI_INT, to, 2, MPI_INT, MPI_COMM_WORLD));
	TOGETHER(("Allgatherv sendcount=1 sendtype=MPI_INT recvtype=MPI_INT comm=copy"), MPI_Allgatherv(buf, 1, MPI_INT, to, counts, displs, MPI_INT, copy));
	TOGETHER(("Alltoall sendcount=1 sendtype=MPI_FLOAT recvcount=1 recvtype=MPI_FLOAT comm=world"), MPI_Alltoall(buf, 1, MPI_FLOAT, to, 1, MPI_FLOAT, MPI_COMM_WORLD));
	TOGETHER(("Alltoallv sendtype=MPI_INT recvtype=MPI_INT comm=reversed"), MPI_Alltoallv(buf, counts, displs, MPI_INT, to, counts, displs, MPI_INT, reversed));
	TOGETHER(("Scan count=2 type=MPI_INT op=MPI_MIN comm=reversed"), MPI_Scan(buf, to, 2, MPI_INT, MPI_MIN, reversed));
	TOGETHER(("Exscan count=2 type=MPI_INT op=MPI_PROD comm=reversed"), MPI_Exscan(buf, to, 2, MPI_INT, MPI_PROD, reversed));
	TOGETHER(("Reduce_scatter_block count=1 type=MPI_INT op=MPI_SUM comm=world"), MPI_Reduce_scatter_block(buf, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	TOGETHER(("Reduce_scatter type=MPI_INT op=MPI_SUM comm=copy"), MPI_Reduce_scatter(buf, to, counts, MPI_INT, MPI_SUM, copy));
	TOGETHER(("Comm_split color=5 key=%d comm=world", rank), MPI_Comm_split(MPI_COMM_WORLD, 5, rank, &made));
	TOGETHER(("Comm_dup comm=copy"), MPI_Comm_dup(copy, &made));
	TOGETHER(("Win_create size=256 disp_unit=4 comm=world"), MPI_Win_create(buf, 256, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	TOGETHER(("Win_fence assert=0"), MPI_Win_fence(0, win));
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
}

static void files(const char *dir, int *buf)
{
	char name[4096];
	MPI_File file;
	snprintf(name, sizeof name, "%s/data", dir);
	TOGETHER(("File_open amode=%d comm=copy", MPI_MODE_CREATE | MPI_MODE_WRONLY), MPI_File_open(copy, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
	TOGETHER(("File_write_at_all offset=%d count=4 type=MPI_INT", 16 * rank), MPI_File_write_at_all(file, 16 * rank, buf, 4, MPI_INT, MPI_STATUS_IGNORE));
	MPI_File_close(&file);
}

int main(int argc, char **argv)
{
	int big = 1 << 20;
	char path[4096];
	int *buf = calloc(big, sizeof *buf);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &control);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	MPI_Comm_set_name(copy, "copy");
	MPI_Comm_set_name(reversed, "reversed");
	MPI_Type_contiguous(2, MPI_INT, &pairs);
	MPI_Type_set_name(pairs, "pairs");
	MPI_Type_commit(&pairs);
	snprintf(path, sizeof path, "%s/%d", argv[1], rank);
	out = fopen(path, "w");
	snprintf(path, sizeof path, "%s/go", argv[1]);
	if (partner())
		go = open(path, O_RDONLY);
	fprintf(out, "pid %d\n", getpid());
	fflush(out);
	MPI_Barrier(control);
	pointToPoint(buf, big);
	requests(buf);
	collectives(buf);
	files(argv[1], buf);
	fprintf(out, "end\n");
	fflush(out);
	if (partner())
		await();
	else
		say("Finalize");
	MPI_Finalize();
	return 0;
}
