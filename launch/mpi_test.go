package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestLinksMPI(t *testing.T) {
	dir := t.TempDir()
	build := func(source, out string, args ...string) string {
		t.Helper()
		src := filepath.Join(dir, out+".c")
		if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, out)
		if text, err := exec.Command("gcc", append([]string{"-o", path, src}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, text)
		}
		return path
	}
	const caller = "int MPI_Init(void); int main(void) { return MPI_Init(); }"
	build("int MPI_Init(void) { return 0; }", "libmpi.so.40", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40")
	build("int MPI_Init(void) { return 0; }", "libompi.so.1", "-shared", "-fPIC", "-Wl,-soname,libompi.so.1")
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, path string
		want       bool
	}{
		{"with libmpi", build(caller, "mpi", filepath.Join(dir, "libmpi.so.40")), true},
		{"with another library", build(caller, "other", filepath.Join(dir, "libompi.so.1")), false},
		{"serial", build("int main(void) { return 0; }", "serial"), false},
		{"static", build("int main(void) { return 0; }", "static", "-static"), false},
		{"a script", script, false},
		{"no file", filepath.Join(dir, "none"), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := LinksMPI(c.path); got != c.want {
				t.Errorf("LinksMPI = %v, want %v", got, c.want)
			}
		})
	}
}
