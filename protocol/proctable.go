// Processes of a job.

package protocol

import (
	"errors"
	"fmt"
	"strings"

	"sdm/protocol/rank"
)

// Process is the process of one rank of a job: a row of a Proctable.
type Process struct {
	Rank    rank.ID `json:"rank"`
	Host    string  `json:"host"` // name used by the starter
	PID     int     `json:"pid"`
	Program string  `json:"program,omitempty"` // path of the executable, if the starter provides it
}

// Proctable lists the processes of all ranks of a job: MPIR's MPIR_proctable (rank
// i is entry i), or a list given by the user.
type Proctable []Process

// Node is one host of a Proctable with its ranks.
type Node struct {
	Host  string
	Ranks rank.Set
	Pids  []Pid // by rank
}

// ErrNotStarted is the error for a rank without a process.
var ErrNotStarted = errors.New("0 is not a process id")

// Check validates a table that is not trusted: no duplicate rank, no rank or
// process ID out of bounds, no rank without a host or with one that CheckHost
// refuses.
func (t Proctable) Check() error {
	seen := make(map[rank.ID]bool, len(t))
	for _, p := range t {
		switch {
		case p.Rank < 0 || p.Rank > rank.MaxID:
			return fmt.Errorf("rank %d is not from 0 to %d", p.Rank, rank.MaxID)
		case seen[p.Rank]:
			return fmt.Errorf("rank %d appears twice", p.Rank)
		case p.PID == 0:
			return fmt.Errorf("rank %d: %w", p.Rank, ErrNotStarted)
		case p.PID < 0:
			return fmt.Errorf("rank %d: %d is not a process id", p.Rank, p.PID)
		case p.Host == "":
			return fmt.Errorf("rank %d has no host", p.Rank)
		}
		if err := CheckHost(p.Host); err != nil {
			return fmt.Errorf("rank %d: %w", p.Rank, err)
		}
		seen[p.Rank] = true
	}
	return nil
}

// Only returns the rows of some ranks.
func (t Proctable) Only(ranks rank.Set) Proctable {
	var some Proctable
	for _, p := range t {
		if ranks.Contains(p.Rank) {
			some = append(some, p)
		}
	}
	return some
}

// Ranks returns the ranks of the table.
func (t Proctable) Ranks() rank.Set {
	ids := make([]rank.ID, len(t))
	for i, p := range t {
		ids[i] = p.Rank
	}
	return rank.Of(ids...)
}

// Nodes returns the hosts in the order in which they first occur in the table.
func (t Proctable) Nodes() []Node {
	at := map[string]int{}
	var nodes []Node
	var ids [][]rank.ID
	for _, p := range t {
		i, known := at[p.Host]
		if !known {
			i = len(nodes)
			at[p.Host] = i
			nodes, ids = append(nodes, Node{Host: p.Host}), append(ids, nil)
		}
		ids[i] = append(ids[i], p.Rank)
		nodes[i].Pids = append(nodes[i].Pids, Pid{Rank: p.Rank, PID: p.PID})
	}
	for i := range nodes {
		nodes[i].Ranks = rank.Of(ids[i]...)
	}
	return nodes
}

// Pids returns the process IDs of the ranks, as the argument of attach.
func (t Proctable) Pids() []Pid {
	pids := make([]Pid, len(t))
	for i, p := range t {
		pids[i] = Pid{Rank: p.Rank, PID: p.PID}
	}
	return pids
}

// SameHost compares host names; one may lack the domain.
func SameHost(a, b string) bool {
	shortA, _, _ := strings.Cut(a, ".")
	shortB, _, _ := strings.Cut(b, ".")
	return a == b || shortA == shortB && (a == shortA || b == shortB)
}
