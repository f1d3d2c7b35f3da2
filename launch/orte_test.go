package launch

import (
	"strings"
	"testing"
)

// TestORTEJob reads commands by which mpirun of Open MPI 4.1 starts its daemons.
func TestORTEJob(t *testing.T) {
	const daemon = `orted -mca ess "env" -mca ess_base_jobid "124911616" -mca ess_base_vpid 1 -mca ess_base_num_procs "2"`
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"/usr/bin/ssh", "-x", "n1", "PATH=/usr/bin:$PATH ; export PATH ; " + daemon}, "124911617"},
		{strings.Fields(strings.Replace("srun --ntasks-per-node=1 --kill-on-bad-exit "+daemon, `"124911616"`, "124911616", 1)), "124911617"},
		{append([]string{"remsh", "n1"}, strings.Fields(daemon)...), "124911617"},
		{[]string{"/bin/app", "ess_base_jobid"}, ""},
		{[]string{"/bin/app", "ess_base_jobid", "x"}, ""},
		{nil, ""},
	} {
		if got := orteJob(c.argv); got != c.want {
			t.Errorf("%q: job %q, not %q", c.argv, got, c.want)
		}
	}
}
