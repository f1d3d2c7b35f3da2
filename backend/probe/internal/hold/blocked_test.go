package hold

import (
	"strings"
	"testing"
)

func TestParseSyscall(t *testing.T) {
	for text, want := range map[string]bool{
		"running\n": false,
		"":          false,
		"0 0x0 0x7ffd 0x1 0x0 0x0 0x0 0x7ffe1000 0x7f001122\n": true,
		"-1 0x7ffe1000 0x7f001122\n":                           true,
		"-1 0x0 0x0\n":                                         false,
		"-1 stack 0x7f001122\n":                                false,
	} {
		r, ok := parseSyscall(text)
		sp, _ := r.Get(stackPointer)
		pc, _ := r.Get(Machine.PC)
		if ok != want || ok && (sp != 0x7ffe1000 || pc != 0x7f001122) {
			t.Errorf("%q: %v, %#x, %#x", text, ok, sp, pc)
		}
		_, known := r.Get(syscallArguments[1])
		if known != strings.HasPrefix(text, "0 ") {
			t.Errorf("%q: an argument is known: %v", text, known)
		}
	}
}
