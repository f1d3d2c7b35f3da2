// Ranks that this server has started.

package server

import (
	"sync"

	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// process is one rank that this server has started; see others for the ranks that it has not.
type process struct {
	rank   rank.ID
	launch protocol.RequestID // the request that started it
	job    *protocol.Job      // the job as this rank gets it
	child  *local.Process
	out    *output // nil: this server does not read its output
	in     *feeder // nil: it has no standard input from sdm

	forwarders sync.WaitGroup

	over       chan struct{} // closed when ended is set
	mu         sync.Mutex
	ended      bool
	detached   bool
	restarting bool // it is killed for a restart, and its end is not reported
}

func newProcess(r rank.ID, launch protocol.RequestID) *process {
	return &process{rank: r, launch: launch, over: make(chan struct{})}
}

// startForwarding starts the goroutines that pass on the rank's output.
func (p *process) startForwarding() {
	if p.out == nil {
		return
	}
	for _, s := range p.out.streams {
		p.forwarders.Go(func() { p.out.forward(s) })
	}
}

// noteEnd records an event that ends the control of the rank.
func (p *process) noteEnd(kind protocol.Kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind.IsEnd() && !p.ended {
		p.ended = true
		close(p.over)
	}
	p.detached = p.detached || kind == protocol.KindDetached
}

// endSilently suppresses the report of the end of a live rank. It returns whether the rank is
// live.
func (p *process) endSilently() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restarting = !p.ended
	return p.restarting
}

func (p *process) endsSilently() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.restarting
}

func (p *process) isEnded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// isDetached reports whether the user has detached the rank.
func (p *process) isDetached() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.detached
}

// runsDetached reports whether the rank is detached and still lives as a child of this process.
func (p *process) runsDetached() bool {
	if !p.isDetached() {
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

// close returns when the goroutines of the rank's streams have ended. The rank must have ended:
// data that is still in its pipes is lost.
func (p *process) close() {
	if p.in != nil {
		p.in.close()
	}
	if p.out != nil {
		p.out.close()
	}
	p.forwarders.Wait()
}
