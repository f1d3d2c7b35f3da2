package sampler

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"sdm/backend/probe/internal/image"

	"sdm/backend/probe/internal/hold"
)

// TestNamesOfCPlusPlus has a program without debug information.
func TestNamesOfCPlusPlus(t *testing.T) {
	p := startSource(t, "c++", inlining, "-O2")
	var got string
	for !strings.HasSuffix(got, " pause") {
		got = strings.Join(functions(New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]), "; ")
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
		got = strings.Join(functions(New("").Take([]int{p.Process.Pid}, Options{By: "function", AllThreads: true}).Samples[0]), "; ")
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

// TestSeparateDebugFiles has a stripped program whose debug information is in a file of its own, which is read
// if it was asked for.
func TestSeparateDebugFiles(t *testing.T) {
	dir := t.TempDir()
	path := build(t, []string{"g++"}, "c++", inlining, "-g", "-O2")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, id, err := image.ReadSymbols(b)
	if err != nil {
		t.Fatal(err)
	}
	separate := filepath.Join(dir, ".build-id", id[:2], id[2:]+".debug")
	other := filepath.Join(dir, "other", ".build-id", id[:2], id[2:]+".debug")
	for _, line := range [][]string{
		{"mkdir", "-p", filepath.Dir(separate), filepath.Dir(other)},
		{"objcopy", "--only-keep-debug", path, separate},
		{"strip", "--strip-all", path},
		{"cp", "/bin/true", other},
	} {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	p := run(t, path)
	for debugFiles, want := range map[string]string{
		dir:                         "main <stdin>:31; deep::Solver::run <stdin>:23; deep::twice <stdin>:19; deep::Solver::step <stdin>:11; pause",
		"":                          "__libc_start_main; pause",
		filepath.Join(dir, "other"): "__libc_start_main; pause",
	} {
		var got string
		for n := 0; n < 1000 && !strings.HasSuffix(got, " pause"); n++ {
			c := New("")
			c.debugFiles = debugFiles
			var all []string
			for _, f := range c.Take([]int{p.Process.Pid}, Options{By: "line", AllThreads: true}).Samples[0].Threads[0] {
				if f.Func != unnamed {
					all = append(all, strings.TrimSpace(strings.TrimSuffix(fmt.Sprintf("%s %s:%d", f.Func, f.File, f.Line), " :0")))
				}
			}
			got = strings.Join(all, "; ")
		}
		if got != want {
			t.Errorf("debug files in %q: %q, want %q", debugFiles, got, want)
		}
	}
}

// atSymbol is a line of gdb's info symbol.
var atSymbol = regexp.MustCompile(`^(\S+)(?: \+ \d+)? in section`)

// TestStubsAsGDBNamesThem compares the names of the stubs by which a program calls its libraries.
func TestStubsAsGDBNamesThem(t *testing.T) {
	for _, flags := range []string{"-O2 -no-pie", "-O2 -fcf-protection -Wl,-z,ibtplt", "-O2 -Wl,-z,now"} {
		t.Run(flags, func(t *testing.T) {
			p := startSource(t, "c", source, strings.Fields(flags)...)
			x, err := New("").look(p.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(x.modules, func(m image.Module) bool { return m.File == x.program })
			var addrs []uint64
			line := []string{"-nx", "-batch"}
			for _, name := range stubSections {
				first, size, ok := (placed{x, i}).Section(name)
				for at := first + 16; ok && at < first+size; at += 16 {
					addrs = append(addrs, at+6)
					line = append(line, "-ex", fmt.Sprintf("info symbol %#x", at+6-x.modules[i].Bias))
				}
			}
			out, err := exec.Command("gdb", append(line, p.Path)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			named := 0
			for n, text := range strings.Split(strings.TrimSpace(string(out)), "\n") {
				m := atSymbol.FindStringSubmatch(text)
				if m == nil || !strings.Contains(m[1], "@plt") || n >= len(addrs) {
					continue
				}
				named++
				if places, _ := x.at(addrs[n]); places[0].Function != m[1] {
					t.Errorf("%#x is %s, gdb says %s", addrs[n], places[0].Function, text)
				}
			}
			if named < 5 {
				t.Errorf("gdb names %d stubs:\n%s", named, out)
			}
		})
	}
}
