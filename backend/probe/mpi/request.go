package mpi

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// Request is a request of point-to-point communication that a call waits for.
type Request struct {
	Done bool   // it is complete, or null
	Kind string // send or receive; "": not known
	// Peer and Tag are valid if Why is "": a rank of Comm, or AnySource; a tag, or AnyTag.
	Peer, Tag int
	Comm      *Communicator
	Why       string // why peer and tag are not known

	handle uint64 // of the communicator
	buffer uint64
	count  int
}

// AnySource and AnyTag stand for any peer and tag in requests and calls, whatever the library's
// numbers are.
const (
	AnySource = -101
	AnyTag    = -102
	NoPeer    = -103 // MPI_PROC_NULL
)

// wildcard returns the numbers of a library for any source, no peer and any tag.
func (l *Library) wildcards() (anySource, noPeer, anyTag int) {
	if l.Family == OpenMPI {
		return -1, -2, -1
	}
	return -2, -1, -1
}

// peer returns a peer with the names of this package.
func (l *Library) peer(v int) int {
	anySource, noPeer, _ := l.wildcards()
	switch v {
	case anySource:
		return AnySource
	case noPeer:
		return NoPeer
	}
	return v
}

func (l *Library) tag(v int) int {
	if _, _, anyTag := l.wildcards(); v == anyTag {
		return AnyTag
	}
	return v
}

// mostRequests bounds the requests of a call.
const mostRequests = 4096

// Requests returns the requests that an array holds.
func (l *Library) Requests(array uint64, n int) []Request {
	if n < 0 || n > mostRequests {
		return nil
	}
	all := make([]Request, n)
	size := l.handleBytes()
	for i := range all {
		handle, ok := l.machine.Uint(array+uint64(i*size), size)
		switch {
		case !ok:
			all[i].Why = "no memory"
		case l.Family == OpenMPI:
			all[i] = l.ofOpenMPI(handle)
		default:
			all[i] = l.ofMPICH(handle)
		}
	}
	return all
}

// object of Open MPI: its first word points to its class.
const (
	requestBytes = 1024 // more than any request of Open MPI, and less than what is behind it
	// mostBefore bounds where in a request its communicator is, in bytes.
	mostBefore = 512
	// processBehind is where a request's process is, from its communicator on, in requests whose
	// peer has no process yet (receives from any source).
	processBehind = 304
	// completeBefore is where a request says that it is complete, before its communicator.
	completeBefore = 88
)

// ofOpenMPI reads a request of the ob1 layer. It has a pointer to its communicator, which is an object
// of the class of communicators, and one to its datatype behind it; then buffer, count, peer and tag
// before the pointer to the process of the peer.
func (l *Library) ofOpenMPI(request uint64) (q Request) {
	if request == 0 || request == l.object("ompi_request_null") {
		return Request{Done: true, Why: "null"}
	}
	b := make([]byte, requestBytes)
	if !l.machine.Read(request, b) {
		return Request{Why: "no memory"}
	}
	at := func(offset int) uint64 { return binary.LittleEndian.Uint64(b[offset:]) }
	comm := l.communicatorIn(at)
	if comm < 0 {
		return Request{Why: "not a request of point-to-point communication"}
	}
	switch class := l.className(at(0)); {
	case strings.HasPrefix(class, "mca_pml_ob1_send"):
		q.Kind = "send"
	case strings.HasPrefix(class, "mca_pml_ob1_recv"):
		q.Kind = "receive"
	default: // other layers keep peer and tag elsewhere
		return Request{Why: "requests of " + class + " are not known"}
	}
	process := l.processIn(at, comm)
	if process < 0 {
		q.Why = "no process in it"
		return q
	}
	q.handle = at(comm)
	q.Comm = l.Communicator(q.handle)
	peer, tag := int(int32(at(process-8))), int(int32(at(process-8)>>32))
	q.count, q.buffer = int(at(process-16)), at(process-24)
	q.Done = at(comm-completeBefore) == 1
	anySource, _, anyTag := l.wildcards()
	if q.Comm.Err != nil || peer < anySource || peer >= len(q.Comm.Peers()) || tag < anyTag {
		q.Why = "not understood"
		return q
	}
	q.Peer, q.Tag = l.peer(peer), l.tag(tag)
	return q
}

// class returns the address of the class of an object of Open MPI; 0: it is none.
func (l *Library) class(object uint64) uint64 {
	if object < 1<<16 || object&7 != 0 || object>>47 != 0 {
		return 0
	}
	class, _ := l.machine.Uint(object, 8)
	return class
}

// className returns the name of a class, to which its first word points.
func (l *Library) className(class uint64) string {
	if l.process.At(class) == nil {
		return ""
	}
	name, _ := l.machine.Uint(class, 8)
	return l.machine.Text(name)
}

