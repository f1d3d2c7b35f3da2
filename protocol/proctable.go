package protocol

import (
	"errors"
	"fmt"
	"strings"

	"sdm/protocol/rank"
)

// Process is where one rank of a job runs: a row of a Proctable.
type Process struct {
	Rank    rank.ID `json:"rank"`
	Host    string  `json:"host"` // as the starter calls it
	PID     int     `json:"pid"`
	Program string  `json:"program,omitempty"` // path of the executable, where the starter tells it
}

// Proctable tells where all ranks of a job run: MPIR's MPIR_proctable (rank i is
// entry i), or what a person has written.
type Proctable []Process

// Node is one host of a Proctable with the ranks that run there.
type Node struct {
	Host  string
	Ranks rank.Set
	Pids  []Pid // by rank
}

// ErrNotStarted tells that a rank has no process, or not yet.
var ErrNotStarted = errors.New("0 is not a process id")

// Check says what is wrong with a table that came from outside: a rank that is
// there twice or out of bounds, a process id that cannot be, a rank without a
// host, or with one that CheckHost refuses.
func (t Proctable) Check() error {
	seen := make(map[rank.ID]bool, len(t))
	for _, p := range t {
		switch {
		case p.Rank < 0 || p.Rank > rank.MaxID:
			return fmt.Errorf("rank %d is not from 0 to %d", p.Rank, rank.MaxID)
		case seen[p.Rank]:
			return fmt.Errorf("rank %d is there twice", p.Rank)
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

// Only gives the rows of some ranks.
func (t Proctable) Only(ranks rank.Set) Proctable {
	var some Proctable
	for _, p := range t {
		if ranks.Contains(p.Rank) {
			some = append(some, p)
		}
	}
	return some
}

// Ranks are those of the table.
func (t Proctable) Ranks() rank.Set {
	ids := make([]rank.ID, len(t))
	for i, p := range t {
		ids[i] = p.Rank
	}
	return rank.Of(ids...)
}

// Nodes gives the hosts in the order in which the table names them first.
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

// Pids says for each rank which process it is, as attach takes it.
func (t Proctable) Pids() []Pid {
	pids := make([]Pid, len(t))
	for i, p := range t {
		pids[i] = Pid{Rank: p.Rank, PID: p.PID}
	}
	return pids
}

// SameHost compares names, of which one may lack the domain.
func SameHost(a, b string) bool {
	shortA, _, _ := strings.Cut(a, ".")
	shortB, _, _ := strings.Cut(b, ".")
	return a == b || shortA == shortB && (a == shortA || b == shortB)
}
