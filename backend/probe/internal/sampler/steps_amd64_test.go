package sampler

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sdm/backend/probe/internal/amd64"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/unwind"
)

// stepper executes a program instruction by instruction and keeps the return addresses that its calls
// push: what a stack must show after each.
type stepper struct {
	pid     int
	process *process
	outer   int      // calls that the program had made before
	whole   bool     // they are known
	calls   []pushed // outermost first
	code    map[uint64]*amd64.Inst
	stepCounts
}

// pushed is a return address on the stack.
type pushed struct{ at, to uint64 }

// stepCounts are the instants that were compared. Those without tables are innermost in code without any.
type stepCounts struct {
	steps, right, cut, marked, wrong int
	without, withoutRight            int
	examples                         []string
}

// stepOver executes a program that waits in main until its variable go is set, from there on to the end of
// main, and compares each n-th instant.
func stepOver(t *testing.T, path string, n int, environment ...string) stepCounts {
	t.Helper()
	runtime.LockOSThread() // a process has one tracer; the thread ends with the test
	p := runIn(t, path, environment...)
	s := &stepper{pid: p.Process.Pid, code: map[uint64]*amd64.Inst{}}
	if err := syscall.PtraceAttach(s.pid); err != nil || !s.stopped() {
		t.Fatal(err)
	}
	s.begin(t)
	for s.step(t) {
		if s.steps++; s.steps%n == 0 {
			s.compare(t)
		}
	}
	return s.stepCounts
}

// stopped waits until the process has stopped; false: it has ended.
func (s *stepper) stopped() bool {
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(s.pid, &status, syscall.WALL, nil)
	return err == nil && pid == s.pid && status.Stopped()
}

// begin takes the frames that the process has when it waits, and has it go on.
func (s *stepper) begin(t *testing.T) {
	t.Helper()
	stack := s.stack(t)
	for i := len(stack.Frames) - 2; i >= 0; i-- {
		s.calls = append(s.calls, pushed{stack.Frames[i].CFA - 8, stack.Frames[i+1].PC})
	}
	s.outer, s.whole = slices.Index(strings.Fields(names(s.process, stack)), "main"), stack.Cut == ""
	s.outer = len(s.calls) - s.outer
	program := slices.IndexFunc(s.process.modules, func(m image.Module) bool { return m.File == s.process.program })
	addr, ok := placed{s.process, program}.Address("go")
	if _, err := syscall.PtracePokeData(s.pid, uintptr(addr), []byte{1}); !ok || err != nil || s.outer > len(s.calls) {
		t.Fatalf("go is at %#x: %v; stack %+v", addr, err, stack)
	}
}

func (s *stepper) registers(t *testing.T) (r syscall.PtraceRegs) {
	t.Helper()
	if err := syscall.PtraceGetRegs(s.pid, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// step executes an instruction. It returns false when the program has ended.
func (s *stepper) step(t *testing.T) bool {
	t.Helper()
	r := s.registers(t)
	i, known := s.code[r.Rip]
	if !known {
		i = amd64.At(hold.Memory(s.pid), r.Rip)
		s.code[r.Rip] = i
	}
	if err := syscall.PtraceSingleStep(s.pid); err != nil || !s.stopped() {
		return false
	}
	r = s.registers(t)
	if i != nil && i.IsCall() {
		s.calls = append(s.calls, pushed{r.Rsp, i.Next()})
	}
	for len(s.calls) > 0 && s.calls[len(s.calls)-1].at < r.Rsp {
		s.calls = s.calls[:len(s.calls)-1]
	}
	return len(s.calls) >= s.outer
}

// stack returns the stack of the process as it stands. Its mappings are read when there are new ones.
func (s *stepper) stack(t *testing.T) unwind.Stack {
	t.Helper()
	regs, _, err := hold.RegistersOf(s.pid)
	if err != nil {
		t.Fatal(err)
	}
	pc, _ := regs.Get(unwind.AMD64.PC)
	if s.process == nil || !s.process.Executable(pc) {
		if s.process, err = New("").look(s.pid); err != nil {
			t.Fatal(err)
		}
	}
	s.process.derivable = maxDerived
	sp, _ := regs.Get(unwind.AMD64.SP)
	near := hold.Piece{Addr: sp - 128, Bytes: make([]byte, 8<<10)}
	for !hold.Memory(s.pid).Read(near.Addr, near.Bytes) {
		near.Bytes = near.Bytes[:len(near.Bytes)/2]
	}
	w := unwind.Walker{Machine: unwind.AMD64, Code: s.process, Memory: &copied{stacks: []hold.Piece{near}, now: hold.Memory(s.pid)}}
	return w.Walk(regs)
}

func (n *stepCounts) compared() int { return n.right + n.cut + n.marked + n.wrong }

// compare compares the stack with the calls.
func (s *stepper) compare(t *testing.T) {
	t.Helper()
	got := s.stack(t)
	var want []uint64
	calls := s.calls
	if !s.whole {
		calls = calls[s.outer:]
	}
	for _, c := range slices.Backward(calls) {
		want = append(want, c.to)
	}
	var have []uint64
	marked := false
	for i, f := range got.Frames {
		if i > 0 {
			have = append(have, f.PC)
		}
		marked = marked || f.How >= unwind.ByPointer && f.CFA != 0
	}
	if !s.whole && len(have) > len(want) {
		have = have[:len(want)]
	}
	without := got.Frames[0].First == 0
	if without {
		s.without++
	}
	switch {
	case slices.Equal(have, want):
		s.right++
		if without {
			s.withoutRight++
		}
		return
	case got.Cut != "" && len(have) < len(want) && slices.Equal(have, want[:len(have)]):
		s.cut++
	case marked:
		s.marked++
	default:
		s.wrong++
	}
	if len(s.examples) < 6 {
		_, text := s.instruction(got.Frames[0].PC)
		s.examples = append(s.examples, fmt.Sprintf("%s: %s (%s); want %#x, have %#x", text, names(s.process, got), got.Cut, want, have))
	}
}

func (s *stepper) instruction(pc uint64) (*amd64.Inst, string) {
	i := amd64.At(hold.Memory(s.pid), pc)
	if i == nil {
		return nil, fmt.Sprintf("%#x", pc)
	}
	return i, fmt.Sprintf("%#x %v", pc, i.Inst)
}
