// Conditions of conditional instructions.

package amd64

import "golang.org/x/arch/x86/x86asm"

// Condition is what a conditional instruction tests.
type Condition uint8

// The conditions, in pairs of which the second is the opposite of the first (Intel SDM, volume 1,
// appendix B).
const (
	Overflow Condition = iota
	NoOverflow
	Below
	NotBelow
	Equal
	NotEqual
	BelowOrEqual
	Above
	Sign
	NoSign
	Parity
	NoParity
	Less
	NotLess
	LessOrEqual
	Greater
	Never // marks jumps that do not test flags, such as LOOP and JRCXZ
)

// jumps are the conditions of conditional jumps.
var jumps = map[x86asm.Op]Condition{
	x86asm.JO: Overflow, x86asm.JNO: NoOverflow, x86asm.JB: Below, x86asm.JAE: NotBelow, x86asm.JE: Equal, x86asm.JNE: NotEqual,
	x86asm.JBE: BelowOrEqual, x86asm.JA: Above, x86asm.JS: Sign, x86asm.JNS: NoSign, x86asm.JP: Parity, x86asm.JNP: NoParity,
	x86asm.JL: Less, x86asm.JGE: NotLess, x86asm.JLE: LessOrEqual, x86asm.JG: Greater,
	x86asm.JCXZ: Never, x86asm.JECXZ: Never, x86asm.JRCXZ: Never, x86asm.LOOP: Never, x86asm.LOOPE: Never, x86asm.LOOPNE: Never,
}

// moves are the conditions of conditional moves.
var moves = map[x86asm.Op]Condition{
	x86asm.CMOVO: Overflow, x86asm.CMOVNO: NoOverflow, x86asm.CMOVB: Below, x86asm.CMOVAE: NotBelow, x86asm.CMOVE: Equal, x86asm.CMOVNE: NotEqual,
	x86asm.CMOVBE: BelowOrEqual, x86asm.CMOVA: Above, x86asm.CMOVS: Sign, x86asm.CMOVNS: NoSign, x86asm.CMOVP: Parity, x86asm.CMOVNP: NoParity,
	x86asm.CMOVL: Less, x86asm.CMOVGE: NotLess, x86asm.CMOVLE: LessOrEqual, x86asm.CMOVG: Greater,
}

// sets are the conditions of instructions that store a condition.
var sets = map[x86asm.Op]Condition{
	x86asm.SETO: Overflow, x86asm.SETNO: NoOverflow, x86asm.SETB: Below, x86asm.SETAE: NotBelow, x86asm.SETE: Equal, x86asm.SETNE: NotEqual,
	x86asm.SETBE: BelowOrEqual, x86asm.SETA: Above, x86asm.SETS: Sign, x86asm.SETNS: NoSign, x86asm.SETP: Parity, x86asm.SETNP: NoParity,
	x86asm.SETL: Less, x86asm.SETGE: NotLess, x86asm.SETLE: LessOrEqual, x86asm.SETG: Greater,
}

// Branch returns the condition of a conditional jump.
func (i *Inst) Branch() (Condition, bool) { c, ok := jumps[i.Op]; return c, ok }

// Move returns the condition of a conditional move.
func (i *Inst) Move() (Condition, bool) { c, ok := moves[i.Op]; return c, ok }

// Set returns the condition that an instruction stores as 0 or 1.
func (i *Inst) Set() (Condition, bool) { c, ok := sets[i.Op]; return c, ok }