// communicatorIn returns where in a request the pointer to its communicator is; -1: nowhere.
func (l *Library) communicatorIn(at func(int) uint64) int {
	comm := l.object("ompi_communicator_t_class")
	types := []uint64{l.object("ompi_datatype_t_class"), l.object("opal_datatype_t_class")}
	for offset := completeBefore; offset+16 <= mostBefore; offset += 8 {
		if comm == 0 || l.class(at(offset)) != comm {
			continue
		}
		if c := l.class(at(offset + 8)); c != 0 && (c == types[0] || c == types[1]) {
			return offset
		}
	}
	return -1
}

// processIn returns where in a request the pointer to the process of its peer is; -1: not known.
func (l *Library) processIn(at func(int) uint64, comm int) int {
	class := l.object("ompi_proc_t_class")
	for offset := comm + 64; offset+8 <= requestBytes; offset += 8 {
		if class != 0 && l.class(at(offset)) == class {
			return offset
		}
	}
	if offset := comm + processBehind; at(offset) == 0 {
		return offset
	}
	return -1
}

// ofMPICH reads a request of MPICH over UCX. Of a send only its state is known: its peer is an
// address of UCX.
func (l *Library) ofMPICH(handle uint64) Request {
	if handle == nullOfRequests {
		return Request{Done: true, Why: "null"}
	}
	object := l.objectOf("PMPI_Grequest_complete", handle)
	b := make([]byte, 272)
	if object == 0 || !l.machine.Read(object, b) {
		return Request{Why: "no object of this handle"}
	}
	le := binary.LittleEndian
	q := Request{Why: "peer not known"}
	// The counter of completion is in the request itself, mostly.
	if counter := le.Uint64(b[16:]); counter > object && counter+4 <= object+uint64(len(b)) && le.Uint32(b[counter-object:]) == 0 {
		q.Done = true
	}
	switch le.Uint32(b[8:]) {
	case 1:
		q.Kind = "send"
	case 2:
		q.Kind = "receive"
		l.matchOfUCX(&q, b)
	}
	return q
}

// objectOf returns the address of the object of a handle: among what a function reads that is given
// the handle, the object that begins with it.
func (l *Library) objectOf(function string, handle uint64) uint64 {
	loads, _ := l.ask(function, handle) // it may end with an error behind the object
	const most = 64                     // bytes into an object that the function reads
	for _, load := range loads {
		for back := uint64(0); back <= most && !load.IsOwn(); back += 4 {
			if v, ok := l.machine.Uint(load.Addr-back, 4); ok && v == handle {
				return load.Addr - back
			}
		}
	}
	return 0
}

// matchOfUCX finds peer and tag of a receive: the request has a pointer behind a request of UCX, which
// holds a tag of 64 bits (16 of context, 16 of rank, 32 of tag) followed by a mask of those that
// matter.
func (l *Library) matchOfUCX(q *Request, b []byte) {
	const before = 160 // bytes of the request of UCX that are looked through
	for offset := 64; offset+8 <= len(b); offset += 8 {
		at := binary.LittleEndian.Uint64(b[offset:])
		if at < 1<<20 || at>>47 != 0 || at&7 != 0 || l.process.At(at) != nil {
			continue
		}
		c := make([]byte, before+8)
		if !l.machine.Read(at-before, c) {
			continue
		}
		// Before MPICH 5 two bits for errors are never in the mask, which makes it certain. Without
		// them there must be one candidate only.
		var certain, possible []Request
		for k := before - 8; k >= 0; k -= 8 {
			tag, mask := binary.LittleEndian.Uint64(c[k:]), binary.LittleEndian.Uint64(c[k+8:])
			r, ok := l.match(*q, tag, mask)
			if !ok {
				continue
			}
			if possible = append(possible, r); mask>>29&3 == 0 {
				certain = append(certain, r)
			}
		}
		if len(certain) == 1 {
			*q = certain[0]
			return
		}
		if len(certain) == 0 && len(possible) == 1 {
			*q = possible[0]
			return
		}
	}
}

// match returns the receive that a tag of UCX and its mask stand for.
func (l *Library) match(q Request, tag, mask uint64) (Request, bool) {
	const bitsOfTag = 1<<29 - 1
	if tag == 0 || mask>>48 != 0xffff || bits.OnesCount64(mask) < 30 || tag&^mask&0xffff1fffffff != 0 {
		return q, false
	}
	c := l.byContext(tag >> 48)
	if c == nil {
		return q, false
	}
	q.Comm, q.Peer, q.Tag, q.Why = c, int(tag>>32&0xffff), int(tag&bitsOfTag), ""
	if mask>>32&0xffff == 0 {
		q.Peer = AnySource
	}
	if mask&bitsOfTag == 0 {
		q.Tag = AnyTag
	}
	return q, q.Peer == AnySource || q.Peer < len(c.Peers())
}
