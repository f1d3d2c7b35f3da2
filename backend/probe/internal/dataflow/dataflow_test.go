package dataflow_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"sdm/backend/probe/internal/amd64"
	"sdm/backend/probe/internal/dataflow"
	"sdm/backend/probe/internal/dataflow/dataflowtest"
)

const base = dataflowtest.Base

// assemble returns the code of a text, and the address after its last call.
func assemble(t *testing.T, text string) (dataflowtest.Code, uint64) {
	t.Helper()
	code := dataflowtest.Assemble(t, text)
	return code, base + uint64(bytes.LastIndex(code, []byte{0xff, 0xd0})) + 2 // call rax
}

// TestSite runs through the cases of which wrong answers were made of.
func TestSite(t *testing.T) {
	type check func(*dataflow.Site) bool
	register := func(n int, kind dataflow.Kind, value int64) check {
		return func(s *dataflow.Site) bool {
			v := s.Before.Registers[n]
			return v.Kind == kind && (value == anything || v.N == value)
		}
	}
	slot := func(offset int64, kind dataflow.Kind, value int64) check {
		return func(s *dataflow.Site) bool {
			v := s.Before.Slots[dataflow.Slot{Offset: offset}].Value
			return v != nil && v.Kind == kind && (value == anything || v.N == value)
		}
	}
	passes := func(want bool) check {
		return func(s *dataflow.Site) bool { return s.PassesOnStack() == want }
	}
	for _, c := range []struct {
		name, text string
		check      check
	}{
		{"nothing passed on the stack", "sub rsp, 24; mov [rsp+8], rdi; call rdx; call rax", passes(false)},
		{"passed on the stack", "sub rsp, 8; push rdi; call rax", passes(true)},
		{"passed on the stack, on one way", "sub rsp, 24; test edi, edi; je 1f; mov dword ptr [rsp], 1; 1: call rax", passes(true)},
		{"passed on the stack, by a vector store", "sub rsp, 24; movaps [rsp], xmm0; call rax", passes(true)},
		{"passed on the stack, by another function", "sub rsp, 24; mov rdi, rsp; call rdx; call rax", passes(true)},
		{"passed on an aligned stack", "push rbp; mov rbp, rsp; and rsp, -64; sub rsp, 64; mov [rsp], rdi; call rax", passes(true)},
		{"argument in a saved register", "push rbx; mov rbx, rdi; call rdx; mov rdi, rbx; call rax", register(amd64.RDI, dataflow.Entry, amd64.RDI)},
		{"argument in a slot", "sub rsp, 24; mov [rsp+8], esi; call rax", slot(-24, dataflow.Low, anything)},
		{"frame pointer", "push rbp; mov rbp, rsp; sub rsp, 32; mov [rbp-20], edi; xor eax, eax; mov edi, [rbp-20]; call rax", func(s *dataflow.Site) bool {
			return s.Before.Registers[amd64.RDI].Core() == s.Entry(amd64.RDI)
		}},
		{"constant", "mov esi, 7; call rax", register(amd64.RSI, dataflow.Constant, 7)},
		{"constant by two ways", "test edi, edi; je 1f; mov esi, 7; jmp 2f; 1: mov esi, 7; 2: call rax", register(amd64.RSI, dataflow.Constant, 7)},
		{"other constants by two ways", "test edi, edi; je 1f; mov esi, 7; jmp 2f; 1: mov esi, 8; 2: call rax", register(amd64.RSI, dataflow.Unknown, anything)},
		{"counter of a loop", "push rbx; xor ebx, ebx; 1: mov edi, ebx; inc ebx; call rax; cmp ebx, 9; jne 1b; ret", register(amd64.RDI, dataflow.Low, anything)},
		{"lost by a call", "mov rsi, rdi; call rdx; call rax", register(amd64.RSI, dataflow.Unknown, anything)},
		{"address given away", "sub rsp, 24; mov qword ptr [rsp], 5; mov rdi, rsp; call rdx; mov rdi, [rsp]; call rax", register(amd64.RDI, dataflow.Unknown, anything)},
		{"address not given away", "sub rsp, 24; mov qword ptr [rsp], 5; call rdx; mov rdi, [rsp]; call rax", register(amd64.RDI, dataflow.Constant, 5)},
		{"argument on the stack", "sub rsp, 8; mov rdi, [rsp+16]; call rax", register(amd64.RDI, dataflow.Argument, 0)},
		{"argument on the stack, overwritten on one way", "test edi, edi; je 1f; mov qword ptr [rsp+8], 1; 1: sub rsp, 8; mov rdi, [rsp+16]; call rax", register(amd64.RDI, dataflow.Unknown, anything)},
		{"argument on the stack, half overwritten", "mov dword ptr [rsp+12], 1; sub rsp, 8; mov rdi, [rsp+16]; call rax", register(amd64.RDI, dataflow.Unknown, anything)},
		{"argument on the stack, address given away", "sub rsp, 8; lea rdi, [rsp+16]; call rdx; mov rdi, [rsp+16]; call rax", register(amd64.RDI, dataflow.Unknown, anything)},
		{"two values by one vector store", "sub rsp, 24; movq xmm0, rdi; movq xmm1, rsi; punpcklqdq xmm0, xmm1; movaps [rsp], xmm0; call rdx; mov rdi, [rsp+8]; call rax", register(amd64.RDI, dataflow.Entry, amd64.RSI)},
		{"the same by AVX", "sub rsp, 24; vmovq xmm2, rdi; vpinsrq xmm0, xmm2, rsi, 1; vmovdqu [rsp], xmm0; call rdx; mov rdi, [rsp+8]; call rax", register(amd64.RDI, dataflow.Entry, amd64.RSI)},
		{"aligned stack", "push rbp; mov rbp, rsp; and rsp, -64; sub rsp, 64; mov [rsp+8], rdi; call rdx; mov rsi, [rsp+8]; call rax", register(amd64.RSI, dataflow.Entry, amd64.RDI)},
		{"sign", "movsxd rdi, esi; call rax", register(amd64.RDI, dataflow.Extended, anything)},
		{"jump table", "lea rdx, [rip+3f]; cmp edi, 1; ja 2f; mov eax, edi; movsxd rax, dword ptr [rdx+rax*4]; add rax, rdx; jmp rax; 1: mov esi, 4; 2: call rax; ret; 4: mov esi, 4; jmp 2b; 3: .long 1b-3b, 4b-3b", register(amd64.RSI, dataflow.Unknown, anything)},
		{"target", "mov rax, rsi; call rax", func(s *dataflow.Site) bool { return s.Target == s.Entry(amd64.RSI) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, at := assemble(t, strings.ReplaceAll(c.text, ";", "\n"))
			s, err := dataflow.At(code, at, false)
			if err != nil {
				t.Fatal(err)
			}
			if !c.check(s) {
				t.Errorf("rsi %+v, rdi %+v, slots %+v", *s.Before.Registers[amd64.RSI], *s.Before.Registers[amd64.RDI], s.Before.Slots)
			}
		})
	}
}

