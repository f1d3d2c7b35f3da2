/* Windows: collectives, and epochs for which the last rank is needed. Some libraries wait for it when an epoch
 * begins, others when it ends. */
#include "truth.h"

static void epochs(MPI_Win win)
{
	MPI_Group world, theirs, mine;
	int three[3] = { 0, 1, 2 }, last = PARTNER;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 3, three, &theirs);
	MPI_Group_incl(world, 1, &last, &mine);
	BLOCKED(await(); MPI_Win_start(theirs, 0, win); MPI_Win_complete(win),
		("Win_wait win=first"), MPI_Win_post(mine, 0, win); MPI_Win_wait(win));
	BLOCKED(await(); MPI_Win_post(theirs, 0, win); MPI_Win_wait(win),
		("Win_start|Win_complete win=first"), MPI_Win_start(mine, 0, win); MPI_Put(buf, 1, MPI_INT, PARTNER, rank, 1, MPI_INT, win); MPI_Win_complete(win));
	MPI_Group_free(&world);
	MPI_Group_free(&theirs);
	MPI_Group_free(&mine);
}

/* The last rank has the lock of its own window. */
static void locks(MPI_Win win)
{
	if (partner())
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, PARTNER, 0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	BLOCKED(await(); MPI_Win_unlock(PARTNER, win), ("Win_lock|Win_unlock rank=3 win=first"),
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, PARTNER, 0, win);
		MPI_Put(buf, 1, MPI_INT, PARTNER, rank, 1, MPI_INT, win);
		MPI_Win_unlock(PARTNER, win));
}

void windows(void)
{
	MPI_Win win, other;
	int *base;
	TOGETHER(("Win_create size=256 disp_unit=4 comm=world"), MPI_Win_create(buf, 256, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
	MPI_Win_set_name(win, "first");
	TOGETHER(("Win_fence assert=0 win=first"), MPI_Win_fence(0, win));
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	epochs(win);
	locks(win);
	TOGETHER(("Win_free win=first"), MPI_Win_free(&win));
	TOGETHER(("Win_allocate size=64 disp_unit=4 comm=reversed"), MPI_Win_allocate(64, 4, MPI_INFO_NULL, reversed, &base, &other));
	MPI_Win_set_name(other, "second");
	TOGETHER(("Win_fence assert=%d win=second", MPI_MODE_NOPRECEDE), MPI_Win_fence(MPI_MODE_NOPRECEDE, other));
	MPI_Win_fence(MPI_MODE_NOSUCCEED, other);
	MPI_Win_free(&other);
}
