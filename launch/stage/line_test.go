package stage

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLines runs a server from a copy that is there or comes through a pipe. A wrong copy is
// removed, and the shared program runs. The program that runs can read the rest of the pipe.
func TestLines(t *testing.T) {
	const text = "#!/bin/sh\n[ \"$*\" = --version ] && exit\n[ \"$1 $2\" = \"--staged $0\" ] && shift 2; echo copy \"$@\"; cat <&3\n"
	// As a server on another host does in that moment.
	shrinking := strings.Replace(text, "\n", "\nrm -f \"${0%/*}/"+filepath.Base(CopyOf(nil, "sdm-server", "", "s").Path)+"\"\n", 1)
	const broken = "#!/nowhere\n"
	shared := source(t, "#!/bin/sh\necho shared \"$@\"; cat <&3\n")
	for _, c := range []struct {
		name         string
		there, comes string
		dir, want    string
		of           string // contents of the program
	}{
		{"a copy is there", text, "", "", "copy", text},
		{"none is", "", "", "", "shared", text},
		{"another one is", text + "#", "", "", "shared", text},
		{"one that cannot be run", broken, "", "", "shared", broken},
		{"another host removes the common one", shrinking, "", "", "copy", shrinking},
		{"it comes", "", text, "", "copy", text},
		{"another one comes", "", broken, "", "shared", text},
		{"it comes to no directory", "", text, "/none", "shared", text},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			one := CopyOf([]byte(c.of), shared, dir+c.dir, "s")
			if c.there != "" {
				if err := os.WriteFile(one.Path, []byte(c.there), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			line := one.Line([]string{shared, "--a", "b  c"})
			if c.comes != "" {
				line = one.LineFrom(3, len(c.comes), []string{shared, "--a", "b  c"})
			}
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			io.WriteString(out, c.comes+"secret") // fits into the pipe's buffer
			out.Close()
			cmd := exec.Command(line[0], line[1:]...)
			cmd.ExtraFiles = []*os.File{in}
			said, err := cmd.CombinedOutput()
			if want := c.want + " --a b  c\nsecret"; err != nil || string(said) != want {
				t.Errorf("%q, %v; want %q", said, err, want)
			}
			if found, _ := filepath.Glob(filepath.Join(dir, "*")); (len(found) == 1) != (c.want == "copy") {
				t.Errorf("there is %q", found)
			}
		})
	}
}
