// Support of the processor's registers by gdb and the machine.

package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// NeedRegisters skips a test if gdb cannot write all registers of the processor: gdb 13.1 does not
// know the state of AMX ("Couldn't write extended state status"), so that it can neither call
// functions of the program nor run it backwards.
func NeedRegisters(t testing.TB) {
	t.Helper()
	if why := CannotWriteRegisters(t.TempDir()); why != "" {
		t.Skip(why)
	}
}

// NeedDebugRegisters skips a test if the machine does not stop at hardware breakpoints and watchpoints: some
// virtual machines take what is written to the debug registers, and do nothing.
func NeedDebugRegisters(t testing.TB) {
	t.Helper()
	if why := NoDebugRegisters(t.TempDir()); why != "" {
		t.Skip(why)
	}
}

// CannotWriteRegisters returns why gdb cannot call functions of a program; "": it can. It builds a
// program in dir with gcc.
func CannotWriteRegisters(dir string) string {
	out, err := gdbSays(dir, "print f(2)")
	if err == nil && strings.Contains(out, "= 3\n") {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return "gdb cannot call functions of programs on this processor: " + lines[len(lines)-1]
}

// NoDebugRegisters returns why programs do not stop at hardware breakpoints of plain gdb; "": they do. It builds
// a program in dir with gcc.
func NoDebugRegisters(dir string) string {
	out, err := gdbSays(dir, "hbreak f", "continue")
	switch {
	case err == nil && strings.Contains(out, "Breakpoint 2, f "):
		return ""
	case err == nil && strings.Contains(out, "exited with code"):
		return "hardware breakpoints of gdb do not stop programs on this machine"
	}
	return "hardware breakpoints cannot be tried: " + out
}

// gdbSays returns what gdb says to commands at the beginning of a program that calls f. It builds the program in dir.
func gdbSays(dir string, commands ...string) (text string, err error) {
	source, program := filepath.Join(dir, "call.c"), filepath.Join(dir, "call")
	if err := os.WriteFile(source, []byte("int f(int x) { return x + 1; }\nint main(void) { return f(1); }\n"), 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("gcc", "-g", "-O0", "-o", program, source).CombinedOutput(); err != nil {
		return string(out), fmt.Errorf("gcc: %w", err)
	}
	args := []string{"-nx", "-batch", "-ex", "break main", "-ex", "run"}
	for _, c := range commands {
		args = append(args, "-ex", c)
	}
	out, err := exec.Command("gdb", append(args, program)...).CombinedOutput()
	return string(out), err
}
