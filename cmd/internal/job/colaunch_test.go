package job

import (
	"strings"
	"testing"

	"sdm/cmd/internal/servers"
)

func TestSpansHosts(t *testing.T) {
	for _, c := range []struct {
		args, env string
		way       servers.Way
		only      string
		want      bool
	}{
		{args: "mpirun -n 4 ./a"},
		{args: "mpirun --host a,b ./a", want: true},
		{args: "mpirun --hostfile=h ./a", want: true},
		{args: "mpirun ./a", env: "PBS_NODEFILE=/n", want: true},
		{args: "mpirun --host a ./a", way: servers.Way{RemoteShell: "rsh"}},
		{args: "mpirun --host a ./a", way: servers.Way{StartTool: "x"}},
		{args: "mpirun --host a ./a", only: "1"},
	} {
		s := Spec{Argv: strings.Fields(c.args), Only: c.only, Servers: servers.Spec{Way: c.way, Env: strings.Fields(c.env)}}
		if got := s.spansHosts(); got != c.want {
			t.Errorf("%s %s: %v", c.args, c.env, got)
		}
	}
}
