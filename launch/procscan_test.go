package launch

import (
	"fmt"
	"strings"
	"testing"

	"sdm/protocol"
)

// rankOf is a process with the environment of a rank.
func rankOf(parent, number, size int, job, host string) process {
	return process{parent: parent, Identity: Identity{Number: number, Size: size, Job: job, Host: host}}
}

// within is a rank that mpirun has started in a Slurm job.
func within(slurm string, p process) process {
	p.Within = slurm
	return p
}

func other(parent int) process {
	return process{parent: parent, Identity: Identity{Number: Unknown, Size: Unknown}}
}

// seenFrom is the processes as a given host sees them, if hosts share processes but have networks
// of their own.
func seenFrom(host string, ps processes) processes {
	seen := processes{}
	for pid, p := range ps {
		p.elsewhere = p.Host != "" && !protocol.SameHost(p.Host, host)
		seen[pid] = p
	}
	return seen
}

// host is a starter 10 with two of three ranks below a proxy, one of which has started a child,
// and a rank of another job.
func host() processes {
	return processes{
		1: other(0), 10: other(1), 11: other(10),
		20: rankOf(11, 0, 3, "slurm.pmix.7.0", "a"), 21: rankOf(11, 1, 3, "slurm.pmix.7.0", "a"), 22: rankOf(21, 1, 3, "slurm.pmix.7.0", "a"),
		30: rankOf(1, 0, 1, "8.0", "a"), 31: rankOf(1, 0, 1, "9.0", ""),
		40: rankOf(11, 2, 3, "slurm.pmix.7.0", "b.x.org"), // of another host, same processes
	}
}

func rows(t protocol.Proctable) string {
	var words []string
	for _, p := range t {
		words = append(words, fmt.Sprintf("%d:%s:%d", p.Rank, p.Host, p.PID))
	}
	return strings.Join(words, " ")
}

func TestRanksOfJob(t *testing.T) {
	twice := host()
	twice[23] = rankOf(1, 1, 3, "7.0", "a")
	// A batch script 2 with an mpirun 3 has two ranks here, and a third one below its helper 4 on
	// another host with the same processes.
	batch := processes{
		1: other(0), 2: rankOf(1, 0, 3, "", "a"), 3: rankOf(2, 0, 3, "", "a"), 4: rankOf(1, 1, 2, "12.0", "b"),
		5: within("12", rankOf(3, 0, 3, "2690121729", "a")), 6: within("12", rankOf(3, 1, 3, "2690121729", "a")), 7: within("12", rankOf(4, 2, 3, "2690121729", "b")),
	}
	mpiTwice := processes{1: other(0), 5: batch[5], 6: within("12", rankOf(3, 0, 3, "17", "a"))}
	for _, c := range []struct {
		ps             processes
		id, host, want string
	}{
		{host(), "7.0", "a", "0:a:20 1:a:21"},
		{host(), "slurm.pmix.7.0", "a.y.org", "0:a.y.org:20 1:a.y.org:21"},
		{host(), "7.0", "b", "2:b:40"},
		{host(), "9.0", "b", "0:b:31"},
		{host(), "7", "a", "no process on a belongs to job 7 (there are ranks of 8.0, 9.0, slurm.pmix.7.0)"},
		{processes{1: other(0)}, "7.0", "a", "no process on a belongs to job 7.0 (nor to any other that tells its name in PMIX_NAMESPACE, PMI_JOBID, SLURM_JOB_ID or the like)"},
		{batch, "12", "a", "0:a:5 1:a:6"},
		{batch, "12", "b", "2:b:7"},
		{batch, "12.0", "b", "1:b:4"},
		{batch, "2690121729", "a", "0:a:5 1:a:6"},
		{batch, "13", "b", "no process on b belongs to job 13 (there are ranks of 12, 12.0, 2690121729)"},
		{mpiTwice, "12", "a", "job 12: processes 5 and 6 are both rank 0 (has mpirun been called twice in the job? the PID of one mpirun names its ranks)"},
		{twice, "7.0", "a", "job 7.0: processes 21 and 23 are both rank 1"},
	} {
		table, of, err := seenFrom(c.host, c.ps).ranksOfJob(c.id, c.host)
		got := rows(table)
		if err != nil {
			got = err.Error()
		}
		if got != c.want || err == nil && of.Size < 1 {
			t.Errorf("%s on %s: %s of %d, want %s", c.id, c.host, got, of.Size, c.want)
		}
	}
}

func TestRanksBelow(t *testing.T) {
	short := host()
	delete(short, 40)
	for _, c := range []struct {
		ps   processes
		top  int
		want string
	}{
		{host(), 10, "0::20 1::21 2::40"},
		{host(), 30, ""},
		{host(), 99, ""},
		{host(), 1, "processes 20 and 30 are both rank 0"}, // 31 is, too
		{short, 10, "1 of its 3 ranks are on other hosts"},
	} {
		table, err := c.ps.ranksBelow(c.top)
		got := rows(table)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("below %d: %s, want %s", c.top, got, c.want)
		}
	}
}

// TestIsOn tells hosts with the same processes apart by their networks, if the starter gives no
// host name or another one.
func TestIsOn(t *testing.T) {
	for _, c := range []struct {
		says      string
		elsewhere bool
		want      bool
	}{
		{"", false, true},
		{"", true, false},
		{"n1.x.org", true, true}, // a container with a network of its own
		{"n1-ib", false, true},
		{"n2", true, false},
	} {
		p := rankOf(1, 0, 1, "7.0", c.says)
		p.elsewhere = c.elsewhere
		if got := p.isOn("n1"); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
