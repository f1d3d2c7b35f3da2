package probe

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"sdm/backend/probe/hold"
	"sdm/backend/probe/image"
)

// TestNamesOfCPlusPlus has a program without debug information.
func TestNamesOfCPlusPlus(t *testing.T) {
	p := startSource(t, "c++", inlining, "-O2")
	var got string
	for !strings.HasSuffix(got, " pause") {
		got = strings.Join(functions(newCache().take([]int{p.Process.Pid}, view{"function", true})[0]), "; ")
	}
	if got != "main deep::Solver::run pause" {
		t.Error(got)
	}
}

// TestNamesOfStrippedProgram has a program whose symbols are in .gnu_debugdata, as distributions
// ship it (GDB manual, MiniDebugInfo).
func TestNamesOfStrippedProgram(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	tool := func(stdin string, line ...string) {
		t.Helper()
		c := exec.Command(line[0], line[1:]...)
		c.Stdin = strings.NewReader(stdin)
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, text)
		}
	}
	tool(inlining, "gcc", "-O2", "-o", path("whole"), "-x", "c++", "-")
	tool("", "objcopy", "--only-keep-debug", path("whole"), path("symbols"))
	tool("", "strip", "--strip-all", path("whole"))
	symbols, err := os.ReadFile(path("symbols"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(symbols); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("symbols.xz"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	tool("", "objcopy", "--add-section", ".gnu_debugdata="+path("symbols.xz"), path("whole"), path("program"))
	p := run(t, path("program"))
	var got string
	for !strings.HasSuffix(got, " pause") {
		got = strings.Join(functions(newCache().take([]int{p.Process.Pid}, view{"function", true})[0]), "; ")
	}
	if got != "main deep::Solver::run pause" {
		t.Error(got)
	}
}

// TestFileThatBecomesShorter has a file replaced in place while it is mapped.
func TestFileThatBecomesShorter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	b, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	mapped, err := hold.MapFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Unmap(mapped)
	s, _, err := image.ReadSymbols(mapped)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	if at, ok := s.Address("main.main"); ok {
		t.Errorf("main.main is at %#x", at)
	}
	if name := s.Name(1 << 22); name != "" {
		t.Errorf("a name of nothing: %q", name)
	}
	if _, _, err := image.ReadSymbols(mapped); err == nil {
		t.Error("its headers were read")
	}
}
