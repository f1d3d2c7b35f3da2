package job

import (
	"slices"
	"strings"
	"testing"
)

// isStarter and isProgram know the starters of this package and a few programs.
func isStarter(line []string) bool { return slices.Contains(Starters, StarterName(line[0])) }

func isProgram(word string) bool {
	return isStarter([]string{word}) || slices.Contains([]string{"env", "timeout", "nice", "time", "kill", "python", "./app"}, word)
}

func TestSplitFront(t *testing.T) {
	for _, c := range []struct{ line, front string }{
		{"mpirun -n 2 ./app", ""},
		{"./app mpirun", ""},
		{"env A=1 mpirun -n 2 ./app", "env A=1"},
		{"/usr/bin/timeout -k 5 100 mpirun.openmpi ./app", "/usr/bin/timeout -k 5 100"},
		{"timeout -s kill 100 mpirun ./app", "timeout -s kill 100"},
		{"nice -n 5 env -u X timeout 7 srun ./app", "nice -n 5 env -u X timeout 7"},
		{"time -p mpirun ./app", "time -p"},
		{"time -p ./app mpirun", ""},
		{"env python driver.py mpirun", ""},
		{"timeout 5 ./app", ""},
		{"timeout", ""},
		{"bash -c mpirun", ""},
		{"", ""},
	} {
		words := strings.Fields(c.line)
		front, starter := SplitFront(words, isStarter, isProgram)
		if got := strings.Join(front, " "); got != c.front || !slices.Equal(slices.Concat(front, starter), words) {
			t.Errorf("%s: %q before %q", c.line, got, starter)
		}
	}
}

func TestIsShellOf(t *testing.T) {
	for line, want := range map[string]bool{
		"bash|-c|mpirun -n 2 ./app": true, "sh|-ec|cd x && (mpiexec.hydra ./app)": true, "bash|-lc|module load a;srun ./app": true,
		"bash|-c|./app mpirun-log": false, "bash|run.sh|mpirun": false, "./bash.x|-c|mpirun": false, "bash|-c": false, "bash|--norc|x": false,
	} {
		if got := IsShellOf(strings.Split(line, "|"), func(word string) bool { return isStarter([]string{word}) }); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestCheckFront(t *testing.T) {
	for _, c := range []struct {
		front, line string
		change      func(*Spec)
		want        string // part of the error; "": none
	}{
		{"timeout 5", "mpirun ./app", nil, ""},
		{"", "mpirun ./app", nil, ""},
		{"env A=1 strace", "mpirun ./app", nil, "strace traces what it starts"},
		{"timeout 5", "flux run ./app", nil, "timeout in front of flux"},
		{"timeout 5", "mpirun ./app", func(s *Spec) { s.NeedsPMIx = true }, "timeout in front of mpirun"},
		{"", "bash -c mpirun", nil, "bash: sdm does not see"},
		{"timeout 5", "bash -c mpirun", func(s *Spec) { s.TriesMPIR = true }, ""},
	} {
		s := Spec{Front: strings.Fields(c.front), Argv: strings.Fields(c.line)}
		if c.change != nil {
			c.change(&s)
		}
		if err := s.CheckFront(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.front, c.line, err)
		}
	}
}
