package python

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// take takes a snapshot with names of a made-up process.
func take(t *testing.T, p *process) *Snapshot {
	t.Helper()
	in, err := New(p, Images{p}, p.l.minor)
	if err != nil {
		t.Fatal(err)
	}
	s := in.Copy(p, in.Plan(p))
	in.Name(p, s)
	return s
}

func TestVersions(t *testing.T) {
	for minor := 8; minor <= 15; minor++ {
		t.Run(fmt.Sprint("3.", minor), func(t *testing.T) {
			p := newProcess(minor)
			s := take(t, p)
			if len(s.Threads) != 1 || s.Inconsistent != "" || s.Threads[0].Cut != "" || !s.Threads[0].HasLock || s.Threads[0].Pointer != 0x7000 {
				t.Fatalf("%+v", s)
			}
			class, a, b := "C.", fmt.Sprintf("%#x", p.stack[0]), fmt.Sprintf("%#x", p.stack[1])
			want := []string{a + ": C.inner x.py:10 C.middle x.py:20", b + ": C.outer x.py:30"}
			if minor <= 10 { // each function has an evaluator
				class = ""
				want = []string{"0x0: inner x.py:10", "0x0: middle x.py:20", "0x0: outer x.py:30"}
			}
			got := say(&s.Threads[0])
			if minor == 10 {
				want[1], want[2] = a+want[1][3:], b+want[2][3:]
				got[0] = "0x0" + got[0][strings.Index(got[0], ":"):]
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q (%s)", got, want, class)
			}
		})
	}
}

func TestNotLocked(t *testing.T) {
	p := newProcess(11)
	p.put(p.symbols["_PyRuntime"]+p.l.current, 0)
	if take(t, p).Threads[0].HasLock {
		t.Error("a thread holds a lock that is free")
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		minor  int
		change func(p *process)
		want   string
	}{
		"unknown minor":         {11, func(p *process) { p.put(p.symbols["Py_Version"], 0x031002f0) }, "version 3.16 of Python is not known"},
		"unknown major":         {11, func(p *process) { p.put(p.symbols["Py_Version"], 0x040002f0) }, "a Python of version 0x40002f0 is not known"},
		"alpha":                 {12, func(p *process) { p.put(p.symbols["Py_Version"], 0x030c00a3) }, "version 3.12 of Python before its release is not known"},
		"debug":                 {12, func(p *process) { p.symbols["_Py_NegativeRefcount"] = 1 }, "a debug build of Python 3.12.2 is not known"},
		"no version":            {9, func(p *process) { p.l.minor = 0 }, "a Python whose version cannot be found is not known"},
		"old":                   {9, func(p *process) { p.l.minor = 7 }, "version 3.7 of Python is not known"},
		"3.6":                   {9, func(p *process) { p.symbols = map[string]uint64{"PyEval_EvalFrameEx": 1}; p.l.minor = 6 }, "version 3.6 of Python is not known"},
		"2.7":                   {9, func(p *process) { p.symbols = map[string]uint64{"PyEval_EvalFrameEx": 1}; p.l.minor = 0 }, "a Python before 3.7 is not known"},
		"described, unknown":    {14, word(1, 0x031000f0), "version 3.16 of Python is not known"},
		"described, beta":       {14, word(1, 0x030e00b4), "version 3.14 of Python before its release is not known"},
		"free-threaded":         {13, word(2, 1), "version 3.13 of Python without a global interpreter lock is not known"},
		"fields of another":     {14, word(1, 0x030d05f0), "version 3.13.5 of Python describes itself in a way that is not known"},
		"far away":              {14, word(36, 1<<40), "version 3.14.8 of Python describes itself in a way that is not known"},
		"objects of another":    {14, word(51, 16), "version 3.14.8 of Python describes itself in a way that is not known"},
		"no instructions":       {14, word(48, 0), "version 3.14.8 of Python describes itself in a way that is not known"},
		"runtime is not mapped": {14, func(p *process) { p.symbols["_PyRuntime"] = 8 }, errRuntime.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(c.minor)
			c.change(p)
			if in, err := New(p, Images{p}, p.l.minor); err == nil || err.Error() != c.want || in != nil {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// word changes a word of the description.
func word(i, v uint64) func(*process) {
	return func(p *process) { p.put(p.symbols["_PyRuntime"]+8*i, v) }
}

func TestNoPython(t *testing.T) {
	if in, err := New(newHeap(), Images{newHeap(), newHeap()}, 11); in != nil || err != nil {
		t.Error(in, err)
	}
}

func TestStrippedProgram(t *testing.T) {
	p := newProcess(14)
	p.section = p.symbols["_PyRuntime"]
	clear(p.symbols)
	if got := say(&take(t, p).Threads[0]); len(got) != 2 || !strings.HasSuffix(got[1], "C.outer x.py:30") {
		t.Error(got)
	}
}

func TestShim(t *testing.T) {
	p := newProcess(13)
	p.put32(le.Uint64(p.b[p.frames[1]+p.l.frame.code-heapBase:])+p.l.code.firstTraced, 8)
	if got := say(&take(t, p).Threads[0]); len(got) != 2 || strings.Contains(got[0], "middle") {
		t.Error(got)
	}
}

func TestTorn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *process)
		want   string
	}{
		"thread of another interpreter": {func(p *process) { p.put(p.thread+p.l.thread.interp, 1) }, "the list of threads cannot be followed"},
		"no such interpreter":           {func(p *process) { p.put(p.symbols["_PyRuntime"]+p.l.interpreters, 1) }, "the list of threads cannot be followed"},
		"runtime is gone":               {func(p *process) { p.b = p.b[:64] }, "the list of interpreters cannot be followed"},
		"frame of no memory":            {func(p *process) { p.put(p.frames[1]+p.l.frame.previous, 16) }, "a Python frame cannot be read"},
		"code of another type":          {func(p *process) { p.frame(1, p.frames[0]) }, "the code of a Python frame has gone"},
		"instruction behind the end": {func(p *process) {
			p.put(p.frames[2]+p.l.frame.instruction, p.symbols["_PyRuntime"]+1<<20)
		}, "the code of a Python frame has gone"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(11)
			in, err := New(p, Images{p}, 0)
			if err != nil {
				t.Fatal(err)
			}
			plan := in.Plan(p)
			c.change(p)
			s := in.Copy(p, plan)
			if in.Name(p, s); s.Inconsistent != c.want {
				t.Errorf("%q, want %q", s.Inconsistent, c.want)
			}
		})
	}
}

