package sampler

import (
	"strings"
	"testing"
	"time"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// openMP is a program of which one thread does not come to a barrier.
const openMP = `
#include <omp.h>
#include <unistd.h>
static volatile int sink;
__attribute__((noinline)) static void stuck(void)
{
	sink = write(1, "r", 1);
	for (;;)
		sink++;
}
int main(void)
{
#pragma omp parallel num_threads(3)
	{
		if (omp_get_thread_num() == 2)
			stuck();
#pragma omp barrier
	}
	return 0;
}
`

// TestOpenMP finds the thread for which the others of a team wait, whether they spin or sleep.
func TestOpenMP(t *testing.T) {
	p := startSource(t, "c", openMP, "-O1", "-g", "-fopenmp")
	const want = "waits for thread 3 of OpenMP"
	var d wait.Doing
	found := func() bool { // the thread may not have returned from write yet
		return d.Does == want && d.For == 3 && !d.Lock && len(d.Others) == 1 && strings.HasPrefix(d.Others[0].Frames, "stuck ") && d.Others[0].State == wait.Running
	}
	for begin := time.Now(); !found() && time.Since(begin) < 20*time.Second; {
		if s := New("").Take([]int{p.Process.Pid}, Options{By: "line", AllThreads: true}).Samples[0]; s.Waits != nil {
			d = s.Waits.Doing
		}
	}
	if !found() {
		t.Errorf("%+v", d)
	}
}

// TestNumbersOfThreads: thread IDs start again from low numbers when they are used up, so that a thread may have a
// lower one than the first.
func TestNumbersOfThreads(t *testing.T) {
	shot := &snapshot.Process{Threads: []snapshot.Thread{{TID: 20}, {TID: 300}, {TID: 400}}}
	r := &reading{process: &process{pid: 300}, shot: shot, held: &hold.Process{}}
	m := newTeam(r, make([][]stack.Frame, len(shot.Threads)))
	for tid, want := range map[int]int{300: 1, 20: 2, 400: 3, 5: 0} {
		if got := m.number(tid); got != want || got != 0 && shot.Threads[m.index(got)].TID != tid {
			t.Errorf("thread %d has number %d, want %d", tid, got, want)
		}
	}
}
