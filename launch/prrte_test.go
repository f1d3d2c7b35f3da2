package launch

import (
	"fmt"
	"strings"
	"testing"

	"sdm/protocol"
)

func TestIsPRRTE(t *testing.T) {
	for _, c := range []struct {
		exe, argv0 string
		want       bool
	}{
		{"/usr/bin/prte", "prterun", true},
		{"/opt/prrte/bin/prterun", "/opt/prrte/bin/prterun", true},
		{"/usr/bin/prte", "prte", false},
		{"/usr/bin/prted", "prted", false},
		{"/usr/bin/orterun", "mpirun", false},
	} {
		if got := isPRRTE(c.exe, []string{c.argv0, "-n", "2"}); got != c.want {
			t.Errorf("%s as %s: %v", c.exe, c.argv0, got)
		}
	}
}

// TestFirstJob has ranks of a starter whose first job came after a tool.
func TestFirstJob(t *testing.T) {
	rank := func(parent int, job string) process { return process{parent: parent, Identity: Identity{Job: job}} }
	ps := processes{10: other(1), 11: rank(10, "prterun-n0-10@3"), 12: rank(10, "prterun-n0-10@2"), 13: rank(10, "prterun-n0-1@1"), 20: rank(1, "prterun-n0-10@1"), 21: rank(10, "prterun-n0-10@x")}
	if got := ps.firstJob(10, "prterun-n0-10"); got != "prterun-n0-10@2" {
		t.Error(got)
	}
	if got := ps.firstJob(20, "prterun-n0-20"); got != "prterun-n0-20@1" {
		t.Error(got)
	}
}

// TestReadPRRTE uses command lines of daemons of PRRTE 3 and 5.
func TestReadPRRTE(t *testing.T) {
	ps := processes{10: other(1), 11: other(10), 12: other(11), 20: other(1)}
	daemon := "prted --prtemca ess env --prtemca ess_base_nspace prterun-n0-10@0 --prtemca ess_base_vpid 1"
	quoted := `prted --prtemca ess_base_nspace "prterun-n1-10@0"`
	for _, c := range []struct {
		name  string
		lines map[int]string
		want  string
	}{
		{"daemons on this host", map[int]string{11: daemon}, "prterun-n0-10@1"},
		{"daemons started by srun, and its helper", map[int]string{11: "srun --mpi=none --jobid=7 " + quoted, 12: "srun --mpi=none --jobid=7 " + quoted}, "prterun-n1-10@1 of 7"},
		{"daemons of another job", map[int]string{20: "srun --jobid=7 " + quoted}, ""},
		{"a program that srun starts", map[int]string{11: "srun --jobid=7 ./app"}, ""},
	} {
		lines := map[int][]string{10: strings.Fields("prterun -n 4 ./app")}
		for pid, line := range c.lines {
			lines[pid] = strings.Fields(line)
		}
		j := ps.readPRRTE(10, lines)
		got := j.Namespace
		if j.Slurm != "" {
			got += " of " + j.Slurm
		}
		if c.want != "" && got != c.want || c.want == "" && (j.Slurm != "" || !strings.HasPrefix(got, "prterun-") || !strings.HasSuffix(got, "-10@1")) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestHostsOfLine(t *testing.T) {
	files := map[string]string{"hosts": "# three\nn1 slots=2\nn2.x.org:4\n\nn1\n"}
	for line, want := range map[string]string{
		"prterun -n 4 ./app":                          "",
		"prterun --host n1:2,n2 -n 4 ./app":           "n1 n2",
		"prterun -H n1,+n0,n1 ./app":                  "n1",
		"prterun --hostfile hosts -n 4 ./app":         "n1 n2.x.org",
		"prterun -machinefile none --host n3 ./a : b": "n3",
		"prterun --host":                              "",
	} {
		got := hostsOfLine(strings.Fields(line), func(file string) []byte { return []byte(files[file]) })
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestRemoteShellOf(t *testing.T) {
	for _, c := range []struct{ variable, line, want string }{
		{"", "prterun ./app", ""},
		{"/opt/remsh", "prterun ./app", "/opt/remsh"},
		{"/opt/remsh", "prterun --prtemca plm_ssh_agent rsh:ssh ./app", "rsh"},
		{"", "prterun --mca plm_rsh_agent oarsh ./app", "oarsh"},
	} {
		if got := remoteShellOf(map[string]string{"PRTE_MCA_plm_ssh_agent": c.variable}, strings.Fields(c.line)); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestConnections reads tables in the format of Linux.
func TestConnections(t *testing.T) {
	const tables = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0A004D0A:D341 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 700 1 0000000000000000 100 0 0 10 0
   1: 0A004D0A:D341 0C004D0A:DEB9 01 00000000:00000000 02:000AF6E5 00000000     0        0 701 2 0000000000000000 20 4 30 10 -1
   2: 0000000000000000FFFF00000A004D0A:D341 0000000000000000FFFF00000B004D0A:AFA3 01 00000000:00000000 00:00000000 00000000     0        0 702 1 0000000000000000 20 4 0 10 -1
   3: B80D0120000000000000000001000000:D341 B80D0120000000000000000002000000:AFA3 01 00000000:00000000 00:00000000 00000000     0        0 703 1 0000000000000000 20 4 0 10 -1
   4: x y 01 z
   5: 0A004D0A:D341 nonsense:DEB9 01 00000000:00000000 02:000AF6E5 00000000     0        0 704 2 0000000000000000 20 4 30 10 -1
`
	var got []string
	for _, c := range connections([]byte(tables)) {
		got = append(got, fmt.Sprint(c.inode, " ", c.peer))
	}
	if want := "701 10.77.0.12, 702 10.77.0.11, 703 2001:db8::2"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}

func TestHelpers(t *testing.T) {
	for program, want := range map[string]bool{"/usr/bin/prted": true, "hydra_pmi_proxy": true, "./app": false, "": false} {
		if got := HasHelpers(protocol.Proctable{{Program: program}}); got != want {
			t.Errorf("%q: %v", program, got)
		}
	}
}
