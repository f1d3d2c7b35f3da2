// Package mpi provides what blocked calls of MPI wait for: peer, tag, communicator, count, datatype,
// operation, root and requests, without debug information, and without preparation of the
// program. It is pure. Arguments are found by package argument. The library itself describes the objects of
// handles: its functions are called in the emulator. What is not certain is unknown.
package mpi

import "strings"

// Kind is what an argument is.
type Kind uint8

const (
	Buffer Kind = iota
	Count       // number of elements
	Datatype
	Peer // rank in the communicator
	Tag
	Comm
	Op
	Root
	Pointer  // to something else
	Requests // pointer to requests
	Number   // another int
	Long     // another integer of 64 bits
	Window
	File
	Handle   // another one; only its size is known
	CommAt   // pointer to a communicator, of calls that release it
	WindowAt // pointer to a window
	FileAt   // pointer to a file
)

// Parameter is a parameter of a function of MPI.
type Parameter struct {
	Name string // as the standard has it, or shorter
	Kind Kind
}

// letters are the kinds in the table of signatures.
var letters = map[string]Kind{
	"b": Buffer, "n": Count, "d": Datatype, "r": Peer, "t": Tag, "c": Comm, "o": Op, "R": Root, "p": Pointer,
	"q": Requests, "i": Number, "l": Long, "w": Window, "f": File, "h": Handle,
	"C": CommAt, "W": WindowAt, "F": FileAt,
}

