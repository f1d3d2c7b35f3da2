package derived_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/dataflow"
	"sdm/backend/probe/internal/dataflow/dataflowtest"
	"sdm/backend/probe/internal/derived"
)

const base = dataflowtest.Base

// stack is memory at 0x8000.
type stack [256]byte

func (s *stack) Read(addr uint64, b []byte) bool {
	if addr < 0x8000 || addr > 0x8000+uint64(len(s)-len(b)) {
		return false
	}
	copy(b, s[addr-0x8000:])
	return true
}

// TestRow checks where the caller's registers are at the instruction UD2 of a function. The stack pointer
// is 0x8040 there, rbx 0x8080, and rbp 0x8068.
func TestRow(t *testing.T) {
	for _, c := range []struct {
		name, text string
		frame      uint64 // canonical frame address; 0: not known
		rbp        uint64 // address of the caller's rbp; 0x8068: it has not changed, 0: it is lost
	}{
		{"entry", "ud2", 0x8048, 0x8068},
		{"pushes", "push rbx; push rbp; sub rsp, 24; mov ebp, 1; ud2", 0x8070, 0x8058},
		{"stores", "sub rsp, 40; mov [rsp+8], rbx; mov [rsp], rbp; xor ebp, ebp; ud2", 0x8070, 0x8040},
		{"behind the end of a way", "push rbp; sub rsp, 16; test edi, edi; je 1f; add rsp, 16; pop rbp; ret; 1: ud2", 0x8060, 0x8068},
		{"before the end", "push rbp; sub rsp, 16; mov ebp, 3; add rsp, 16; pop rbp; ud2", 0x8048, 0x8068},
		{"a loop", "push rbp; xor ebp, ebp; 1: inc ebp; dec edi; jne 1b; ud2", 0x8050, 0x8040},
		{"aligned", "push rbx; mov rbx, rsp; sub rsp, 200; and rsp, -64; mov [rsp+8], rbp; mov ebp, 1; ud2", 0x8090, 0x8048},
		{"aligned, pointer stored", "mov rax, rsp; sub rsp, 200; and rsp, -64; mov [rsp+16], rax; mov rax, 1; mov [rsp+8], rbp; mov ebp, 1; ud2", 0x90, 0x8048},
		{"realigned as by gcc, and a variable", "lea r10, [rsp+8]; and rsp, -64; push [r10-8]; push rbp; mov rbp, rsp; push r10; sub rsp, rdi; mov rdi, rsp; call rax; ud2", 0x8060, 0x8068},
		{"a call that does not return, and a function that jumps to this one", "push rbx; sub rsp, 16; cmp edi, 3; jb 1f; je 2f; add rsp, 16; pop rbx; ret; 1: ud2; 2: call rax; nop; push rbp; xor ebp, ebp; call rdx; pop rbp; jmp f", 0x8060, 0x8068},
		{"a table, and another one behind it", "push rbx; lea rdx, [rip+8f]; movsxd rax, dword ptr [rdx+rdi*4]; add rax, rdx; jmp rax; 1: lea rdx, [rip+9f]; movsxd rax, dword ptr [rdx+rdi*4]; add rax, rdx; jmp rax; 3: mov eax, 0x51515151; nop; nop; nop; nop; 2: ud2; 8: .long 1b-8b, 1b-8b; 9: .long 2b-9b, 3b-9b", 0x8050, 0x8068},
		{"lost", "mov ebp, 1; ud2", 0x8048, 0},
		{"variable", "sub rsp, rdi; ud2", 0, 0},
		{"two depths", "test edi, edi; je 1f; push rax; 1: ud2", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := dataflowtest.Assemble(t, c.text)
			f, err := derived.Of(b, base, enough())
			if err != nil {
				t.Fatal(err)
			}
			row := f.Row(base + uint64(strings.Index(string(b), "\x0f\x0b")))
			if row == nil {
				if c.frame != 0 {
					t.Error("no row")
				}
				return
			}
			var regs cfi.Registers
			regs.Set(7, 0x8040)
			regs.Set(3, 0x8080)
			regs.Set(6, 0x8068)
			s := &stack{}
			for at := uint64(0x8000); at+8 <= 0x8100; at += 8 {
				binary.LittleEndian.PutUint64(s[at-0x8000:], at)
			}
			binary.LittleEndian.PutUint64(s[0x50:], 0x88) // a stored stack pointer
			caller, frame, err := row.Caller(&regs, s, 7, 16)
			rbp, _ := caller.Get(6)
			if frame != c.frame || rbp != c.rbp || err != nil && frame >= 0x8000 {
				t.Errorf("frame %#x, rbp at %#x, %v; want %#x, %#x", frame, rbp, err, c.frame, c.rbp)
			}
		})
	}
}

// enough returns how many instructions may be executed.
func enough() *int {
	n := 100_000
	return &n
}

func TestTooManyInstructions(t *testing.T) {
	left := 3
	if _, err := derived.Of(dataflowtest.Assemble(t, "nop; nop; nop; nop; ret"), base, &left); !errors.Is(err, dataflow.ErrTooLong) || left >= 0 {
		t.Errorf("%v, %d left", err, left)
	}
}

func TestUnreachable(t *testing.T) {
	f, err := derived.Of(dataflowtest.Assemble(t, "ret; nop; nop"), base, enough())
	if err != nil || f.Row(base) == nil || f.Row(base+1) != nil || f.Row(base-1) != nil || f.Reaches(base+1) || !f.Whole {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := derived.Of(dataflowtest.Assemble(t, "push rax; jmp rsi"), base, enough()); err != nil || f.Whole {
		t.Errorf("a jump to anywhere: %+v, %v", f, err)
	}
	f, err = derived.Of(dataflowtest.Assemble(t, "push rbx; test edi, edi; pop rbx; je f-32; call f-64; jmp f-48"), base, enough())
	if err != nil || !slices.Equal(f.Tails, []uint64{base - 48, base - 32}) || f.Reaches(base-32) {
		t.Errorf("jumps to other functions: %+v, %v", f, err)
	}
	if _, err := derived.Of(dataflowtest.Code{}, base, enough()); err == nil {
		t.Error("no code is a function")
	}
}

// FuzzOf follows any code: it ends, and rows are where the code is.
func FuzzOf(f *testing.F) {
	f.Add([]byte{0x53, 0x48, 0x89, 0xe3, 0x48, 0x83, 0xe4, 0xc0, 0xff, 0xe0})
	f.Add([]byte{0x55, 0x75, 0xfd, 0x5d, 0xc3})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2000 {
			return
		}
		x, err := derived.Of(dataflowtest.Code(b), base, enough())
		if err != nil {
			return
		}
		if x.Row(base+uint64(len(b))+15) != nil || x.Row(base-1) != nil {
			t.Error("a row beyond the code")
		}
	})
}
