// Package amd64 provides the instructions of x86-64. It is pure. It decodes
// with golang.org/x/arch/x86/x86asm and corrects the results: that package does not extend the sign of
// displacements, and does not know ENDBR64, VZEROUPPER and instructions that only AMD processors have.
package amd64

import "golang.org/x/arch/x86/x86asm"

// Numbers of general registers, as instructions encode them.
const (
	RAX = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	Registers // how many there are
)

// Arguments are the registers of the first six arguments of a function (System V ABI, 3.2.3).
var Arguments = [6]int{RDI, RSI, RDX, RCX, R8, R9}

// saved has a bit for each register that a function must preserve (System V ABI, 3.2.1).
const saved = 1<<RBX | 1<<RBP | 1<<R12 | 1<<R13 | 1<<R14 | 1<<R15

// Saved reports whether a function must preserve a register.
func Saved(n int) bool { return saved>>n&1 == 1 }

// dwarf are the DWARF numbers of the registers (System V ABI, figure 3.36).
var dwarf = [Registers]uint64{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// DWARF returns the DWARF number of a register.
func DWARF(n int) uint64 { return dwarf[n] }

// maxLen is the greatest length of an instruction in bytes.
const maxLen = 15

// Inst is a decoded instruction at an address.
type Inst struct {
	x86asm.Inst
	Addr uint64
}

// Decode returns the instruction at the beginning of code; nil if it is not known.
func Decode(code []byte, addr uint64) *Inst {
	if len(code) >= 4 && code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa { // ENDBR64
		return &Inst{x86asm.Inst{Op: x86asm.NOP, Len: 4}, addr}
	}
	if len(code) >= 3 && code[0] == 0xc5 && code[1]&0x7b == 0x78 && code[2] == 0x77 { // VZEROUPPER, VZEROALL
		return &Inst{x86asm.Inst{Op: x86asm.NOP, Len: 3}, addr}
	}
	skip := 0
	if len(code) > 2 && code[0] == 0x3e && (code[1] == 0xff || code[1]&0xf0 == 0x40 && code[2] == 0xff) { // NOTRACK
		skip = 1
	}
	inst, err := x86asm.Decode(code[skip:], 64)
	if err != nil || inst.Len == 0 || inst.Op == 0 {
		return decodeAMD(code, addr)
	}
	inst.Len += skip
	for k, arg := range inst.Args {
		if m, ok := arg.(x86asm.Mem); ok && (m.Base != 0 || m.Index != 0 || m.Segment != 0) {
			m.Disp = int64(int32(m.Disp))
			inst.Args[k] = m
		}
	}
	return &Inst{inst, addr}
}

// Memory is the memory of a process or the bytes of a file, by address.
type Memory interface {
	// Read fills b from an address. It returns false if not all of b can be read.
	Read(addr uint64, b []byte) bool
}

// At returns the instruction at an address; nil if it is not known or cannot be read. The memory may end
// right after the instruction.
func At(mem Memory, addr uint64) *Inst {
	var b [maxLen]byte
	n := len(b)
	for n > 0 && !mem.Read(addr, b[:n]) {
		n--
	}
	return Decode(b[:n], addr)
}

// Next returns the address after the instruction.
func (i *Inst) Next() uint64 { return i.Addr + uint64(i.Len) }

// IsCall reports whether the instruction is a call.
func (i *Inst) IsCall() bool { return i.Op == x86asm.CALL }

// IsJump reports whether the instruction is an unconditional jump.
func (i *Inst) IsJump() bool { return i.Op == x86asm.JMP }

// Target returns the target of a relative jump or call; false for other instructions.
func (i *Inst) Target() (uint64, bool) {
	to, ok := i.Args[0].(x86asm.Rel)
	return i.Next() + uint64(int64(to)), ok
}

// Slot returns the address from which a jump or call through memory loads its target, if that address is
// relative to the instruction pointer, as in the stubs that a linker makes for functions of other images.
func (i *Inst) Slot() (addr uint64, ok bool) {
	m, ok := i.Args[0].(x86asm.Mem)
	if !ok || m.Base != x86asm.RIP || m.Index != 0 {
		return 0, false
	}
	return i.Next() + uint64(m.Disp), true
}

// Jump returns the target of code that is only a jump: the address to, or the address that is stored in a slot.
// ok is false for other code. ENDBR64 may precede the jump.
func Jump(mem Memory, at uint64) (to, slot uint64, ok bool) {
	i := At(mem, at)
	if i != nil && i.Op == x86asm.NOP {
		i = At(mem, i.Next())
	}
	if i == nil || i.Op != x86asm.JMP {
		return 0, 0, false
	}
	if to, ok := i.Target(); ok {
		return to, 0, true
	}
	slot, ok = i.Slot()
	return 0, slot, ok
}

// Size returns the size of an operand of the instruction in bytes.
func (i *Inst) Size(arg x86asm.Arg) int {
	if r, ok := arg.(x86asm.Reg); ok {
		_, size, _ := General(r)
		return size
	}
	return i.MemBytes
}

// Repeats reports whether a string instruction is repeated RCX times.
func (i *Inst) Repeats() bool {
	for _, p := range i.Prefix {
		if p&0xff == x86asm.PrefixREP || p&0xff == x86asm.PrefixREPN {
			return true
		}
	}
	return false
}

// General returns the number of the general register that contains register r, the size of r in bytes, and
// whether r is the second byte (AH to BH). n is -1 for other registers.
func General(r x86asm.Reg) (n, size int, second bool) {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		return int(r - x86asm.AL), 1, false
	case r >= x86asm.AH && r <= x86asm.BH:
		return int(r - x86asm.AH), 1, true
	case r >= x86asm.SPB && r <= x86asm.DIB:
		return int(r-x86asm.SPB) + RSP, 1, false
	case r >= x86asm.R8B && r <= x86asm.R15B:
		return int(r-x86asm.R8B) + R8, 1, false
	case r >= x86asm.AX && r <= x86asm.R15W:
		return int(r - x86asm.AX), 2, false
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return int(r - x86asm.EAX), 4, false
	case r >= x86asm.RAX && r <= x86asm.R15:
		return int(r - x86asm.RAX), 8, false
	}
	return -1, 0, false
}

// GeneralArg is General for an operand; ok is false if it is not a general register, or the second byte of one.
func GeneralArg(arg x86asm.Arg) (n, size int, ok bool) {
	r, isReg := arg.(x86asm.Reg)
	if !isReg {
		return -1, 0, false
	}
	n, size, second := General(r)
	return n, size, n >= 0 && !second
}

// Vector returns the number of a 128-bit vector register; -1 for other operands.
func Vector(arg x86asm.Arg) int {
	if r, ok := arg.(x86asm.Reg); ok && r >= x86asm.X0 && r <= x86asm.X15 {
		return int(r - x86asm.X0)
	}
	return -1
}
