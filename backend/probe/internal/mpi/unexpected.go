// Messages that have arrived and that no receive has taken.

package mpi

import (
	"errors"
	"maps"
	"slices"

	"sdm/backend/probe/internal/emulator"
)

// Unexpected is a message that has arrived at a process and that none of its receives has taken.
type Unexpected struct {
	Peer int // world rank of the sender
	Tag  int
	Comm *Communicator
}

// maxAwaited bounds the receives of a call for which unexpected messages are looked for, and maxOther the other
// communicators in which they are.
const (
	maxAwaited = 8
	maxOther   = 8
)

// envelope is what a receive accepts, in numbers of this package: source is a rank of the communicator or
// AnySource, and tag may be AnyTag.
type envelope struct {
	comm        *Communicator
	source, tag int
}

// Unexpected returns the messages that have come in place of those that a call waits for: with another tag from
// the same source, with the same tag from another source, or in another communicator with the same tag, of the same
// source first. Messages that are received later may be among them.
func (l *Library) Unexpected(c *Call) (all []Unexpected) {
	for i, e := range c.awaited() {
		if i == maxAwaited {
			break
		}
		if u, ok := l.instead(e); ok {
			all = append(all, u)
		}
	}
	return all
}

// awaited returns what the receives and probes accept that a call waits for, as far as it is known.
func (c *Call) awaited() (all []envelope) {
	if polls[c.Function] {
		return nil
	}
	if source := c.Arg("source"); source != nil && c.Comm != nil && source.Known {
		tag := c.Arg("recvtag")
		if tag == nil {
			tag = c.arg(Tag)
		}
		if tag != nil && tag.Known {
			all = append(all, envelope{c.Comm, int(source.Value), int(tag.Value)})
		}
	}
	for _, q := range c.Requests {
		if q.Kind == "receive" && q.Why == "" && !q.Done {
			all = append(all, envelope{q.Comm, q.Peer, q.Tag})
		}
	}
	return all
}

// instead returns the message that has come in place of one that is awaited.
func (l *Library) instead(e envelope) (Unexpected, bool) {
	if e.source == NoPeer || e.comm.Remote != nil {
		return Unexpected{}, false
	}
	var tries []envelope
	if e.tag != AnyTag {
		tries = append(tries, envelope{e.comm, e.source, AnyTag})
	}
	if e.source != AnySource {
		tries = append(tries, envelope{e.comm, AnySource, e.tag})
	}
	others := l.others(e.comm)
	for _, c := range others {
		t := envelope{c, e.source, e.tag}
		if e.source != AnySource {
			world, ok := e.comm.worldRank(e.source)
			if t.source = slices.Index(c.World, world); !ok || t.source < 0 {
				continue
			}
		}
		tries = append(tries, t)
	}
	if e.source != AnySource {
		for _, c := range others {
			tries = append(tries, envelope{c, AnySource, e.tag})
		}
	}
	if found, ok := l.probe(e); !ok || found != nil { // the awaited message itself is under way to its receive
		return Unexpected{}, false
	}
	for _, t := range tries {
		found, ok := l.probe(t)
		if !ok {
			return Unexpected{}, false
		}
		if found == nil {
			continue
		}
		if again, ok := l.probe(*found); !ok || again == nil || *again != *found { // the library must find it by its own source and tag, too
			return Unexpected{}, false
		}
		if world, ok := found.comm.worldRank(found.source); ok {
			return Unexpected{world, found.tag, found.comm}, true
		}
	}
	return Unexpected{}, false
}

// others returns the other communicators that are known: of those that the process has, these are
// MPI_COMM_WORLD and the ones that its calls and requests use.
func (l *Library) others(c *Communicator) (all []*Communicator) {
	for _, handle := range slices.Sorted(maps.Keys(l.comms)) {
		if d := l.comms[handle]; d != c && d.Err == nil && d.Remote == nil && len(all) < maxOther {
			all = append(all, d)
		}
	}
	return all
}

// probe asks the library, by MPI_Iprobe, for the first message that has arrived and that a receive would accept.
// nil: there is none. ok is false if the library does not answer.
func (l *Library) probe(e envelope) (found *envelope, ok bool) {
	source, tag := uint64(l.Family.raw(e.source)), uint64(l.Family.raw(e.tag))
	if l.Family == MPICH {
		return l.probeMPICH(e, source, tag)
	}
	return l.probeOpenMPI(e, source, tag)
}

// probeOpenMPI asks an Open MPI. If there is no message, MPI_Iprobe calls opal_progress.
func (l *Library) probeOpenMPI(e envelope, source, tag uint64) (*envelope, bool) {
	at, ok := l.machine.image.Address("PMPI_Iprobe")
	if !ok {
		return nil, false
	}
	defer l.machine.Undo()
	flag, status := l.machine.Alloc(8), l.machine.Alloc(64)
	_, err := l.machine.CallUntil([]string{"opal_progress"}, at, source, tag, e.comm.handle, flag, status)
	set, _ := l.machine.Uint(flag, 4)
	switch {
	case err == nil:
		return nil, true
	case !errors.Is(err, emulator.ErrNotReached) || set != 1:
		return nil, false
	}
	from, _ := l.machine.Uint(status, 4) // MPI_Status of Open MPI begins with source and tag
	with, _ := l.machine.Uint(status+4, 4)
	return e.found(int(int32(from)), int(int32(with)))
}

// probeMPICH asks an MPICH over UCX. MPI_Iprobe tells how it asks UCX; UCX tells the first message that fits. Its
// tag of 64 bits is encoded as in a receive, see match.
func (l *Library) probeMPICH(e envelope, source, tag uint64) (*envelope, bool) {
	status, flag := l.machine.Alloc(64), l.machine.Alloc(8)
	asked, ok := l.machine.until([]string{"ucp_tag_probe_nb"}, "PMPI_Iprobe", source, tag, e.comm.handle, flag, status)
	at := linked{l.process, l.cache}.Function("ucp_tag_probe_nb")
	if !ok || at == 0 {
		return nil, false
	}
	defer l.machine.Undo()
	info := l.machine.Alloc(16) // ucp_tag_recv_info_t: tag and length (ucp/api/ucp_def.h)
	message, _, err := l.machine.Call(at, asked[0], asked[1], asked[2], 0, info)
	switch {
	case err != nil:
		return nil, false
	case message == 0:
		return nil, true
	}
	v, _ := l.machine.Uint(info, 8)
	if v&asked[2] != asked[1]&asked[2] {
		return nil, false
	}
	return e.found(int(v>>32&0xffff), int(v&bitsOfTag))
}

// found returns the envelope of a message that a library has found for e; ok is false if it cannot be one.
func (e envelope) found(source, tag int) (found *envelope, ok bool) {
	fits := (e.source == AnySource || e.source == source) && (e.tag == AnyTag || e.tag == tag)
	if !fits || tag < 0 || source < 0 || source >= len(e.comm.peers()) {
		return nil, false
	}
	return &envelope{e.comm, source, tag}, true
}
