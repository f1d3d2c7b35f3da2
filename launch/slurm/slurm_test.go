package slurm

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseStep(t *testing.T) {
	for text, want := range map[string]Step{
		"12": {"12", ""}, "12.0": {"12", "0"}, "12_3.1": {"12_3", "1"}, "12+1.0": {"12+1", "0"}, "7.2+1": {"7", "2+1"},
		"sDTDM86RQBGH00": {"sDTDM86RQBGH00", ""}, "s585M86RQYD500.3": {"s585M86RQYD500", "3"},
	} {
		if got, err := ParseStep(text); err != nil || got != want || got.String() != text || got.HasSLUID() != (text[0] == 's') {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "12.", ".0", "12.batch", "-1", "12.0;rm", "12 0", "s585M86RQYD50", "s585M86RQYD50U", "sDTDM86RQBGH00+1", strings.Repeat("1", 70)} {
		if got, err := ParseStep(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestChooseStep(t *testing.T) {
	cases := []struct{ asked, listed, want string }{
		{"12", "12.0 app\n", "12.0"},
		{"12", "12.batch batch\n12.3 my app\n12.extern extern\n", "12.3"},
		{"12", "12.interactive interactive\n", "12 by mpirun"},
		{"12", "", "12 by mpirun"},
		{"12", "13.0 app\n", "12 by mpirun"},
		{"12", "12.0 orted\n12.batch batch\n", "12.0 by mpirun"},
		{"12", "12.0 hydra_pmi_proxy\n", "12.0 by mpirun"},
		{"12", "12.0 app\n12.1 orted\n", "job 12 has several steps: 0, 1 (give one: slurm:12.0)"},
		{"12.0", "12.0 app\n12.1 orted\n", "12.0"},
		{"12.1", "12.0 app\n12.1 orted\n", "12.1 by mpirun"},
		{"12.2", "12.0 app\n12.1 orted\n", "job 12 has no step 2 now"},
	}
	for _, c := range cases {
		asked, err := ParseStep(c.asked)
		if err != nil {
			t.Fatal(err)
		}
		got, inner, err := asked.ChooseStep(c.listed)
		text := got.String()
		if inner {
			text += " by mpirun"
		}
		if err != nil {
			text = err.Error()
		}
		if !strings.HasPrefix(text, c.want) || err == nil && text != c.want {
			t.Errorf("%s of %q: %s, want %s", c.asked, c.listed, text, c.want)
		}
	}
}

func TestReadNodes(t *testing.T) {
	for text, want := range map[string]string{
		"12 RUNNING n[1-3] 12\n": "12: -1 n[1-3];",
		"19 RUNNING n2 12_1\n":   "19: -1 n2;", // of a job array
		"12 PENDING  12\n":       "job 12 has no nodes, it is pending",
		"":                       "job 12 does not run",
		"12 RUNNING n1 12_0\n13 RUNNING n[2-3] 12_1\n": "job 12 is several",
		"12 RUNNING n1 12+0\n13 RUNNING n[2-3] 12+1\n": "12: 0 n1;1 n[2-3];",
		"12 RUNNING n1 12+0\n15 RUNNING n[2-3] 14+1\n": "job 12 is several",
		"12 RUNNING n1 12+0\n13 PENDING  12+1\n":       "job 12 has no nodes, it is pending",
	} {
		id, parts, err := Step{Job: "12"}.ReadNodes(text)
		got := id + ": "
		for _, p := range parts {
			got += fmt.Sprint(p.Group, " ", p.Nodes, ";")
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzChooseStep(f *testing.F) {
	f.Add("12.0 app\n12.batch batch\n")
	f.Add("12.0 orted")
	f.Fuzz(func(t *testing.T, listed string) {
		s := Step{Job: "12"}
		if got, _, err := s.ChooseStep(listed); err == nil && got.Step != "" && !strings.Contains(listed, got.String()) {
			t.Errorf("%q: step %s", listed, got)
		}
		if id, nodes, err := s.ReadNodes(listed); err == nil && (id == "" || len(nodes) == 0) {
			t.Errorf("%q: job %q on %v", listed, id, nodes)
		}
	})
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
		{BroadcastTo("12", []string{"n1", "n3"}, "/a", "/tmp/b"), "srun " + strings.Join(options, " ") + " --jobid=12 --nodes=2 --ntasks=2 --nodelist=n1,n3 --bcast=/tmp/b /a --version"},
		{OnAll(3, "rm", "-f", "/tmp/b"), "srun " + strings.Join(options, " ") + " --nodes=3 --ntasks=3 rm -f /tmp/b"},
	} {
		if got := strings.Join(c.line, " "); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestReadPids(t *testing.T) {
	const head = "PID      JOBID    STEPID   LOCALID GLOBALID\n"
	for text, want := range map[string]string{
		head + "25208 5 0 0 2\n25212 5 0 1 3\n25246 5 0 - -\n300 5 1 0 0\n": "map[2:25208 3:25212]",
		head:                                  "map[]",
		"":                                    "map[]",
		head + "1 5 0 0 0\n2 5 0 0 0\n":       "scontrol listpids: processes 1 and 2 are both rank 0",
		head + "x 5 0 0 0\n":                  `scontrol listpids: "x 5 0 0 0" is no process of a rank`,
		head + "7 5 0 0 -1\n":                 `scontrol listpids: "7 5 0 0 -1" is no process of a rank`,
		"slurmd: Invalid job step 5.0 here\n": "map[]",
	} {
		pids, err := Step{"5", "0"}.ReadPids(text)
		got := fmt.Sprint(pids)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if err := Broken("slurm 24.05.2"); err == nil || Broken("slurm-wlm 22.05.8") != nil || Broken("") != nil {
		t.Error(err)
	}
}

func FuzzReadPids(f *testing.F) {
	f.Add("PID JOBID STEPID LOCALID GLOBALID\n25208 5 0 0 2\n25246 5 0 - -\n")
	f.Fuzz(func(t *testing.T, listed string) {
		pids, err := Step{"5", "0"}.ReadPids(listed)
		for r, pid := range pids {
			if err != nil || r < 0 || pid <= 0 {
				t.Errorf("%q: rank %d is %d, %v", listed, r, pid, err)
			}
		}
	})
}

func TestReadQueue(t *testing.T) {
	for text, want := range map[string]string{
		"PENDING Resources\n":           "PENDING pending (Resources) true",
		"RUNNING None\n":                "RUNNING running true",
		"PENDING (a b)\nRUNNING None\n": "RUNNING running true", // of an array
		"RUNNING None\nPENDING X\n":     "RUNNING running true",
		"":                              "  false",
	} {
		state, why, known := ReadQueue(text)
		if got := fmt.Sprint(state, " ", why, " ", known); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
