package debugger

import (
	"testing"

	"sdm/backend/gdb/gdbtext"
)

func TestLibraryPattern(t *testing.T) {
	if got, want := gdbtext.LibraryPattern(`/opt/c++ [new]/a*b\lib.so`), "^/opt/c.. .new./a.b.lib.so$"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
