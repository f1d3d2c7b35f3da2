package probe

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/protocol/wait"
)

// vforked is a program whose first thread waits for a child that shares its memory. No signal and no tracer can
// interrupt that (state D).
const vforked = `
#include <unistd.h>
static volatile int sink;
__attribute__((noinline)) static int waits(void)
{
	if (vfork() == 0) {
		sink = write(1, "r", 1);
		sleep(20);
		_exit(0);
	}
	return sink;
}
int main(void) { return waits() + sink; }
`

// TestUninterruptible checks that a thread is shown that cannot be stopped, and that it is not waited for.
func TestUninterruptible(t *testing.T) {
	p := startSource(t, "c", vforked, "-O2")
	for !p.areAll("D") {
		runtime.Gosched()
	}
	begin := time.Now()
	all := functions(newCache().take([]int{p.Process.Pid}, view{"function", true})[0])
	if took := time.Since(begin); len(all) != 1 || !strings.HasPrefix(all[0], "(thread not stopped: in state D) main waits ") || took > 5*time.Second {
		t.Errorf("%q in %v", all, took)
	}
	if tracer := p.status(t, "TracerPid"); tracer != "0" {
		t.Errorf("traced by %s", tracer)
	}
}

// TestTracedByOthers checks that threads are shown that another process holds, and that it is named.
func TestTracedByOthers(t *testing.T) {
	p := start(t, "-O2")
	runtime.LockOSThread() // this one; the thread ends with the test
	if err := syscall.PtraceAttach(p.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(p.Process.Pid, nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	got := newCache().take([]int{p.Process.Pid}, view{"function", true})[0]
	all := functions(got)
	want := "(thread not stopped: traced by " + strings.TrimSpace(string(name)) + ") main deep deep deep deep "
	if len(all) != 2 || !strings.HasPrefix(all[0], want) || strings.Contains(all[1], "traced by") {
		t.Errorf("%q, %v; want %q", all, got.err, want)
	}
}

// briefThreads is a program whose threads end at once.
const briefThreads = `
#include <pthread.h>
#include <unistd.h>
static void *ends(void *a) { return a; }
int main(void)
{
	for (write(1, "r", 1);;) {
		pthread_t t[8];
		for (int i = 0; i < 8; i++)
			pthread_create(&t[i], 0, ends, 0);
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], 0);
	}
}
`

// TestThreadsThatEnd checks that threads which end while they are read do no harm: the others are read, and
// nothing is said of them but their stacks.
func TestThreadsThatEnd(t *testing.T) {
	p := startSource(t, "c", briefThreads, "-O2")
	for c, n := newCache(), 0; n < 100; n++ {
		s := c.take([]int{p.Process.Pid}, view{"function", true})[0]
		all := strings.Join(functions(s), "\n")
		if s.err != nil || !strings.Contains(all, "main") || strings.Contains(all, "not read") || strings.Contains(all, "not stopped") {
			t.Fatalf("%v\n%s", s.err, all)
		}
	}
}

// withoutMain is a program whose first thread ends before the others.
const withoutMain = `
#include <pthread.h>
#include <unistd.h>
static void *waits(void *a) { for (write(1, "r", 1);;) pause(); return a; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, waits, 0);
	pthread_exit(0);
}
`

// TestFirstThreadHasEnded checks that the other threads of a process are shown whose first thread has ended.
func TestFirstThreadHasEnded(t *testing.T) {
	p := startSource(t, "c", withoutMain, "-O2")
	for c := newCache(); ; runtime.Gosched() {
		c.take([]int{p.Process.Pid}, view{"function", true}) // what it finds depends on the time
		if state := p.status(t, "State"); strings.HasPrefix(state, "Z") {
			s := c.take([]int{p.Process.Pid}, view{"function", true})[0]
			if s.waits.Doing.State == wait.Running { // the other thread has not come to its wait yet
				continue
			}
			if all := functions(s); len(all) != 1 || !strings.HasSuffix(all[0], "waits pause") {
				t.Errorf("%q, %v", all, s.err)
			}
			if d := &s.waits.Doing; d.State == wait.Dead || d.Does != "waits for a signal" {
				t.Errorf("the process is said to be %v: %q", d.State, d.Does)
			}
			return
		}
	}
}
