package launch

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// recorded is one block of testdata/starters.txt.
type recorded struct{ name, environ, want string }

func recordings(t testing.TB) (all []recorded) {
	t.Helper()
	text, err := os.ReadFile("testdata/starters.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "\n== ")[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		vars, want, found := strings.Cut(rest, "----\n")
		if !found {
			t.Fatalf("%s: no result", name)
		}
		all = append(all, recorded{name, strings.ReplaceAll(vars, "\n", "\x00"), strings.TrimSpace(want)})
	}
	return all
}

// print is an identity in the words of testdata/starters.txt.
func (id Identity) print() string {
	if id.Number == Unknown {
		return "none"
	}
	of := func(text string, n int) string {
		if n == Unknown {
			return ""
		}
		return fmt.Sprintf(text, n)
	}
	s := fmt.Sprintf("rank %d", id.Number) + of(" of %d", id.Size) + of(", local %d", id.Local) + of(" of %d", id.LocalSize) + of(", node %d", id.Node)
	if id.Host != "" {
		s += ", host " + id.Host
	}
	if id.Job != "" || id.Within != "" {
		s += ", job"
	}
	if id.Job != "" {
		s += " " + id.Job
	}
	if id.Within != "" {
		s += " within " + id.Within
	}
	return s + " (" + id.Source + ")"
}

func TestStarters(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range recordings(t) {
		t.Run(r.name, func(t *testing.T) {
			id, err := Identify(splitEnviron([]byte(r.environ)))
			if err != nil || id.print() != r.want {
				t.Errorf("%s, %v\nwant %s", id.print(), err, r.want)
			}
			seen[id.Source] = true
		})
	}
	for _, s := range starters[:len(starters)-4] { // the last ones are in TestIdentify
		if !seen[s.rank] {
			t.Errorf("no environment of a starter that sets %s", s.rank)
		}
	}
}

// TestRankVariables requires that a process without them is no rank of any starter.
func TestRankVariables(t *testing.T) {
	names := RankVariables()
	for _, r := range recordings(t) {
		var left []string
		for _, e := range splitEnviron([]byte(r.environ)) {
			if name, _, _ := strings.Cut(e, "="); !HasName(names, name) {
				left = append(left, e)
			}
		}
		if id, err := Identify(left); err != nil || id.Number != Unknown {
			t.Errorf("%s: still %s, %v", r.name, id.print(), err)
		}
	}
	for name, want := range map[string]bool{"RANK": true, "RANKS_FILE": false, "PMI_ANY": true, "PMIX": false, "WORLD_SIZE": true, "PATH": false, "SLURM_JOB_ID": false, "HOROVOD_TIMELINE": true} {
		if HasName(names, name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestRankFrom(t *testing.T) {
	env := strings.Fields("ID=3 COUNT=4 NEAR=1 NEARBY=2 JOB=x PMI_RANK=7 SLURM_JOB_ID=12")
	for _, c := range []struct{ from, want string }{
		{"", "rank 7, job within 12 (PMI_RANK)"},
		{"ID", "rank 3, job within 12 (ID)"},
		{"ID,COUNT", "rank 3 of 4, job within 12 (ID)"},
		{"ID,,NEAR", "rank 3, local 1, job within 12 (ID)"},
		{"ID,COUNT,NEAR,NEARBY,JOB", "rank 3 of 4, local 1 of 2, job x within 12 (ID)"},
		{"NONE", "none"},
		{"JOB", `JOB="x" is not a number of a process`},
		{"COUNT,ID", "COUNT is 4, but the size of the job is 3"},
		{",A", `",A" is not RANK[,SIZE`},
		{"A,B,C,D,E,F", `"A,B,C,D,E,F" is not RANK[,SIZE`},
		{"A=1", `"A=1" is not the name of a variable`},
	} {
		f, err := ParseRankFrom(c.from)
		var id Identity
		if err == nil {
			id, err = f.Identify(env)
		}
		got := id.print()
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%q: %s, want %s", c.from, got, c.want)
		}
	}
}

func FuzzIdentify(f *testing.F) {
	for _, r := range recordings(f) {
		f.Add(r.environ, "RANK,,LOCAL_RANK")
	}
	f.Fuzz(func(t *testing.T, environ, from string) {
		env := splitEnviron([]byte(environ))
		own, err := ParseRankFrom(from)
		if err != nil {
			own = RankFrom{}
		}
		id, err := own.Identify(env)
		if err == nil && (id.Number == Unknown) != (id.Source == "") || id.Number < Unknown || id.Local < Unknown {
			t.Errorf("%q: %+v", environ, id)
		}
	})
}
