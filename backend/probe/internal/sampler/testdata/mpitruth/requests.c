/* Requests: of messages, persistent ones, of collectives. */
#include "truth.h"

static NOINLINE void wait_for(MPI_Request *r) { MPI_Wait(r, MPI_STATUS_IGNORE); }

static void two_each(void)
{
	await();
	for (int tag = 43; tag <= 44; tag++)
		for (int i = 1; i < 4; i++)
			MPI_Send(buf, 1, MPI_INT, i, tag, reversed);
}

/* Waits for two receives with each function that waits for several. */
static void several(void)
{
	static const char *names[] = { "Waitall", "Waitany", "Waitsome", "Testall", "Testany", "Testsome" };
	MPI_Request r[3];
	int index, n, which[3];
	for (int kind = 0; kind < 6; kind++) {
		if (partner()) {
			two_each();
			next();
			continue;
		}
		MPI_Irecv(buf, 1, MPI_INT, 0, 43, reversed, r);
		MPI_Irecv(buf + 1, 1, MPI_INT, MPI_ANY_SOURCE, 44, reversed, r + 1);
		say("%s count=2 requests=receive:0:43:reversed,receive:any:44:reversed", names[kind]);
		n = 0;
		switch (kind) {
		case 1: MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE); break;
		case 2: MPI_Waitsome(2, r, &n, which, MPI_STATUSES_IGNORE); break;
		case 3: while (!n) MPI_Testall(2, r, &n, MPI_STATUSES_IGNORE); break;
		case 4: while (!n) MPI_Testany(2, r, &index, &n, MPI_STATUS_IGNORE); break;
		case 5: while (!n) MPI_Testsome(2, r, &n, which, MPI_STATUSES_IGNORE); break;
		}
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		next();
	}
}

static void sends(void)
{
	MPI_Request r[3];
	int flag = 0;
	if (!partner())
		MPI_Issend(buf, 3, MPI_INT, 3, 42, copy, r);
	BLOCKED(receive_all(3, MPI_INT, 42, copy), ("Wait requests=send:3:42:copy"), wait_for(r));
	if (!partner())
		MPI_Isend(buf, BIG, MPI_INT, 0, 45, reversed, r);
	BLOCKED(receive_all(BIG, MPI_INT, 45, reversed), ("Wait requests=send:0:45:reversed"), MPI_Wait(r, MPI_STATUS_IGNORE));
	if (!partner())
		MPI_Issend(buf, 1, MPI_INT, 3, 46, MPI_COMM_WORLD, r);
	BLOCKED(receive_all(1, MPI_INT, 46, MPI_COMM_WORLD), ("Test requests=send:3:46:world"),
		while (!flag) MPI_Test(r, &flag, MPI_STATUS_IGNORE));
	if (!partner()) {
		MPI_Irecv(buf, 3, MPI_INT, 3, 48, MPI_COMM_WORLD, r);
		r[1] = MPI_REQUEST_NULL;
		MPI_Issend(buf + 4, 3, MPI_INT, 3, 47, MPI_COMM_WORLD, r + 2);
	}
	BLOCKED(receive_all(3, MPI_INT, 47, MPI_COMM_WORLD); for (int i = 0; i < 3; i++) MPI_Send(buf, 3, MPI_INT, i, 48, MPI_COMM_WORLD),
		("Waitall count=3 requests=receive:3:48:world,null,send:3:47:world"), MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
}

/* Waits for two requests, of which one may be complete already: MPI says whether. */
static void one_complete(void)
{
	MPI_Request r[2];
	int complete;
	if (partner()) {
		await();
		for (int i = 0; i < 3; i++) {
			MPI_Recv(buf, 1, MPI_INT, i, 55, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(buf, 1, MPI_INT, i, 54, MPI_COMM_WORLD);
		}
	} else {
		MPI_Irecv(buf, 1, MPI_INT, 3, 54, MPI_COMM_WORLD, r);
		MPI_Isend(buf + 4, 1, MPI_INT, 3, 55, MPI_COMM_WORLD, r + 1);
		MPI_Request_get_status(r[1], &complete, MPI_STATUS_IGNORE);
		say("Waitall count=2 requests=receive:3:54:world,%s", complete ? "complete" : "send:3:55:world");
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	next();
}

static void persistent(void)
{
	MPI_Request r;
	if (!partner()) {
		MPI_Recv_init(buf, 2, MPI_INT, 3, 51, copy, &r);
		MPI_Start(&r);
	}
	BLOCKED(send_all(2, MPI_INT, 51, copy), ("Wait requests=receive:3:51:copy"), wait_for(&r); MPI_Request_free(&r));
	if (!partner()) {
		MPI_Ssend_init(buf, 2, MPI_INT, 0, 52, reversed, &r);
		MPI_Startall(1, &r);
	}
	BLOCKED(receive_all(2, MPI_INT, 52, reversed), ("Wait requests=send:0:52:reversed"), wait_for(&r); MPI_Request_free(&r));
}

#define STARTED(text, start)                                    \
	do {                                                    \
		if (partner())                                  \
			await();                                \
		start;                                          \
		if (!partner())                                 \
			say text;                               \
		MPI_Wait(&r, MPI_STATUS_IGNORE);                \
		next();                                         \
	} while (0)

static void of_collectives(void)
{
	MPI_Request r, two[2];
	int *to = buf + 64;
	STARTED(("Wait requests=collective:-:-:copy"), MPI_Ibarrier(copy, &r));
	STARTED(("Wait requests=collective:-:-:world"), MPI_Ibcast(buf, 3, MPI_INT, 3, MPI_COMM_WORLD, &r));
	STARTED(("Wait requests=collective:-:-:reversed"), MPI_Iallreduce(buf, to, 3, MPI_INT, MPI_SUM, reversed, &r));
	STARTED(("Wait requests=collective:-:-:copy"), MPI_Ialltoall(buf, 1, MPI_INT, to, 1, MPI_INT, copy, &r));
	if (partner()) {
		await();
		for (int i = 0; i < 3; i++)
			MPI_Send(buf, 1, MPI_INT, i, 53, MPI_COMM_WORLD);
		MPI_Ibarrier(reversed, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	} else {
		MPI_Irecv(buf, 1, MPI_INT, 3, 53, MPI_COMM_WORLD, two);
		MPI_Ibarrier(reversed, two + 1);
		say("Waitall count=2 requests=receive:3:53:world,collective:-:-:reversed");
		MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
	}
	next();
}

void requests(void)
{
	MPI_Request r;
	if (!partner())
		MPI_Irecv(buf, 2, MPI_INT, 3, 41, MPI_COMM_WORLD, &r);
	BLOCKED(send_all(2, MPI_INT, 41, MPI_COMM_WORLD), ("Wait requests=receive:3:41:world"), wait_for(&r));
	several();
	sends();
	one_complete();
	persistent();
	of_collectives();
}
