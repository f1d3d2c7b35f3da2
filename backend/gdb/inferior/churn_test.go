package inferior

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestUndoWhileLibrariesChange undoes again and again at a process that maps two libraries in turn at one
// place. The code of one contains the byte of a breakpoint where the code of the other does not.
func TestUndoWhileLibrariesChange(t *testing.T) {
	dir := t.TempDir()
	with, without, churn := filepath.Join(dir, "with.so"), filepath.Join(dir, "without.so"), filepath.Join(dir, "churn")
	compile(t, "-shared", "-fPIC", "-O1", "-Wl,-z,lazy", "-o", with, "testdata/library.c")
	compile(t, "-shared", "-fPIC", "-O1", "-DWITHOUT", "-nostartfiles", "-o", without, "testdata/library.c")
	compile(t, "-O1", "-o", churn, "testdata/churn.c", "-ldl")
	cmd := exec.Command(churn, with, without)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	if line, err := said.ReadString('\n'); err != nil {
		t.Fatalf("it says %q: %v", line, err)
	}
	p := Open(cmd.Process.Pid)
	defer p.Close()
	for range 100 {
		if err := p.Undo(false, false); err != nil {
			t.Error(err)
			break
		}
	}
	if p.Gone() {
		t.Errorf("it has ended: %v", cmd.Wait())
		return
	}
	cmd.Process.Kill()
	cmd.Wait()
}
