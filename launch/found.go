// The output of a server that only looks for ranks on its host (sdm-server --list).

package launch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Found is the part of a job that is on one host. It is written as one line of JSON: a remote
// shell may print other text before it, and one srun delivers the lines of many hosts.
type Found struct {
	Host  string      `json:"host"`
	Size  int         `json:"size"` // of the whole job; Unknown if it is not known
	Ranks []FoundRank `json:"ranks"`
	// Jobs has the full name of the job that was asked for, if it has one, or the full names of all
	// jobs on this host that the name that was asked for may mean.
	Jobs  []string `json:"jobs,omitempty"`
	Error string   `json:"error,omitempty"` // why there are no ranks
	// Addresses are those of the host, if it was asked for processes that listen.
	Addresses []netip.Addr `json:"addresses,omitempty"`
}

// FoundRank is one rank and its process.
type FoundRank struct {
	Rank rank.ID `json:"rank"`
	PID  int     `json:"pid"`
	// Inner is its number in a namespace of its own; 0: it has none, or was not asked for.
	Inner int `json:"inner,omitempty"`
}

// MaxFound bounds the output of all hosts of one command, in bytes: some 30 a rank.
const MaxFound = 64 << 20

// AppendFound appends the line of a host: table has its ranks, of is the job to which they belong,
// and trouble, unless nil, says why there are none.
func AppendFound(b []byte, host string, table protocol.Proctable, of Whole, trouble error) []byte {
	f := Found{Host: host, Size: of.Size, Ranks: []FoundRank{}}
	if of.Name != "" {
		f.Jobs = []string{of.Name}
	}
	var several *SeveralJobs
	if errors.As(trouble, &several) {
		f.Jobs = several.Jobs
	}
	for _, p := range table {
		f.Ranks = append(f.Ranks, FoundRank{Rank: p.Rank, PID: p.PID})
	}
	if trouble != nil {
		f.Error = trouble.Error()
	}
	return f.Append(b)
}

// Append appends the line of a host.
func (f Found) Append(b []byte) []byte {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // cannot happen: numbers and strings only
	}
	return append(append(b, text...), '\n')
}

// ReadFound reads lines that AppendFound has written and skips other text. It reads at most MaxFound
// bytes.
func ReadFound(r io.Reader) (all []Found, err error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxFound))
	if err != nil {
		return nil, err
	}
	for _, line := range bytes.Split(text, []byte("\n")) {
		if line = bytes.TrimSpace(line); !bytes.HasPrefix(line, []byte(`{"host":`)) {
			continue
		}
		var f Found
		if err := json.Unmarshal(line, &f); err != nil {
			return nil, fmt.Errorf("a list of ranks: %q: %w", protocol.Clip(string(line)), err)
		}
		all = append(all, f)
	}
	return all, nil
}

// Joined makes one table of the ranks that the hosts have found of a job. asked is the name by
// which the job was asked for. missing are the ranks that no host has, if the size of the job is
// known. The error is a *SeveralJobs if the hosts have found more than one job.
func Joined(asked string, all []Found) (table protocol.Proctable, missing rank.Set, err error) {
	if jobs := jobsOf(all); len(jobs) > 1 {
		return nil, rank.Set{}, &SeveralJobs{asked, jobs}
	}
	size := Unknown
	for _, f := range all {
		for _, r := range f.Ranks {
			table = append(table, protocol.Process{Rank: r.Rank, Host: f.Host, PID: r.PID})
		}
		size = max(size, f.Size)
	}
	if err := table.Check(); err != nil {
		return nil, rank.Set{}, err
	}
	slices.SortFunc(table, func(a, b protocol.Process) int { return cmp.Compare(a.Rank, b.Rank) })
	if size > 0 && size <= int(rank.MaxID) {
		missing = rank.Range(0, rank.ID(size-1)).Minus(table.Ranks())
	}
	return table, missing, nil
}

// jobsOf returns the names of the jobs that hosts have found, sorted. A job of torchrun whose
// address is the loopback is on one host only; the name of the host is appended to its name, which
// jobs on other hosts may have too.
func jobsOf(all []Found) (jobs []string) {
	for _, f := range all {
		for _, job := range f.Jobs {
			if strings.HasPrefix(job, torchrunName) && isOfOneHost(job) {
				job += onHost + f.Host
			}
			if !slices.Contains(jobs, job) {
				jobs = append(jobs, job)
			}
		}
	}
	slices.Sort(jobs)
	return jobs
}
