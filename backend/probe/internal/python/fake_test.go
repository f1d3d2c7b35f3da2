package python

import "fmt"

// heap is the memory of a made-up process. It implements Memory and Image.
type heap struct {
	b       []byte
	symbols map[string]uint64
	section uint64 // address of .PyRuntime; 0: none
}

const heapBase = 0x10000

func newHeap() *heap { return &heap{symbols: map[string]uint64{}} }

func (h *heap) alloc(n int) uint64 {
	at := heapBase + uint64(len(h.b))
	h.b = append(h.b, make([]byte, (n+15)&^15)...)
	return at
}

func (h *heap) put(at, v uint64)         { le.PutUint64(h.b[at-heapBase:], v) }
func (h *heap) put32(at uint64, v int32) { le.PutUint32(h.b[at-heapBase:], uint32(v)) }

func (h *heap) Read(addr uint64, b []byte) bool {
	if addr < heapBase || addr-heapBase > uint64(len(h.b)) || uint64(len(b)) > uint64(len(h.b))-(addr-heapBase) {
		return false
	}
	copy(b, h.b[addr-heapBase:])
	return true
}

func (h *heap) ReadMany(pieces []Piece) {
	for i := range pieces {
		pieces[i].Read = h.Read(pieces[i].Addr, pieces[i].Bytes)
	}
}

func (h *heap) Address(symbol string) (uint64, bool) {
	at, ok := h.symbols[symbol]
	return at, ok
}

func (h *heap) Section(name string) (addr, size uint64, ok bool) {
	return h.section, 0, name == ".PyRuntime" && h.section != 0
}

// text makes an ASCII string.
func (h *heap) text(l *layout, s string) uint64 {
	at := h.alloc(int(l.text.compact) + len(s) + usual)
	h.put(at+l.text.length, uint64(len(s)))
	h.put32(at+l.text.state, asciiBit|compactBit|1<<kindShift)
	copy(h.b[at+l.text.ascii-heapBase:], s)
	return at
}

// code makes a code object of 8 instructions, on the line of its definition all.
func (h *heap) code(l *layout, name string, first int) uint64 {
	c := h.alloc(int(l.code.size) + 64)
	h.put(c+typeField, h.symbols["PyCode_Type"])
	h.put(c+l.code.file, h.text(l, "x.py"))
	h.put(c+l.code.name, h.text(l, name))
	if l.code.qualified != 0 {
		h.put(c+l.code.qualified, h.text(l, "C."+name))
	}
	h.put32(c+l.code.first, int32(first))
	table := []byte{255, 0}
	if l.code.instructions != 0 {
		h.put(c+sizeField, 8)
		table = []byte{0x80 | lineOnly<<3 | 7, 0}
	}
	lines := h.alloc(int(l.bytes.data) + usual)
	h.put(lines+l.bytes.size, uint64(len(table)))
	copy(h.b[lines+l.bytes.data-heapBase:], table)
	h.put(c+l.code.lines, lines)
	return c
}

// process is a made-up process with one thread and two calls of the evaluator: in the inner one are
// inner and middle, in the outer one outer.
type process struct {
	*heap
	l      layout
	thread uint64
	frames [3]uint64
	stack  [2]uint64 // addresses in the frames of the evaluators
}

func newProcess(minor int) *process {
	p := &process{heap: newHeap()}
	p.symbols["PyCode_Type"] = p.alloc(64)
	p.start(minor)
	l := &p.l
	interp := p.alloc(1 << 13)
	p.put(p.symbols["_PyRuntime"]+l.interpreters, interp)
	p.thread = p.alloc(int(l.thread.size))
	p.put(interp+l.interp.threads, p.thread)
	p.put(p.thread+l.thread.interp, interp)
	p.put(p.thread+l.thread.pointer, 0x7000)
	p.lock(interp)
	for i := range p.stack {
		p.stack[i] = p.alloc(int(l.frame.size) + 32)
	}
	chunk := p.alloc(1 << 10)
	if l.thread.chunk != 0 {
		p.put(p.thread+l.thread.chunk, chunk)
		p.put(chunk+chunkSize, 1<<10)
	}
	for i, name := range []string{"inner", "middle", "outer"} {
		p.frames[i] = chunk + chunkHeader + uint64(i)*160
		p.frame(i, p.code(l, name, 10*(i+1)))
	}
	p.link()
	return p
}

// start makes the runtime of a version.
func (p *process) start(minor int) {
	runtime := p.alloc(1 << 12)
	p.symbols["_PyRuntime"] = runtime
	if minor < firstDescribed {
		p.l = layouts[minor]
		if minor >= 11 {
			p.symbols["Py_Version"] = p.alloc(8)
			p.put(p.symbols["Py_Version"], 0x030002f0|uint64(minor)<<16)
		}
		return
	}
	copy(p.b[runtime-heapBase:], describe(minor))
	l, err := described(p, runtime, version{minor, 2, 0xf})
	if err != nil {
		panic(err)
	}
	p.l = l
}

