package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRanksThatEndBeforeMain checks that the end of a rank before its main does not affect the
// others.
func TestRanksThatEndBeforeMain(t *testing.T) {
	t.Parallel()
	for _, way := range []starter{{name: "local"}, openMPI, mpich} {
		for _, share := range []string{"1", "8"} {
			t.Run(way.name+", ranks of a gdb: "+share, func(t *testing.T) {
				t.Parallel()
				needSeveralPrograms(t, way)
				s := newScene(t)
				foreign, early := filepath.Join(s.dir, "foreign"), program("beforemain")
				if err := os.WriteFile(foreign, []byte("\x7fELF, but no program"), 0o700); err != nil {
					t.Fatal(err)
				}
				args := []string{"run", "-b", "-e", "continue", "--ranks-per-gdb", share}
				if way.command != "" {
					args = append(args, "--launcher", "slot", "--", way.command)
				}
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
