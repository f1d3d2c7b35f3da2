package gdb

import "testing"

func TestLibraryPattern(t *testing.T) {
	if got, want := libraryPattern(`/opt/c++ [new]/a*b\lib.so`), "^/opt/c.. .new./a.b.lib.so$"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
