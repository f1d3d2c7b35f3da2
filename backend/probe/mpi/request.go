package mpi

// Request is a request that a call waits for.
type Request struct {
	Done bool   // it is complete, or null
	Kind string // send, receive or collective; "": not known
	// Comm is valid if Why is "", and so are, of messages, Peer (a rank of Comm, or AnySource) and
	// Tag (or AnyTag).
	Comm      *Communicator
	Peer, Tag int
	Why       string // why they are not known

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
