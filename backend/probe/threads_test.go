package probe

import (
	"strings"
	"testing"
	"time"

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
		if s := newCache().take([]int{p.Process.Pid}, view{"line", true})[0]; s.waits != nil {
			d = s.waits.Doing
		}
	}
	if !found() {
		t.Errorf("%+v", d)
	}
}
