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
// removed, and the shared program runs. The program that runs can read the rest of the pipe. A thing
// of strangers where the copy should lie is left alone.
func TestLines(t *testing.T) {
	const text = "#!/bin/sh\n[ \"$*\" = --version ] && exit\n[ \"$1\" = --staged ] && [ -x \"$2\" ] && shift 2; echo copy \"$@\"; cat <&3\n"
	// As a server on another host does in that moment.
	shrinking := strings.Replace(text, "\n", "\nrm -f \"${2%%-[0-9]*}\"\n", 1)
	// As another user may do, with the right to rename everything there.
	swapped := strings.Replace(text, "\n", "\n[ $# = 1 ] && for f in \"$DIR\"/copy-*/*; do mv \"$f\" \"$f-\"; echo 'echo swapped' >\"$f\"; chmod 700 \"$f\"; done\n", 1)
	const broken = "#!/nowhere\n"
	shared := source(t, "#!/bin/sh\necho shared \"$@\"; cat <&3\n")
	for _, c := range []struct {
		name         string
		there, comes string
		dir, want    string
		of           string // contents of the program
	}{
		{"the copy exists", text, "", "", "copy", text},
		{"no copy exists", "", "", "", "shared", text},
		{"the copy differs", text + "#", "", "", "shared", text},
		{"the copy cannot be run", broken, "", "", "shared", broken},
		{"another host removes the shared program", shrinking, "", "", "copy", shrinking},
		{"the copy is replaced before it is run", swapped, "", "", "copy", swapped},
		{"the copy arrives", "", text, "", "copy", text},
		{"another copy arrives", "", broken, "", "shared", text},
		{"the copy arrives and is replaced", "", swapped, "", "copy", swapped},
		{"the copy arrives for a directory that does not exist", "", text, "/none", "shared", text},
		{"all descriptors are taken", text, "", "", "shared", text},
	} {
		for _, shell := range []string{"sh", "bash", "busybox sh"} {
			t.Run(c.name+" in "+shell, func(t *testing.T) {
				words := strings.Fields(shell)
				path, err := exec.LookPath(words[0])
				if err != nil {
					t.Skip(err)
				}
				dir := t.TempDir()
				one := CopyOf([]byte(c.of), dir+c.dir, "copy")
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
				line = append(append([]string{path}, words[1:]...), line[1:]...) // in place of /bin/sh
				cmd := exec.Command(line[0], line[1:]...)
				cmd.Env = append(os.Environ(), "DIR="+dir)
				for len(cmd.ExtraFiles) == 0 || len(cmd.ExtraFiles) < 7 && strings.HasPrefix(c.name, "all") {
					cmd.ExtraFiles = append(cmd.ExtraFiles, in)
				}
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
}
