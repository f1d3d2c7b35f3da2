package servers

import (
	"os/exec"
	"testing"

	"sdm/launch/slurm"
)

// TestToolLine fills in templates and lets the shell split the lines.
func TestToolLine(t *testing.T) {
	for _, c := range []struct{ template, want string }{
		{"printf '[%s]' {jobid} {hosts} {nodes} -- {daemon}", "[7 x][a,b][2][--][/bin/s d][it's]"},
		{"printf '[%s]' run", "[run][/bin/s d][it's]"},
	} {
		line := ToolLine(c.template, "7 x", []string{"a", "b"}, []string{"/bin/s d", "it's"})
		got, err := exec.Command("/bin/sh", "-c", line).Output()
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.template, got, err, c.want)
		}
	}
}

func TestIsHere(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, HostName(): true, "no-such-host.invalid": false} {
		if got := IsHere(host); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
}

// TestWay checks that the choice of the user stays.
func TestWay(t *testing.T) {
	for _, c := range []struct {
		name  string
		start Way
		use   func(*Way)
		want  Way
	}{
		{"srun", Way{}, (*Way).UseSlurm, Way{StartTool: slurm.Tool}},
		{"srun, but a shell is chosen", Way{RemoteShell: "rsh"}, (*Way).UseSlurm, Way{RemoteShell: "rsh"}},
		{"a shell", Way{}, func(w *Way) { w.UseShell([]string{"/bin/rsh", "-x"}) }, Way{RemoteShell: "/bin/rsh -x"}},
		{"ssh", Way{}, func(w *Way) { w.UseShell([]string{"/usr/bin/ssh", "-x"}) }, Way{}},
		{"a word with a blank", Way{}, func(w *Way) { w.UseShell([]string{"rsh", "-o a"}) }, Way{}},
		{"a shell, but a tool is chosen", Way{StartTool: "t"}, func(w *Way) { w.UseShell([]string{"rsh"}) }, Way{StartTool: "t"}},
	} {
		c.use(&c.start)
		if c.start != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.start, c.want)
		}
	}
}
