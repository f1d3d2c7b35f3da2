// Commands that inspect a stopped rank.

package sim

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/stack"
)

// look returns the answer of one rank.
type look func(m *machine, s *state, a *protocol.Args) (answer, *protocol.Fault)

// looks are the commands that change at most the selected frame.
var looks = map[string]look{
	"print":            (*machine).print,
	"members":          (*machine).members,
	"hash":             (*machine).hash,
	"values":           (*machine).takeValues,
	"backtrace":        (*machine).backtrace,
	"stacks":           (*machine).stacksOf,
	"frame":            (*machine).selectFrame,
	"up":               (*machine).up,
	"down":             (*machine).down,
	"info locals":      (*machine).locals,
	"info args":        (*machine).arguments,
	"info threads":     (*machine).threads,
	"info breakpoints": (*machine).infoBreaks,
	"info watchpoints": func(m *machine, s *state, _ *protocol.Args) (answer, *protocol.Fault) {
		return m.listBreaks(s, nil), nil // there are none
	},
	"list": (*machine).list,
}

func (m *machine) print(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	if strings.TrimSpace(a.Expr) == "" {
		if s.printed == nil {
			return answer{}, gdbSays("No value has been printed yet.")
		}
		return *s.printed, nil
	}
	result, bad := m.printed(s, a)
	if bad == nil && a.Frame == nil && a.Thread == 0 && a.Last == 0 {
		kept := result
		s.printed = &kept
	}
	return result, bad
}

func (m *machine) printed(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	level, bad := m.level(s, a)
	if bad != nil {
		return answer{}, bad
	}
	sc := m.scope(s, level)
	if array, ok := sc.arrayNamed(a.Expr); ok {
		return m.printArray(sc, array, a)
	}
	v, bad := evaluate(a.Expr, sc)
	if bad != nil {
		return answer{}, bad
	}
	body := m.body(bodyKey{what: "print", text: a.Expr}, func() any {
		return struct {
			Expr string `json:"expr"`
		}{a.Expr}
	})
	return answer{kind: protocol.KindResult, body: body, cells: []cell{{"value", v.String()}}}, nil
}

func (m *machine) backtrace(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	if _, bad := m.level(s, a); bad != nil {
		return answer{}, bad
	}
	depth := m.program.depth(s.pos)
	first, n := 0, depth
	switch {
	case a.Count > 0:
		n = min(n, a.Count)
	case a.Count < 0:
		first = max(depth+a.Count, 0)
	}
	body := m.body(bodyKey{what: "backtrace", text: strconv.Itoa(first), pos: s.pos, variant: s.variant, n: n, level: a.Thread},
		func() any {
			var frames []protocol.Frame
			for level := first; level < n; level++ {
				frames = append(frames, m.frame(s, level))
			}
			return struct {
				Frames []protocol.Frame `json:"frames"`
				Thread int              `json:"thread"`
				More   bool             `json:"more"`
			}{frames, a.Thread, n < depth}
		})
	var cells []cell
	for level := first; level < n; level++ {
		prefix := strconv.Itoa(level) + "."
		cells = append(cells, m.args(s, level, prefix)...)
		if a.Full {
			cells = append(cells, m.values(s, level, prefix+"locals.", m.program.stacks[s.pos][level].locals())...)
		}
	}
	return answer{kind: protocol.KindResult, body: body, cells: sorted(cells)}, nil
}

func (m *machine) stacksOf(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	by := a.By
	if by == "" {
		by = "line"
	}
	k := stackKey{by, s.pos, s.variant, s.crashed}
	body := m.body(bodyKey{what: "stacks", text: by}, func() any {
		return struct {
			By string `json:"by"`
		}{by}
	})
	out := answer{kind: protocol.KindResult, body: body,
		stack: m.library.stack(k, func() *sharedStack { return m.newStack(s, by) })}
	if a.Progress {
		out.cells = []cell{{protocol.Progress, m.progress(s)}}
	}
	return out, nil
}

// progress returns what has changed in a rank since it was called last: it has run, unless it waits in MPI.
func (m *machine) progress(s *state) string {
	seen := s.seen
	s.seen = s.turn + 1
	switch {
	case seen == 0:
		return protocol.ProgressFirst
	case seen == s.turn+1 || m.cfg.Barrier.Contains(s.rank) || m.cfg.Ring.Contains(s.rank):
		return protocol.ProgressNone
	}
	return protocol.ProgressStack
}

