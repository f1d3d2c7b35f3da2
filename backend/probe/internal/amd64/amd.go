// Instructions that only AMD processors have (AMD64 Architecture Programmer's Manual, volumes 3 to 5). They occur
// in hand-written kernels of linear algebra.

package amd64

import "golang.org/x/arch/x86/x86asm"

// decodeAMD decodes PREFETCH, FEMMS, and fused multiplications of FMA4; nil: code begins with none of them. The
// first two become NOP. Of an FMA4 instruction only the operand that is written is set, a vector register.
func decodeAMD(code []byte, addr uint64) *Inst {
	i := &Inst{x86asm.Inst{Op: x86asm.NOP}, addr}
	at := 0
	if len(code) > 0 && code[0]&0xf0 == 0x40 { // REX
		at = 1
	}
	switch b := code[at:]; {
	case len(b) >= 2 && b[0] == 0x0f && b[1] == 0x0e: // FEMMS
		i.Len = at + 2
	case len(b) >= 2 && b[0] == 0x0f && b[1] == 0x0d: // PREFETCH
		i.Len = at + 2 + OperandLen(b[2:])
	case len(code) >= 5 && code[0] == 0xc4 && code[1]&0x1f == 3 && isFMA4(code[3]):
		i.Op = x86asm.VFMADD213PD
		i.Args[0] = x86asm.X0 + x86asm.Reg(code[4]>>3&7|(^code[1]>>7)<<3)
		i.Len = 4 + OperandLen(code[4:]) + 1 // the last byte has the fourth operand
	}
	if i.Len <= at || i.Len > len(code) || i.Len > maxLen {
		return nil
	}
	return i
}

// isFMA4 reports whether an opcode of map 3 is a fused multiplication of FMA4.
func isFMA4(opcode byte) bool {
	return opcode >= 0x5c && opcode <= 0x5f || opcode >= 0x68 && opcode <= 0x7f
}

// OperandLen returns the length of the ModRM byte at the start of code with its SIB byte and displacement, in
// bytes; maxLen if code ends before the SIB byte (Intel SDM, volume 2, tables 2-2 and 2-3).
func OperandLen(code []byte) int {
	if len(code) == 0 {
		return maxLen
	}
	mod, rm := code[0]>>6, code[0]&7
	n := 1
	base := rm
	if mod != 3 && rm == 4 { // SIB
		if len(code) < 2 {
			return maxLen
		}
		n, base = 2, code[1]&7
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && base == 5:
		n += 4
	}
	return n
}
