/* Messages between two ranks. */
#include "truth.h"

struct message {
	int peer, tag, count;
	MPI_Comm comm;
	MPI_Datatype type;
	int *buf;
};

static NOINLINE void receive(int count, MPI_Datatype type, int source, int tag, MPI_Comm comm)
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

/* All in all of a loop: what it passes on is in a register that changes. */
static NOINLINE void receive_many(int from, int to, int tag)
{
	MPI_Request r;
	for (int i = from; i < to; i++) {
		MPI_Irecv(buf + i, 1, MPI_INT, MPI_PROC_NULL, tag, copy, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Recv(buf + i, i + 2, MPI_INT, i == to - 1 ? PARTNER : MPI_PROC_NULL, tag + i, copy, MPI_STATUS_IGNORE);
	}
}

static void both(MPI_Datatype type, int count, int tag, MPI_Comm comm)
{
	await();
	for (int i = 0; i < 3; i++)
		MPI_Sendrecv_replace(buf, count, type, i, tag + 1, i, tag, comm, MPI_STATUS_IGNORE);
}

static void polls(void)
{
	int flag = 0;
	MPI_Message message;
	BLOCKED(send_all(1, MPI_INT, 17, MPI_COMM_WORLD), ("Iprobe source=3 tag=17 comm=world"),
		while (!flag) MPI_Iprobe(3, 17, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		MPI_Recv(buf, 1, MPI_INT, 3, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	flag = 0;
	BLOCKED(send_all(1, MPI_INT, 18, reversed), ("Improbe source=0 tag=any comm=reversed"),
		while (!flag) MPI_Improbe(0, MPI_ANY_TAG, reversed, &flag, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(buf, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
}

void messages(void)
{
	MPI_Status status;
	MPI_Message message;
	struct message m = { 0, 31, 2, reversed, pairs, buf };

	BLOCKED(send_all(5, MPI_INT, 11, MPI_COMM_WORLD), ("Recv count=5 type=MPI_INT source=3 tag=11 comm=world"),
		MPI_Recv(buf, 5, MPI_INT, 3, 11, MPI_COMM_WORLD, &status));
	BLOCKED(send_all(6, MPI_DOUBLE, 12, copy), ("Recv count=9 type=MPI_DOUBLE source=any tag=any comm=copy"),
		receive(9, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, copy));
	BLOCKED(send_all(m.count, m.type, m.tag, m.comm), ("Recv count=2 type=pairs source=0 tag=31 comm=reversed"),
		receive_message(&m));
	BLOCKED(send_all(1, MPI_INT, 104, copy), ("Recv count=6 type=MPI_INT source=3 tag=104 comm=copy"),
		receive_many(1, 5, 100));
	BLOCKED(receive_all(7, MPI_CHAR, 13, MPI_COMM_WORLD), ("Ssend count=7 type=MPI_CHAR dest=3 tag=13 comm=world"),
		MPI_Ssend(buf, 7, MPI_CHAR, 3, 13, MPI_COMM_WORLD));
	BLOCKED(receive_all(BIG, MPI_INT, 14, reversed), ("Send count=%d type=MPI_INT dest=0 tag=14 comm=reversed", BIG),
		MPI_Send(buf, BIG, MPI_INT, 0, 14, reversed));
	BLOCKED(both(MPI_INT, 1, 21, MPI_COMM_WORLD),
		("Sendrecv sendcount=1 sendtype=MPI_INT dest=3 sendtag=21 recvcount=2 recvtype=MPI_INT source=3 recvtag=22 comm=world"),
		MPI_Sendrecv(buf, 1, MPI_INT, 3, 21, buf + 8, 2, MPI_INT, 3, 22, MPI_COMM_WORLD, &status));
	BLOCKED(both(MPI_FLOAT, 3, 23, copy), ("Sendrecv_replace count=3 type=MPI_FLOAT dest=3 sendtag=23 source=3 recvtag=24 comm=copy"),
		MPI_Sendrecv_replace(buf, 3, MPI_FLOAT, 3, 23, 3, 24, copy, &status));
	BLOCKED(send_all(1, MPI_INT, 15, copy), ("Probe source=3 tag=15 comm=copy"),
		MPI_Probe(3, 15, copy, &status);
		MPI_Recv(buf, 1, MPI_INT, 3, 15, copy, &status));
	BLOCKED(send_all(1, MPI_INT, 16, reversed), ("Mprobe source=0 tag=16 comm=reversed"),
		MPI_Mprobe(0, 16, reversed, &message, &status);
		MPI_Mrecv(buf, 1, MPI_INT, &message, &status));
	polls();
}