// anything stands for any number of a value.
const anything = -1 << 62

func TestRefusals(t *testing.T) {
	code, at := assemble(t, "push rdi\njmp rsi\ncall rax")
	if _, err := dataflow.At(code, at, false); !errors.Is(err, dataflow.ErrJump) {
		t.Errorf("a jump to anywhere: %v", err)
	}
	code, at = assemble(t, "ret\ncall rax")
	if _, err := dataflow.At(code, at, false); !errors.Is(err, dataflow.ErrNotThere) {
		t.Errorf("a call behind the end: %v", err)
	}
	if _, err := dataflow.At(code, 1, false); !errors.Is(err, dataflow.ErrNoTable) {
		t.Errorf("no function: %v", err)
	}
}

// pieces is code of several functions, each of some bytes, that is loaded elsewhere. It counts what is
// read.
type pieces struct {
	dataflowtest.Code
	size, bias uint64
	reads      *int
}

func (p pieces) Read(addr uint64, b []byte) bool {
	*p.reads++
	return p.Code.Read(addr, b)
}

func (p pieces) Bias() uint64 { return p.bias }

func (p pieces) Function(addr uint64) (first, end uint64, ok bool) {
	if p.size == 0 {
		return p.Code.Function(addr)
	}
	first = base + (addr-base)/p.size*p.size
	return first, first + p.size, addr >= base && addr < base+uint64(len(p.Code))
}

// FuzzAt analyses any code, with or without other functions beside it: it ends, within bounds, and code is
// not changed.
func FuzzAt(f *testing.F) {
	f.Add([]byte{0x53, 0x48, 0x89, 0xfb, 0xff, 0xd0, 0x5b, 0xc3}, uint16(6), uint8(0), false)
	f.Add([]byte{0x75, 0xfe, 0xeb, 0xfc, 0xe8, 0, 0, 0, 0, 0x48, 0x01, 0xc4, 0xff, 0xd0}, uint16(14), uint8(4), false)
	f.Add([]byte{0x48, 0x83, 0xe4, 0xf0, 0x0f, 0x29, 0x04, 0x24, 0x74, 0xf6, 0xff, 0xd0}, uint16(12), uint8(9), true)
	f.Add([]byte{0x48, 0x8d, 0x15, 9, 0, 0, 0, 0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xf8, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xd0}, uint16(26), uint8(0), true)
	f.Fuzz(func(t *testing.T, code []byte, at uint16, size uint8, exact bool) {
		if len(code) > 2000 {
			return
		}
		before, reads := string(code), 0
		s, err := dataflow.At(pieces{code, uint64(size), uint64(at) << 20, &reads}, base+uint64(at), exact)
		if (s == nil) == (err == nil) {
			t.Errorf("%v, %v", s, err)
		}
		if string(code) != before || reads > 1<<20 {
			t.Errorf("%d reads", reads)
		}
		if s == nil {
			return
		}
		for n := range 8 {
			s.Argument(n)
			s.Passed(n)
			s.Escaped(dataflow.Slot{Offset: int64(8 * n)}, 8)
		}
	})
}
