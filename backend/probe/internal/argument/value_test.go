package argument

import (
	"testing"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/dataflow"
	"sdm/backend/probe/internal/snapshot"
	"sdm/backend/probe/internal/unwind"
)

// TestTells checks when a place that holds one value tells another.
func TestTells(t *testing.T) {
	v := &dataflow.Value{Kind: dataflow.Entry, N: 1}
	low := &dataflow.Value{Kind: dataflow.Low, A: v}
	next := &dataflow.Value{Kind: dataflow.Sum, A: v, N: 8}
	sum := &dataflow.Value{Kind: dataflow.Sum, A: v, B: &dataflow.Value{Kind: dataflow.Entry, N: 2}, N: 1}
	for _, c := range []struct {
		name     string
		bits     int
		held, v  *dataflow.Value
		size     int64
		plus     int64
		expected bool
	}{
		{"the same", 64, v, v, 8, 0, true},
		{"the same in half of the bytes", 64, v, v, 4, 0, false},
		{"half of it in half of the bytes", 32, v, v, 4, 0, true},
		{"its lower half", 64, low, v, 8, 0, false},
		{"its lower half, of which half is wanted", 32, low, v, 8, 0, true},
		{"a sum", 64, next, v, 8, -8, true},
		{"half of a sum", 32, next, v, 4, 0, false},
		{"a sum of two", 64, sum, v, 8, 0, false},
		{"nothing", 64, nil, v, 8, 0, false},
	} {
		if plus, ok := (query{bits: c.bits}).tells(c.held, c.v, c.size); ok != c.expected || plus != c.plus {
			t.Errorf("%s: %d, %v", c.name, plus, ok)
		}
	}
}

// code at 4096 jumps from one place to another, in a process without images.
type jumps []byte

func (j jumps) Read(addr uint64, b []byte) bool {
	return addr >= 4096 && addr-4096 < uint64(len(j)) && copy(b, j[addr-4096:]) == len(b)
}

// TestLeads follows functions that only jump on.
func TestLeads(t *testing.T) {
	code := make(jumps, 128)
	copy(code[0:], "\xff\x25\x0a\x00\x00\x00")           // through 4112
	copy(code[16:], "\x40\x10\x00\x00\x00\x00\x00\x00")  // which holds 4160
	copy(code[64:], "\xf3\x0f\x1e\xfa\xeb\x0a\x90\x90")  // endbr64, to 4176
	copy(code[80:], "\x55\xc3")                          // a function
	copy(code[96:], "\xeb\xfe")                          // to itself
	copy(code[112:], "\xff\xe0\x90\x90\x90\x90\x90\x90") // to a register
	f := &Finder{process: &snapshot.Process{Walker: unwind.Walker{Memory: cfi.Memory(code)}}}
	for _, c := range []struct {
		name     string
		from, to uint64
		expected bool
	}{
		{"itself", 4176, 4176, true},
		{"a stub", 4096, 4160, true},
		{"a stub and a function", 4096, 4176, true},
		{"another function", 4096, 4200, false},
		{"back", 4176, 4096, false},
		{"without end", 4192, 4096, false},
		{"to anywhere", 4208, 4096, false},
		{"no memory", 1, 4096, false},
	} {
		if got := f.leads(c.from, c.to); got != c.expected {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
