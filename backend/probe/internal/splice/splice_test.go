package splice

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sdm/backend/probe/internal/python"
)

// stackOf makes a stack, the innermost frame first, each of 0x100 bytes from 0x1000 on. A name before
// which stands "py:" is of the interpreter, and one in brackets of no image.
func stackOf(names ...string) *Stack {
	s := &Stack{Pointer: 7}
	for i, n := range names {
		f := Native{SP: 0x1000 + uint64(i)*0x100, CFA: 0x1100 + uint64(i)*0x100}
		switch {
		case strings.HasPrefix(n, "py:"):
			f.Place = Interpreter
		case strings.HasPrefix(n, "["):
			f.Place = Nowhere
		}
		s.Frames = append(s.Frames, f)
	}
	s.Name = func(i int) string { return strings.TrimPrefix(names[i], "py:") }
	return s
}

// in returns a call of an evaluator whose C frame is number i; -1: not known.
func in(i int, functions ...string) python.Call {
	c := python.Call{Address: 0x1010 + uint64(i)*0x100}
	if i < 0 {
		c.Address = 0
	}
	for _, f := range functions {
		c.Frames = append(c.Frames, python.Frame{Function: f})
	}
	return c
}

// say returns the frames of a joined stack, Python's in capitals.
func say(s *Stack, frames []Frame) string {
	var all []string
	for _, f := range frames {
		switch {
		case f.Python != nil:
			all = append(all, strings.ToUpper(f.Python.Function))
		case f.Native == CutHere:
			all = append(all, "cut")
		case f.Native == CutPython:
			all = append(all, "cutpython")
		default:
			all = append(all, s.Name(f.Native))
		}
	}
	return strings.Join(all, " ")
}

const eval = "py:_PyEval_EvalFrameDefault"

func TestJoin(t *testing.T) {
	thread := func(calls ...python.Call) []python.Thread {
		return []python.Thread{{Pointer: 7, Calls: calls}}
	}
	for name, c := range map[string]struct {
		stack   *Stack
		change  func(*Stack)
		threads []python.Thread
		want    string
	}{
		"no Python": {stackOf("poll", "main"), nil, nil, "poll main"},
		"a thread without Python": {stackOf("poll", "start_thread"), nil,
			[]python.Thread{{Pointer: 8, Calls: []python.Call{in(40, "f")}}}, "poll start_thread"},
		"one call": {stackOf("poll", "py:time_sleep", "py:cfunction_vectorcall_O", eval, "py:PyEval_EvalCode", "py:Py_BytesMain", "__libc_start_main"), nil,
			thread(in(3, "f", "main")), "poll time_sleep F MAIN"},
		"an extension between": {stackOf("poll", eval, "py:_PyFunction_Vectorcall", "py:list_sort_impl", "compare", "qsort", "ffi", eval, "main"), nil,
			thread(in(1, "key"), in(7, "run")), "poll KEY compare qsort ffi RUN main"},
		"a thread": {stackOf("poll", eval, "py:thread_run", "py:pythread_wrapper", "start_thread", "clone3"), nil,
			thread(in(1, "run")), "poll RUN"},
		"a thread of a library": {stackOf("poll", eval, "py:PyObject_Call", "work", "pool", "??"), nil,
			thread(in(1, "run")), "poll RUN work pool ??"},
		"by name": {stackOf("poll", eval, "py:_PyFunction_Vectorcall", eval, "py:run_mod", "py:Py_Main"), nil,
			thread(in(-1, "f"), in(-1, "main")), "poll F MAIN"},
		"by name, the innermost has no evaluator yet": {stackOf("py:frame_alloc", "py:_PyFunction_Vectorcall", eval, "main"), nil,
			thread(in(-1, "f"), in(-1, "g")), "frame_alloc F G main"},
		"by name, the innermost has ended": {stackOf(eval, "py:_PyFunction_Vectorcall", eval, "main"), nil,
			thread(in(-1, "g")), "G main"},
		"evaluators without frames": {stackOf("poll", eval, "py:gen_iternext", eval, eval, "main"), nil,
			thread(in(1), in(4, "f")), "poll F main"},
		"renamed by the compiler": {stackOf("poll", "py:_PyEval_EvalFrameDefault.cold", "py:??", "main"), nil,
			thread(in(2, "f")), "poll F main"},
		"perf": {stackOf("poll", eval, "[f]", "py:_PyEval_Vector", eval, "[main]", "py:Py_BytesMain"), nil,
			thread(in(1, "f"), in(4, "main")), "poll F MAIN"},
		"generated, of others": {stackOf("poll", "[numba]", "dispatch", eval, "main"), nil,
			thread(in(3, "f")), "poll [numba] dispatch F main"},
		"cut": {stackOf("poll", "work"), func(s *Stack) { s.Cut, s.End = true, 0x2000 },
			thread(in(5, "f", "main")), "poll work cut F MAIN"},
		"cut, of another thread": {stackOf("poll", "work"), func(s *Stack) { s.Cut, s.End = true, 0x1400 },
			[]python.Thread{{Pointer: 8, Calls: []python.Call{in(5, "f")}}}, "poll work cut"},
		"cut below an evaluator": {stackOf("poll", eval), func(s *Stack) { s.Cut, s.End, s.Frames[1].CFA = true, 0x2000, 0 },
			thread(in(1, "f"), in(5, "main")), "poll cut F MAIN"},
		"too many": {stackOf("poll", eval, "main"), nil,
			[]python.Thread{{Pointer: 7, Calls: []python.Call{in(1, "f")}, Cut: "too many"}}, "poll F main cutpython"},
		"several interpreters": {stackOf("poll", eval, "py:run_in_subinterpreter", eval, "main"), nil,
			[]python.Thread{{Pointer: 9, Calls: []python.Call{in(3, "outer")}}, {Pointer: 7, Calls: []python.Call{in(1, "inner")}}}, "poll INNER OUTER main"},
		"a stack for signals": {stackOf("poll", eval, "<signal>", eval, "main"), func(s *Stack) {
			for i := range s.Frames[:3] {
				s.Frames[i].SP += 0x10000
				s.Frames[i].CFA += 0x10000
			}
			s.Frames[2].CFA = s.Frames[3].SP
		}, []python.Thread{{Pointer: 7, Calls: []python.Call{in(0x101, "handler"), in(3, "f")}}, {Pointer: 8, Calls: []python.Call{in(0x40, "other")}}},
			"poll HANDLER <signal> F main"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.stack)
			}
			if got := say(c.stack, Join(c.stack, c.threads)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestJoinLosesNothing joins random stacks and calls: each Python frame of a call in the stack is there
// once, in order, and so is each native frame of others.
func TestJoinLosesNothing(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var names, want []string
		var calls []python.Call
		for i := range r.IntN(12) {
			switch r.IntN(3) {
			case 0:
				names = append(names, eval)
				f := fmt.Sprint("f", i)
				calls = append(calls, in(i, f, f+"b"))
				want = append(want, strings.ToUpper(f), strings.ToUpper(f+"b"))
			case 1:
				names = append(names, fmt.Sprint("lib", i))
				want = append(want, names[i])
			default:
				names = append(names, "py:_PyObject_Vectorcall")
			}
		}
		if len(calls) == 0 {
			continue
		}
		s := stackOf(names...)
		if got := say(s, Join(s, []python.Thread{{Calls: calls}})); got != strings.Join(want, " ") {
			t.Fatalf("seed %d: got %s, want %s", seed, got, strings.Join(want, " "))
		}
	}
}
