// Registers of threads, which one back end passes to another.

package backend

import (
	"fmt"
	"strconv"
	"strings"
)

// RegistersColumn begins the names of columns of answers to stacks with the registers of threads in calls of MPI: a
// text of Registers for each thread, with its index behind the name. They are for a back end around the debugger
// (probe.WithWaits), which removes them.
const RegistersColumn = "mpi.registers"

// ThreadPointer is the DWARF number of the base of FS, which points to what a thread has of its own (System V ABI,
// AMD64).
const ThreadPointer = 58

// Register is the value of a register by its DWARF number.
type Register struct{ Number, Value uint64 }

// Registers are the registers of a thread.
type Registers []Register

// String formats registers: "3=7fff1234 6=0".
func (r Registers) String() string {
	var parts []string
	for _, x := range r {
		parts = append(parts, fmt.Sprintf("%d=%x", x.Number, x.Value))
	}
	return strings.Join(parts, " ")
}

// ParseRegisters is the inverse of String. Parts that are not of its form are left out.
func ParseRegisters(text string) (r Registers) {
	for part := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.ParseUint(name, 10, 64)
		v, err2 := strconv.ParseUint(value, 16, 64)
		if err == nil && err2 == nil {
			r = append(r, Register{n, v})
		}
	}
	return r
}
