package emulator_test

import (
	"bytes"
	"errors"
	"testing"

	"sdm/backend/probe/internal/emulator"
)

// linkedTo has one function behind its only slot.
type linkedTo struct {
	image
	name string
}

func (p linkedTo) Link(slot uint64) string {
	if slot == 16 {
		return p.name
	}
	return ""
}

// TestWorkOfAnswers calls functions of the C library without end: what the machine does for them counts as instructions, so
// that a call ends in time. The code counts its rounds in the word after the code.
func TestWorkOfAnswers(t *testing.T) {
	const text, counter, most = 4096, 64, 400_000
	for name, rounds := range map[string]uint32{"strcpy": most / 500, "strncpy": most / 500, "snprintf": most / 500, "strlen": most / 500, "memcpy": most / 8, "free": most / 8} {
		t.Run(name, func(t *testing.T) {
			code := make(image, 4*4096)
			copy(code, "\xff\x15\x0a\x00\x00\x00\xff\x04\x25\x40\x00\x00\x00\xeb\xf1") // call [16]; inc dword ptr [64]; jmp to the begin
			copy(code[text:], bytes.Repeat([]byte{'a'}, 511))
			m := emulator.New(linkedTo{code, name})
			args := []uint64{2 * 4096, text, 512}
			switch name {
			case "snprintf":
				args[1], args[2] = 512, text
			case "strlen":
				args[0] = text
			}
			if _, _, err := m.Call(0, args...); !errors.Is(err, emulator.ErrTooLong) {
				t.Fatal(err)
			}
			n, _ := m.Uint(counter, 4)
			if n == 0 || uint32(n) > rounds {
				t.Errorf("%d rounds, want %d at most", n, rounds)
			}
		})
	}
}
