// Going on at another line.

package dap

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// gotos are the places to which the client may let ranks go, and the temporary breakpoints at which they arrive.
type gotos struct {
	places   []string // by the number of the target, from 1
	arrivals map[int]bool
}

// maxTargets bounds the places that are kept.
const maxTargets = 10_000

// gotoTargets answers with the line itself: whether it has code is seen when ranks are to go there.
func (a *adapter) gotoTargets(_ time.Time, r *request) error {
	var args godap.GotoTargetsArguments
	if err := r.read(&args); err != nil {
		return err
	}
	file, line := fileOf(args.Source), a.fromClient(args.Line)
	if file == "" || line < 1 {
		return errors.New("gotoTargets: which line of which source?")
	}
	place := file + ":" + strconv.Itoa(line)
	if len(a.gotos.places) == maxTargets {
		return errors.New("gotoTargets: too many targets")
	}
	a.gotos.places = append(a.gotos.places, place)
	r.answer(godap.GotoTargetsResponseBody{Targets: []godap.GotoTarget{
		{Id: len(a.gotos.places), Label: filepath.Base(place), Line: args.Line},
	}})
	return nil
}

// leap is how ranks get to another line: by a temporary breakpoint there and gdb's jump.
type leap struct {
	a         *adapter
	r         *request
	place     string
	ranks     rank.Set
	functions map[string]bool // in which the ranks stand
	number    int             // of the breakpoint
}

// goTo lets a group go on at another line of its function, where it stops. gdb asks before it leaves the function,
// since the program can hardly go on then; here that is refused. Other threads of the ranks may run for the instant
// that it takes.
func (a *adapter) goTo(_ time.Time, r *request) error {
	var args godap.GotoArguments
	if err := r.read(&args); err != nil {
		return err
	}
	g, err := a.standingGroup(args.ThreadId)
	switch {
	case err != nil:
		return err
	case args.TargetId < 1 || args.TargetId > len(a.gotos.places):
		return fmt.Errorf("goto: there is no target %d", args.TargetId)
	}
	l := &leap{a: a, r: r, place: a.gotos.places[args.TargetId-1], ranks: g.ranks, functions: map[string]bool{}}
	return a.ask(r, l.call("backtrace", protocol.Args{Count: 1}), func(x *call) {
		each(x, func(s stackBody, _ protocol.Group) {
			for _, f := range s.Frames {
				l.functions[bare(f.Func)] = true
			}
		})
		if bad := a.ask(r, l.call("break", protocol.Args{Location: l.place, Temporary: true}), l.placed); bad != nil {
			r.fail(bad)
		}
	})
}

func (l *leap) call(command string, args protocol.Args) session.Call {
	return session.Call{Command: command, Ranks: l.ranks.String(), Args: args}
}

// bare is the name of a function without its parameters, which gdb shows of a breakpoint's alone.
func bare(function string) string {
	name, _, _ := strings.Cut(function, "(")
	return name
}

// placed lets the ranks go if the breakpoint is in their function.
func (l *leap) placed(x *call) {
	elsewhere := ""
	each(x, func(body struct{ Breakpoints []protocol.BreakpointInfo }, _ protocol.Group) {
		for _, b := range body.Breakpoints {
			l.number = b.Number
			if len(l.functions) != 1 || !l.functions[bare(b.Func)] {
				elsewhere = b.Func
			}
		}
	})
	switch bad := x.failure(); {
	case l.number == 0:
		l.r.fail(errors.New("goto: the answer to break cannot be read"))
		return
	case bad != nil:
		l.undo(bad)
		return
	case elsewhere != "":
		l.undo(fmt.Errorf("goto: %s is in %s, and not in the function in which these ranks stand: the program could hardly go"+
			" on there (jump in the debug console does not ask)", l.place, elsewhere))
		return
	}
	a := l.a
	if a.gotos.arrivals == nil {
		a.gotos.arrivals = map[int]bool{}
	}
	a.gotos.arrivals[l.number] = true
	a.stops.moving = a.stops.moving.Union(l.ranks)
	bad := a.call(l.call("jump", protocol.Args{Location: l.place}), func(x *call) {
		a.stops.moving = a.stops.moving.Minus(l.ranks.Minus(x.results()))
		if x.results().IsEmpty() {
			l.undo(x.failure())
			return
		}
		l.r.answer(nil)
	})
	if bad != nil {
		a.stops.moving = a.stops.moving.Minus(l.ranks)
		l.undo(bad)
	}
}

// undo removes the breakpoint, as good as it goes.
func (l *leap) undo(why error) {
	_ = l.a.call(session.Call{Command: "delete", Args: protocol.Args{Breakpoints: []int{l.number}}}, func(*call) {})
	l.r.fail(why)
}
