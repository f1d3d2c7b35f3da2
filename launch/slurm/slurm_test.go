package slurm

import (
	"strings"
	"testing"
)

func TestParseStep(t *testing.T) {
	for text, want := range map[string]Step{
		"12": {"12", ""}, "12.0": {"12", "0"}, "12_3.1": {"12_3", "1"}, "12+1.0": {"12+1", "0"}, "7.2+1": {"7", "2+1"},
	} {
		if got, err := ParseStep(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "12.", ".0", "12.batch", "-1", "12.0;rm", "12 0", strings.Repeat("1", 70)} {
		if got, err := ParseStep(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestChooseStep(t *testing.T) {
	cases := []struct{ listed, want string }{
		{"12.0\n", "12.0"},
		{"12.batch\n12.3\n12.extern\n", "12.3"},
		{"12.interactive\n", "job 12 runs no step now"},
		{"", "job 12 runs no step now"},
		{"13.0\n", "job 12 runs no step now"},
		{"12.0\n12.1\n", "job 12 has several steps: 0, 1 (give one: slurm:12.0)"},
	}
	for _, c := range cases {
		got, err := Step{Job: "12"}.ChooseStep(c.listed)
		text := got.String()
		if err != nil {
			text = err.Error()
		}
		if !strings.HasPrefix(text, c.want) {
			t.Errorf("%q: %s, want %s", c.listed, text, c.want)
		}
	}
}

func FuzzParseStep(f *testing.F) {
	f.Add("12.0")
	f.Add("12_3.4+5")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStep(text)
		if err == nil && s.String() != text {
			t.Errorf("%q is printed as %q", text, s)
		}
	})
}

func TestBroadcast(t *testing.T) {
	for _, c := range []struct {
		line []string
		want string
	}{
		{Broadcast("/a", "/tmp/b"), "sbcast /a /tmp/b"},
		{BroadcastTo("12", []string{"n1", "n3"}, "/a", "/tmp/b"), "srun --overlap --jobid=12 --mpi=none --input=none --ntasks-per-node=1 --nodes=2 --ntasks=2 --nodelist=n1,n3 --bcast=/tmp/b /a --version"},
		{OnAll(3, "rm", "-f", "/tmp/b"), "srun --overlap --mpi=none --input=none --ntasks-per-node=1 --nodes=3 --ntasks=3 rm -f /tmp/b"},
	} {
		if got := strings.Join(c.line, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
