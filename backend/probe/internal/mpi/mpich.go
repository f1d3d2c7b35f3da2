// Requests of MPICH.

package mpi

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Kinds of requests of MPICH (mpir_request.h). The numbers of others are not the same in all releases.
const (
	sendOfMPICH = iota + 1
	receiveOfMPICH
	persistentSend
	persistentReceive
)

// bytesOfMPICH is the number of bytes of a request that are read: less than the size of one.
const bytesOfMPICH = 272

// ofMPICH reads a request of MPICH. Requests of messages are understood if MPICH uses UCX: they have a pointer to
// the end of a request of UCX. Peer, tag and communicator are found in that one, and confirmed by the arguments
// with which the library calls UCX for such a message.
func (l *Library) ofMPICH(handle uint64) Request {
	if handle == nullOfRequests {
		return Request{Done: true, Why: "null"}
	}
	object := l.machine.objectOf("PMPI_Grequest_complete", handle)
	b := make([]byte, bytesOfMPICH)
	if object == 0 || !l.machine.Read(object, b) {
		return Request{Why: "no object of this handle"}
	}
	switch kind := kindOfMPICH(b); {
	case kind == persistentSend || kind == persistentReceive:
		started := l.pointsTo(b, 128, func(first uint64) bool { return first != handle && isRequestOfMPICH(first) })
		if started == 0 || !l.machine.Read(started, b) || kindOfMPICH(b) != kind-2 {
			return Request{Why: "is not started, perhaps"}
		}
		return l.messageOfMPICH(started, b)
	case kind == sendOfMPICH || kind == receiveOfMPICH:
		return l.messageOfMPICH(object, b)
	case kind == l.kindOfCollectives():
		return l.collectiveOfMPICH(object, b)
	}
	return Request{Why: "a request of another kind"}
}

// kindOfMPICH returns the kind of a request.
func kindOfMPICH(b []byte) uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// isRequestOfMPICH reports whether a number has the form of the handle of a request.
func isRequestOfMPICH(v uint64) bool { return v>>32 == 0 && v>>30 != 0 && v>>26&15 == 11 }

// pointsTo returns the first pointer in the first most bytes of a request to an object whose first word is
// wanted; 0: there is none.
func (l *Library) pointsTo(b []byte, most int, wanted func(first uint64) bool) uint64 {
	for offset := 16; offset+8 <= most; offset += 8 {
		at := binary.LittleEndian.Uint64(b[offset:])
		if at < 1<<20 || at>>47 != 0 || at&7 != 0 {
			continue
		}
		if first, ok := l.machine.Uint(at, 4); ok && wanted(first) {
			return at
		}
	}
	return 0
}

// collectiveOfMPICH reads a request of a collective: it points to its communicator.
func (l *Library) collectiveOfMPICH(object uint64, b []byte) Request {
	q := Request{Kind: "collective", Done: isComplete(object, b), Why: "no communicator in it"}
	if at := l.pointsTo(b, 64, isCommOfMPICH); at != 0 {
		handle, _ := l.machine.Uint(at, 4)
		if c := l.communicator(handle); c.Err == nil {
			q.Comm, q.Why = c, ""
		}
	}
	return q
}

// kindOfCollectives returns the kind of requests of collectives. It is found in the request that the library
// makes, in the emulator, for a barrier on MPI_COMM_SELF. 0: not known.
func (l *Library) kindOfCollectives() uint32 {
	if l.collective != nil {
		return *l.collective
	}
	l.collective = new(uint32)
	out := l.machine.Alloc(8)
	if _, err := l.machine.ask("PMPI_Ibarrier", selfOfMPICH, out); err == nil {
		handle, _ := l.machine.Uint(out, 4)
		b := make([]byte, bytesOfMPICH)
		if object := l.machine.objectOf("PMPI_Grequest_complete", handle); object != 0 && l.machine.Read(object, b) && kindOfMPICH(b) > persistentReceive {
			*l.collective = kindOfMPICH(b)
		}
	}
	l.machine.Undo()
	return *l.collective
}

