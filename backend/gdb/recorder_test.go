// A sink that records everything.

package gdb_test

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// told is one group that an engine has passed on; id 0 is an event.
type told struct {
	id    protocol.RequestID
	group protocol.Group
}

// recorder is a backend.Sink that records everything.
type recorder struct {
	mu   sync.Mutex
	cond *sync.Cond
	all  []told
	lost func(rank.Set)
}

func newRecorder() *recorder {
	r := &recorder{}
	r.cond = sync.NewCond(&r.mu)
	return r
}

func (r *recorder) Reply(id protocol.RequestID, groups ...protocol.Group) { r.keep(id, groups) }

func (r *recorder) Event(groups ...protocol.Group) { r.keep(0, groups) }

func (r *recorder) keep(id protocol.RequestID, groups []protocol.Group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range groups {
		r.all = append(r.all, told{id, g})
		if g.Kind == protocol.KindLost && r.lost != nil {
			r.lost(g.Ranks)
		}
	}
	r.cond.Broadcast()
}

// until waits until the recorded groups satisfy ok; false after wait.
func (r *recorder) until(wait time.Duration, ok func([]told) bool) bool {
	timer := time.AfterFunc(wait, r.cond.Broadcast)
	defer timer.Stop()
	end := time.Now().Add(wait)
	r.mu.Lock()
	defer r.mu.Unlock()
	for !ok(r.all) {
		if time.Now().After(end) {
			return false
		}
		r.cond.Wait()
	}
	return true
}

func (r *recorder) transcript() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, t := range r.all {
		b.WriteString(strconv.Itoa(int(t.id)) + " " + t.group.String() + "\n")
	}
	return b.String()
}
