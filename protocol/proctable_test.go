package protocol

import (
	"strings"
	"testing"
)

func TestProctableNodes(t *testing.T) {
	table := Proctable{{0, "b", 10, ""}, {1, "a", 11, ""}, {2, "b", 12, ""}, {3, "a", 13, ""}}
	nodes := table.Nodes()
	if len(nodes) != 2 || nodes[0].Host != "b" || nodes[1].Host != "a" {
		t.Fatalf("nodes %+v", nodes)
	}
	if got := nodes[0].Ranks.String() + " " + nodes[1].Ranks.String(); got != "0,2 1,3" {
		t.Errorf("ranks %s", got)
	}
	if p := nodes[1].Pids; len(p) != 2 || p[0] != (Pid{Rank: 1, PID: 11}) || p[1] != (Pid{Rank: 3, PID: 13}) {
		t.Errorf("pids %+v", p)
	}
	if got := table.Only(nodes[0].Ranks); len(got) != 2 || got[1].PID != 12 {
		t.Errorf("only %+v", got)
	}
	if got := table.Ranks().String(); got != "0-3" {
		t.Errorf("all ranks %s", got)
	}
}

func TestProctableCheck(t *testing.T) {
	for _, c := range []struct {
		row  Process
		want string
	}{
		{Process{1, "a", 11, ""}, ""},
		{Process{0, "a", 11, ""}, "twice"},
		{Process{-1, "a", 11, ""}, "not from 0"},
		{Process{1, "a", 0, ""}, "process id"},
		{Process{1, "", 11, ""}, "no host"},
	} {
		err := Proctable{{0, "a", 10, ""}, c.row}.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.row, err, c.want)
		}
	}
}
