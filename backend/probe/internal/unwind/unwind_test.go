package unwind

import (
	"encoding/binary"
	"strings"
	"testing"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/derived"
)

// memory is bytes at an address.
type memory struct {
	at uint64
	b  []byte
}

func (m memory) Read(addr uint64, b []byte) bool {
	if addr < m.at || addr-m.at > uint64(len(m.b)) || uint64(len(b)) > uint64(len(m.b))-(addr-m.at) {
		return false
	}
	copy(b, m.b[addr-m.at:])
	return true
}

func (m memory) set(addr, v uint64) { binary.LittleEndian.PutUint64(m.b[addr-m.at:], v) }

// code is executable from 0x1000 to 0x2000; calls end at 0x1105 and 0x1205. There are no tables.
type code struct{ memory }

func (c code) Find(uint64) (Tables, uint64, string) { return nil, 0, "work" }
func (c code) Executable(pc uint64) bool            { return pc >= 0x1000 && pc < 0x2000 }
func (c code) Function(uint64) (uint64, bool)       { return 0, false }
func (c code) Derived(uint64, uint64) (*cfi.Row, uint64) {
	return nil, 0
}

// both is two memories.
type both [2]memory

func (m both) Read(addr uint64, b []byte) bool { return m[0].Read(addr, b) || m[1].Read(addr, b) }

// walker returns a walker over the code and a stack of 256 bytes at 0x8000.
func walker() (*Walker, memory) {
	text := memory{0x1000, make([]byte, 0x1000)}
	text.b[0x100], text.b[0x200] = 0xe8, 0xe8
	stack := memory{0x8000, make([]byte, 256)}
	return &Walker{Machine: AMD64, Code: code{text}, Memory: both{text, stack}}, stack
}

func registers(pc, sp, fp uint64) (r cfi.Registers) {
	r.Set(16, pc)
	r.Set(7, sp)
	r.Set(6, fp)
	return r
}

// addresses returns the addresses of a stack.
func addresses(s Stack) (pcs []uint64) {
	for _, f := range s.Frames {
		pcs = append(pcs, f.PC)
	}
	return pcs
}

func TestFramePointer(t *testing.T) {
	w, stack := walker()
	stack.set(0x8010, 0x8040)
	stack.set(0x8018, 0x1105)
	stack.set(0x8040, 0)
	stack.set(0x8048, 0x1205)
	s := w.Walk(registers(0x1300, 0x8000, 0x8010))
	if got := addresses(s); len(got) != 3 || got[1] != 0x1105 || got[2] != 0x1205 || s.Frames[0].How != ByPointer {
		t.Errorf("%#x", got)
	}
	if s.Cut != "no unwind tables in work" {
		t.Errorf("cut: %q", s.Cut)
	}
}

func TestEpilogue(t *testing.T) {
	for name, c := range map[string]struct {
		code []byte
		ra   uint64 // where the return address is
		fp   uint64 // of the caller
	}{
		"ret":              {[]byte{0xc3}, 0x8000, 0x77},
		"add, ret":         {[]byte{0x48, 0x83, 0xc4, 8, 0xc3}, 0x8008, 0x77},
		"add, pop, ret":    {[]byte{0x48, 0x81, 0xc4, 0x10, 0, 0, 0, 0x41, 0x5f, 0x5d, 0xc3}, 0x8020, 0x8888},
		"add, pop, jump":   {[]byte{0x48, 0x83, 0xc4, 8, 0x5d, 0xeb, 0xc3}, 0, 0},
		"add of less":      {[]byte{0x48, 0x83, 0xc4, 0xf8, 0xc3}, 0, 0},
		"pop of the stack": {[]byte{0x5c, 0xc3}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, stack := walker()
			copy(w.Memory.(both)[0].b[0x300:], c.code)
			stack.set(0x8018, 0x8888)
			if c.ra != 0 {
				stack.set(c.ra, 0x1105)
			}
			s := w.Walk(registers(0x1300, 0x8000, 0x77))
			if c.ra == 0 {
				if len(s.Frames) != 1 {
					t.Errorf("%#x", addresses(s))
				}
				return
			}
			at := w.RegistersAt(registers(0x1300, 0x8000, 0x77), 1)
			fp, _ := at.Get(6)
			sp, _ := at.Get(7)
			if got := addresses(s); len(got) < 2 || got[1] != 0x1105 || fp != c.fp || sp != c.ra+8 || s.Frames[0].How != ByCode {
				t.Errorf("%#x, frame pointer %#x, stack pointer %#x", got, fp, sp)
			}
		})
	}
}

func TestFramePointerThatLeadsToNoCall(t *testing.T) {
	w, stack := walker()
	stack.set(0x8018, 0x1106)
	if s := w.Walk(registers(0x1300, 0x8000, 0x8010)); len(s.Frames) != 1 || s.Cut == "" {
		t.Errorf("%+v", s)
	}
}

