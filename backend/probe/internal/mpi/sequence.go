// Numbers of messages.

package mpi

import (
	"maps"
	"slices"

	"sdm/protocol/digest"
)

// Bounds of what is looked at for numbers of messages.
const (
	maxSequenced = 64   // communicators
	maxCounted   = 4096 // peers of a communicator
	bytesOfPeer  = 128  // of the object of the ob1 layer for a peer, which has numbers of messages, and queues
)

// Sequences is SequencesOf for the communicators that are known.
func (l *Library) Sequences() (hash uint64, ok bool) { return l.SequencesOf(l.Handles()) }

// Handles returns the communicators that are known, at most maxSequenced.
func (l *Library) Handles() []uint64 {
	all := slices.Sorted(maps.Keys(l.comms))
	return all[:min(len(all), maxSequenced)]
}

// SequencesOf returns a hash of how many messages have been sent to, and have come from, all peers in
// communicators, as the ob1 layer of Open MPI numbers them. It changes if a message is sent or arrives. Handles that
// are none of a communicator (any more) are passed over. ok is false if the library does not number them so.
func (l *Library) SequencesOf(handles []uint64) (hash uint64, ok bool) {
	if l.Family != OpenMPI {
		return 0, false
	}
	sum := digest.New()
	for _, handle := range handles {
		c := l.communicator(handle)
		if c.Err != nil {
			continue
		}
		peers := openMPI{l}.peersOf(handle, min(len(c.peers()), maxCounted))
		if peers == nil {
			return 0, false
		}
		b := make([]byte, bytesOfPeer)
		for _, p := range peers {
			if p != 0 && l.machine.Read(p, b) {
				sum.Add(b)
			}
		}
	}
	return sum.Sum(), true
}

// peersOf returns the addresses of the objects of the ob1 layer for the peers in a communicator; 0: there is none
// yet. The communicator has a pointer to an object of the class mca_pml_ob1_comm_t, and that has a pointer to an
// array of pointers to objects of the class mca_pml_ob1_comm_proc_t. Where these pointers are is the same in all
// communicators, and is looked for once.
func (l openMPI) peersOf(handle uint64, n int) []uint64 {
	const ofComm, ofOb1 = 1024, 256 // bytes of both objects
	if all := l.peersBy(l.cache.peers, handle, n); all != nil {
		return all
	}
	for i := uint64(0); i < ofComm; i += 8 {
		if ob1, ok := l.machine.Uint(handle+i, 8); !ok || l.classNameOf(ob1) != "mca_pml_ob1_comm_t" {
			continue
		}
		for k := uint64(0); k < ofOb1; k += 8 {
			if all := l.peersBy(peerFields{i, k}, handle, n); all != nil {
				l.cache.peers = peerFields{i, k}
				return all
			}
		}
	}
	return nil
}

// peerFields are the offsets of the pointers that peersOf follows, in bytes. The zero value is no such pointers:
// objects begin with their class.
type peerFields struct{ inComm, inOb1 uint64 }

// peersBy is peersOf for pointers at some offsets; nil: they are not there.
func (l openMPI) peersBy(f peerFields, handle uint64, n int) []uint64 {
	ob1, _ := l.machine.Uint(handle+f.inComm, 8)
	if f == (peerFields{}) || l.classNameOf(ob1) != "mca_pml_ob1_comm_t" {
		return nil
	}
	array, _ := l.machine.Uint(ob1+f.inOb1, 8)
	all := l.machine.pointers(array, 8*n)
	i := slices.IndexFunc(all, func(p uint64) bool { return p != 0 })
	if i < 0 || l.classNameOf(all[i]) != "mca_pml_ob1_comm_proc_t" {
		return nil
	}
	return all
}

// classNameOf returns the name of the class of an object; "": it cannot be an object.
func (l openMPI) classNameOf(object uint64) string {
	return l.className(l.class(object))
}
