// The processes that RAS names, and those that a host has.

package nccl

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"sdm/launch"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Numbers returns the ranks of the processes of an answer: those in the biggest communicator that has one rank in each
// process, if there is one; otherwise they are numbered in the order of address and process.
func (r *Reply) Numbers() map[Process]rank.ID {
	all := r.Processes()
	slices.SortFunc(all, func(a, b Process) int {
		return cmp.Or(a.Host.Compare(b.Host), cmp.Compare(a.PID, b.PID))
	})
	numbers := map[Process]rank.ID{}
	for i, p := range all {
		numbers[p] = rank.ID(i)
	}
	var worlds []*Comm
	for i := range r.Comms {
		if c := &r.Comms[i]; c.isWorld(len(all)) {
			worlds = append(worlds, c)
		}
	}
	if len(worlds) > 0 {
		world := slices.MinFunc(worlds, func(a, b *Comm) int { return strings.Compare(a.Key, b.Key) })
		for _, x := range world.Ranks {
			numbers[x.Process] = rank.ID(x.Rank)
		}
	}
	return numbers
}

// isWorld reports whether a communicator has one rank in each of so many processes.
func (c *Comm) isWorld(processes int) bool {
	if c.Size != processes || len(c.Ranks) != processes {
		return false
	}
	seen := map[Process]bool{}
	for _, x := range c.Ranks {
		seen[x.Process] = true
	}
	return len(seen) == processes
}

// Refusal says why a process that RAS has named is left out.
type Refusal struct {
	Ranks rank.Set
	Why   string
}

// Join returns the table of those processes of a job that hosts have found. What RAS says chooses neither a host nor a
// process: a row is made of a process that the host has found to listen for RAS, and belongs to the user; RAS must have
// named it by an address of this host and by its number there, or in its own namespace.
func Join(numbers map[Process]rank.ID, port int, hosts []launch.Found) (table protocol.Proctable, refused []Refusal) {
	whys := map[string][]rank.ID{}
	for p, id := range numbers {
		why := "on " + p.Host.String() + ", which is no host that --hosts names"
		if host, ok := hostOf(p.Host, hosts); ok {
			pids := pidsOf(p.PID, host.Ranks)
			switch len(pids) {
			case 1:
				table = append(table, protocol.Process{Rank: id, Host: host.Host, PID: pids[0]})
				continue
			case 0:
				why = fmt.Sprintf("on %s, where no process of yours with its number listens on port %d", host.Host, port)
			default:
				why = "on " + host.Host + ", where several processes have its number"
			}
		}
		whys[why] = append(whys[why], id)
	}
	slices.SortFunc(table, func(a, b protocol.Process) int { return cmp.Compare(a.Rank, b.Rank) })
	for why, ids := range whys {
		refused = append(refused, Refusal{rank.Of(ids...), why})
	}
	slices.SortFunc(refused, func(a, b Refusal) int { return strings.Compare(a.Why, b.Why) })
	return table, refused
}

// pidsOf returns the processes that have a number, on their host or in a namespace of their own.
func pidsOf(number int, all []launch.FoundRank) (pids []int) {
	for _, r := range all {
		if (r.PID == number || r.Inner == number) && !slices.Contains(pids, r.PID) {
			pids = append(pids, r.PID)
		}
	}
	return pids
}

// hostOf returns the host that has an address.
func hostOf(a netip.Addr, hosts []launch.Found) (f launch.Found, ok bool) {
	i := slices.IndexFunc(hosts, func(h launch.Found) bool { return slices.Contains(h.Addresses, a) })
	if a.IsLoopback() { // every host has it
		i = -1
		if len(hosts) == 1 {
			i = 0
		}
	}
	if i < 0 {
		return f, false
	}
	return hosts[i], true
}
