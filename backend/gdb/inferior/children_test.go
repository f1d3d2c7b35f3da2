package inferior

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestUndoWithStoppedChild undoes at a process whose debugger was killed when the process had just created a child.
func TestUndoWithStoppedChild(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the breakpoint of the program is that of amd64")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "child")
	compile(t, "-O1", "-o", program, "testdata/child.c")
	for _, call := range []string{"vfork", "fork"} {
		t.Run(call, func(t *testing.T) {
			file := filepath.Join(dir, call)
			cmd := exec.Command(program, call, file)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
			if err != nil {
				t.Fatal(err)
			}
			p := Open(pid)
			defer p.Close()
			defer p.Signal(9)
			if err := p.Undo(false, false); err != nil {
				t.Error(err)
			}
			if !p.AwaitEnd(10_000) {
				t.Fatalf("threads in states %s, children %v", statesOf(pid), childrenOf(pid))
			}
			if b, err := os.ReadFile(file); string(b) != "done" {
				t.Errorf("it says %q, %v", b, err)
			}
		})
	}
}

// compile calls the C compiler.
func compile(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, out)
	}
}
