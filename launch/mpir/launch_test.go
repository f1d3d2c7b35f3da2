package mpir

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// limit is generous for busy machines.
const limit = time.Minute

// starterNames are the known starters of the tests.
var starterNames = []string{"mpirun", "mpiexec", "orterun", "starter"}

// starterSource is a starter for tests: its ranks are itself and init.
const starterSource = `#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct { char *host_name; char *executable_name; int pid; } MPIR_PROCDESC;
MPIR_PROCDESC *MPIR_proctable;
int MPIR_proctable_size, MPIR_debug_state;
volatile int MPIR_being_debugged;
char *MPIR_debug_abort_string;
char MPIR_executable_path[256], MPIR_server_arguments[1024], MPIR_attach_fifo[256];
char MPIR_job_id[32];
static char *args;
void __attribute__((noinline)) MPIR_Breakpoint(void) { __asm__ volatile(""); }
static void ends(int sig) { MPIR_Breakpoint(); puts("cleaned up"); fflush(stdout); _exit(0); }
static void *other(void *p) { for (;;) pause(); }
int main(int argc, char **argv) {
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t t[3];
	for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, other, 0);
	int asked = MPIR_being_debugged;
	if (!strcmp(how, "late")) signal(SIGTERM, ends);
	printf("debugged %d\n", asked); fflush(stdout);
	if (!strcmp(how, "lazy")) while (!MPIR_being_debugged) usleep(1000);
	if (!strcmp(how, "early")) return 5;
	MPIR_proctable = calloc(2, sizeof *MPIR_proctable);
	for (int i = 0; i < 2; i++) {
		MPIR_proctable[i].host_name = i ? "node1" : "node0";
		MPIR_proctable[i].executable_name = "/bin/app";
		MPIR_proctable[i].pid = i ? 1 : getpid();
	}
	strcpy(MPIR_job_id, "job.7");
	if (!strcmp(how, "abort")) { MPIR_debug_abort_string = "no nodes"; MPIR_debug_state = 2; }
	else { MPIR_debug_state = 1; MPIR_proctable_size = 2; }
	if (!strcmp(how, "late")) for (;;) pause();
	if (asked) MPIR_Breakpoint();
	if (!strcmp(how, "fifo")) {
		char byte = 0;
		strcpy(MPIR_attach_fifo, argv[2]);
		int fd = open(argv[2], O_RDWR);
		read(fd, &byte, 1);
		printf("attached %d %d\n", byte, MPIR_being_debugged);
	}
	printf("path %s args", MPIR_executable_path);
	for (args = MPIR_server_arguments; *args; args += strlen(args) + 1) printf(" [%s]", args);
	printf("\n");
	fflush(stdout);
	if (!strcmp(how, "lazy")) while (MPIR_being_debugged) usleep(1000);
	char line[100];
	if (fgets(line, sizeof line, stdin)) printf("read %s", line);
	return 7;
}
`

// compile builds a C program. flags decide whether its symbols are in .dynsym.
func compile(t *testing.T, name, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	file, path := filepath.Join(dir, name+".c"), filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("gcc", append(flags, "-pthread", "-o", path, file)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, text)
	}
	return path
}

// run is one launch with its standard streams.
type run struct {
	t   *testing.T
	l   *Launch
	out *os.File
	ctx context.Context
}

func begin(t *testing.T, spec Spec) *run {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(in, []byte("a line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	spec.Stdin, err = os.Open(in)
	if err != nil {
		t.Fatal(err)
	}
	spec.Stdout, spec.Stderr, spec.Names = out, out, starterNames
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	r := &run{t: t, l: New(spec), out: out, ctx: ctx}
	t.Cleanup(func() {
		r.l.End(ctx)
		cancel()
		spec.Stdin.Close()
		out.Close()
	})
	return r
}

func (r *run) text() string {
	b, err := os.ReadFile(r.out.Name())
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// held acquires the job and checks its table.
func (r *run) held() {
	r.t.Helper()
	table, err := r.l.Acquire(r.ctx, func(text string) { r.t.Log(text) })
	if err != nil {
		r.t.Fatal(err)
	}
	if len(table) != 2 || table[0].Host != "node0" || table[1].Host != "node1" || table[1].PID != 1 || table[0].Program != "/bin/app" {
		r.t.Errorf("table %+v", table)
	}
	if table[0].PID != r.l.StarterPID() {
		r.t.Errorf("rank 0 is %d, the starter %d", table[0].PID, r.l.StarterPID())
	}
}

func TestLaunchHoldsAndReleases(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"plain", nil},
		{"position dependent", []string{"-no-pie"}},
		{"dynamic symbols only", []string{"-rdynamic", "-s"}},
		{"static", []string{"-static"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := begin(t, Spec{Argv: []string{compile(t, "starter", starterSource, c.flags...)}})
			r.held()
			if got := r.text(); got != "debugged 1\n" {
				t.Errorf("before the release: %q", got)
			}
			if got := r.l.JobID(); got != "job.7" {
				t.Errorf("job %q", got)
			}
			r.l.Release()
			if got := r.l.Status(); got != 7 {
				t.Errorf("status %d", got)
			}
			if got := r.text(); got != "debugged 1\npath  args\nread a line\n" {
				t.Errorf("at the end: %q", got)
			}
		})
	}
}

// TestLaunchFollows runs scripts and programs that call the starter or execute it.
func TestLaunchFollows(t *testing.T) {
	starter := compile(t, "starter", starterSource)
	for _, script := range []string{
		"exec " + starter,
		"true; /bin/echo x >/dev/null; " + starter + "; exit $?",
		"exec env A=1 nice " + starter,
		"(exec " + starter + "); s=$?; wait; exit $s",
	} {
		r := begin(t, Spec{Argv: []string{"/bin/sh", "-c", script}})
		r.held()
		r.l.Release()
		if got := r.l.Status(); got != 7 {
			t.Errorf("%s: status %d", script, got)
		}
		if got := r.text(); !strings.HasSuffix(got, "read a line\n") {
			t.Errorf("%s: %q", script, got)
		}
	}
}

func TestLaunchEndsEarly(t *testing.T) {
	starter := compile(t, "starter", starterSource)
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{starter, "early"}, "starter has ended with status 5 before its job was there"},
		{[]string{starter, "abort"}, "gives the job up: no nodes"},
		{[]string{"/bin/sh", "-c", "exit 0"}, "sh has ended, and has started no job"},
		{[]string{"/bin/sh", "-c", "kill -9 $$"}, "sh was ended by a signal (killed)"},
		{[]string{"/no/such/starter"}, "no such file"},
	} {
		r := begin(t, Spec{Argv: c.argv})
		_, err := r.l.Acquire(r.ctx, func(string) {})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.argv, err, c.want)
		}
	}
}

