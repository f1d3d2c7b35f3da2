package sampler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sdm/protocol/wait"
)

// TestCallsThatAreNotNamed has programs that wait in libraries for communication, without a frame of a function of MPI:
// a thread in such a library never computes, and may be in any call.
func TestCallsThatAreNotNamed(t *testing.T) {
	for _, c := range []struct {
		file, code string
		want       string // function of the edge
	}{
		{"libucp.so.0", `void enter(void) { for (;;) work++; }`, "enter"},
		{"liboshmem.so.40", `void enter(void) { for (;;) pause(); }`, "enter"},
		{"libmpi.so.40", `static __attribute__((noinline)) void internal(void) { for (;;) work++; } void enter(void) { internal(); }`, "a call of libmpi.so.40"},
		{"libnothing.so.1", `void enter(void) { for (;;) work++; }`, ""},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			library := valued{compiler: "gcc", files: []string{"lib.c", "#include <unistd.h>\nvolatile int work;\n" + c.code + "\n"}, link: []string{"-shared", "-fPIC", "-Wl,-soname," + c.file}}
			if err := os.Rename(library.compile(t, "-O2", "-fno-semantic-interposition"), filepath.Join(dir, c.file)); err != nil {
				t.Fatal(err)
			}
			program := valued{compiler: "gcc", files: []string{"main.c", `
#include <unistd.h>
void enter(void);
static __attribute__((noinline)) void exchange(void) { enter(); __asm__ volatile(""); }
int main(void) { if (write(1, "r", 1) < 0) return 1; exchange(); return 0; }
`}, link: []string{filepath.Join(dir, c.file), "-Wl,-rpath," + dir}}
			p := run(t, program.compile(t, "-g", "-O1"))
			p.stands(t, "line", func(all []string) bool { return strings.HasPrefix(all[0], "main exchange ") })
			s := New("").Take([]int{p.Process.Pid}, Options{By: "line"}).Samples[0]
			if c.want == "" {
				if len(s.Waits.Waits) != 0 || s.Waits.Doing.State != wait.Running {
					t.Errorf("%+v", s.Waits.Rank)
				}
				return
			}
			d := s.Waits.Doing
			if w := s.Waits.Waits; len(w) != 1 || w[0].Function != c.want || w[0].Peer != wait.Unknown || !s.Waits.inCall {
				t.Errorf("waits for %+v, want %s", w, c.want)
			}
			if d.State != wait.NotKnown || d.Does != "" || d.Names()[0] != "exchange main.c:4" {
				t.Errorf("%+v", d)
			}
		})
	}
}
