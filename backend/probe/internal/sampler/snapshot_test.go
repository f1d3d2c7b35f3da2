package sampler

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/snapshot"
)

// shoot returns the snapshot of a process.
func shoot(t *testing.T, pid int) *snapshot.Process {
	t.Helper()
	p, err := New("").look(pid)
	if err != nil {
		t.Fatal(err)
	}
	held := hold.Together([]int{pid}, hold.Defaults, hold.Steps{StackEnd: func(_ int, sp uint64) uint64 { return p.stackEnd(sp) }})
	return p.snapshot(&held[0])
}

// savedAMD64 are the registers that functions of x86-64 save, as gdb names them, and what every
// frame has.
var savedAMD64 = map[uint64]string{3: "rbx", 6: "rbp", 7: "rsp", 12: "r12", 13: "r13", 14: "r14", 15: "r15", 16: "rip"}

// TestRegistersAsGDBShowsThem compares the registers of each frame, up to main.
func TestRegistersAsGDBShowsThem(t *testing.T) {
	if hold.Machine.PC != 16 {
		t.Skip("the names of registers are those of x86-64")
	}
	p := start(t, "-O2")
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	shot := shoot(t, p.Process.Pid)
	i := slices.IndexFunc(shot.Threads, func(x snapshot.Thread) bool { return x.TID == p.Process.Pid })
	main := &shot.Threads[i]
	args := []string{"-nx", "-batch", "-iex", "set debug-file-directory", "-p", strconv.Itoa(p.Process.Pid), "-ex", "print/x $fs_base"}
	want := fmt.Sprintf("%#x", main.Pointer)
	for f := range main.Stack.Frames[:8] {
		regs := shot.RegistersAt(main, f)
		args = append(args, "-ex", "frame "+strconv.Itoa(f))
		for n, name := range savedAMD64 {
			if v, ok := regs.Get(n); ok {
				args = append(args, "-ex", "print/x $"+name)
				want += fmt.Sprintf(" %#x", v)
			}
		}
		if main.Stack.Frames[f].CFA != main.Stack.Frames[f+1].SP {
			t.Errorf("frame %d: CFA %#x, and the caller's stack pointer %#x", f, main.Stack.Frames[f].CFA, main.Stack.Frames[f+1].SP)
		}
	}
	out, err := exec.Command("gdb", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		if v, ok := strings.CutPrefix(line, "$"); ok {
			_, v, _ = strings.Cut(v, " = ")
			got = append(got, strings.TrimSpace(v))
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", want, strings.Join(got, " "))
	}
}

func TestImageOfSnapshot(t *testing.T) {
	p := start(t, "-O2")
	shot := shoot(t, p.Process.Pid)
	program := shot.Images[0]
	main, ok := program.Address("main")
	if name, first, _ := program.Function(main + 1); !ok || name != "main" || first != main || shot.At(main) != program {
		t.Errorf("main at %#x, which is %s from %#x", main, name, first)
	}
	if addr, ok := program.Address("stdin"); ok {
		t.Errorf("stdin of another image at %#x", addr)
	}
	addr, size, ok := program.Section(".rodata")
	var b [4]byte
	if !ok || size < 4 || !shot.Memory().Read(addr, b[:]) || b != [4]byte{1, 0, 2, 0} { // _IO_stdin_used
		t.Errorf(".rodata at %#x, %d bytes: %v", addr, size, b)
	}
	if _, _, ok := program.Section(".nowhere"); ok {
		t.Error("a section that is not there")
	}
}
