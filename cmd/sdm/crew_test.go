package main

import (
	"os/exec"
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestToolLine fills in a template of a site, as its shell understands it.
func TestToolLine(t *testing.T) {
	for _, c := range []struct{ template, want string }{
		{"printf '[%s]' {jobid} {hosts} {nodes} -- {daemon}", "[7 x][a,b][2][--][/bin/s d][it's]"},
		{"printf '[%s]' run", "[run][/bin/s d][it's]"},
	} {
		line := toolLine(c.template, "7 x", []string{"a", "b"}, []string{"/bin/s d", "it's"})
		got, err := exec.Command("/bin/sh", "-c", line).Output()
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.template, got, err, c.want)
		}
	}
}

func TestSpansHosts(t *testing.T) {
	for _, c := range []struct {
		args, env string
		o         options
		want      bool
	}{
		{"mpirun -n 4 ./a", "", options{}, false},
		{"mpirun --host a,b ./a", "", options{}, true},
		{"mpirun --hostfile=h ./a", "", options{}, true},
		{"mpirun ./a", "PBS_NODEFILE=/n", options{}, true},
		{"mpirun --host a ./a", "", options{remoteShell: "rsh"}, false},
		{"mpirun --host a ./a", "", options{startTool: "x"}, false},
		{"mpirun --host a ./a", "", options{only: "1"}, false},
	} {
		c.o.args, c.o.env = strings.Fields(c.args), strings.Fields(c.env)
		if got := c.o.spansHosts(); got != c.want {
			t.Errorf("%s %s: %v", c.args, c.env, got)
		}
	}
}

// TestSettle gives each server the ranks of its node, whatever its number.
func TestSettle(t *testing.T) {
	nodes := protocol.Proctable{{Rank: 0, Host: "a"}, {Rank: 1, Host: "b.x.org"}, {Rank: 2, Host: "a"}}.Nodes()
	routes := func(hosts ...string) protocol.RouteTable {
		var table protocol.RouteTable
		for i, h := range hosts {
			table.Routes = append(table.Routes, protocol.Route{Server: protocol.ServerID(i), Host: h, Ranks: rank.Of(rank.ID(i))})
		}
		return table
	}
	for _, c := range []struct {
		hosts  []string
		byHost bool
		want   string
	}{
		{[]string{"any", "names"}, false, "0,2 1"},
		{[]string{"b", "a"}, true, "1 0,2"},
		{[]string{"a", "c"}, true, "a server on c, where its table has no ranks"},
	} {
		table := routes(c.hosts...)
		got := ""
		if err := settle(table, nodes, c.byHost); err != nil {
			got = err.Error()
		} else {
			got = table.Routes[0].Ranks.String() + " " + table.Routes[1].Ranks.String()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v: %s, want %s", c.hosts, got, c.want)
		}
	}
}

func TestIsHere(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, hostName(): true, "no-such-host.invalid": false} {
		if got := isHere(host); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
}
