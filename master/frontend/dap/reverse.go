// Requests to the client: a session about some ranks, and a terminal.

package dap

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	godap "github.com/google/go-dap"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// requestMessage is a request to the client as it is sent.
type requestMessage struct {
	Seq       int    `json:"seq"`
	Type      string `json:"type"` // "request"
	Command   string `json:"command"`
	Arguments any    `json:"arguments"`
}

// request asks the client for something that it has said it can do. then is called with its answer, if one comes.
func (a *adapter) request(command string, arguments any, then func(error)) {
	a.seq++
	a.asked[a.seq] = then
	a.send(requestMessage{Seq: a.seq, Type: "request", Command: command, Arguments: arguments})
}

// replied takes the answer to a request.
func (a *adapter) replied(seq int, success bool, message string) {
	then := a.asked[seq]
	if then == nil {
		return
	}
	delete(a.asked, seq)
	var err error
	if !success {
		err = errors.New(cmp.Or(clip(message), "the editor has refused"))
	}
	a.guard(nil, func() { then(err) })
}

// sessionID is the name by which others join the session; "": they cannot.
func (a *adapter) sessionID() string {
	if s, ok := a.target.Session.(session.Shared); ok {
		return s.Welcome().Session
	}
	return ""
}

// sdmPin makes the client open a session of its own for some ranks, beside this one. Only for clients that say that
// they can: others end the session on such a request.
func (a *adapter) sdmPin(_ time.Time, r *request) error {
	var args customArguments
	if err := r.read(&args); err != nil {
		return err
	}
	id := a.sessionID()
	switch {
	case args.Ranks == "":
		return errors.New("sdm/pin: which ranks?")
	case id == "":
		return errors.New("sdm/pin: there is no session that a second view could join")
	case !a.client.SupportsStartDebuggingRequest:
		return fmt.Errorf("sdm/pin: this editor opens no session for another (it lacks startDebugging); begin one with"+
			` "request": "attach", "session": %q, "ranks": %q`, id, args.Ranks)
	}
	return a.ask(r, session.Call{Command: "focus", Args: protocol.Args{Set: args.Ranks}}, func(x *call) {
		ranks := x.results().Intersect(a.all)
		if ranks.IsEmpty() {
			r.fail(fmt.Errorf("sdm/pin: there are no ranks in %s", clip(args.Ranks)))
			return
		}
		child := map[string]any{
			"type": "sdm", "request": "attach", "name": "[" + text.Ranks(ranks) + "]", "session": id, "ranks": ranks.String(),
		}
		start := godap.StartDebuggingRequestArguments{Request: "attach", Configuration: child}
		a.request("startDebugging", start, func(err error) {
			if err != nil {
				r.fail(fmt.Errorf("sdm/pin: %w", err))
				return
			}
			r.answer(focusBody(ranks))
		})
	})
}

// pin restricts the view to the ranks that are wanted.
func (a *adapter) pin(ranks rank.Set) error {
	if ranks.IsEmpty() {
		return nil
	}
	if some := ranks.Minus(a.target.Ranks); !some.IsEmpty() {
		return fmt.Errorf("ranks: the session has no %s", some)
	}
	a.pinned, a.all, a.focus = true, ranks, ranks
	return nil
}

// Values of startArguments.Console.
const (
	internalConsole    = "internalConsole"
	integratedTerminal = "integratedTerminal"
	externalTerminal   = "externalTerminal"
)

// checkConsole checks the console of a launch.
func checkConsole(kind string) error {
	if kind == "" || slices.Contains([]string{internalConsole, integratedTerminal, externalTerminal}, kind) {
		return nil
	}
	return fmt.Errorf("console is %s, %s or %s, not %q", internalConsole, integratedTerminal, externalTerminal, clip(kind))
}

// openTerminal makes the client open a terminal with a console of the session, if the launch says so.
func (a *adapter) openTerminal() {
	if a.start.Console == "" || a.start.Console == internalConsole {
		return
	}
	id := a.sessionID()
	why := func(s string) { a.say("important", "console: "+a.start.Console+": "+s) }
	switch {
	case id == "":
		why("there is no session that a terminal could join")
		return
	case !a.client.SupportsRunInTerminalRequest:
		why("this editor opens no terminals (it lacks runInTerminal); in one of yours, type: sdm join " + id)
		return
	}
	args := godap.RunInTerminalRequestArguments{
		Kind: "integrated", Title: "sdm join " + id, Args: slices.Concat(a.start.Terminal, []string{a.cfg.Program, "join", id}),
	}
	if a.start.Console == externalTerminal {
		args.Kind = "external"
	}
	if len(a.start.Terminal) == 0 { // else it is a folder of another host
		args.Cwd = a.start.Cwd
	}
	a.request("runInTerminal", args, func(err error) {
		if err != nil {
			why(err.Error() + "; in a terminal of yours, type: sdm join " + id)
		}
	})
}