// table has the functions that may block, and their parameters in order (MPI 4.0, Annex A). Names of
// functions are without MPI_.
const table = `
Send Ssend Bsend Rsend: buf=b count=n type=d dest=r tag=t comm=c
Isend Issend Ibsend Irsend: buf=b count=n type=d dest=r tag=t comm=c request=p
Irecv: buf=b count=n type=d source=r tag=t comm=c request=p
Recv: buf=b count=n type=d source=r tag=t comm=c status=p
Mrecv: buf=b count=n type=d message=p status=p
Sendrecv: sendbuf=b sendcount=n sendtype=d dest=r sendtag=t recvbuf=b recvcount=n recvtype=d source=r recvtag=t comm=c status=p
Sendrecv_replace: buf=b count=n type=d dest=r sendtag=t source=r recvtag=t comm=c status=p
Probe: source=r tag=t comm=c status=p
Mprobe: source=r tag=t comm=c message=p status=p
Iprobe: source=r tag=t comm=c flag=p status=p
Improbe: source=r tag=t comm=c flag=p message=p status=p
Start: request=p
Startall: count=n requests=p
Buffer_detach: buf=p size=p
Wait: request=q status=p
Waitall: count=n requests=q statuses=p
Waitany: count=n requests=q index=p status=p
Waitsome Testsome: count=n requests=q outcount=p indices=p statuses=p
Test: request=q flag=p status=p
Testall: count=n requests=q flag=p statuses=p
Testany: count=n requests=q index=p flag=p status=p
Barrier: comm=c
Bcast: buf=b count=n type=d root=R comm=c
Reduce: sendbuf=b recvbuf=b count=n type=d op=o root=R comm=c
Allreduce Scan Exscan Reduce_scatter_block: sendbuf=b recvbuf=b count=n type=d op=o comm=c
Reduce_scatter: sendbuf=b recvbuf=b counts=p type=d op=o comm=c
Gather Scatter: sendbuf=b sendcount=n sendtype=d recvbuf=b recvcount=n recvtype=d root=R comm=c
Gatherv: sendbuf=b sendcount=n sendtype=d recvbuf=b counts=p displs=p recvtype=d root=R comm=c
Scatterv: sendbuf=b counts=p displs=p sendtype=d recvbuf=b recvcount=n recvtype=d root=R comm=c
Allgather Alltoall Neighbor_allgather Neighbor_alltoall: sendbuf=b sendcount=n sendtype=d recvbuf=b recvcount=n recvtype=d comm=c
Allgatherv Neighbor_allgatherv: sendbuf=b sendcount=n sendtype=d recvbuf=b counts=p displs=p recvtype=d comm=c
Alltoallv Neighbor_alltoallv: sendbuf=b sendcounts=p sdispls=p sendtype=d recvbuf=b recvcounts=p rdispls=p recvtype=d comm=c
Alltoallw Neighbor_alltoallw: sendbuf=b sendcounts=p sdispls=p sendtypes=p recvbuf=b recvcounts=p rdispls=p recvtypes=p comm=c
Comm_split: comm=c color=i key=i newcomm=p
Comm_dup: comm=c newcomm=p
Comm_dup_with_info: comm=c info=h newcomm=p
Comm_create: comm=c group=h newcomm=p
Comm_create_group: comm=c group=h tag=i newcomm=p
Comm_free Comm_disconnect: comm=C
Comm_split_type: comm=c split_type=i key=i info=h newcomm=p
Cart_create: comm=c ndims=i dims=p periods=p reorder=i newcomm=p
Cart_sub: comm=c remain=p newcomm=p
Graph_create: comm=c nnodes=i index=p edges=p reorder=i newcomm=p
Dist_graph_create: comm=c n=i sources=p degrees=p destinations=p weights=p info=h reorder=i newcomm=p
Dist_graph_create_adjacent: comm=c indegree=i sources=p sourceweights=p outdegree=i destinations=p destweights=p info=h reorder=i newcomm=p
Intercomm_create: comm=c local_leader=i peer_comm=h remote_leader=i tag=i newcomm=p
Intercomm_merge: comm=c high=i newcomm=p
Comm_accept Comm_connect: port=p info=h root=R comm=c newcomm=p
Comm_spawn: command=p argv=p maxprocs=i info=h root=R comm=c newcomm=p errors=p
Comm_spawn_multiple: count=i commands=p argvs=p maxprocs=p infos=p root=R comm=c newcomm=p errors=p
Win_fence: assert=i win=w
Win_start Win_post: group=h assert=i win=w
Win_complete Win_wait Win_unlock_all Win_flush_all Win_flush_local_all: win=w
Win_lock_all: assert=i win=w
Win_test: win=w flag=p
Win_lock: lock_type=i rank=r assert=i win=w
Win_unlock Win_flush Win_flush_local: rank=r win=w
Put Get: origin=b origin_count=n origin_type=d rank=r disp=l count=n type=d win=w
Accumulate: origin=b origin_count=n origin_type=d rank=r disp=l count=n type=d op=o win=w
Fetch_and_op: origin=b result=b type=d rank=r disp=l op=o win=w
Compare_and_swap: origin=b compare=b result=b type=d rank=r disp=l win=w
Win_create: base=b size=l disp_unit=i info=h comm=c win=p
Win_allocate Win_allocate_shared: size=l disp_unit=i info=h comm=c base=p win=p
Win_create_dynamic: info=h comm=c win=p
Win_free: win=W
File_open: comm=c filename=p amode=i info=h file=p
File_close: file=F
File_write_all File_read_all File_write_ordered File_read_ordered: file=f buf=b count=n type=d status=p
File_write_shared File_read_shared File_write File_read: file=f buf=b count=n type=d status=p
File_write_at_all File_read_at_all: file=f offset=l buf=b count=n type=d status=p
File_write_at File_read_at: file=f offset=l buf=b count=n type=d status=p
File_write_all_begin File_read_all_begin File_write_ordered_begin File_read_ordered_begin: file=f buf=b count=n type=d
File_write_at_all_begin File_read_at_all_begin: file=f offset=l buf=b count=n type=d
File_write_all_end File_read_all_end File_write_at_all_end File_read_at_all_end File_write_ordered_end File_read_ordered_end: file=f buf=b status=p
File_set_view: file=f disp=l etype=d filetype=d datarep=p info=h
File_set_size File_preallocate: file=f size=l
File_set_atomicity: file=f flag=i
File_seek_shared: file=f offset=l whence=i
File_sync: file=f
Finalize Session_finalize:
Init: argc=p argv=p
Init_thread: argc=p argv=p required=i provided=p
`

// signatures returns the parameters of the functions of the table. The map is not changed. It is made when it is needed
// first: most programs that have the table never need it.
func (c *Cache) signatures() map[string][]Parameter {
	if c.parsed == nil {
		c.parsed = parsed(table)
	}
	return c.parsed
}

func parsed(table string) map[string][]Parameter {
	all := map[string][]Parameter{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		names, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		var list []Parameter
		for _, p := range strings.Fields(rest) {
			name, letter, _ := strings.Cut(p, "=")
			list = append(list, Parameter{name, letters[letter]})
		}
		for _, name := range strings.Fields(names) {
			all[name] = list
		}
	}
	return all
}

// function returns the name of a function of MPI without MPI_ for its symbol, and whether its counts
// have 64 bits; "": it is none.
func function(symbol string) (name string, large bool) {
	name, ok := strings.CutPrefix(strings.TrimPrefix(symbol, "P"), "MPI_")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, "_c")
}
