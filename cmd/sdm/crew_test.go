package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestToolLine fills in templates and lets the shell split the lines.
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

func TestIsHere(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, hostName(): true, "no-such-host.invalid": false} {
		if got := isHere(host); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
}
