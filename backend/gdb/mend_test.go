package gdb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Traps are written into a process that waits, as a dead gdb leaves them, and are
// taken out; what is different for another reason stays.
func TestMend(t *testing.T) {
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
	// What it gives back tells that it has been loaded, and waits.
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
	if _, err := mem.ReadAt(before, int64(code.first)); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{64, 2048} {
		if _, err := mem.WriteAt(trap(), int64(code.first)+at); err != nil {
			t.Skip("the code of a child cannot be written here:", err)
		}
	}
	other := []byte{before[1024] ^ 0x55}
	mem.WriteAt(other, int64(code.first)+1024)
	if err := mend(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	after := make([]byte, 4096)
	mem.ReadAt(after, int64(code.first))
	before[1024] = other[0]
	if string(after) != string(before) {
		t.Error("the code is not what it was")
	}
}

func codeOf(t *testing.T, pid int, program string) region {
	program, _ = filepath.EvalSymlinks(program)
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if r, ok := parseRegion(strings.TrimSpace(line)); ok && r.path == program {
			return r
		}
	}
	t.Fatalf("no code of %s in\n%s", program, b)
	return region{}
}

func TestParseRegion(t *testing.T) {
	for _, c := range []struct {
		line string
		want region
		ok   bool
	}{
		{"55555000-55556000 r-xp 00001000 fe:00 133 /tmp/a b", region{0x55555000, 0x55556000, 0x1000, 133, "/tmp/a b"}, true},
		{"55555000-55556000 rw-p 00001000 fe:00 133 /tmp/a", region{}, false},
		{"7fff0000-7fff1000 r-xp 00000000 00:00 0 [vdso]", region{}, false},
		{"", region{}, false},
		{"x-y r-xp 0 0 1 /a", region{}, false},
	} {
		if got, ok := parseRegion(c.line); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v %v", c.line, got, ok)
		}
	}
}