func TestCallThroughNull(t *testing.T) {
	w, stack := walker()
	stack.set(0x8000, 0x1105)
	s := w.Walk(registers(0, 0x8000, 0))
	if got := addresses(s); len(got) != 2 || got[0] != 0 || got[1] != 0x1105 {
		t.Errorf("%#x, %q", got, s.Cut)
	}
}

func TestCircle(t *testing.T) {
	w, stack := walker()
	stack.set(0x8010, 0x8010)
	stack.set(0x8018, 0x1105)
	s := w.Walk(registers(0x1300, 0x8000, 0x8010))
	if len(s.Frames) > 2 || !strings.Contains(s.Cut, "no unwind tables") {
		t.Errorf("%+v", s)
	}
}

// led is code whose instructions are followed.
type led struct{ code }

func (c led) Derived(entry, pc uint64) (*cfi.Row, uint64) {
	left := 1000
	f, err := derived.Of(hostile{c.memory, entry}, entry, &left)
	if err != nil {
		return nil, 0
	}
	return f.Row(pc), 0
}

// TestMark has a function without a symbol: only ENDBR64 tells that it begins there.
func TestMark(t *testing.T) {
	for name, c := range map[string]struct {
		entry int
		to    uint64 // return address
		want  int    // frames
	}{
		"called through a pointer":     {0x400, 0x1306, 2},
		"a call of something else":     {0x400, 0x1105, 1},
		"a mark within a function":     {0x404, 0x1306, 1},
		"the code does not lead there": {0x3f0, 0x1306, 1},
	} {
		w, stack := walker()
		text := w.Code.(code).b
		copy(text[0x304:], "\xff\xd0")                                       // call *%rax
		copy(text[c.entry:], "\xf3\x0f\x1e\xfa\x53\x48\x83\xec\x10\x90\xc3") // push %rbx; sub $16,%rsp; nop; ret
		w.Code = led{w.Code.(code)}
		stack.set(0x8010, 0x1205) // of an earlier call
		stack.set(0x8018, c.to)
		if s := w.Walk(registers(0x1409, 0x8000, 0)); len(s.Frames) != c.want || c.want == 2 && (s.Frames[1].PC != c.to || s.Frames[0].How != ByCode) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestLinkRegister(t *testing.T) {
	w, _ := walker()
	w.Machine = ARM64
	var regs cfi.Registers
	regs.Set(ARM64.PC, 0)
	regs.Set(ARM64.SP, 0x8000)
	regs.Set(ARM64.Link, 0x1105)
	if got := addresses(w.Walk(regs)); len(got) != 2 || got[1] != 0x1105 {
		t.Errorf("%#x", got)
	}
}

func TestCalls(t *testing.T) {
	for name, c := range map[string]struct {
		call   func([]byte, uint64) (bool, uint64)
		code   []byte
		is     bool
		target uint64
	}{
		"call rel32":             {callAMD64, []byte{0, 0, 0xe8, 0xfb, 0xff, 0xff, 0xff}, true, 0xffb},
		"call *%rax":             {callAMD64, []byte{0, 0, 0, 0, 0, 0xff, 0xd0}, true, 0},
		"call *8(%rax)":          {callAMD64, []byte{0, 0, 0, 0, 0xff, 0x50, 8}, true, 0},
		"call *8(%rax,%rbx,4)":   {callAMD64, []byte{0, 0, 0, 0xff, 0x54, 0x98, 8}, true, 0},
		"call *1000(%rax,%rbx)":  {callAMD64, []byte{0xff, 0x94, 0x18, 0xe8, 3, 0, 0}, true, 0},
		"call *1000(%rip)":       {callAMD64, []byte{0, 0xff, 0x15, 0xe8, 3, 0, 0}, true, 0},
		"call *%rax, and a byte": {callAMD64, []byte{0, 0, 0, 0, 0xff, 0xd0, 8}, false, 0},
		"jmp *%rax":              {callAMD64, []byte{0, 0, 0, 0, 0, 0xff, 0xe0}, false, 0},
		"nothing of a call":      {callAMD64, make([]byte, 7), false, 0},
		"bl":                     {callARM64, []byte{0xff, 0xff, 0xff, 0x97}, true, 0xff8},
		"blr x3":                 {callARM64, []byte{0x60, 0, 0x3f, 0xd6}, true, 0},
		"blraa x3, sp":           {callARM64, []byte{0x7f, 0x08, 0x3f, 0xd7}, true, 0},
		"br x3":                  {callARM64, []byte{0x60, 0, 0x1f, 0xd6}, false, 0},
	} {
		if is, target := c.call(c.code, 0x1000); is != c.is || target != c.target {
			t.Errorf("%s: %v, %#x", name, is, target)
		}
	}
}

func TestPoints(t *testing.T) {
	for name, c := range map[string]struct {
		points func([]byte, uint64) bool
		code   string
		at     uint64
		want   bool
	}{
		"push, mov":                {pointsAMD64, "\x55\x48\x89\xe5\x90", 4, true},
		"between push and mov":     {pointsAMD64, "\x55\x48\x89\xe5\x90", 1, false},
		"endbr64":                  {pointsAMD64, "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5", 8, true},
		"other":                    {pointsAMD64, "\x53\x48\x89\xe5\x90", 4, false},
		"stp, mov":                 {pointsARM64, "\xfd\x7b\xbe\xa9\xfd\x03\x00\x91", 8, true},
		"paciasp":                  {pointsARM64, "\x3f\x23\x03\xd5\xfd\x7b\xbe\xa9\xfd\x03\x00\x91", 12, true},
		"bti c":                    {pointsARM64, "\x5f\x24\x03\xd5\xfd\x7b\xbe\xa9\xfd\x03\x00\x91", 12, true},
		"between stp and mov":      {pointsARM64, "\xfd\x7b\xbe\xa9\xfd\x03\x00\x91", 4, false},
		"stp without a write-back": {pointsARM64, "\xfd\x7b\x02\xa9\xfd\x03\x00\x91", 8, false},
	} {
		if got := c.points([]byte(c.code), c.at); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// tabled is code with a table that is read from the same hostile memory.
type tabled struct {
	code
	table *cfi.Table
}

func (c tabled) Find(uint64) (Tables, uint64, string) { return c.table, 0, "work" }

// followed is code without tables whose functions, in hostile memory, begin at multiples of 64.
type followed struct {
	tabled
	left *int
}

func (c followed) Find(uint64) (Tables, uint64, string)       { return nil, 0, "work" }
func (c followed) Executable(pc uint64) bool                  { return pc >= 0x8000 && pc < 0xf000 }
func (c followed) Function(pc uint64) (entry uint64, ok bool) { return pc &^ 63, pc&1 == 0 }
func (c followed) Bias() uint64                               { return 0 }
func (c followed) Derived(entry, pc uint64) (*cfi.Row, uint64) {
	f, err := derived.Of(hostile{c.memory, entry}, entry, c.left)
	if err != nil {
		return nil, 0
	}
	return f.Row(pc), 0
}

// hostile is a function in memory. It implements dataflow.Image.
type hostile struct {
	memory
	entry uint64
}

func (h hostile) Bias() uint64 { return 0 }
func (h hostile) Function(addr uint64) (first, end uint64, ok bool) {
	return h.entry, h.entry + 512, addr-h.entry < 512
}

// counted counts reads.
type counted struct {
	memory
	reads *int
}

func (c counted) Read(addr uint64, b []byte) bool {
	*c.reads++
	return c.memory.Read(addr, b)
}

// maxReads bounds the reads of a walk: some for each frame, and 16 searches of the stack for 32 ways on, of
// up to 4,096 frames.
const maxReads = 50 * (maxFrames + maxSearches*maxTried*maxInner)

// FuzzWalk follows stacks over hostile memory, which is stack, code and tables at once: each walk ends, with a
// bounded number of frames and reads.
func FuzzWalk(f *testing.F) {
	f.Add(make([]byte, 512), uint64(0x8100), uint64(0x8000), uint64(0x8010))
	f.Add([]byte("\x55\x48\x89\xe5\x48\x83\xe4\xc0\xe8\x00\x00\x00\x00\xc9\xc3\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"), uint64(0x800d), uint64(0x8000), uint64(0x8010))
	f.Fuzz(func(t *testing.T, b []byte, pc, sp, fp uint64) {
		if len(b) > 0x6000 {
			return
		}
		left, reads := 100_000, 0
		mem := memory{0x8000, b}
		for _, machine := range []Machine{AMD64, ARM64} {
			base := code{mem}
			for _, c := range []Code{base, tabled{base, cfi.Walked(mem, 0x8000)}, tabled{base, cfi.Debug(b)}, followed{tabled{base, nil}, &left}} {
				w := Walker{Machine: machine, Code: c, Memory: counted{mem, &reads}, SignMask: 0x7f << 48}
				regs := registers(pc, sp, fp)
				regs.Set(machine.PC, pc)
				regs.Set(machine.SP, sp)
				regs.Set(machine.FP, fp)
				if s := w.Walk(regs); len(s.Frames) > maxFrames || reads > maxReads {
					t.Errorf("%d frames, %d reads", len(s.Frames), reads)
				}
				reads = 0
			}
		}
	})
}