// selfOfMPICH is MPI_COMM_SELF (mpi.h of MPICH).
const selfOfMPICH = 0x44000001

// isComplete reports whether the completion counter of a request is 0. It is false if the counter is not in the
// request itself.
func isComplete(object uint64, b []byte) bool {
	counter := binary.LittleEndian.Uint64(b[16:])
	return counter > object && counter+4 <= object+uint64(len(b)) && binary.LittleEndian.Uint32(b[counter-object:]) == 0
}

// bytesOfUCX are how many bytes of a request of UCX are searched, up to its end.
const bytesOfUCX = 320

// messageOfMPICH reads a request of a message.
func (l *Library) messageOfMPICH(object uint64, b []byte) Request {
	q := Request{Kind: "send", Done: isComplete(object, b), Why: "peer not known"}
	find := l.sendIn
	if kindOfMPICH(b) == receiveOfMPICH {
		q.Kind, find = "receive", l.receiveIn
	}
	for offset := 64; offset+8 <= len(b); offset += 8 {
		at := binary.LittleEndian.Uint64(b[offset:])
		if at < 1<<20 || at>>47 != 0 || at&7 != 0 || l.process.At(at) != nil {
			continue
		}
		words := make([]byte, bytesOfUCX)
		if l.machine.Read(at-bytesOfUCX, words) && find(&q, wordsOf(words)) {
			break
		}
	}
	return q
}

