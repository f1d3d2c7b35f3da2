// Jobs of torchrun, which has no list of its ranks: names of its jobs, and how long its ranks wait
// for one another.

package launch

import (
	"cmp"
	"net"
	"slices"
	"strings"
)

// torchrunName begins the name of a job of torchrun: torchrun:ID, torchrun:ADDRESS:PORT, or both
// with an @ between them.
const torchrunName = "torchrun:"

// IsTorchrun reports whether a name is the name of a job of torchrun.
func IsTorchrun(name string) bool { return strings.HasPrefix(name, torchrunName) }

// TorchrunJob returns the name of the job of torchrun to which the ranks below a process of this
// host belong, for RanksOfJob; "" if there are none. If there are several jobs, it
// returns one of them.
func TorchrunJob(pid int) string {
	ps := RankFrom{}.scan()
	for other, p := range ps {
		if p.Number != Unknown && p.Source == torchrun.rank && ps.isBelow(other, pid) {
			return torchrunName + p.Job
		}
	}
	return ""
}

// isOf reports whether a process belongs to the job of a name.
func (id Identity) isOf(name string) bool {
	part, named := strings.CutPrefix(name, torchrunName)
	if !named {
		return sameJob(id.Job, name) || id.Within == name
	}
	if id.Source != torchrun.rank {
		return false
	}
	run, address := splitTorchrun(id.Job)
	return part == id.Job || part == run || part == address
}

// jobName returns the name that users give for the job of a process.
func (id Identity) jobName() string {
	if id.Source == torchrun.rank && id.Job != "" {
		return torchrunName + id.Job
	}
	return id.Job
}

// torchrunJobs returns the names of the jobs of torchrun on a host, which is this one, that a name
// may mean, sorted. Agents on one host belong to one job if they have the same address.
func (ps processes) torchrunJobs(name, host string) (jobs []string) {
	if !strings.HasPrefix(name, torchrunName) {
		return nil
	}
	for _, p := range ps {
		if full := p.jobName(); ps.isRank(p) && p.isOn(host) && p.isOf(name) && !slices.Contains(jobs, full) {
			jobs = append(jobs, full)
		}
	}
	slices.Sort(jobs)
	return jobs
}

// splitTorchrun splits ID@ADDRESS:PORT.
func splitTorchrun(job string) (run, address string) {
	at := strings.LastIndexByte(job, '@')
	return job[:max(at, 0)], job[at+1:]
}

// isOfOneHost reports whether the address in the name of a job is the loopback, so that jobs of
// equal names on two hosts are two jobs: torchrun uses the loopback for a job on one node.
func isOfOneHost(job string) bool {
	_, address := splitTorchrun(job)
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// HeldTooLong returns what happens to a job of torchrun or Horovod whose ranks are held for long,
// by the environment (NAME=VALUE) of one of them; "" for other jobs. Time limits of communication
// go on while a rank is stopped: the ranks that wait for it, or the rank itself when it continues,
// end the job. Sources: torch/distributed/constants.py, ProcessGroupNCCL.hpp; Horovod's
// documentation (stalls, gloo).
func HeldTooLong(env []string) string {
	vars := lookup(env)
	switch {
	case torchrun.started(vars):
		text := "while ranks are held, the time of their process groups goes on: gloo and MPI give up after 30 minutes, NCCL after 10 (30 before torch 2.2), unless init_process_group has another timeout"
		if on := vars["TORCH_NCCL_ENABLE_MONITORING"]; on == "0" || strings.EqualFold(on, "false") {
			return text
		}
		seconds := cmp.Or(vars["TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC"], "480 to 600")
		return text + "; NCCL's monitor ends a rank after " + seconds + " s without a heartbeat (TORCH_NCCL_ENABLE_MONITORING=0 switches it off)"
	case horovod.started(vars):
		text := "while ranks are held, the time of Horovod goes on: gloo gives up after " + cmp.Or(vars["HOROVOD_GLOO_TIMEOUT_SECONDS"], "30") + " s (HOROVOD_GLOO_TIMEOUT_SECONDS)"
		if after := vars["HOROVOD_STALL_SHUTDOWN_TIME_SECONDS"]; after != "" && after != "0" {
			text += ", and a stalled job ends after " + after + " s (HOROVOD_STALL_SHUTDOWN_TIME_SECONDS)"
		}
		return text
	}
	return ""
}
