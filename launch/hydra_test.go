package launch

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"sdm/protocol"
)

// hydraLine is the command line of a proxy, as MPICH 4.0's mpiexec makes it.
func hydraLine(before, control, number string) []string {
	return strings.Fields(before + "/usr/bin/hydra_pmi_proxy --control-port " + control + " --rmk user --demux poll --pgid 0 --proxy-id " + number)
}

func TestHydraBelow(t *testing.T) {
	quoted := hydraLine(`/usr/bin/ssh -x n2 `, "n0:7", "1")
	quoted[3] = `"/usr/bin/hydra_pmi_proxy"`
	for _, c := range []struct {
		name  string
		lines map[int][]string
		want  string // control, srun: hosts
	}{
		{"nothing", map[int][]string{11: {"sh", "-c", "x"}, 12: nil}, ""},
		{"a rank with the proxy's name as an argument", map[int][]string{11: {"./a", "hydra_pmi_proxy"}}, ""},
		{"one host", map[int][]string{11: hydraLine("", "n0:7", "0")}, "n0:7 0: []"},
		{"several hosts", map[int][]string{12: quoted, 11: hydraLine("", "n0:7", "0"), 13: hydraLine("/bin/sh /opt/my rsh -x n3 ", "n0:7", "2")},
			"n0:7 0: [] n2[/usr/bin/ssh -x] n3[/bin/sh /opt/my rsh -x]"},
		{"proxies in the order of their numbers", map[int][]string{11: hydraLine("ssh n9 ", "n0:7", "10"), 12: hydraLine("ssh n2 ", "n0:7", "2")}, "n0:7 0: n2[ssh] n9[ssh]"},
		{"proxies started by one srun, and its helper", map[int][]string{11: hydraLine("/usr/bin/srun -N 3 -n 3 --input none ", "n0:7", "-1"), 20: hydraLine("/usr/bin/srun -N 3 -n 3 --input none ", "n0:7", "-1")}, "n0:7 11:"},
		{"a remote shell that runs its command on this host", map[int][]string{11: hydraLine("rsh n2 ", "n0:7", "0"), 20: {"sh", "-c", "hydra_pmi_proxy --control-port n0:7"}, 21: hydraLine("", "n0:7", "0")}, "n0:7 0: n2[rsh]"},
		{"two jobs of a script", map[int][]string{11: hydraLine("rsh n2 ", "n0:7", "0"), 12: hydraLine("rsh n3 ", "n0:8", "0")}, "n0:7 0: n2[rsh]"},
		{"no host", map[int][]string{11: hydraLine("rsh -x ", "n0:7", "0")}, ""},
	} {
		ps := processes{10: other(1), 11: other(10), 12: other(10), 13: other(10), 20: other(11), 21: other(20)}
		h, found := ps.readHydra(c.lines)
		got := ""
		if found {
			got = fmt.Sprintf("%s %d:", h.Control, h.Srun)
			for _, p := range h.Proxies {
				got += " " + p.Host + fmt.Sprint(p.Shell)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if want := strings.ContainsAny(got, "n") && got != "n0:7 0: []"; h.Elsewhere() != want {
			t.Errorf("%s: elsewhere %v", c.name, h.Elsewhere())
		}
	}
}

// TestRanksOfHydraNamesTheHost looks for a job that is not there.
func TestRanksOfHydraNamesTheHost(t *testing.T) {
	if _, _, err := RanksOfHydra("n0:0", "n7"); err == nil || err.Error() != "no hydra_pmi_proxy --control-port n0:0 runs on n7" {
		t.Error(err)
	}
}

// TestFamily reads a real family: a shell, and two ranks that are its grandchildren.
func TestFamily(t *testing.T) {
	rank := "PMI_SIZE=2 PMI_RANK=%d sleep 100 & "
	cmd := exec.Command("sh", "-c", "sh -c '"+fmt.Sprintf(rank+rank, 0, 1)+"wait'; exit 0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
	var f Family
	var table protocol.Proctable
	for end := time.Now().Add(10 * time.Second); len(table) < 2; { // until the shells have called sleep
		if time.Now().After(end) {
			t.Fatalf("below %d: %v, ranks %v", f.pid, f.Descendants(), table)
		}
		f = FamilyOf(cmd.Process.Pid)
		table, _ = RankFrom{}.RanksBelow(f)
	}
	all := f.Descendants()
	if len(all) != 3 || f.ps[all[0]].parent != f.pid || f.ps[all[1]].parent != all[0] || f.ps[all[2]].parent != all[0] {
		t.Fatalf("%v below %d: %v", all, f.pid, f.ps)
	}
	if table[0].PID+table[1].PID != all[1]+all[2] {
		t.Errorf("%v; the descendants are %v", table, all)
	}
}
