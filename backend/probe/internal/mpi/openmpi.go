// Requests of Open MPI.

package mpi

import (
	"encoding/binary"
	"slices"
	"strings"
)

const (
	requestBytes = 1024 // bytes that are read: at least a request, and no more than can be read
	// maxBefore bounds the offset of the communicator in a request, in bytes.
	maxBefore = 512
	// maxCollective is the part of a request of a collective that is examined, in bytes.
	maxCollective = 320
	// completeBefore is the distance, in bytes, from the field that says whether a request is complete to
	// the field with its communicator, which follows.
	completeBefore = 88
)

// words are the bytes of an object; at returns the word at an offset in bytes.
type words []byte

func (w words) at(offset int) uint64 { return binary.LittleEndian.Uint64(w[offset:]) }

// openMPI is a library of Open MPI, with what is read of its objects.
type openMPI struct{ *Library }

// ofOpenMPI reads a request of Open MPI: of a message of the ob1 layer, or of a collective.
func (l openMPI) ofOpenMPI(request uint64) Request {
	if request == 0 || request == l.object("ompi_request_null") {
		return Request{Done: true, Why: "null"}
	}
	if request == l.object("ompi_request_empty") { // of sends that were complete at once, and the like
		return Request{Done: true, Why: "it is complete"}
	}
	w := make(words, requestBytes)
	if !l.machine.Read(request, w) {
		return Request{Why: "no memory"}
	}
	switch class := l.className(w.at(0)); {
	case strings.HasPrefix(class, "mca_pml_ob1_send"):
		return l.messageOfOpenMPI("send", w)
	case strings.HasPrefix(class, "mca_pml_ob1_recv"):
		return l.messageOfOpenMPI("receive", w)
	case strings.HasPrefix(class, "ompi_coll_"):
		return l.collectiveOfOpenMPI(w)
	case class == "":
		return Request{Why: "not a request"}
	default: // other layers keep peer and tag elsewhere
		return Request{Why: "requests of " + class + " are not known"}
	}
}

// messageOfOpenMPI reads a request of the ob1 layer. It has pointers to its communicator and its datatype,
// and further on buffer, count, peer and tag, and a pointer to the process of the peer. These are recognized
// since buffer and count are also in the converter of the request. The process must be the one that the
// library finds for the peer.
func (l openMPI) messageOfOpenMPI(kind string, w words) Request {
	q := Request{Kind: kind}
	comm := l.communicatorIn(w)
	if comm < 0 {
		q.Why = "no communicator in it"
		return q
	}
	process := l.processIn(w, comm)
	if process < 0 {
		q.Why = "no process in it"
		return q
	}
	q.handle = w.at(comm)
	q.Comm = l.communicator(q.handle)
	peer, tag := int(int32(w.at(process-8))), int(int32(w.at(process-8)>>32))
	q.count, q.buffer = int(w.at(process-16)), w.at(process-24)
	q.Done = w.at(comm-completeBefore) == 1
	_, _, anyTag := l.Family.wildcards()
	if q.Comm.Err != nil || tag < anyTag {
		q.Why = "not understood"
	} else if !l.isPeer(q.Comm, peer, w.at(process)) {
		q.Why = "its process is another one"
	}
	q.Peer, q.Tag = l.Family.peer(peer), l.Family.tag(tag)
	return q
}

// collectiveOfOpenMPI reads a request of a collective. It has its communicator twice.
func (l openMPI) collectiveOfOpenMPI(w words) Request {
	q := Request{Kind: "collective", Why: "no communicator in it"}
	class := l.object("ompi_communicator_t_class")
	var handles []uint64
	for offset := completeBefore; offset < maxCollective; offset += 8 {
		if v := w.at(offset); class != 0 && l.class(v) == class {
			handles = append(handles, v)
		}
	}
	if len(handles) < 2 || slices.Min(handles) != slices.Max(handles) {
		return q
	}
	if c := l.communicator(handles[0]); c.Err == nil {
		q.Comm, q.Why = c, ""
	}
	return q
}

