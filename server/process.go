package server

import (
	"sync"

	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// process is one rank that this server has started; see others for the rest.
type process struct {
	rank   rank.ID
	launch protocol.RequestID // that brought it here
	job    *protocol.Job      // as it is for this rank
	child  *local.Process
	out    *output // nil: not ours to read
	in     *feeder // nil: not fed

	pumps sync.WaitGroup

	over     chan struct{} // closed with ended
	mu       sync.Mutex
	ended    bool
	detached bool
	again    bool // it is ended because it is started again: nobody is told
}

func newProcess(r rank.ID, launch protocol.RequestID) *process {
	return &process{rank: r, launch: launch, over: make(chan struct{})}
}

// startPumps begins to hand on what the rank writes.
func (p *process) startPumps() {
	if p.out == nil {
		return
	}
	for _, s := range p.out.streams {
		p.pumps.Go(func() { p.out.pump(s) })
	}
}

// noteEnd takes in an event that ends our part in the rank.
func (p *process) noteEnd(kind protocol.Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind.IsEnd() && !p.ended {
		p.ended = true
		close(p.over)
	}
	p.detached = p.detached || kind == protocol.KindDetached
}

// endSilently sees that nobody is told of the end of a rank that lives. It tells whether
// the rank does.
func (p *process) endSilently() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.again = !p.ended
	return p.again
}

func (p *process) endsSilently() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.again
}

func (p *process) isEnded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// letGo tells whether the person has let the rank run on without us.
func (p *process) letGo() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.detached
}

// runsFree tells whether that rank is a child of ours that still lives.
func (p *process) runsFree() bool {
	if !p.letGo() {
		return false
	}
	select {
	case <-p.child.Done():
		return false
	default:
		return true
	}
}

func (p *process) kill() { p.child.Kill() }

// close returns when the goroutines of the rank's streams have ended. The rank
// is to be gone: bytes that are still in its pipes are lost.
func (p *process) close() {
	if p.in != nil {
		p.in.close()
	}
	if p.out != nil {
		p.out.close()
	}
	p.pumps.Wait()
}
