package backend

import (
	"slices"
	"testing"
)

func TestRegisters(t *testing.T) {
	r := Registers{{3, 0x7fff12345678}, {16, 0}}
	if text := r.String(); text != "3=7fff12345678 16=0" || !slices.Equal(ParseRegisters(text), r) {
		t.Errorf("%q is read as %v", text, ParseRegisters(text))
	}
	if got := ParseRegisters("3 x=1 4=y =2 5=3"); !slices.Equal(got, Registers{{5, 3}}) {
		t.Errorf("other texts are read as %v", got)
	}
}