// class returns the address of the class of an object of Open MPI, which is its first word; 0: it cannot be an
// object.
func (l openMPI) class(object uint64) uint64 {
	if object < 1<<16 || object&7 != 0 || object>>47 != 0 {
		return 0
	}
	class, _ := l.machine.Uint(object, 8)
	return class
}

// className returns the name of a class, to which the first word of the class points; "": it is not a class.
func (l openMPI) className(class uint64) string {
	if l.process.At(class) == nil {
		return ""
	}
	name, _ := l.machine.Uint(class, 8)
	if l.process.At(name) == nil {
		return ""
	}
	return l.machine.Text(name)
}

// communicatorIn returns the offset of the pointer to the communicator in a request; -1: there is none.
func (l openMPI) communicatorIn(w words) int {
	comm := l.object("ompi_communicator_t_class")
	types := []uint64{l.object("ompi_datatype_t_class"), l.object("opal_datatype_t_class")}
	for offset := completeBefore; offset+16 <= maxBefore; offset += 8 {
		if comm == 0 || l.class(w.at(offset)) != comm {
			continue
		}
		if c := l.class(w.at(offset + 8)); c != 0 && (c == types[0] || c == types[1]) {
			return offset
		}
	}
	return -1
}

// processIn returns the offset of the pointer to the process of the peer in a request, which follows buffer,
// count, peer and tag; the pointer is 0 for any source. comm is the offset of the communicator. -1: not known.
func (l openMPI) processIn(w words, comm int) int {
	class := l.object("ompi_proc_t_class")
	anySource, _, _ := l.Family.wildcards()
	for offset := comm + 64; offset+8 <= len(w); offset += 8 {
		isProcess := class != 0 && l.class(w.at(offset)) == class
		isNone := w.at(offset) == 0 && int(int32(w.at(offset-8))) == anySource
		if (isProcess || isNone) && converts(w[comm+8:offset-24], w.at(offset-24), w.at(offset-16)) {
			return offset
		}
	}
	return -1
}

// converts reports whether w contains a converter (opal_convertor_t) with a count and a buffer. A converter is
// recognized by its datatype, which is also the first word of w.
func converts(w words, buffer, count uint64) bool {
	const most = 128 // bytes of a converter before its buffer
	for offset := 16; offset+8 <= len(w) && buffer != 0; offset += 8 {
		if w.at(offset) != w.at(0) {
			continue
		}
		counted := false
		for at := offset + 8; at+8 <= min(len(w), offset+most); at += 8 {
			if counted = counted || w.at(at) == count; counted && w.at(at) == buffer {
				return true
			}
		}
	}
	return false
}

// isPeer reports whether a process belongs to a peer. Requests for any source have the process of the rank
// itself, or none.
func (l openMPI) isPeer(c *Communicator, peer int, process uint64) bool {
	switch {
	case l.Family.peer(peer) == AnySource && process == 0:
		return true
	case l.Family.peer(peer) == AnySource:
		return l.isProcess("PMPI_Comm_group", l.object("ompi_mpi_comm_self"), 0, process)
	case peer < 0 || peer >= len(c.peers()):
		return false
	case c.Remote != nil:
		return l.isProcess("PMPI_Comm_remote_group", c.handle, peer, process)
	}
	return l.isProcess("PMPI_Comm_group", c.handle, peer, process)
}

// isProcess reports whether a process is the first one that the library reads when it is asked, by
// MPI_Group_translate_ranks, for a member of the group of a communicator.
func (l openMPI) isProcess(function string, comm uint64, member int, process uint64) bool {
	group, _, err := l.group(function, comm)
	if err != nil {
		return false
	}
	self, _, err := l.group("PMPI_Comm_group", l.object("ompi_mpi_comm_self"))
	if err != nil {
		return false
	}
	from, to := l.machine.Alloc(8), l.machine.Alloc(8)
	l.machine.PutUint(from, uint64(member), 4)
	loads, err := l.machine.ask("PMPI_Group_translate_ranks", group, 1, from, self, to)
	if err != nil {
		return false
	}
	class := l.object("ompi_proc_t_class")
	loads = slices.Clone(loads)
	for _, load := range loads {
		if load.Size == 8 && class != 0 && l.class(load.Value) == class {
			return load.Value == process
		}
	}
	return false
}
