// Requests that calls wait for.

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

// Peers and tags of requests and calls that are no numbers. Libraries have other numbers for them.
const (
	AnySource = -101 // MPI_ANY_SOURCE
	AnyTag    = -102 // MPI_ANY_TAG
	NoPeer    = -103 // MPI_PROC_NULL
)

// maxRequests bounds the requests of a call.
const maxRequests = 4096

// requests returns the requests that an array holds.
func (l *Library) requests(array uint64, n int) []Request {
	if n < 0 || n > maxRequests {
		return nil
	}
	all := make([]Request, n)
	size := l.Family.handleBytes()
	for i := range all {
		handle, ok := l.machine.Uint(array+uint64(i*size), size)
		switch {
		case !ok:
			all[i].Why = "no memory"
		case l.Family == OpenMPI:
			all[i] = openMPI{l}.ofOpenMPI(handle)
		default:
			all[i] = l.ofMPICH(handle)
		}
	}
	return all
}
