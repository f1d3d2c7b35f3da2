// Which image contains the interpreter, and its version by the names of files.

package python

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Image is a program or library at its place in a process.
type Image interface {
	// Address returns the address in the process of a function or variable that the image defines.
	Address(symbol string) (addr uint64, ok bool)
	// Section returns the place in the process of a section.
	Section(name string) (addr, size uint64, ok bool)
}

// MayHold reports whether an image may contain an interpreter: programs may, and libraries whose names contain
// "python".
func MayHold(path string, program bool) bool {
	return program || strings.Contains(filepath.Base(path), "python")
}

// Images are images of a process that may contain an interpreter, the program first.
type Images []Image

func (all Images) address(symbol string) (addr uint64, ok bool) {
	for _, im := range all {
		if addr, ok = im.Address(symbol); ok {
			return addr, true
		}
	}
	return 0, false
}

// Holder returns the index of the image that contains the interpreter; -1: none does. From 3.11 on, a section
// tells it even if the program is stripped and exports nothing.
func (all Images) Holder() int {
	if i := all.defining("_PyRuntime"); i >= 0 {
		return i
	}
	for i, im := range all {
		if _, _, ok := im.Section(".PyRuntime"); ok {
			return i
		}
	}
	return all.defining("PyEval_EvalFrameEx") // before 3.7
}

// defining returns the index of the first image that defines a symbol; -1: none does.
func (all Images) defining(symbol string) int {
	return slices.IndexFunc(all, func(im Image) bool {
		_, ok := im.Address(symbol)
		return ok
	})
}

// runtime returns the address of _PyRuntime; ok is false if no image has it.
func (all Images) runtime() (addr uint64, ok bool) {
	if addr, ok = all.address("_PyRuntime"); ok {
		return addr, true
	}
	if i := all.Holder(); i >= 0 {
		addr, _, ok = all[i].Section(".PyRuntime")
	}
	return addr, ok
}

// MinorOf returns the minor version of Python 3 by the name of the image that contains the interpreter, such
// as python3.9 or libpython3.9.so.1.0, or else by the directory of a file of the process, such as
// lib/python3.9. 0: no name tells it.
func MinorOf(image string, files []string) int {
	if v := minorAfter(filepath.Base(image)); v != 0 {
		return v
	}
	for _, path := range files {
		for dir := range strings.SplitSeq(filepath.Dir(path), "/") {
			if v := minorAfter(dir); v != 0 && strings.HasPrefix(dir, "python3.") {
				return v
			}
		}
	}
	return 0
}

// minorAfter returns the number after "python3." in a name; 0: there is none.
func minorAfter(name string) int {
	_, rest, found := strings.Cut(name, "python3.")
	if !found {
		return 0
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	v, err := strconv.ParseUint(digits, 10, 8)
	if err != nil {
		return 0
	}
	return int(v)
}