// receiveIn finds peer and tag of a receive among the words of a request of UCX: a tag of 64 bits (16
// of context, 16 of rank, 32 of tag) followed by a mask of those that matter. Exactly one of them must be
// confirmed by the library.
func (l *Library) receiveIn(q *Request, words []uint64) bool {
	var found []Request
	for k := range words[1:] {
		if r, ok := l.match(*q, words[k], words[k+1]); ok && l.isAsked(r, words[k], words[k+1]) {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return false
	}
	*q = found[0]
	return true
}

// bitsOfTag are the bits of a UCX tag that hold the tag of the message.
const bitsOfTag = 1<<29 - 1

// match decodes a tag of UCX and its mask; ok is false if they do not belong to a receive. The tag of a receive from
// rank 0, or any rank, with tag 0, or any tag, on MPI_COMM_WORLD is 0: it is its mask that tells it from other zeros.
func (l *Library) match(q Request, tag, mask uint64) (Request, bool) {
	if mask>>48 != 0xffff || bits.OnesCount64(mask) < 16 || tag&^mask&0xffff1fffffff != 0 {
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
	if mask&(bitsOfTag>>1) == 0 { // some releases keep the highest bit for messages of collectives
		q.Tag = AnyTag
	}
	return q, q.Peer == AnySource || q.Peer < len(c.peers())
}

// isAsked reports whether the library passes a tag and a mask to UCX when it is asked, by MPI_Iprobe, for the
// message of a receive.
func (l *Library) isAsked(q Request, tag, mask uint64) bool {
	status, flag := l.machine.Alloc(64), l.machine.Alloc(8)
	p, ok := l.machine.until([]string{"ucp_tag_probe_nb"}, "PMPI_Iprobe", uint64(l.Family.raw(q.Peer)), uint64(l.Family.raw(q.Tag)), q.Comm.handle, flag, status)
	return ok && p[1]&p[2] == tag&mask && p[2] == mask
}

// sendIn finds peer and tag of a send among the words of a request of UCX: the endpoint of the peer, and, as far from
// it as in the library's own sends, a tag that the library gives to UCX for a message to that peer. If that distance is
// not known, the tag may be anywhere; one of rank 0 in MPI_COMM_WORLD looks like any small number then, and does not
// count. Exactly one tag must fit.
func (l *Library) sendIn(q *Request, words []uint64) bool {
	var found []Request
	for k, w := range words {
		c := l.byContext(w >> 48)
		if c == nil || int(w>>32&0xffff) != c.Rank {
			continue
		}
		distances := l.distancesOfTag(c)
		if len(distances) == 0 && w>>32 == 0 {
			continue
		}
		for peer, to := range l.endpoints(c) {
			at := slices.Index(words, to.endpoint)
			if to.endpoint != 0 && to.tag == w&^bitsOfTag && at >= 0 && (len(distances) == 0 || slices.Contains(distances, k-at)) {
				r := *q
				r.Comm, r.Peer, r.Tag, r.Why = c, peer, int(w&bitsOfTag), ""
				found = append(found, r)
			}
		}
	}
	if len(found) != 1 {
		return false
	}
	*q = found[0]
	return true
}

// maxSends bounds the sends that are tried in the emulator for the place of a tag.
const maxSends = 4

// distancesOfTag returns how many words behind the endpoint of the peer the tag of a send may be in a request of UCX.
// A send in the emulator writes them; it need not come to its end. They are the same in all processes with this
// library. nil: not known.
func (l *Library) distancesOfTag(c *Communicator) []int {
	key := l.machine.image.Module().Key()
	found, known := l.cache.tags[key]
	if known {
		return found
	}
	tried := 0
	for peer, to := range l.endpoints(c) {
		if len(found) == 0 && tried < maxSends && to.endpoint != 0 && peer != c.Rank {
			found = l.distancesInSend(c, peer, to)
			tried++
		}
	}
	if tried == 0 {
		return nil
	}
	if l.cache.tags == nil {
		l.cache.tags = map[string][]int{}
	}
	l.cache.tags[key] = found
	return found
}

// distancesInSend returns these distances as they are in a send to a peer.
func (l *Library) distancesInSend(c *Communicator, peer int, to endpoint) (found []int) {
	const oddTag = 0x5a5a5a5 // a number that is nowhere else
	at, ok := l.machine.image.Address("PMPI_Ssend")
	if !ok {
		return nil
	}
	defer l.machine.Undo()
	_, _, _ = l.machine.Call(at, 0, 0, byteOfMPICH, uint64(peer), oddTag, c.handle) // an error after it has written does not matter
	for _, written := range l.machine.Written(to.tag | oddTag) {
		around := make([]byte, 2*bytesOfUCX)
		if !l.machine.Read(written-bytesOfUCX, around) {
			continue
		}
		for k, w := range wordsOf(around) {
			if w == to.endpoint {
				found = append(found, bytesOfUCX/8-k)
			}
		}
	}
	return found
}

// endpoint is the endpoint and the tag that the library passes to UCX for a message with tag 0 to a peer.
type endpoint struct{ endpoint, tag uint64 }

// maxEndpoints bounds the peers whose endpoints are asked for.
const maxEndpoints = 256

// endpoints returns the endpoints of the peers of a communicator; nil if they are not known.
func (l *Library) endpoints(c *Communicator) []endpoint {
	if all, known := l.ends[c]; known {
		return all
	}
	var all []endpoint
	for peer := range min(len(c.peers()), maxEndpoints) {
		p, _ := l.machine.until([]string{"ucp_tag_send_sync_nbx", "ucp_tag_send_sync_nb"}, "PMPI_Ssend", 0, 0, byteOfMPICH, uint64(peer), 0, c.handle)
		all = append(all, endpoint{p[0], p[3]})
	}
	for i, e := range all { // they must differ; 0: messages to the peer do not use UCX
		if slices.ContainsFunc(all[:i], func(f endpoint) bool { return f.endpoint == e.endpoint && e.endpoint != 0 }) {
			all = nil
			break
		}
	}
	l.ends[c] = all
	return all
}

// byteOfMPICH is MPI_BYTE (mpi.h of MPICH).
const byteOfMPICH = 0x4c00010d
