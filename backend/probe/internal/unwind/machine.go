// Instruction sets.

package unwind

import (
	"encoding/binary"
	"strings"

	"sdm/backend/probe/internal/amd64"
)

// Machine describes an instruction set: the DWARF numbers of registers, and how calls look.
type Machine struct {
	SP, PC, FP uint64 // stack pointer, program counter, frame pointer
	// Link is the register of the return address of a function that has not stored it; 0: it is
	// on top of the stack.
	Link uint64
	// Call returns whether code ends with a call instruction, and its target; 0: the call is indirect.
	// end is the address after code.
	Call func(code []byte, end uint64) (is bool, target uint64)
	// Points reports whether a function that begins with code has set its frame pointer when it is at
	// bytes after its first instruction.
	Points func(code []byte, at uint64) bool
	// Signals describes the return from signal handlers.
	Signals Signals
}

// AMD64 and ARM64 are the machines that are known (psABI of x86-64; DWARF for the Arm 64-bit
// Architecture, where 32 stands for the program counter).
var (
	AMD64 = Machine{SP: 7, PC: 16, FP: 6, Call: callAMD64, Points: pointsAMD64, Signals: signalsAMD64}
	ARM64 = Machine{SP: 31, PC: 32, FP: 29, Link: 30, Call: callARM64, Points: pointsARM64, Signals: signalsARM64}
)

// maxCall is the length of the longest call instruction, in bytes.
const maxCall = 7

// callAMD64 looks for a call: E8 with 4 bytes, or FF /2 with an operand of 0 to 5 bytes.
func callAMD64(code []byte, end uint64) (is bool, target uint64) {
	n := len(code)
	if n >= 5 && code[n-5] == 0xe8 {
		return true, end + uint64(int64(int32(binary.LittleEndian.Uint32(code[n-4:]))))
	}
	for size := 2; size <= min(n, maxCall); size++ {
		if c := code[n-size:]; c[0] == 0xff && c[1]>>3&7 == 2 && 1+amd64.OperandLen(c[1:]) == size {
			return true, 0
		}
	}
	return false, 0
}

// callARM64 looks for BL, BLR, or BLR with authentication (Arm Architecture Reference Manual, C4.1.65).
func callARM64(code []byte, end uint64) (is bool, target uint64) {
	if len(code) < 4 {
		return false, 0
	}
	switch i := binary.LittleEndian.Uint32(code[len(code)-4:]); {
	case i>>26 == 0x25: // BL: 26 bits of words, from the instruction on
		return true, end - 4 + uint64(int64(int32(i<<6))>>4)
	case i&0xfffffc1f == 0xd63f0000, i&0xfefff800 == 0xd63f0800:
		return true, 0
	}
	return false, 0
}

// endBranch is ENDBR64, where a function may begin that is called through a pointer (Intel SDM, volume 1, 17.3).
var endBranch = []byte("\xf3\x0f\x1e\xfa")

// pointsAMD64 looks for ENDBR64, if it is there, and push %rbp; mov %rsp,%rbp.
func pointsAMD64(code []byte, at uint64) bool {
	rest := strings.TrimPrefix(string(code), string(endBranch))
	begin := uint64(len(code)-len(rest)) + 4
	return at >= begin && (strings.HasPrefix(rest, "\x55\x48\x89\xe5") || strings.HasPrefix(rest, "\x55\x48\x8b\xec"))
}

// pointsARM64 looks for PACIASP or BTI, if they are there, and stp x29, x30, [sp, #-n]!; mov x29, sp.
func pointsARM64(code []byte, at uint64) bool {
	for n := 0; n+8 <= len(code); n += 4 {
		switch i := binary.LittleEndian.Uint32(code[n:]); {
		case i&0xffffff3f == 0xd503241f, i == 0xd503233f, i == 0xd503201f:
		default:
			return i&0xffe07fff == 0xa9a07bfd && binary.LittleEndian.Uint32(code[n+4:]) == 0x910003fd && at >= uint64(n)+8
		}
	}
	return false
}