// lock lets the thread hold the lock.
func (p *process) lock(interp uint64) {
	if p.l.current != 0 {
		p.put(p.symbols["_PyRuntime"]+p.l.current, p.thread)
		return
	}
	lock := p.alloc(64)
	p.put(interp+p.l.interp.lock, lock)
	p.put(lock+p.l.lock.locked, 1)
	p.put(lock+p.l.lock.holder, p.thread)
}

func (p *process) frame(i int, code uint64) {
	f, l := p.frames[i], &p.l.frame
	p.put(f+l.code, code|l.tag&1)
	if p.l.code.instructions != 0 {
		p.put(f+l.instruction, code+p.l.code.instructions+4)
	} else {
		p.put32(f+l.instruction, 2)
	}
}

// link makes the chains of frames and of evaluators.
func (p *process) link() {
	l := &p.l
	first, chain := p.frames[0], p.frames[:]
	if l.minor >= 12 {
		chain = []uint64{p.frames[0], p.frames[1], p.stack[0], p.frames[2], p.stack[1]}
		for _, at := range p.stack {
			p.b[at+l.frame.owner-heapBase] = evaluatorOwned
		}
	}
	for i := range chain[1:] {
		p.put(chain[i]+l.frame.previous, chain[i+1])
	}
	if l.minor == 11 {
		p.b[p.frames[1]+l.frame.entry-heapBase] = 1
		p.b[p.frames[2]+l.frame.entry-heapBase] = 1
	}
	if l.thread.frame != 0 {
		p.put(p.thread+l.thread.frame, first)
	}
	if l.thread.evaluator != 0 {
		p.evaluators(first)
	}
}

// evaluators makes the evaluators' own structures. To 3.10 each frame has one.
func (p *process) evaluators(first uint64) {
	l := &p.l
	all := []uint64{p.stack[0], p.stack[1], p.alloc(32)}
	if l.minor == 10 {
		all = []uint64{p.alloc(32), p.stack[0], p.stack[1], p.alloc(32)}
	}
	if l.minor >= 12 {
		all = []uint64{p.alloc(32), p.alloc(32)}
	}
	p.put(p.thread+l.thread.evaluator, all[0])
	for i := range all[1:] {
		p.put(all[i]+l.evaluator.previous, all[i+1])
	}
	if l.minor > 10 {
		p.put(all[0]+l.evaluator.frame, first)
	}
}

// words behind the cookie of 3.13.5, 3.14.8 and 3.15.0 on x86-64.
var words = map[int][]uint64{
	13: {51185136, 0, 283376, 608, 632, 194976, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16, 7752, 0, 7768, 7760, 304, 0, 8, 16, 72, 152, 160, 232, 32, 80, 8, 0, 56, 72, 70, 208, 112, 120, 128, 136, 68, 52, 96, 104, 200, 16, 8, 416, 24, 88, 168, 32, 24, 16, 40, 24, 16, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 240, 200, 0, 0, 0, 0, 0, 0, 0},
	14: {51251440, 0, 316616, 784, 808, 225864, 7280, 7272, 7344, 7360, 7408, 7688, 7672, 7680, 16, 7784, 0, 7800, 7792, 7992, 0, 832, 0, 8, 16, 72, 152, 160, 232, 32, 88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8, 416, 24, 88, 168, 40, 32, 16, 40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 264, 192, 160, 24, 72, 67, 0, 8, 24, 304, 8076, 0, 4, 512},
	15: {51314928, 0, 346568, 912, 936, 226240, 7272, 7264, 7336, 7352, 7400, 7592, 7576, 7584, 16, 7736, 0, 7752, 7744, 7944, 0, 888, 0, 8, 16, 72, 80, 88, 96, 176, 184, 256, 32, 36, 40, 136, 288, 0, 88, 8, 0, 56, 80, 74, 64, 0, 216, 112, 120, 128, 136, 68, 52, 96, 104, 208, 0, 16, 8, 424, 24, 88, 168, 32, 288, 944, 888, 40, 32, 16, 40, 24, 16, 200, 24, 40, 32, 48, 32, 40, 24, 16, 32, 16, 24, 40, 16, 32, 64, 32, 16, 40, 56, 176, 112, 120, 1112, 104, 160, 24, 72, 67, 0, 8, 24, 344, 8028, 0, 4, 512},
}

// describe returns the description of a version, with the list of interpreters near the runtime.
func describe(minor int) []byte {
	b := []byte(cookie)
	for i, w := range words[minor] {
		if i+1 == descriptions[minor].interpreters {
			w = 2048
		}
		b = le.AppendUint64(b, w)
	}
	return b
}

// say returns the calls of a thread as text, innermost first.
func say(t *Thread) (all []string) {
	for _, c := range t.Calls {
		text := fmt.Sprintf("%#x:", c.Address)
		for _, f := range c.Frames {
			text += fmt.Sprintf(" %s %s:%d", f.Function, f.File, f.Line)
		}
		all = append(all, text)
	}
	return all
}
