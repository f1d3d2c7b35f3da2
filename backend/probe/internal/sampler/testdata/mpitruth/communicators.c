/* Calls that make communicators, and communication over further ones. */
#include "truth.h"

/* The last rank alone, and the other three: two groups of an intercommunicator. */
static void between(MPI_Comm three)
{
	MPI_Comm inter, merged;
	if (partner()) {
		await();
		MPI_Intercomm_create(three, 0, MPI_COMM_WORLD, 1, 77, &inter);
	} else {
		say("Intercomm_create local_leader=1 remote_leader=3 tag=77 comm=three");
		MPI_Intercomm_create(three, 1, MPI_COMM_WORLD, 3, 77, &inter);
	}
	MPI_Comm_set_name(inter, "inter");
	next();
	BLOCKED(await(); for (int i = 0; i < 3; i++) MPI_Send(buf, 2, MPI_INT, i, 61, inter),
		("Recv count=2 type=MPI_INT source=0 tag=61 comm=inter"), MPI_Recv(buf, 2, MPI_INT, 0, 61, inter, MPI_STATUS_IGNORE));
	BLOCKED(await(); for (int i = 0; i < 3; i++) MPI_Recv(buf, 2, MPI_INT, i, 62, inter, MPI_STATUS_IGNORE),
		("Ssend count=2 type=MPI_INT dest=0 tag=62 comm=inter"), MPI_Ssend(buf, 2, MPI_INT, 0, 62, inter));
	TOGETHER(("Barrier comm=inter"), MPI_Barrier(inter));
	TOGETHER(("Bcast count=2 type=MPI_INT root=0 comm=inter"), MPI_Bcast(buf, 2, MPI_INT, partner() ? MPI_ROOT : 0, inter));
	TOGETHER(("Intercomm_merge high=0 comm=inter"), MPI_Intercomm_merge(inter, partner(), &merged));
	MPI_Comm_free(&merged);
	MPI_Comm_free(&inter);
}

/* Some ranks are in another communicator than others. */
static void halves(void)
{
	MPI_Comm half;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
	if (partner()) {
		await();
		MPI_Send(buf, 1, MPI_INT, 1, 63, half);
		MPI_Send(buf, 1, MPI_INT, 0, 64, MPI_COMM_WORLD);
	} else if (rank == 1) {
		say("Recv count=1 type=MPI_INT source=0 tag=63 comm=odd");
		MPI_Recv(buf, 1, MPI_INT, 0, 63, half, MPI_STATUS_IGNORE);
	} else if (rank == 0) {
		say("Recv count=1 type=MPI_INT source=3 tag=64 comm=world");
		MPI_Recv(buf, 1, MPI_INT, 3, 64, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(buf, 1, MPI_INT, 0, 65, half);
	} else { /* 2, which is rank 0 of its half */
		say("Recv count=1 type=MPI_INT source=1 tag=65 comm=even");
		MPI_Recv(buf, 1, MPI_INT, 1, 65, half, MPI_STATUS_IGNORE);
	}
	next();
	MPI_Comm_free(&half);
}

/* More communicators than a library has room for at first; freed ones leave places. */
static void many(void)
{
	enum { all = 14 };
	MPI_Comm c[all];
	MPI_Request r;
	for (int i = 0; i < all; i++)
		MPI_Comm_dup(reversed, c + i);
	MPI_Comm_free(c + 3);
	MPI_Comm_set_name(c[all - 1], "far");
	BLOCKED(send_all(1, MPI_INT, 66, c[all - 1]), ("Recv count=1 type=MPI_INT source=0 tag=66 comm=far"),
		MPI_Recv(buf, 1, MPI_INT, 0, 66, c[all - 1], MPI_STATUS_IGNORE));
	if (!partner())
		MPI_Irecv(buf, 1, MPI_INT, 0, 67, c[all - 1], &r);
	BLOCKED(send_all(1, MPI_INT, 67, c[all - 1]), ("Wait requests=receive:0:67:far"), MPI_Wait(&r, MPI_STATUS_IGNORE));
	for (int i = 0; i < all; i++)
		if (i != 3)
			MPI_Comm_free(c + i);
}

void communicators(void)
{
	MPI_Comm made, three;
	MPI_Group group;
	int four = 4, one = 1;

	TOGETHER(("Comm_split color=5 key=%d comm=world", rank), MPI_Comm_split(MPI_COMM_WORLD, 5, rank, &made));
	MPI_Comm_free(&made);
	TOGETHER(("Comm_dup comm=copy"), MPI_Comm_dup(copy, &made));
	MPI_Comm_set_name(made, "twin");
	TOGETHER(("Comm_free comm=twin"), MPI_Comm_free(&made));
	MPI_Comm_group(reversed, &group);
	TOGETHER(("Comm_create comm=reversed"), MPI_Comm_create(reversed, group, &made));
	MPI_Comm_free(&made);
	TOGETHER(("Comm_create_group tag=78 comm=reversed"), MPI_Comm_create_group(reversed, group, 78, &made));
	MPI_Comm_free(&made);
	MPI_Group_free(&group);
	TOGETHER(("Comm_split_type split_type=%d key=2 comm=copy", MPI_COMM_TYPE_SHARED), MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 2, MPI_INFO_NULL, &made));
	MPI_Comm_free(&made);
	TOGETHER(("Cart_create ndims=1 reorder=0 comm=world"), MPI_Cart_create(MPI_COMM_WORLD, 1, &four, &one, 0, &made));
	MPI_Comm_free(&made);
	MPI_Comm_split(MPI_COMM_WORLD, partner(), rank, &three);
	MPI_Comm_set_name(three, "three");
	between(three);
	halves();
	many();
	MPI_Comm_free(&three);
}

/* The last call, from which nobody returns: not every release can connect jobs. */
void connections(const char *call)
{
	MPI_Comm inter;
	if (partner()) {
		await();
		pause();
	}
	switch (call[0]) {
	case 'a':
		say("Comm_accept root=3 comm=copy");
		MPI_Comm_accept("none", MPI_INFO_NULL, PARTNER, copy, &inter);
		break;
	case 'c':
		say("Comm_connect root=0 comm=reversed");
		MPI_Comm_connect("none", MPI_INFO_NULL, 0, reversed, &inter);
		break;
	case 's':
		say("Comm_spawn maxprocs=2 root=3 comm=world");
		MPI_Comm_spawn("none", MPI_ARGV_NULL, 2, MPI_INFO_NULL, PARTNER, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
		break;
	}
}
