// Calls from C++: templates, references, members.
#include "truth.h"

namespace {

template <typename T> MPI_Datatype type();
template <> MPI_Datatype type<int>() { return MPI_INT; }
template <> MPI_Datatype type<double>() { return MPI_DOUBLE; }

template <typename T> class channel {
public:
	channel(MPI_Comm comm, int peer) : comm_(comm), peer_(peer) {}
	NOINLINE void get(T *to, int n, int tag) const { MPI_Recv(to, n, type<T>(), peer_, tag, comm_, MPI_STATUS_IGNORE); }
	NOINLINE T sum(const T &own) const
	{
		T all;
		MPI_Allreduce(&own, &all, 1, type<T>(), MPI_SUM, comm_);
		return all;
	}

private:
	MPI_Comm comm_;
	int peer_;
};

}

extern "C" void templates(void)
{
	const channel<int> one(copy, PARTNER);
	const channel<double> two(reversed, 0);
	BLOCKED(send_all(3, MPI_INT, 71, copy), ("Recv count=3 type=MPI_INT source=3 tag=71 comm=copy"), one.get(buf, 3, 71));
	BLOCKED(send_all(2, MPI_DOUBLE, 72, reversed), ("Recv count=2 type=MPI_DOUBLE source=0 tag=72 comm=reversed"), two.get((double *)buf, 2, 72));
	TOGETHER(("Allreduce count=1 type=MPI_DOUBLE op=MPI_SUM comm=reversed"), two.sum(1.5));
}
