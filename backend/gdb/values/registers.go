// Registers of threads in MPI.

package values

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/request"
)

// preserved are the registers by gdb's numbers (gdb/amd64-tdep.h) that tell what a call of MPI waits for, by
// their DWARF numbers (System V ABI, AMD64): RBX, RBP, RSP, R12 to R15, RIP. gdb numbers only RBX otherwise.
var preserved = map[string]uint64{"1": 3, "6": 6, "7": 7, "12": 12, "13": 13, "14": 14, "15": 15, "16": 16}

// inMPI reports whether a function of MPI is on the stack.
func (s threadStack) inMPI() bool {
	return slices.ContainsFunc(s.frames, func(f Frame) bool {
		return strings.HasPrefix(strings.TrimPrefix(f.Func, "P"), "MPI_")
	})
}

// withRegisters asks for the registers of threads in MPI, and calls then with the texts of backend.RegistersColumn. The
// processes of other machines than this one, whose calls of MPI are not known, are not asked.
func (fr *Frames) withRegisters(q *request.Request, all []threadStack, then func(registers []string)) {
	var threads []int
	for _, s := range all {
		if runtime.GOARCH == "amd64" && s.inMPI() {
			threads = append(threads, s.thread)
		}
	}
	if len(threads) == 0 {
		then(nil)
		return
	}
	var texts []string
	for _, n := range threads {
		args := []string{"--thread", strconv.Itoa(n), "--frame", "0", "x", "1", "6", "7", "12", "13", "14", "15", "16"}
		fr.Ask(q, func(a request.Answer) {
			var registers backend.Registers
			for _, f := range a.Results.Path("register-values").Fields {
				v, err := strconv.ParseUint(f.Value.Fields.Str("value"), 0, 64)
				if number, ok := preserved[f.Value.Fields.Str("number")]; ok && err == nil {
					registers = append(registers, backend.Register{Number: number, Value: v})
				}
			}
			fr.Ask(q, func(a request.Answer) { // its number differs between releases of gdb
				if v, err := strconv.ParseUint(a.Results.Str("value"), 0, 64); err == nil {
					registers = append(registers, backend.Register{Number: backend.ThreadPointer, Value: v})
				}
				texts = append(texts, registers.String())
				if len(texts) == len(threads) {
					then(texts)
				}
			}, "-data-evaluate-expression", "--thread", strconv.Itoa(n), "--frame", "0", "$fs_base")
		}, "-data-list-register-values", args...)
	}
}