func TestCircle(t *testing.T) {
	for _, minor := range []int{9, 12} {
		p := newProcess(minor)
		p.put(p.frames[2]+p.l.frame.previous, p.frames[0])
		s := take(t, p)
		n := 0
		for _, c := range s.Threads[0].Calls {
			n += len(c.Frames)
		}
		if n != maxFrames || s.Threads[0].Cut != "too many Python frames" {
			t.Errorf("%d frames, %q", n, s.Threads[0].Cut)
		}
	}
}

func TestManyThreadsInACircle(t *testing.T) {
	p := newProcess(9)
	p.put(p.thread+p.l.thread.next, p.thread)
	p.put(p.frames[2]+p.l.frame.previous, p.frames[0])
	s := take(t, p)
	n := 0
	for _, x := range s.Threads {
		for _, c := range x.Calls {
			n += len(c.Frames)
		}
	}
	if len(s.Threads) != maxThreads || n != maxAll {
		t.Errorf("%d threads, %d frames", len(s.Threads), n)
	}
}

// TestCodeReplaced checks that a name is not kept for another code object at the same address.
func TestCodeReplaced(t *testing.T) {
	p := newProcess(12)
	in, err := New(p, Images{p}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"inner", "other"} {
		code := le.Uint64(p.b[p.frames[0]+p.l.frame.code-heapBase:])
		if name == "other" {
			p.put(code+p.l.code.qualified, p.text(&p.l, "C.other"))
		}
		s := in.Copy(p, in.Plan(p))
		if in.Name(p, s); s.Threads[0].Calls[0].Frames[0].Function != "C."+name {
			t.Error(say(&s.Threads[0]))
		}
	}
}

func TestMinorOf(t *testing.T) {
	for _, c := range []struct {
		image string
		files []string
		want  int
	}{
		{"/usr/bin/python3.9", nil, 9},
		{"/usr/lib/libpython3.10.so.1.0", nil, 10},
		{"/opt/app", []string{"/lib/libc.so.6", "/usr/lib/python3.8/lib-dynload/_ssl.so"}, 8},
		{"/opt/python", nil, 0},
		{"/opt/python3.", []string{"/x/python3.999/y"}, 0},
	} {
		if got := MinorOf(c.image, c.files); got != c.want {
			t.Errorf("%s: %d, want %d", c.image, got, c.want)
		}
	}
}

// text of other characters than ASCII.
func TestText(t *testing.T) {
	l := layouts[12]
	for _, c := range []struct {
		kind int
		b    []byte
		want string
	}{
		{1, []byte{'f', 0xe9}, "fé"},
		{2, []byte{'f', 0, 0x3b, 4}, "fл"},
		{4, []byte{0x40, 0xf6, 1, 0}, "\U0001f640"},
	} {
		h := newHeap()
		at := h.alloc(256)
		h.put(at+l.text.length, uint64(len(c.b)/c.kind))
		h.put32(at+l.text.state, int32(compactBit|c.kind<<kindShift))
		copy(h.b[at+l.text.compact-heapBase:], c.b)
		for _, n := range []int{usual, 400} { // read as a whole, and not
			p := Piece{Addr: at, Bytes: make([]byte, n)}
			p.Read = h.Read(at, p.Bytes)
			if got, _, ok := l.textOf(h, &p); !ok || got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		}
	}
}
