// Support of the processor's registers by gdb.

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

// CannotWriteRegisters returns why gdb cannot call functions of a program; "": it can. It builds a
// program in dir with gcc.
func CannotWriteRegisters(dir string) string {
	source, program := filepath.Join(dir, "call.c"), filepath.Join(dir, "call")
	if err := os.WriteFile(source, []byte("int f(int x) { return x + 1; }\nint main(void) { return f(1); }\n"), 0o600); err != nil {
		return err.Error()
	}
	if out, err := exec.Command("gcc", "-g", "-O0", "-o", program, source).CombinedOutput(); err != nil {
		return fmt.Sprintf("%v: %s", err, out)
	}
	out, err := exec.Command("gdb", "-nx", "-batch", "-ex", "break main", "-ex", "run", "-ex", "print f(2)", program).CombinedOutput()
	if err == nil && strings.Contains(string(out), "= 3\n") {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return "gdb cannot call functions of programs on this processor: " + lines[len(lines)-1]
}
