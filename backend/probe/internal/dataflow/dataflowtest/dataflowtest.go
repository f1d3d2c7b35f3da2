// Package dataflowtest has code for tests of package dataflow and of those that use it.
package dataflowtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Base is the address of a Code.
const Base = 4096

// Code is the code of one function at Base, in an image that is not moved. It implements dataflow.Image.
type Code []byte

// Read implements dataflow.Image.
func (c Code) Read(addr uint64, b []byte) bool {
	if addr < Base || addr+uint64(len(b)) > Base+uint64(len(c)) || addr+uint64(len(b)) < addr {
		return false
	}
	copy(b, c[addr-Base:])
	return true
}

// Bias implements dataflow.Image.
func (c Code) Bias() uint64 { return 0 }

// Function implements dataflow.Image.
func (c Code) Function(addr uint64) (first, end uint64, ok bool) {
	return Base, Base + uint64(len(c)), addr >= Base && addr < Base+uint64(len(c))
}

// Assemble returns the code of a text in the syntax of Intel's manuals, by gcc and objcopy. A semicolon
// ends an instruction.
func Assemble(t testing.TB, text string) Code {
	t.Helper()
	dir := t.TempDir()
	object, flat := filepath.Join(dir, "o"), filepath.Join(dir, "b")
	as := exec.Command("gcc", "-c", "-o", object, "-x", "assembler", "-")
	as.Stdin = strings.NewReader(".intel_syntax noprefix\nf:\n" + text + "\n")
	if out, err := as.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command("objcopy", "-O", "binary", "-j", ".text", object, flat).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(flat)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
