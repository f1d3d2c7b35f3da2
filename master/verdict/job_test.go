package verdict

import (
	"strconv"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// job is a graph that a test writes by hand.
type job struct {
	world int // number of ranks
	graph *wait.Graph
	// extras are further facts about ranks that add is called for later, by their text.
	extras map[string]*wait.Rank
}

func jobOf(n int) *job { return &job{world: n} }

func set(text string) rank.Set {
	var s rank.Set
	if err := s.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return s
}

func (j *job) comm(key string) wait.Comm {
	if name, members, ok := strings.Cut(key, ":"); ok {
		return wait.Comm{Key: key, Name: name, Members: set(members)}
	}
	return wait.Comm{Key: key, Name: "MPI_COMM_WORLD", Members: rank.Range(0, rank.ID(j.world-1))}
}

func (j *job) add(ranks string, r wait.Rank) *job {
	if x := j.extras[ranks]; x != nil {
		r.Number, r.Numbered, r.Unexpected = x.Number, x.Numbered, x.Unexpected
		r.Comms = append(r.Comms, x.Comms...)
	}
	j.graph = j.graph.Merge(wait.Of(set(ranks), r))
	return j
}

// in puts ranks into a collective call; key is "w", or "name:members".
func (j *job) in(ranks, function, key string, change ...func(*wait.Call)) *job {
	c := wait.Call{Function: function, Comm: key, Root: wait.No, Bytes: wait.No}
	for _, f := range change {
		f(&c)
	}
	return j.add(ranks, wait.Rank{Doing: wait.Doing{Frames: "exchange h.c:9"}, Comms: []wait.Comm{j.comm(key)}, Calls: []wait.Call{c}})
}

func root(n int) func(*wait.Call)       { return func(c *wait.Call) { c.Root = n } }
func size(n int) func(*wait.Call)       { return func(c *wait.Call) { c.Bytes = n } }
func op(name string) func(*wait.Call)   { return func(c *wait.Call) { c.Op = name } }
func need(n wait.Need) func(*wait.Edge) { return func(e *wait.Edge) { e.Need = n } }

func function(name string) func(*wait.Edge) { return func(e *wait.Edge) { e.Function = name } }

// receive and send make halves of messages in the world.
func receive(peer, tag int, change ...func(*wait.Edge)) wait.Message {
	e := wait.Edge{Function: "MPI_Recv", Comm: "w", Tag: tag}
	for _, f := range change {
		f(&e)
	}
	return wait.Message{Edge: e, Peer: peer}
}

func send(peer, tag int, change ...func(*wait.Edge)) wait.Message {
	m := receive(peer, tag, change...)
	m.Send, m.Function = true, "MPI_Send"
	return m
}

// torchMessage makes a half of a message of torch.distributed.
func torchMessage(function string, peer int) wait.Message {
	return wait.Message{Edge: wait.Edge{Function: function, Comm: "w", Send: function == "send"}, Peer: peer}
}

// waits lets ranks wait for messages.
func (j *job) waits(ranks string, all ...wait.Message) *job {
	return j.add(ranks, wait.Rank{Doing: wait.Doing{Frames: "exchange h.c:9"}, Comms: []wait.Comm{j.comm("w")}, Waits: all})
}

// linked lets ranks wait for messages between the groups 0-1 and 2-3.
func (j *job) linked(ranks string, m wait.Message) *job {
	m.Comm = "link"
	return j.add(ranks, wait.Rank{Comms: []wait.Comm{{Key: "link", Name: "link", Members: set("0-1"), Remote: set("2-3")}}, Waits: []wait.Message{m}})
}

// number says the rank in MPI_COMM_WORLD of a rank. What the rank does must follow.
func (j *job) number(r, world int) *job {
	j.extra(strconv.Itoa(r)).Number, j.extra(strconv.Itoa(r)).Numbered = world, true
	return j
}

// came says that a message has arrived at a rank. What the rank does must follow.
func (j *job) came(ranks string, from, tag int, key string) *job {
	x := j.extra(ranks)
	x.Comms = append(x.Comms, j.comm(key))
	x.Unexpected = append(x.Unexpected, wait.Message{Edge: wait.Edge{Comm: key, Tag: tag}, Peer: from})
	return j
}

func (j *job) extra(ranks string) *wait.Rank {
	if j.extras == nil {
		j.extras = map[string]*wait.Rank{}
	}
	if j.extras[ranks] == nil {
		j.extras[ranks] = &wait.Rank{}
	}
	return j.extras[ranks]
}

// does lets ranks do something else.
func (j *job) does(ranks string, state wait.State, frames ...string) *job {
	return j.add(ranks, wait.Rank{Doing: wait.Doing{State: state, Frames: strings.Join(frames, "\n")}})
}

// trace says that a debugger has stopped ranks.
func (j *job) trace(ranks string) *job {
	r := wait.Rank{Doing: wait.Doing{State: wait.Traced, Frames: "exchange h.c:9"}}
	part := j.graph.Only(set(ranks))
	for _, e := range part.Edges() {
		for _, run := range e.Pairs.Runs() {
			r.Waits = append(r.Waits, wait.Message{Edge: wait.Edge{Function: e.Function, Comm: e.Comm, Send: e.Send, Tag: e.Tag}, Peer: run.Peer})
		}
	}
	r.Comms = part.Comms()
	j.graph = wait.Of(set(ranks), r).Merge(j.graph)
	return j
}

// moved is the same, of ranks that have moved.
func (j *job) moved(ranks string) *job {
	only := j.graph.Only(set(ranks))
	rest := j.graph.Only(j.graph.Ranks().Minus(set(ranks)))
	j.graph = rest.Merge(only.After(nil))
	return j
}

func texts(found []Finding) string {
	var lines []string
	for _, f := range found {
		label := "so far: "
		if f.Certain {
			label = "certain: "
		}
		lines = append(lines, label+f.Text)
	}
	return strings.Join(lines, "\n")
}
