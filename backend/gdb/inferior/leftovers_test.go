package inferior

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRemoveBreakpoints writes breakpoints into a process that waits, as a killed gdb leaves them,
// and removes them; other differences stay.
func TestRemoveBreakpoints(t *testing.T) {
	if trap() == nil {
		t.Skip("no breakpoint instruction is known for this processor")
	}
	program, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	// Its answer shows that it has been loaded, and waits.
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", cmd.Process.Pid), os.O_RDWR, 0)
	if err != nil {
		t.Skip("the memory of a child cannot be written here:", err)
	}
	defer mem.Close()
	code := codeOf(t, cmd.Process.Pid, program)
	before := make([]byte, 4096)
	if _, err := mem.ReadAt(before, int64(code.First)); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{64, 2048} {
		if _, err := mem.WriteAt(trap(), int64(code.First)+at); err != nil {
			t.Skip("the code of a child cannot be written here:", err)
		}
	}
	other := []byte{before[1024] ^ 0x55}
	mem.WriteAt(other, int64(code.First)+1024)
	cmd.Process.Signal(syscall.SIGSTOP)
	if err := RemoveBreakpoints(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	after := make([]byte, 4096)
	mem.ReadAt(after, int64(code.First))
	before[1024] = other[0]
	if string(after) != string(before) {
		t.Error("the code is not what it was")
	}
}

func codeOf(t *testing.T, pid int, program string) mapping {
	program, _ = filepath.EvalSymlinks(program)
	maps, err := mapsOf(pid)
	if err != nil {
		t.Fatal(err)
	}
	for m := range mappings(maps) {
		if m.code && m.path == program {
			return m
		}
	}
	t.Fatalf("no code of %s in\n%s", program, maps)
	return mapping{}
}
