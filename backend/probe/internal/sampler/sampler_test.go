package sampler

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// samplerOf is the variable with the process that this program samples without end, in a test that
// kills it.
const samplerOf = "SDM_TEST_SAMPLE"

func TestMain(m *testing.M) {
	if pid, err := strconv.Atoi(os.Getenv(samplerOf)); err == nil {
		fmt.Println("ready")
		for c := New(""); ; {
			c.Take([]int{pid}, Options{By: "function", AllThreads: true})
		}
	}
	goleak.VerifyTestMain(m)
}

// source is a program with a second thread that waits, and a first one that waits in a signal
// handler under four calls. It answers each SIGUSR2 with a byte.
const source = `
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void answer(int s) { (void)!write(1, "a", 1); }
static void wait_here(int s) { write(1, "r", 1); for (;;) poll(0, 0, 1000); }
__attribute__((noinline)) int deep(int n) { int r = n ? deep(n - 1) : raise(SIGUSR1); __asm__ volatile("" ::: "memory"); return r + 1; }
static void *other(void *a) { for (;;) sleep(100); }
int main(void)
{
	pthread_t t;
	signal(SIGUSR1, wait_here);
	signal(SIGUSR2, answer);
	pthread_create(&t, 0, other, 0);
	return deep(3);
}
`

// target is a process of the program.
type target struct {
	*exec.Cmd
	out *bufio.Reader
}

// start compiles the program with flags and starts it. It returns when the program waits.
func start(t *testing.T, flags ...string) target {
	t.Helper()
	p := startSource(t, "c", source, flags...)
	p.stands(t, "function", func(all []string) bool {
		return len(all) == 2 && slices.ContainsFunc(all, in("poll")) && slices.ContainsFunc(all, in("clock_nanosleep"))
	})
	return p
}

// run starts a program and returns when it has written r.
func run(t *testing.T, path string, args ...string) target {
	t.Helper()
	p := target{Cmd: exec.Command(path, args...)}
	p.start(t)
	return p
}

// runIn is run with more variables in the environment.
func runIn(t *testing.T, path string, environment ...string) target {
	t.Helper()
	p := target{Cmd: exec.Command(path)}
	p.Env = append(os.Environ(), environment...)
	p.start(t)
	return p
}

// start starts the process, and returns when it has written r.
func (p *target) start(t *testing.T) {
	t.Helper()
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	p.out = bufio.NewReader(out)
	p.expect(t, 'r')
}

// stands returns when the stacks of the process, as functions returns them, are as they should be.
func (p target) stands(t *testing.T, by string, ready func(all []string) bool) {
	t.Helper()
	var all []string
	for limit := time.Now().Add(60 * time.Second); time.Now().Before(limit); {
		if all = functions(New("").Take([]int{p.Process.Pid}, Options{By: by, AllThreads: true}).Samples[0]); ready(all) {
			return
		}
	}
	t.Fatalf("it stands in\n%s", strings.Join(all, "\n"))
}

// in returns a function that reports whether a thread waits in a function.
func in(function string) func(thread string) bool {
	return func(thread string) bool { return strings.HasSuffix(thread, " "+function) }
}

func (p target) expect(t *testing.T, want byte) {
	t.Helper()
	if c, err := p.out.ReadByte(); err != nil || c != want {
		t.Fatalf("%c, %v", c, err)
	}
}

// status returns a field of /proc/PID/status.
func (p target) status(t *testing.T, field string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, field+":\t"); ok {
			return strings.TrimSpace(v)
		}
	}
	t.Fatal(string(text))
	return ""
}

// functions returns the functions of each thread, outermost first, sorted.
func functions(s Sample) (all []string) {
	for _, frames := range s.Threads {
		var names []string
		for _, f := range frames {
			names = append(names, f.Func)
		}
		all = append(all, strings.Join(names, " "))
	}
	slices.Sort(all)
	return all
}

// gdbFrame is a line of gdb's backtrace.
var gdbFrame = regexp.MustCompile(`^#\d+ +(?:0x[0-9a-f]+ in )?(<signal handler called>|[^ (]+)`)

