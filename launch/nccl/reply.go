// Package nccl asks the RAS service within the processes of a job of NCCL which processes the job has, and how many
// collectives each of them has begun; and it tells what follows from several answers.
//
// Source: NCCL's user guide (Troubleshooting, RAS) and src/ras/client_support.cc of release 2.29. No GPU was at hand:
// all of it was tried with a stand-in for that service.
package nccl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Reply is an answer of RAS.
type Reply struct {
	// Text is what a release before 2.28.7 answers, which knows no JSON; Comms is then empty.
	Text    string
	Version string
	Comms   []Comm
}

// Comm is a communicator.
type Comm struct {
	Key   string // the same in all answers
	Name  string // for people
	Size  int    // number of its ranks
	Ranks []Rank // those of which something is known
}

// Rank is a rank of a communicator.
type Rank struct {
	Rank    int // in the communicator
	Process Process
	Counts  Counts
	Ready   bool // the communicator is initialised, and has no error
	// Missing: the process has not answered. Its counts are not known.
	Missing bool
}

// Process is a process of a job as its own host knows it.
type Process struct {
	Host netip.Addr
	PID  int
}

// Counts are how many collectives of each kind a rank has begun in a communicator.
type Counts [5]uint64

// kinds are the names of the kinds of Counts.
var kinds = [len(Counts{})]string{"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"}

// Bounds of an answer: its bytes, its depth, and the ranks of all its communicators.
const (
	maxReply = 64 << 20
	maxDepth = 16
	maxRanks = 1 << 20
)

// replyJSON is the form of an answer.
type replyJSON struct {
	Version string     `json:"nccl_version"`
	Comms   []commJSON `json:"communicators"`
}

type commJSON struct {
	Hash      string     `json:"hash"`
	Secondary string     `json:"secondary_hash"`
	Size      int        `json:"size"`
	Ranks     []rankJSON `json:"ranks"`
	Missing   []rankJSON `json:"missing_ranks"`
}

type rankJSON struct {
	Rank   int    `json:"rank"`
	Host   string `json:"host"`
	PID    int    `json:"pid"`
	Status struct {
		Init  int  `json:"init_state"`
		Error int  `json:"async_error"`
		Abort bool `json:"abort_flag"`
	} `json:"status"`
	Counts *struct {
		Broadcast, Reduce, AllGather, ReduceScatter, AllReduce uint64
	} `json:"collective_counts"`
}

// parse reads an answer in JSON.
func parse(text []byte) (*Reply, error) {
	if len(text) > maxReply {
		return nil, fmt.Errorf("the answer is longer than %d MiB", maxReply>>20)
	}
	if deeper(text, maxDepth) {
		return nil, errors.New("the answer is nested too deeply")
	}
	var in replyJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("the answer is not what NCCL answers: %w", err)
	}
	r := &Reply{Version: plain(in.Version)}
	total := 0
	seen := map[string]bool{}
	for i := range in.Comms {
		c, err := in.Comms[i].comm()
		if err != nil {
			return nil, err
		}
		if total += len(c.Ranks); total > maxRanks {
			return nil, fmt.Errorf("the answer has more than %d ranks", maxRanks)
		}
		if seen[c.Key] {
			return nil, fmt.Errorf("the answer has %s twice", c.Name)
		}
		seen[c.Key] = true
		r.Comms = append(r.Comms, c)
	}
	return r, nil
}

// plain returns a text if it has nothing but letters, digits and some signs, as numbers and versions have, and is
// short.
func plain(s string) string {
	odd := func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(".:+-_", r))
	}
	if len(s) > 64 || strings.ContainsFunc(s, odd) {
		return ""
	}
	return s
}

func (in *commJSON) comm() (c Comm, err error) {
	if plain(in.Hash) == "" {
		return c, errors.New("the answer has a communicator without a hash")
	}
	c = Comm{Key: in.Hash + " " + plain(in.Secondary), Size: in.Size,
		Name: "communicator " + in.Hash + " (" + strconv.Itoa(in.Size) + ")"}
	seen := map[int]bool{}
	add := func(r *rankJSON, missing bool) error {
		host, err := netip.ParseAddr(r.Host)
		switch {
		case err != nil:
			return fmt.Errorf("%s: rank %d has no address", c.Name, r.Rank)
		case r.Rank < 0 || r.Rank >= in.Size || seen[r.Rank]:
			return fmt.Errorf("%s: rank %d is not possible, or there twice", c.Name, r.Rank)
		case r.PID <= 0:
			return fmt.Errorf("%s: rank %d is in process %d", c.Name, r.Rank, r.PID)
		case !missing && r.Counts == nil:
			return fmt.Errorf("%s: rank %d has no counts", c.Name, r.Rank)
		}
		seen[r.Rank] = true
		x := Rank{Rank: r.Rank, Process: Process{host.WithZone("").Unmap(), r.PID}, Missing: missing}
		if !missing {
			x.Ready = r.Status.Init == 0 && r.Status.Error == 0 && !r.Status.Abort
			n := r.Counts
			x.Counts = Counts{n.Broadcast, n.Reduce, n.AllGather, n.ReduceScatter, n.AllReduce}
		}
		c.Ranks = append(c.Ranks, x)
		return nil
	}
	for i := range in.Ranks {
		if err := add(&in.Ranks[i], false); err != nil {
			return c, err
		}
	}
	for i := range in.Missing {
		if err := add(&in.Missing[i], true); err != nil {
			return c, err
		}
	}
	slices.SortFunc(c.Ranks, func(a, b Rank) int { return cmp.Compare(a.Rank, b.Rank) })
	return c, nil
}

// deeper reports whether a text of JSON is nested deeper than limit.
func deeper(text []byte, limit int) bool {
	depth := 0
	for len(text) > 0 {
		i := bytes.IndexAny(text, `{}[]"`)
		if i < 0 {
			return false
		}
		sign := text[i]
		text = text[i+1:]
		switch sign {
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		default:
			text = afterString(text)
		}
	}
	return false
}

// afterString returns what follows a string of JSON whose begin has been read.
func afterString(text []byte) []byte {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[i+1:]
		}
	}
	return nil
}

// Processes returns the processes of an answer, each once.
func (r *Reply) Processes() (all []Process) {
	seen := map[Process]bool{}
	for _, c := range r.Comms {
		for _, x := range c.Ranks {
			if !seen[x.Process] {
				seen[x.Process] = true
				all = append(all, x.Process)
			}
		}
	}
	return all
}