// TestLaunchOfAMuteStarter checks that nothing of the job has happened, so that another method can
// be tried.
func TestLaunchOfAMuteStarter(t *testing.T) {
	mute := compile(t, "starter", `#include <stdio.h>
int main(void) { puts("I ran"); return 0; }`)
	link := filepath.Join(t.TempDir(), "mpirun") // as MPICH's, a link to mpiexec.hydra
	if err := os.Symlink(mute, link); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{mute}, {link}, {"/bin/sh", "-c", mute + "; " + mute}, {"/bin/sh", "-c", "exec " + link}} {
		r := begin(t, Spec{Argv: argv})
		_, err := r.l.Acquire(r.ctx, func(string) {})
		var m *NoMPIR
		if !errors.As(err, &m) || m.Starter != "starter" || m.Called != (len(argv) > 1) {
			t.Errorf("%v: %v", argv, err)
		}
		if got := r.text(); got != "" {
			t.Errorf("%v: it said %q", argv, got)
		}
	}
}

// TestLaunchOfHalfAStarter has a program with the table of MPIR and without its breakpoint: its memory
// does not stay open.
func TestLaunchOfHalfAStarter(t *testing.T) {
	half := compile(t, "starter", `int MPIR_proctable_size; void *MPIR_proctable;
int main(void) { return MPIR_proctable_size; }`)
	open := memories(t)
	r := begin(t, Spec{Argv: []string{half}})
	_, err := r.l.Acquire(r.ctx, func(string) {})
	var m *NoMPIR
	if !errors.As(err, &m) {
		t.Error(err)
	}
	if now := memories(t); len(now) != len(open) {
		t.Errorf("open: %v, before %v", now, open)
	}
}

// memories returns the memories of processes that this process has open.
func memories(t *testing.T) (paths []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range all {
		if path, _ := os.Readlink(fd); strings.HasSuffix(path, "/mem") {
			paths = append(paths, path)
		}
	}
	return paths
}

func TestLaunchIsGivenUp(t *testing.T) {
	r := begin(t, Spec{Argv: []string{"/bin/sh", "-c", "echo begun; exec sleep 1000"}})
	ctx, cancel := context.WithCancelCause(r.ctx)
	go func() { // ends as soon as the command runs
		for r.ctx.Err() == nil && !strings.Contains(r.text(), "begun") {
			sleep(r.ctx, time.Millisecond)
		}
		cancel(errors.New("enough"))
	}()
	if _, err := r.l.Acquire(ctx, func(string) {}); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("%v", err)
	}
	if err := r.l.End(r.ctx); err != nil {
		t.Error(err)
	}
	if got := r.l.Status(); got != 128+int(syscall.SIGTERM) {
		t.Errorf("status %d", got)
	}
}

// TestLaunchStopsAfterItWasGivenUp ends a starter that has stopped at MPIR_Breakpoint when Acquire had
// given up already.
func TestLaunchStopsAfterItWasGivenUp(t *testing.T) {
	r := begin(t, Spec{Argv: []string{compile(t, "starter", starterSource)}})
	ctx, cancel := context.WithCancel(r.ctx)
	cancel()
	_, err := r.l.Acquire(ctx, func(string) {})
	for err != nil && r.ctx.Err() == nil && len(r.l.arrived) == 0 { // without an error it has stopped already
		sleep(r.ctx, time.Millisecond)
	}
	if err := r.l.End(r.ctx); err != nil {
		t.Error(err)
	}
}

// TestLaunchEndsWhileHeld ends a starter that is stopped at MPIR_Breakpoint.
func TestLaunchEndsWhileHeld(t *testing.T) {
	r := begin(t, Spec{Argv: []string{compile(t, "starter", starterSource)}})
	r.held()
	if err := r.l.End(r.ctx); err != nil {
		t.Error(err)
	}
	if got := r.l.Status(); got != 128+int(syscall.SIGTERM) {
		t.Errorf("status %d", got)
	}
}
