// A session as seen by a front end.

package main

import (
	"context"
	"fmt"
	"time"

	"sdm/master"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// talk is a session of which every answer is checked.
type talk struct {
	master  *master.Master
	front   session.Session // that is spoken to; nil: the master
	ranks   int
	events  int           // number of events so far
	trouble func() string // returns what else is known after a failure
	// watch ends the run if no event comes for patience. It is one timer for all, because a
	// timer for each event would take a twentieth of a print. nil before the first wait.
	watch *time.Timer
}

// next returns the next event of the session.
func (t *talk) next() session.Event {
	if t.watch == nil {
		t.watch = time.AfterFunc(patience, func() {
			fatal("session", fmt.Errorf("nothing has come for %v", patience))
		})
	}
	t.watch.Reset(patience)
	e, ok := <-t.spoken().Events()
	if !ok {
		fatal("session", fmt.Errorf("it has ended early\n%s", t.trouble()))
	}
	t.watch.Stop()
	t.events++
	return e
}

func (t *talk) spoken() session.Session {
	if t.front != nil {
		return t.front
	}
	return t.master
}

// call sends a command.
func (t *talk) call(c session.Call) protocol.RequestID {
	id, err := t.spoken().Do(context.Background(), c)
	if err != nil {
		fatal(c.Command, err)
	}
	return id
}

// ask sends a command, waits until it is done and checks the answers.
func (t *talk) ask(c session.Call) []protocol.Group {
	id := t.call(c)
	var groups []protocol.Group
	for {
		e := t.next()
		switch {
		case e.ID != id:
		case e.Done == nil:
			groups = append(groups, e.Group)
		case e.Done.Answered != e.Done.Asked || e.Done.Faults > 0:
			fatal(c.Command, fmt.Errorf("%d of %d ranks have answered, %d with a fault: %v", e.Done.Answered, e.Done.Asked, e.Done.Faults, groups))
		default:
			return groups
		}
	}
}

// launch starts the program and waits until all ranks have stopped in main.
func (t *talk) launch(program string, args ...string) {
	t.call(session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: program, Args: args, Size: t.ranks,
		StopAt: "main"}}})
	t.stopped(rank.Range(0, rank.ID(t.ranks-1)))
}

// stopped waits until ranks have stopped.
func (t *talk) stopped(ranks rank.Set) {
	for !ranks.IsEmpty() {
		e := t.next()
		switch {
		case e.Group.Kind == protocol.KindStopped:
			ranks = ranks.Minus(e.Group.Ranks)
		case e.Group.Kind.IsEnd(), e.Done == nil && e.Group.Kind == protocol.KindFault:
			fatal("job", fmt.Errorf("%v", e.Group))
		}
	}
}

// print executes the command that most figures are about.
func (t *talk) print(ranks, expr string) []protocol.Group {
	return t.ask(session.Call{Command: "print", Ranks: ranks, Args: protocol.Args{Expr: expr}})
}

// all returns the ranks of the session.
func (t *talk) all() rank.Set { return rank.Range(0, rank.ID(t.ranks-1)) }
