package sampler

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sdm/backend/probe/internal/hold"
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
	all := functions(New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0])
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
	got := New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]
	all := functions(got)
	want := "(thread not stopped: traced by " + strings.TrimSpace(string(name)) + ") main deep deep deep deep "
	if len(all) != 2 || !strings.HasPrefix(all[0], want) || strings.Contains(all[1], "traced by") {
		t.Errorf("%q, %v; want %q", all, got.Err, want)
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
	for c, n := New(""), 0; n < 100; n++ {
		s := c.Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]
		all := strings.Join(functions(s), "\n")
		if s.Err != nil || !strings.Contains(all, "main") || strings.Contains(all, "not read") || strings.Contains(all, "not stopped") {
			t.Fatalf("%v\n%s", s.Err, all)
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
	for c := New(""); ; runtime.Gosched() {
		c.Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}) // what it finds depends on the time
		if state := p.status(t, "State"); strings.HasPrefix(state, "Z") {
			s := c.Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]
			if s.Waits.Doing.State == wait.Running { // the other thread has not come to its wait yet
				continue
			}
			if all := functions(s); len(all) != 1 || !strings.HasSuffix(all[0], "waits pause") {
				t.Errorf("%q, %v", all, s.Err)
			}
			if d := &s.Waits.Doing; d.State == wait.Dead || d.Does != "waits for a signal" {
				t.Errorf("the process is said to be %v: %q", d.State, d.Does)
			}
			return
		}
	}
}

// holdThread holds the first thread of a process by a thread with a name, until release is called.
func holdThread(t *testing.T, pid int, name string) (release func()) {
	t.Helper()
	held, end, done := make(chan error), make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine, unless it is the first one
		comm := fmt.Sprintf("/proc/self/task/%d/comm", syscall.Gettid())
		before, err := os.ReadFile(comm)
		if err == nil {
			err = os.WriteFile(comm, []byte(name), 0)
			defer func() { _ = os.WriteFile(comm, before, 0) }()
		}
		if err == nil {
			err = syscall.PtraceAttach(pid)
		}
		if err == nil {
			_, err = syscall.Wait4(pid, nil, syscall.WALL, nil)
		}
		held <- err
		<-end
		if err == nil {
			_ = syscall.PtraceDetach(pid)
		}
	}()
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() { close(end); <-done })
}

// TestOtherSampler checks that a process which another sampler holds is awaited; and if it does not let go, that
// nothing is said of the process but this, and that nothing follows from it.
func TestOtherSampler(t *testing.T) {
	p := start(t, "-O2")
	c := New("")
	take := func() Sample {
		return c.Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]
	}
	before := take()
	release := holdThread(t, p.Process.Pid, "sdm-server")
	defer release()
	s := take()
	for _, text := range functions(s) {
		if !strings.HasPrefix(text, "(thread not stopped: traced by sdm-server) ") {
			t.Errorf("%q", text)
		}
	}
	if w := s.Waits; w.Doing.State != wait.Unread || w.Doing.Detail != "it is traced by sdm-server" || !w.Unheld || w.stamp != 0 {
		t.Errorf("held by another sampler: %+v", w)
	}
	time.AfterFunc(hold.Defaults.Others/10, release)
	if s := take(); s.Waits.Unheld || s.Waits.stamp != before.Waits.stamp || strings.Contains(strings.Join(functions(s), ""), "traced") {
		t.Errorf("let go: %+v %q", s.Waits, functions(s))
	}
}

// TestDebuggerIsAwaitedOnce checks that a debugger which stays is waited for in the first sample only.
func TestDebuggerIsAwaitedOnce(t *testing.T) {
	p := start(t, "-O2")
	defer holdThread(t, p.Process.Pid, "gdb")()
	c := New("")
	for n := range 20 {
		begin := time.Now()
		s := c.Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]
		if d := s.Waits.Doing; d.State != wait.Traced || !strings.HasSuffix(d.Detail, "(gdb) traces it") || !s.Waits.Unheld {
			t.Fatalf("%+v", s.Waits)
		}
		if took := time.Since(begin); n > 0 && took < hold.Defaults.Others { // a slow machine has 19 attempts
			return
		}
	}
	t.Error("each sample has waited for the debugger")
}

// crowd is a program with 1,200 threads that wait.
const crowd = `
#include <pthread.h>
#include <unistd.h>
static void *waits(void *a) { for (;;) pause(); return a; }
int main(void)
{
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	for (int i = 0; i < 1200; i++) {
		pthread_t t;
		if (pthread_create(&t, &small, waits, 0) != 0)
			return 1;
	}
	write(1, "r", 1);
	for (;;)
		pause();
}
`

// TestManyThreads checks that all threads of a process are read that are too many to be held at the same time.
func TestManyThreads(t *testing.T) {
	p := startSource(t, "c", crowd, "-O2")
	p.stands(t, "function", func(all []string) bool {
		s := slices.Compact(all)
		return len(all) == 1201 && slices.Equal(s, []string{"main pause", "waits pause"})
	})
	if s := New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]; !s.Waits.parted {
		t.Errorf("%+v", s.Waits)
	}
	if tracer := p.status(t, "TracerPid"); tracer != "0" {
		t.Errorf("traced by %s", tracer)
	}
}
