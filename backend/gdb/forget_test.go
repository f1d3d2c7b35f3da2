package gdb_test

import (
	"sync"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/protocol"
)

// register is a custodian that only remembers what it is told.
type register struct {
	mu    sync.Mutex
	knows map[int]bool
}

func (c *register) Process(pid int, _ bool) { c.set(pid, true) }
func (c *register) Debugger(pid int)        { c.set(pid, true) }
func (c *register) Forget(pid int)          { c.set(pid, false) }
func (*register) Close()                    {}

func (c *register) set(pid int, known bool) {
	c.mu.Lock()
	c.knows[pid] = known
	c.mu.Unlock()
}

func (c *register) has(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.knows[pid]
}

// TestDetachEndsCustody checks that nothing will be undone at a rank that the user has detached from:
// it is the program's own again.
func TestDetachEndsCustody(t *testing.T) {
	c := &register{knows: map[int]bool{}}
	r := newRig(t, gdb.Config{Custody: c})
	pid := r.run(build(t, "calls.c")).Process.Pid
	id := r.id()
	r.engine.Attach(id, []backend.Target{{PID: pid}}, "", patience)
	r.answers(id, 1)
	r.stop()
	if !c.has(pid) {
		t.Error("the custodian does not know an attached rank")
	}
	r.ok("detach", protocol.Args{})
	r.await(0, protocol.KindDetached)
	if c.has(pid) {
		t.Error("the custodian knows a rank that has been detached from")
	}
}