// byGDB returns what gdb shows, as functions does.
func byGDB(t *testing.T, pid int) (all []string) {
	t.Helper()
	out, err := exec.Command("gdb", "-nx", "-batch", "-iex", "set debug-file-directory", "-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on", "-ex", "thread apply all backtrace", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := bytes.Cut(out, []byte("\nThread ")) // before it is the innermost frame once more
	for thread := range bytes.SplitSeq(list, []byte("\nThread ")) {
		var names []string
		for line := range strings.Lines(string(thread)) {
			if m := gdbFrame.FindStringSubmatch(line); m != nil {
				names = append(names, m[1])
				if strings.HasSuffix(line, "/libc.so.6\n") && m[1] == unnamed {
					names[len(names)-1] += "libc"
				}
			}
		}
		slices.Reverse(names)
		if len(names) > 0 {
			all = append(all, strings.ReplaceAll(strings.Join(trimmedNames(names), " "), unnamed+"libc", unnamed))
		}
	}
	slices.Sort(all)
	return all
}

// trimmedNames removes what is outside main, and the nameless calls within libc, as sdm does.
func trimmedNames(names []string) []string {
	for len(names) > 1 && names[len(names)-1] == unnamed+"libc" {
		names = names[:len(names)-1]
	}
	if i := slices.Index(names, "main"); i >= 0 {
		return names[i:]
	}
	for len(names) > 1 && names[0] == unnamed+"libc" {
		names = names[1:]
	}
	return names
}

func TestStacksAsGDBShowsThem(t *testing.T) {
	for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O3", "-fomit-frame-pointer", "-no-pie"}, {"-O0", "-s"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			p := start(t, flags...)
			if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			want := byGDB(t, p.Process.Pid)
			got := functions(New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0])
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\ngdb shows\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// replace puts another program where one was.
func replace(path string) error {
	other, err := os.ReadFile("/bin/true")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path+".new", other, 0o700), os.Rename(path+".new", path))
}

// TestOtherMounts checks that a process is named whose program is in a file system that only it sees.
func TestOtherMounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts need root")
	}
	path := build(t, []string{"gcc"}, "c", source, "-O2", "-pthread")
	p := target{Cmd: exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c",
		`mkdir "$0.d" && cp "$0" "$0.x" && mount -t tmpfs none "$0.d" && mv "$0.x" "$0.d/hidden" && exec "$0.d/hidden"`, path)}
	p.start(t)
	p.stands(t, "function", func(all []string) bool {
		return len(all) == 2 && strings.HasPrefix(all[0], "main deep deep deep deep ") && in("poll")(all[0])
	})
}

// TestFilesThatAreGone checks that a process is named whose program is not where it was, or never was for us.
func TestFilesThatAreGone(t *testing.T) {
	for name, deed := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": replace,
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "-O2")
			before := functions(New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0])
			if err := deed(p.Path); err != nil {
				t.Fatal(err)
			}
			after := functions(New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0])
			if len(before) != 2 || !slices.Equal(before, after) || !strings.Contains(before[0], "main deep deep deep deep ") {
				t.Errorf("before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
		})
	}
}

func TestStoppedStaysStopped(t *testing.T) {
	p := start(t, "-O2")
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !strings.HasPrefix(p.status(t, "State"), "T") {
	}
	for range 20 {
		if s := New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]; len(s.Threads) != 2 {
			t.Fatalf("%d threads, %v", len(s.Threads), s.Err)
		}
	}
	// The kernel wakes a thread that is let go, which then stops again.
	for limit := time.Now().Add(10 * time.Second); !strings.HasPrefix(p.status(t, "State"), "T (stopped") && time.Now().Before(limit); {
	}
	if state, tracer := p.status(t, "State"), p.status(t, "TracerPid"); !strings.HasPrefix(state, "T (stopped") || tracer != "0" {
		t.Errorf("state %s, tracer %s", state, tracer)
	}
}

func TestSignalsArrive(t *testing.T) {
	p := start(t, "-O2")
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for c := New(""); ; {
			select {
			case <-over:
				return
			default:
				c.Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true})
			}
		}
	}()
	for range 500 {
		if err := p.Process.Signal(syscall.SIGUSR2); err != nil {
			t.Fatal(err)
		}
		p.expect(t, 'a')
	}
	close(over)
	<-done
}

func TestKilledSamplerLeavesNothingTraced(t *testing.T) {
	p := start(t, "-O2")
	for range 40 {
		c := exec.Command("/proc/self/exe")
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", samplerOf, p.Process.Pid))
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(line, err)
		}
		<-time.After(rand.N(10 * time.Millisecond))
		_ = c.Process.Kill()
		_ = c.Wait()
		if state, tracer := p.status(t, "State"), p.status(t, "TracerPid"); strings.HasPrefix(strings.ToUpper(state), "T") || tracer != "0" {
			t.Fatalf("state %s, tracer %s", state, tracer)
		}
	}
	if err := p.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	p.expect(t, 'a')
}

func TestGone(t *testing.T) {
	p := start(t, "-O2")
	_ = p.Process.Kill()
	_ = p.Wait()
	if s := New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]; s.Err == nil {
		t.Errorf("%d threads of a process that has ended", len(s.Threads))
	}
}

func BenchmarkTake(b *testing.B) {
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	for k := New(""); b.Loop(); {
		k.Take([]int{c.Process.Pid}, Options{By: "function", AllThreads: true})
	}
}
