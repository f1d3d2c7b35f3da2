// Package argument provides the arguments with which functions on a stack were called, without debug
// information. It is pure. A value is found in a register or a slot of a frame that still holds it.
// It is looked for in two directions: inwards, in the called function and the functions to which that passes
// it on; and outwards, in the caller, which has passed it. The two results are compared.
package argument

import (
	"encoding/binary"

	"sdm/backend/probe/internal/amd64"
	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/dataflow"
	"sdm/backend/probe/internal/snapshot"
)

// Grade is how far a value can be relied on. Lower ones are better.
type Grade uint8

const (
	// Sure: a register, or a slot that nothing can have written since.
	Sure Grade = iota
	// Memory: memory as it is now, which may have changed during the call.
	Memory
	// Loose: found across a call whose target is not proven. It can confirm a value that was found in
	// the other direction, but is not sufficient by itself.
	Loose
)

// maxSites bounds the analysed calls that are kept; a job of one program has some dozens.
const maxSites = 10_000

// Cache keeps what depends on code alone, for all processes of a host. The zero value is empty. One
// goroutine uses it at a time.
type Cache struct {
	sites map[siteKey]*dataflow.Site // nil: nothing can be known there
}

type siteKey struct {
	image string
	addr  uint64
	exact bool
}

// Finder finds arguments on the stack of one thread. It is used while the snapshot of its process is
// valid, by one goroutine.
type Finder struct {
	process *snapshot.Process
	thread  *snapshot.Thread
	cache   *Cache
	library snapshot.Image        // that contains the function whose arguments are looked for; nil: none yet
	regs    map[int]cfi.Registers // by frame
	links   map[int]link          // by frame of the caller
}

// New returns a finder for a thread.
func (c *Cache) New(p *snapshot.Process, t *snapshot.Thread) *Finder {
	if len(c.sites) > maxSites || c.sites == nil {
		c.sites = map[siteKey]*dataflow.Site{}
	}
	return &Finder{process: p, thread: t, cache: c, regs: map[int]cfi.Registers{}, links: map[int]link{}}
}

// Frames returns the number of frames of the stack.
func (f *Finder) Frames() int { return len(f.thread.Stack.Frames) }

// Image returns the image whose code a frame executes; nil: none.
func (f *Finder) Image(i int) snapshot.Image {
	frame := &f.thread.Stack.Frames[i]
	if frame.Signal {
		return nil
	}
	return f.process.At(frame.Lookup())
}

// Function returns the symbol of the function of a frame, and its first address; "": none is known.
func (f *Finder) Function(i int) (symbol string, first uint64) {
	if x := f.Image(i); x != nil {
		symbol, first, _ = x.Function(f.thread.Stack.Frames[i].Lookup())
	}
	return symbol, first
}

// code is the code of an image. It implements dataflow.Image.
type code struct {
	process *snapshot.Process
	bias    uint64
}

func (c code) Read(addr uint64, b []byte) bool { return c.process.Memory().Read(addr+c.bias, b) }
func (c code) Bias() uint64                    { return c.bias }

func (c code) Function(addr uint64) (first, end uint64, ok bool) {
	table, bias, _ := c.process.Walker.Code.Find(addr + c.bias)
	if table == nil || bias != c.bias {
		return 0, 0, false
	}
	row, err := table.Find(addr)
	if err != nil {
		return 0, 0, false
	}
	return row.First(), row.End(), true
}

// site returns the analysis of the function of frame i at the instruction that the frame is at; nil: none.
func (f *Finder) site(i int) *dataflow.Site {
	frame := &f.thread.Stack.Frames[i]
	x := f.Image(i)
	if x == nil || frame.First == 0 {
		return nil
	}
	m := x.Module()
	key := siteKey{m.Key(), frame.PC - m.Bias, frame.Exact}
	s, known := f.cache.sites[key]
	if !known {
		s, _ = dataflow.At(code{f.process, m.Bias}, key.addr, key.exact) // nil if there is an error
		f.cache.sites[key] = s
	}
	return s
}

