package launch

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sdm/protocol"
)

// worker is a process of torchrun.
func worker(parent, number int, job string) process {
	p := rankOf(parent, number, 2, job, "")
	p.Source = torchrun.rank
	return p
}

func TestTorchrunJobs(t *testing.T) {
	ps := processes{
		1: other(0), 10: other(1), 11: other(1),
		20: worker(10, 0, "none@10.0.0.1:29500"), 21: worker(10, 1, "none@10.0.0.1:29500"),
		22: worker(21, 1, "none@10.0.0.1:29500"), // loads data for 21
		30: worker(11, 1, "a@b:c@10.0.0.1:29600"),
		40: rankOf(1, 0, 1, "none", ""),
	}
	twice := processes{1: other(0), 20: ps[20], 50: worker(1, 0, "none@10.0.0.1:29600")}
	for _, c := range []struct {
		ps       processes
		id, want string
	}{
		{ps, "torchrun:none", "0:n:20 1:n:21"},
		{ps, "torchrun:10.0.0.1:29500", "0:n:20 1:n:21"},
		{ps, "torchrun:none@10.0.0.1:29500", "0:n:20 1:n:21"},
		{ps, "torchrun:a@b:c", "1:n:30"},
		{ps, "none", "0:n:40"},
		{ps, "torchrun:x", "no process on n belongs to job torchrun:x (there are ranks of none, torchrun:a@b:c@10.0.0.1:29600, torchrun:none@10.0.0.1:29500)"},
		{twice, "torchrun:none", "torchrun:none is several jobs: torchrun:none@10.0.0.1:29500, torchrun:none@10.0.0.1:29600 (give one of these names)"},
		{twice, "torchrun:10.0.0.1:29600", "0:n:50"},
	} {
		table, of, err := c.ps.ranksOfJob(c.id, "n")
		got := rows(table)
		if err != nil {
			got = err.Error()
		} else if strings.HasPrefix(c.id, torchrunName) && !IsTorchrun(of.Name) {
			t.Errorf("%s is %q", c.id, of.Name)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.id, got, c.want)
		}
	}
}

// TestJobsOfHosts joins what hosts have found under a name that several jobs have.
func TestJobsOfHosts(t *testing.T) {
	found := func(host, job string) []byte {
		return AppendFound(nil, host, protocol.Proctable{{Rank: 0, PID: 1}}, Whole{job, 2}, nil)
	}
	join := func(lines ...[]byte) string {
		all, err := ReadFound(strings.NewReader(string(slices.Concat(lines...))))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = Joined("torchrun:none", all); err != nil {
			return err.Error()
		}
		return ""
	}
	same, other, own := "torchrun:none@n1:29500", "torchrun:none@n2:29500", "torchrun:none@127.0.0.1:29500"
	several := AppendFound(nil, "n3", nil, Whole{Size: Unknown}, &SeveralJobs{"torchrun:none", []string{same, other}})
	for _, c := range []struct{ got, want string }{
		{join(found("n1", same)), ""},
		{join(found("n1", same), found("n2", other)), "torchrun:none is several jobs: torchrun:none@n1:29500, torchrun:none@n2:29500 (give one of these names)"},
		{join(several), "torchrun:none is several jobs: "},
		{join(found("n1", own), found("n2", own)), "torchrun:none is several jobs: torchrun:none@127.0.0.1:29500 on n1, torchrun:none@127.0.0.1:29500 on n2 (name the host of one: --hosts HOST)"},
	} {
		if !strings.HasPrefix(c.got, c.want) || c.want == "" && c.got != "" {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	long := &SeveralJobs{"x", slices.Repeat([]string{"y"}, 20)}
	if text := long.Error(); !strings.Contains(text, " and 4 more (") || !errors.As(error(long), &long) {
		t.Errorf("%s", text)
	}
}

func TestHeldTooLong(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"", ""},
		{"RANK=0", ""},
		{"PMI_RANK=0 PMI_SIZE=2", ""},
		{"RANK=0 TORCHELASTIC_RUN_ID=x", "ends a rank after 480 to 600 s without"},
		{"RANK=0 TORCHELASTIC_RUN_ID=x TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=77", "ends a rank after 77 s without"},
		{"RANK=0 TORCHELASTIC_RUN_ID=x TORCH_NCCL_ENABLE_MONITORING=0", "unless init_process_group has another timeout"},
		{"HOROVOD_RANK=0", "gloo gives up after 30 s"},
		{"HOROVOD_RANK=0 HOROVOD_GLOO_TIMEOUT_SECONDS=60 HOROVOD_STALL_SHUTDOWN_TIME_SECONDS=90", "ends after 90 s"},
	} {
		got := HeldTooLong(strings.Fields(c.env))
		if !strings.Contains(got, c.want) || c.want == "" && got != "" || strings.Contains(c.env, "MONITORING=0") && !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.env, got, c.want)
		}
	}
}
