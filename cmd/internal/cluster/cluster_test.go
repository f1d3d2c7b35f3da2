package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// patience limits every wait; it is long enough for busy machines.
const patience = time.Minute

// drive is a cluster that a test controls.
type drive struct {
	*Cluster
	t testing.TB
}

// up makes a cluster with its tree, which is closed at the end of the test.
func up(t testing.TB, cfg Config) *drive {
	t.Helper()
	cfg.Wait = patience
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d := &drive{c, t}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		go func() { // ends with the session
			for range c.Master.Events() {
			}
		}()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	report, err := c.Build(t.Context(), patience)
	if err != nil {
		t.Fatal(err)
	}
	if report.Ranks.Len() != cfg.Ranks {
		t.Fatalf("%d ranks are there, want %d", report.Ranks.Len(), cfg.Ranks)
	}
	return d
}

func (d *drive) next() session.Event {
	d.t.Helper()
	select {
	case e, ok := <-d.Master.Events():
		if !ok {
			d.t.Fatal("the session has ended")
		}
		return e
	case <-time.After(patience):
		d.t.Fatalf("nothing has come for %v", patience)
	}
	panic("not reached")
}

// ask sends a command and returns its answers.
func (d *drive) ask(command, ranks string, args protocol.Args) (groups []protocol.Group, done session.Done) {
	d.t.Helper()
	id, err := d.Master.Do(d.t.Context(), session.Call{Command: command, Ranks: ranks, Args: args})
	if err != nil {
		d.t.Fatalf("%s: %v", command, err)
	}
	for {
		switch e := d.next(); {
		case e.ID == id && e.Done != nil:
			return groups, *e.Done
		case e.ID == id:
			groups = append(groups, e.Group)
		}
	}
}

// until collects the ranks of events of a kind until there are n.
func (d *drive) until(n int, kind protocol.Kind) (ranks rank.Set, events int) {
	d.t.Helper()
	for ranks.Len() < n {
		if e := d.next(); e.Done == nil && e.Group.Kind == kind {
			ranks = ranks.Union(e.Group.Ranks)
			events++
		}
	}
	return ranks, events
}

// launch runs all ranks to main.
func (d *drive) launch() {
	d.t.Helper()
	if _, err := d.Master.Do(d.t.Context(), session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: "work", Size: d.cfg.Ranks, StopAt: "main"}}}); err != nil {
		d.t.Fatal(err)
	}
	d.until(d.cfg.Ranks, protocol.KindStopped)
}

// TestShapes sends the same commands to different trees. The answers must be equal to the byte.
func TestShapes(t *testing.T) {
	var first string
	for _, c := range []struct {
		servers int
		shape   string
	}{{1, "flat"}, {10, "flat"}, {33, "binomial"}, {33, "2"}, {40, "8"}} {
		d := up(t, Config{Ranks: 200, Servers: c.servers, Shape: c.shape, Script: script(t, "stacks 7\nvalue load = noise % 40\n")})
		d.launch()
		var text strings.Builder
		for _, expr := range []string{"rank", "load", "size", "nothing"} {
			groups, _ := d.ask("print", "0-149", protocol.Args{Expr: expr})
			fmt.Fprintf(&text, "%s: %v\n", expr, groups)
		}
		if text := text.String(); first == "" {
			first = text
		} else if text != first {
			t.Errorf("%d servers, %s:\n%s\nwant, as with the first:\n%s", c.servers, c.shape, text, first)
		}
	}
}

// TestKilledServer checks that the ranks of a killed server are lost and the others answer.
func TestKilledServer(t *testing.T) {
	d := up(t, Config{Ranks: 64, Servers: 8, Shape: "flat", Script: script(t, "after 1ms kill server 3\n")})
	lost, _ := d.until(8, protocol.KindLost)
	if want := d.Ranks(rank.Of(3)); !lost.Equal(want) {
		t.Errorf("lost %v, want %v", lost, want)
	}
	_, done := d.ask("launch", "!24-31", protocol.Args{Job: &protocol.Job{Program: "work", Size: 64, StopAt: "main"}})
	if done.Answered != 56 {
		t.Errorf("the launch on the others: %+v", done)
	}
}

func TestConfigValidate(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Ranks: 1}, ""},
		{Config{Ranks: 1 << 20}, ""},
		{Config{}, "0 ranks"},
		{Config{Ranks: 2, Servers: 3}, "3 servers"},
		{Config{Ranks: 2, Servers: -1}, "-1 servers"},
		{Config{Ranks: int(rank.MaxID) + 1}, "ranks"},
	} {
		err := c.cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

// TestStartFolds checks that the events of 1,024 servers at the start of a job, which are equal but
// for host and process, become few events. Their number depends on the time that the start takes:
// windows are 80 ms or longer (tree/coalescer.go).
func TestStartFolds(t *testing.T) {
	const servers = 1024
	d := up(t, Config{Ranks: servers, Servers: servers})
	began := time.Now()
	if _, err := d.Master.Do(t.Context(), session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: "work", Size: servers, StopAt: "main"}}}); err != nil {
		t.Fatal(err)
	}
	count, bodies := map[protocol.Kind]int{}, map[string]bool{}
	for stopped := 0; stopped < servers; {
		e := d.next()
		if e.ID != 0 {
			continue
		}
		count[e.Group.Kind]++
		if e.Group.Kind != protocol.KindJob {
			bodies[e.Group.Kind.String()+" "+string(e.Group.Body)] = true
		}
		if e.Group.Kind == protocol.KindStopped {
			stopped += e.Group.Ranks.Len()
		}
	}
	most := 20 + int(time.Since(began)/(80*time.Millisecond))
	for kind, n := range count {
		if n > most {
			t.Errorf("%d events %v, want %d at most", n, kind, most)
		}
	}
	if len(bodies) != 3 { // started, running, stopped
		t.Errorf("%d different bodies, want 3: %v", len(bodies), bodies)
	}
	t.Logf("%v in %v", count, time.Since(began))
}
