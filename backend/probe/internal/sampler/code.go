// Code without unwind tables.

package sampler

import (
	"strings"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/derived"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/unwind"
)

// maxFunction bounds a function whose end is not known, in bytes.
const maxFunction = 256 << 10

// maxFunctions bounds the functions of an image that are kept.
const maxFunctions = 1000

// maxDerived bounds the instructions of code without tables that are followed for one sample of a process:
// hostile code takes about a second for that many. The next sample may follow as many again.
const maxDerived = 500_000

// maxNamed bounds the instructions that are followed for one name.
const maxNamed = 20_000

// Function implements unwind.Code. A symbol without a size counts only if the code leads from its address
// to pc. A part that the compiler has split off (f.cold) is entered from the function f, so it has the
// entry of f.
func (p *process) Function(pc uint64) (entry uint64, ok bool) {
	i := p.module(pc)
	if i < 0 {
		return 0, false
	}
	m, s := &p.modules[i], p.images[i]
	s.need(m, p.pid)
	f, ok := s.symbols.Function(pc - m.Bias)
	whole, _, cold := strings.Cut(f.Name, ".cold")
	if cold {
		if f.First, ok = s.symbols.Address(whole); !ok { // f.constprop.0.cold is of f.constprop
			f.First, ok = s.symbols.Address(strings.TrimRight(whole, ".0123456789"))
		}
	}
	entry = f.First + m.Bias
	if ok && (cold || f.Size == 0) {
		row, _ := p.Derived(entry, pc)
		ok = row != nil
	}
	return entry, ok
}

// maxTails bounds the functions that are followed from one to which a call leads.
const maxTails = 8

// Derived implements unwind.Code. Only functions of images are followed: generated code changes.
func (p *process) Derived(entry, pc uint64) (row *cfi.Row, bias uint64) {
	i := p.module(entry)
	if i < 0 || i != p.module(pc) || hold.Machine.PC != unwind.AMD64.PC {
		return nil, 0
	}
	m := &p.modules[i]
	for next, n := []uint64{entry - m.Bias}, 0; n < min(len(next), maxTails); n++ {
		f := p.images[i].derive(m, p.pid, next[n], &p.derivable)
		if f == nil {
			continue
		}
		if f.Reaches(pc - m.Bias) {
			return f.Row(pc - m.Bias), m.Bias
		}
		next = append(next, f.Tails...)
	}
	return nil, 0
}

// derive returns what is derived from the instructions of the function at an address of the file; nil:
// nothing certain, or left is used up. left is the number of instructions that may still be followed.
func (s *shared) derive(m *image.Module, pid int, entry uint64, left *int) *derived.Function {
	if f, known := s.functions[entry]; known {
		return f
	}
	if *left < 0 {
		return nil
	}
	begun := *left
	s.need(m, pid)
	s.from, s.bias = hold.Memory(pid), m.Bias
	f, _ := derived.Of(code{s, m, entry}, entry, left) // nil if there is an error
	if *left < 0 && begun < maxDerived {               // it may succeed with the whole budget of the next sample
		return nil
	}
	if len(s.functions) == maxFunctions {
		clear(s.functions)
	}
	s.functions[entry] = f
	return f
}

// nameOf returns the symbol of the function at an address of the file; "": none is known. A symbol without
// a size does not count if the code at its address does not lead to addr.
func (s *shared) nameOf(m *image.Module, pid int, addr uint64) string {
	f, ok := s.symbols.Function(addr)
	if ok && f.Size == 0 && hold.Machine.PC == unwind.AMD64.PC {
		left := maxNamed
		if x := s.derive(m, pid, f.First, &left); x != nil && x.Whole && !x.Reaches(addr) {
			return ""
		}
	}
	return f.Name
}

// code is the code of an image, in which a function begins at entry. It implements dataflow.Image.
type code struct {
	*shared
	m     *image.Module
	entry uint64
}

// Bias implements dataflow.Image.
func (c code) Bias() uint64 { return c.m.Bias }

// Function implements dataflow.Image.
func (c code) Function(addr uint64) (first, end uint64, ok bool) {
	if f, ok := c.symbols.Function(addr); ok && f.Size > 0 && (f.First == c.entry || addr != c.entry) {
		return f.First, f.First + f.Size, true
	}
	end = min(c.entry+maxFunction, c.m.End-c.m.Bias)
	if next, ok := c.symbols.After(c.entry); ok {
		end = min(end, next)
	}
	return c.entry, end, addr >= c.entry && addr < end
}
