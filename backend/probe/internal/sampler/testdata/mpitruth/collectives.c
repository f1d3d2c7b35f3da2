/* Collectives, in which the last rank is absent. */
#include "truth.h"

static int counts[4] = { 1, 1, 1, 1 }, displs[4] = { 0, 1, 2, 3 };

static NOINLINE void reduce_all(void *in, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	MPI_Allreduce(in, to, n, type, op, comm);
}

static void add(void *in, void *to, int *n, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)to)[i] += ((int *)in)[i];
}

static void rooted(int *to)
{
	TOGETHER(("Bcast count=4 type=MPI_INT root=3 comm=world"), MPI_Bcast(buf, 4, MPI_INT, 3, MPI_COMM_WORLD));
	TOGETHER(("Bcast count=3 type=pairs root=0 comm=reversed"), MPI_Bcast(buf, 3, pairs, 0, reversed));
	TOGETHER(("Bcast count=%d type=MPI_INT root=3 comm=copy", BIG), MPI_Bcast(buf, BIG, MPI_INT, 3, copy));
	TOGETHER(("Reduce count=2 type=MPI_INT op=MPI_MAX root=0 comm=world"), MPI_Reduce(buf, to, 2, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD));
	TOGETHER(("Gather sendcount=1 sendtype=MPI_INT recvcount=1 recvtype=MPI_INT root=1 comm=copy"), MPI_Gather(buf, 1, MPI_INT, to, 1, MPI_INT, 1, copy));
	TOGETHER(("Scatter sendcount=1 sendtype=MPI_INT recvcount=1 recvtype=MPI_INT root=3 comm=world"), MPI_Scatter(buf, 1, MPI_INT, to, 1, MPI_INT, 3, MPI_COMM_WORLD));
	TOGETHER(("Gatherv sendcount=1 sendtype=MPI_INT recvtype=MPI_INT root=2 comm=world"), MPI_Gatherv(buf, 1, MPI_INT, to, counts, displs, MPI_INT, 2, MPI_COMM_WORLD));
	TOGETHER(("Scatterv sendtype=MPI_INT recvcount=1 recvtype=MPI_INT root=0 comm=reversed"), MPI_Scatterv(buf, counts, displs, MPI_INT, to, 1, MPI_INT, 0, reversed));
}

/* Every rank is a neighbour of every other. */
static void neighbours(int *to)
{
	MPI_Comm graph;
	int others[3], n = 0;
	for (int i = 0; i < 4; i++)
		if (i != rank)
			others[n++] = i;
	TOGETHER(("Dist_graph_create_adjacent indegree=3 outdegree=3 comm=world"),
		MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, others, MPI_UNWEIGHTED, 3, others, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
	MPI_Comm_set_name(graph, "graph");
	TOGETHER(("Neighbor_allgather sendcount=1 sendtype=MPI_INT recvcount=1 recvtype=MPI_INT comm=graph"), MPI_Neighbor_allgather(buf, 1, MPI_INT, to, 1, MPI_INT, graph));
	TOGETHER(("Neighbor_alltoall sendcount=2 sendtype=MPI_INT recvcount=2 recvtype=MPI_INT comm=graph"), MPI_Neighbor_alltoall(buf, 2, MPI_INT, to, 2, MPI_INT, graph));
	TOGETHER(("Neighbor_alltoallv sendtype=MPI_INT recvtype=MPI_INT comm=graph"), MPI_Neighbor_alltoallv(buf, counts, displs, MPI_INT, to, counts, displs, MPI_INT, graph));
}

void collectives(void)
{
	int *to = buf + 64;
	MPI_Op mine;

	TOGETHER(("Barrier comm=world"), MPI_Barrier(MPI_COMM_WORLD));
	TOGETHER(("Barrier comm=copy"), MPI_Barrier(copy));
	TOGETHER(("Barrier comm=reversed"), MPI_Barrier(reversed));
	rooted(to);
	TOGETHER(("Allreduce count=1 type=MPI_DOUBLE op=MPI_SUM comm=world"), MPI_Allreduce(buf, to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
	TOGETHER(("Allreduce count=3 type=MPI_INT op=MPI_BOR comm=reversed"), reduce_all(buf, to, 3, MPI_INT, MPI_BOR, reversed));
	TOGETHER(("Allreduce count=2 type=MPI_INT op=MPI_MIN comm=copy"), MPI_Allreduce(MPI_IN_PLACE, to, 2, MPI_INT, MPI_MIN, copy));
	MPI_Op_create(add, 1, &mine);
	TOGETHER(("Allreduce count=2 type=MPI_INT op= comm=copy"), MPI_Allreduce(buf, to, 2, MPI_INT, mine, copy));
	MPI_Op_free(&mine);
	TOGETHER(("Allgather sendcount=2 sendtype=MPI_INT recvcount=2 recvtype=MPI_INT comm=world"), MPI_Allgather(buf, 2, MPI_INT, to, 2, MPI_INT, MPI_COMM_WORLD));
	TOGETHER(("Allgatherv sendcount=1 sendtype=MPI_INT recvtype=MPI_INT comm=copy"), MPI_Allgatherv(buf, 1, MPI_INT, to, counts, displs, MPI_INT, copy));
	TOGETHER(("Alltoall sendcount=1 sendtype=MPI_FLOAT recvcount=1 recvtype=MPI_FLOAT comm=world"), MPI_Alltoall(buf, 1, MPI_FLOAT, to, 1, MPI_FLOAT, MPI_COMM_WORLD));
	TOGETHER(("Alltoallv sendtype=MPI_INT recvtype=MPI_INT comm=reversed"), MPI_Alltoallv(buf, counts, displs, MPI_INT, to, counts, displs, MPI_INT, reversed));
	TOGETHER(("Scan count=2 type=MPI_INT op=MPI_MIN comm=reversed"), MPI_Scan(buf, to, 2, MPI_INT, MPI_MIN, reversed));
	TOGETHER(("Exscan count=2 type=MPI_INT op=MPI_PROD comm=reversed"), MPI_Exscan(buf, to, 2, MPI_INT, MPI_PROD, reversed));
	TOGETHER(("Reduce_scatter_block count=1 type=MPI_INT op=MPI_SUM comm=world"), MPI_Reduce_scatter_block(buf, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	TOGETHER(("Reduce_scatter type=MPI_INT op=MPI_SUM comm=copy"), MPI_Reduce_scatter(buf, to, counts, MPI_INT, MPI_SUM, copy));
	neighbours(to);
}