// register returns general register n of frame i at its call; ok is false if it is not known.
func (f *Finder) register(i, n int) (uint64, bool) {
	frame := &f.thread.Stack.Frames[i]
	if n == amd64.RSP {
		return frame.SP, frame.SP != 0
	}
	if !frame.Exact && !amd64.Saved(n) {
		return 0, false
	}
	regs, known := f.regs[i]
	if !known {
		regs = f.process.RegistersAt(f.thread, i)
		f.regs[i] = regs
	}
	return regs.Get(amd64.DWARF(n))
}

// Register returns a general register of a frame that a function must preserve (its number as in
// package amd64); ok is false if its value is not known.
func (f *Finder) Register(i, n int) (v uint64, ok bool) { return f.register(i, n) }

// Bounds returns the memory of the frames from the innermost to frame i.
func (f *Finder) Bounds(i int) (from, to uint64) {
	return f.thread.Stack.Frames[0].SP, f.thread.Stack.Frames[i].CFA
}

// Read returns a little-endian number of up to 8 bytes.
func (f *Finder) Read(addr uint64, size int64) (uint64, bool) {
	var b [8]byte
	if size < 1 || size > 8 || !f.process.Memory().Read(addr, b[:size]) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// Value is an argument as it was found.
type Value struct {
	Bits  uint64
	Grade Grade
	Known bool
	// Inwards and Outwards tell which ways found it. With both and not Known, they differ.
	Inwards, Outwards bool
}

// Call is a function on the stack whose arguments are asked for.
type Call struct {
	finder *Finder
	frame  int
	own    bool  // the frame belongs to the function, not to one that it has jumped to (tail call)
	linked bool  // the caller has passed the arguments to this function
	grade  Grade // of the arguments that the caller has passed
}

// Call returns the call of a function whose frame it is, or that has jumped to the function of the frame (tail
// call). own tells whether the frame is its own; calledByName, whether its caller is known to call a symbol with
// its name.
func (f *Finder) Call(frame int, own, calledByName bool) *Call {
	c := &Call{finder: f, frame: frame, own: own, linked: calledByName}
	f.library = f.Image(frame)
	if !calledByName && frame+1 < f.Frames() {
		if l := f.link(frame + 1); l.proven || l.open {
			c.linked, c.grade = true, l.grade()
		}
	}
	if !own && !calledByName && !f.link(frame+1).proven {
		c.linked = false
	}
	return c
}

// Argument returns argument n (from 0) of 32 or 64 bits.
func (c *Call) Argument(n, bits int) Value {
	f := c.finder
	var in, out found
	if site := f.site(c.frame); site != nil && (c.own || c.linked && f.isProven(c.frame+1)) {
		in = f.value(c.frame, site.Argument(n), query{bits: bits, ways: inwards})
	}
	if c.linked && c.frame+1 < f.Frames() {
		out = f.passed(c.frame+1, n, bits)
		out.grade = max(out.grade, c.grade)
	}
	v := Value{Inwards: in.ok, Outwards: out.ok}
	switch {
	case in.ok && out.ok && in.v == out.v:
		v.Bits, v.Grade, v.Known = in.v, min(in.grade, out.grade, Memory), true
	case in.ok && out.ok: // a value that cannot have changed is better than memory that may have
		v.Bits, v.Grade, v.Known = in.v, Memory, in.grade == Sure && out.grade > Sure
	case in.ok:
		v.Bits, v.Grade, v.Known = in.v, in.grade, in.grade < Loose
	case out.ok:
		v.Bits, v.Grade, v.Known = out.v, out.grade, out.grade < Loose
	}
	return v
}

// CalledName returns the symbol of the function that frame i has called, even if that has jumped to another
// one; "": it is not known.
func (f *Finder) CalledName(i int) string {
	if i >= f.Frames() || f.thread.Stack.Frames[i].Exact {
		return ""
	}
	site := f.site(i)
	if site == nil || site.Target == nil {
		return ""
	}
	to := f.value(i, site.Target, query{bits: 64, ways: inwards | outwards, depth: maxDepth / 2})
	if !to.ok {
		return ""
	}
	for range maxJumps {
		if x := f.process.At(to.v); x != nil {
			if name, first, ok := x.Function(to.v); ok && first == to.v {
				return name
			}
		}
		next, ok := f.jump(to.v)
		if !ok {
			return ""
		}
		to.v = next
	}
	return ""
}