// newStack makes the stack of a rank, outermost frame first, with the details that by asks for.
func (m *machine) newStack(s *state, by string) *sharedStack {
	var frames []*stack.Frame
	for level := m.program.depth(s.pos) - 1; level >= 0; level-- {
		f := m.frame(s, level)
		sf := stack.Frame{Func: f.Func}
		if by != "function" {
			sf.File, sf.Line = f.File, f.Line
		}
		if by == "address" {
			const start, perLine = 0x555555555000, 16
			sf.Addr = fmt.Sprintf("0x%x", start+f.Line*perLine)
		}
		if level == 0 && s.crashed {
			sf.Mark = "SIGSEGV"
		}
		frames = append(frames, m.library.frame(sf))
	}
	inner := m.frame(s, 0)
	return &sharedStack{path: stack.NewPath(frames...), frame: place(inner.Func, inner.File, inner.Line)}
}

func (m *machine) selectFrame(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	level, bad := m.level(s, a)
	switch {
	case bad != nil:
		return answer{}, bad
	case a.From != "":
		return answer{}, &protocol.Fault{Kind: protocol.FaultEngine, Message: "simulated ranks have no addresses"}
	case a.Name != "":
		depth := m.program.depth(s.pos)
		for level = 0; level < depth && m.frame(s, level).Func != a.Name; level++ {
		}
		if level == depth {
			return answer{}, gdbSays("No frame for function \"%s\".", a.Name)
		}
	}
	s.level = level
	return m.showFrame(s), nil
}

func (m *machine) up(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	outermost := m.program.depth(s.pos) - 1
	if s.level == outermost && a.Count == 0 {
		return answer{}, gdbSays("Initial frame selected; you cannot go up.")
	}
	s.level = min(s.level+max(a.Count, 1), outermost)
	return m.showFrame(s), nil
}

func (m *machine) down(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	if s.level == 0 && a.Count == 0 {
		return answer{}, gdbSays("Bottom (innermost) frame selected; you cannot go down.")
	}
	s.level = max(s.level-max(a.Count, 1), 0)
	return m.showFrame(s), nil
}

func (m *machine) showFrame(s *state) answer {
	body := m.body(bodyKey{what: "frame", pos: s.pos, level: s.level, variant: s.variant}, func() any {
		f := m.frame(s, s.level)
		return struct {
			Frame  protocol.Frame `json:"frame"`
			Source string         `json:"source"`
		}{f, sourceAt(f)}
	})
	return answer{kind: protocol.KindResult, body: body, cells: m.args(s, s.level, "")}
}

func (m *machine) locals(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	return m.names(s, a, "locals", function.locals)
}

func (m *machine) arguments(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	return m.names(s, a, "arguments", function.args)
}

func (m *machine) names(s *state, a *protocol.Args, what string, of func(function) []string) (answer, *protocol.Fault) {
	level, bad := m.level(s, a)
	if bad != nil {
		return answer{}, bad
	}
	fn := m.program.stacks[s.pos][level]
	body := m.body(bodyKey{what: what, n: int(fn)}, func() any {
		return struct {
			Names []string `json:"names"`
		}{append([]string{}, of(fn)...)}
	})
	return answer{kind: protocol.KindResult, body: body, cells: sorted(m.values(s, level, "value.", of(fn)))}, nil
}

// thread is the only thread of a rank.
type thread struct {
	ID      int            `json:"id"`
	Name    string         `json:"name"`
	State   string         `json:"state"`
	Current bool           `json:"current"`
	Frame   protocol.Frame `json:"frame"`
}

func (m *machine) threads(s *state, _ *protocol.Args) (answer, *protocol.Fault) {
	body := m.body(bodyKey{what: "threads", pos: s.pos, variant: s.variant}, func() any {
		return struct {
			Threads []thread `json:"threads"`
		}{[]thread{{ID: 1, Name: "work", State: "stopped", Current: true, Frame: m.frame(s, 0)}}}
	})
	cells := append(m.args(s, 0, "1."), cell{"target.1", fmt.Sprintf("Thread 0x7ffff7dd1740 (LWP %d)", s.pid)})
	return answer{kind: protocol.KindResult, body: body, cells: sorted(cells)}, nil
}
