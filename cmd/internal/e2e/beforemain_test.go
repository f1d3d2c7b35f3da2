package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRanksThatEndBeforeMain: what happens to a rank before its main is the affair of that rank; the others go on.
func TestRanksThatEndBeforeMain(t *testing.T) {
	ways := []struct {
		name string
		line []string // in front of the programs
	}{
		{"local", nil},
		{openMPI.name, []string{"--launcher", "slot", "--", openMPI.command}},
		{mpich.name, []string{"--launcher", "slot", "--", mpich.command}},
	}
	for _, way := range ways {
		for _, share := range []string{"1", "8"} {
			t.Run(way.name+", ranks of a gdb: "+share, func(t *testing.T) {
				t.Parallel()
				if way.name == openMPI.name {
					needSeveralPrograms(t, openMPI)
				}
				s := newScene(t)
				foreign, early := filepath.Join(s.dir, "foreign"), program("beforemain")
				if err := os.WriteFile(foreign, []byte("\x7fELF, but no program"), 0o700); err != nil {
					t.Fatal(err)
				}
				args := append([]string{"run", "-b", "-e", "continue", "--ranks-per-gdb", share}, way.line...)
				args = append(args, "-n", "1", program("exitcode"), "0", ":", "-n", "1", foreign, ":", "-n", "1", early, "5",
					":", "-n", "1", early, "KILL", ":", "-n", "1", program("exitcode"), "0")
				front := &console{process: s.start("sdm", args...), size: 2}
				front.exits(1)
				front.folded("exited normally", "")
				front.says("[1] launch: "+foreign+": neither a program of this system",
					"[2] exited with code 5\n", "[3] Program terminated with signal SIGKILL, Killed.\n")
				s.nothingIsLeft()
			})
		}
	}
}
